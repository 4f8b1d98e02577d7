"""What can go wrong on the way to a cubin that is not the program's fault."""

from __future__ import annotations

from hloom.passes.errors import CompileError


class ToolchainError(CompileError):
    """A part of NVIDIA's toolchain that the target needs is not installed, or refused what it was given."""

    code = "HL109"


INSTALL = "pip install 'hloom[cuda-compile]'"
