"""Tries mutants one after the other in this process: `python worker.py KIND FIRST LAST`.

Prints `begin <number>` before each and `end <number> <outcome>` after it, so that whoever started the process sees which one ended it.
A mutant must compile, or fail with one of hloom's errors; one that compiles is run if it is small and sure to end. What hangs is ended
by faulthandler, with the place.
"""

from __future__ import annotations

import faulthandler
import functools
import io
import os
import resource
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np

import hloom
from hloom.runtime.dynamic import DynamicExecutable
from hloom.runtime.errors import OutOfBoundsError
from hloom.runtime.executable import Executable

import mutate_artifact  # isort: skip
import mutate_bytecode  # isort: skip
from artifacts import DEVICES, any_bits, bases, try_file  # isort: skip
from mutate import flipped, mutant  # isort: skip
from sieve import refused  # isort: skip

SECONDS = 120
SIFTED = ("text", "bytecode")
"""Kinds of which the parser refuses most: those that it refuses (sieve.py) go the compiler's whole road one in so many."""
WHOLE_ROAD = 8
CHUNK = 256
DEBUG = os.environ.get("HLOOM_DEBUG", "")
CHECKED = 4
"""One in so many programs is compiled with every access of its kernels checked against the buffer (HLOOM_DEBUG=bounds)."""
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
        sifted: list[bool] = []
        if kind.startswith("file-"):
            bases(kind.removeprefix("file-"))  # compiled before the clock runs
        for number in range(first, last):
            if kind in SIFTED and not sifted:
                sifted = refused([source(kind, each)[1] for each in range(number, min(number + CHUNK, last))])
            print(f"begin {number}", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            if sifted and sifted.pop(0) and number % WHOLE_ROAD:
                outcome = "refused by the parser"
            else:
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
    data = _encoded(kind, text)
    return path.name, mutate_bytecode.mutant(data, number) if kind == "bytecode" else flipped(data, number)


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
    from hloom.compiler.compile import Compilation
    from hloom.compiler.resume import load_stage

    try:
        program, bound = load_stage(source("stage", number)[1], _stage(number))
        Compilation(program, bound=bound, stage=_stage(number)).artifact()
    except hloom.CompileError as error:
        return _checked(str(error))
    return "compiled"


def _try_program(kind: str, number: int) -> str:
    _, program = source(kind, number)
    os.environ["HLOOM_DEBUG"] = "bounds" if number % CHECKED == 0 else DEBUG
    try:
        exe = hloom.compile(program)
        if isinstance(exe, DynamicExecutable):
            (exe,) = exe.specialise(dict.fromkeys(exe.signature.names, 3))
        return _run(exe, program)
    except OutOfBoundsError as error:
        raise AssertionError("a kernel leaves its buffers") from error
    except (hloom.CompileError, hloom.ExecutionError) as error:
        assert "broke:" not in str(error), error
        return _checked(str(error))


def _run(exe: Executable, program: str | bytes) -> str:
    specs = (*exe.signature.inputs, *exe.signature.outputs)
    loops = b"while" in (program.encode(errors="replace") if isinstance(program, str) else program)
    if loops or sum(spec.nbytes for spec in specs) + exe.arena_bytes > 1 << 26:
        return "compiled"
    rng = np.random.default_rng(0)
    exe.flat([any_bits(spec, rng) for spec in exe.signature.inputs])
    return "ran"


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


def _try_artifact(kind: str, number: int, folder: Path) -> str:
    """A file that is wrong in what it says, with right checksums."""
    known = bases(kind)
    path = folder / "x.hloom"
    path.write_bytes(mutate_artifact.mutant(known[number % len(known)], number))
    try:
        return try_file(kind, path)
    except hloom.ExecutionError as error:
        return _checked(str(error))


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
    **{f"file-{kind}": functools.partial(_try_artifact, kind) for kind in DEVICES},
    "stage": _try_stage,
    "tools": _try_tools,
}

if __name__ == "__main__":
    main()
