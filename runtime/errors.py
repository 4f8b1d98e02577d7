"""Errors raised while loading and running programs. Each has a code listed in docs/errors.md and says what was expected and what to do."""

from __future__ import annotations


class ExecutionError(Exception):
    """A program could not be loaded or run. `code` is listed in docs/errors.md, `remedy` says what the user can do."""

    code = "HL200"

    def __init__(self, message: str, *, remedy: str | None = None):
        self.message, self.remedy = message, remedy
        super().__init__(f"[{self.code}] {message}" + (f"\n  remedy: {remedy}" if remedy else ""))


class ArityError(ExecutionError):
    """More or fewer values than the program takes, or values in another structure."""

    code = "HL201"


class ShapeError(ExecutionError):
    """A value's shape is not the one the program was compiled for."""

    code = "HL202"


class DtypeError(ExecutionError):
    """A value's element type is not the one the program was compiled for."""

    code = "HL203"


class InputError(ExecutionError):
    """A value that cannot be read or written as a dense array in the CPU's memory."""

    code = "HL204"


class DamagedFileError(ExecutionError):
    """The file is no .hloom file, its bytes are not those that were written, or what it says does not agree."""

    code = "HL205"


class MissingFileError(ExecutionError):
    """The file is not there or cannot be read."""

    code = "HL206"


class VersionError(ExecutionError):
    """The file was written by a hloom of another format version."""

    code = "HL207"


class CpuFeatureError(ExecutionError):
    """The program needs instructions that this CPU does not have."""

    code = "HL208"


class NotBoundError(ExecutionError):
    """The program waits for values (weights) that were never bound."""

    code = "HL209"


class LoadError(ExecutionError):
    """The native library or the program's code cannot be loaded into this process."""

    code = "HL210"


class MissingDriverError(ExecutionError):
    """The program runs on an NVIDIA GPU, and there is no driver, an old one, or no GPU."""

    code = "HL211"


class MissingLibraryError(ExecutionError):
    """The program calls a library that is not installed."""

    code = "HL212"


class GpuArchitectureError(ExecutionError):
    """The program was compiled for another GPU than this one."""

    code = "HL213"


class CudaError(ExecutionError):
    """A call of the CUDA driver or of a CUDA library failed."""

    code = "HL214"


class CustomCallError(ExecutionError):
    """A Python function that was registered for a custom call raised an exception, or gave what the call cannot take."""

    code = "HL217"


class OutOfBoundsError(ExecutionError):
    """A kernel compiled with HLOOM_DEBUG=bounds accesses what is not in its buffer.

    `kernel` names it, `op` and `loc` the access and its place in the source program, `index` where the access begins (of masked ones the
    least lane outside), `extent` how many elements the buffer has.
    """

    code = "HL216"

    def __init__(self, message: str, *, kernel: str, op: str, loc: str, index: int, extent: int, remedy: str | None = None):
        self.kernel, self.op, self.loc, self.index, self.extent = kernel, op, loc, index, extent
        super().__init__("\n".join([message, f"  kernel: {kernel}", f"  op: {op}", f"  at: {loc}"]), remedy=remedy)
