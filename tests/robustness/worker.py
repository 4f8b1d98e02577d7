"""Tries mutants one after the other in this process: `python worker.py KIND FIRST LAST`.

Prints `begin <number>` before each and `end <number> <outcome>` after it, so that whoever started the process sees which one ended it.
A mutant must compile, or fail with one of hloom's errors; one that compiles is run if it is small and sure to end. What hangs is ended
by faulthandler, with the place.
"""

from __future__ import annotations

import faulthandler
import functools
import io
import resource
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

import hloom
from hloom.runtime.executable import Executable
from hloom.runtime.signature import TensorSpec

from mutate import flipped, mutant  # isort: skip

SECONDS = 30
MEMORY = 24 << 30
STAGES = ("stablehlo", "fused", "lhlo")
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.mlir"))


def main() -> None:
    kind, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last):
            print(f"begin {number}", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            outcome = KINDS[kind](number, Path(folder))
            faulthandler.cancel_dump_traceback_later()
            print(f"end {number} {outcome}", flush=True)


def source(kind: str, number: int) -> tuple[str, str | bytes]:
    """The program that mutant `number` comes from, and the mutant."""
    path = PROGRAMS[number % len(PROGRAMS)]
    text = path.read_text()
    if kind in ("text", "tools"):
        return path.name, mutant(text, number)
    if kind == "stage":
        return path.name, mutant(_at_stage(text, _stage(number)), number)
    return path.name, flipped(_encoded(kind, text), number)


@functools.cache
def _encoded(kind: str, text: str) -> bytes:
    if kind == "hloom":
        with tempfile.TemporaryDirectory() as folder:
            hloom.compile(text).save(Path(folder) / "x.hloom")
            return (Path(folder) / "x.hloom").read_bytes()
    from torch_mlir import ir
    from torch_mlir._mlir_libs import _stablehlo
    from torch_mlir.passmanager import PassManager

    from hloom.dialects.context import make_context

    module = ir.Module.parse(text, make_context())
    PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))", module.context).run(module.operation)
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    if kind == "bytecode":
        return buffer.getvalue()
    return _stablehlo.serialize_portable_artifact_str(buffer.getvalue(), _stablehlo.get_current_version())


def _stage(number: int) -> str:
    return STAGES[number // len(PROGRAMS) % len(STAGES)]


@functools.cache
def _at_stage(text: str, stage: str) -> str:
    from hloom.compiler.frontend import load_program
    from hloom.compiler.pipeline import run_stages

    module = load_program(text).module
    run_stages(module.operation, "input", stage)
    return str(module)


def _try_stage(number: int, folder: Path) -> str:
    """A dump of a stage, edited wrongly, and taken up again. What compiles is not run: nothing promises that it keeps to its buffers."""
    from hloom.compiler.compile import compile_program
    from hloom.compiler.resume import load_stage

    try:
        program, bound = load_stage(source("stage", number)[1], _stage(number))
        compile_program(program, bound=bound, start=_stage(number))
    except hloom.CompileError as error:
        return _checked(str(error))
    return "compiled"


def _try_program(kind: str, number: int) -> str:
    _, program = source(kind, number)
    try:
        exe = hloom.compile(program)
        return _run(exe, program)
    except (hloom.CompileError, hloom.ExecutionError) as error:
        assert "broke:" not in str(error), error
        return _checked(str(error))


def _run(exe: Executable, program: str | bytes) -> str:
    specs = (*exe.signature.inputs, *exe.signature.outputs)
    loops = b"while" in (program.encode(errors="replace") if isinstance(program, str) else program)
    if loops or sum(spec.nbytes for spec in specs) + exe.arena_bytes > 1 << 26:
        return "compiled"
    rng = np.random.default_rng(0)
    exe.flat([_any_bits(spec, rng) for spec in exe.signature.inputs])
    return "ran"


def _any_bits(spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    """An array of any values of the type: NaN, indices far out of bounds, zeros to divide by."""
    if spec.dtype == "i1":
        return rng.integers(0, 2, spec.shape) == 1
    return rng.integers(0, 256, spec.nbytes, np.uint8).view(spec.numpy_dtype).reshape(spec.shape)


def _checked(message: str) -> str:
    assert message.startswith("[HL"), message
    return message.partition("]")[0] + "]"


def _try_file(number: int, folder: Path) -> str:
    _, data = source("hloom", number)
    path = folder / "x.hloom"
    path.write_bytes(data)
    try:
        hloom.load(path)
    except hloom.ExecutionError as error:
        return _checked(str(error))
    raise AssertionError("a damaged file was loaded")


def _try_tools(number: int, folder: Path) -> str:
    from hloom.tools import compile, explain, opt, run

    _, program = source("tools", number)
    path = str(folder / "x.mlir")
    Path(path).write_text(program, errors="surrogatepass")
    tool, arguments = [
        (opt.main, [path, "--canonicalize", "-o", "/dev/null"]),
        (opt.main, [path, "--stage-stablehlo", "--stage-fused", "-o", "/dev/null"]),
        (compile.main, [path, "-o", str(folder / "x.hloom")]),
        (run.main, [path]),  # without inputs: only programs of no arguments run
        (explain.main, [path]),
    ][number // len(PROGRAMS) % 5]
    errors = io.StringIO()
    with redirect_stderr(errors), redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        status = tool(arguments)
    assert status in (0, 1) and "Traceback" not in errors.getvalue(), errors.getvalue()
    if status:
        assert "error: [HL" in errors.getvalue(), errors.getvalue()
    return f"status {status}"


KINDS = {
    "text": lambda number, folder: _try_program("text", number),
    "bytecode": lambda number, folder: _try_program("bytecode", number),
    "artifact": lambda number, folder: _try_program("artifact", number),
    "hloom": _try_file,
    "stage": _try_stage,
    "tools": _try_tools,
}

if __name__ == "__main__":
    main()
