"""hloom-compile: compiles a program to one file that runs without a compiler, or to any stage on the way.

hloom-compile mlp.mlir -o mlp.hloom
hloom-compile mlp.mlir --to=tiled                    the program at that stage, as text
hloom-compile mlp.mlir --target=sm_90a --to=ptx      its kernels for a GPU
hloom-compile mlp.mlir --policy=mine.toml -o mlp.hloom    what the policy asks for goes before what cost decides
hloom-compile fused.mlir --from=fused -o mlp.hloom   a dump, perhaps edited, taken up again
hloom-compile mlp.mlir --verify -o mlp.hloom         checked against the reference interpreter before it is written
hloom-compile mlp.mlir --bind=1-4 -o mlp.hloom       inputs 1 to 4 are weights, bound once after loading
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from torch_mlir import ir

from hloom.compiler.compile import bind_arguments, compile_program, load_text, name_of, set_policy
from hloom.compiler.debug import watching
from hloom.compiler.frontend import Program
from hloom.compiler.frontends.trial import bytecode_of
from hloom.compiler.instrument import AsmOptions, Instrumentation
from hloom.compiler.pipeline import STAGE_NAMES, run_stages
from hloom.compiler.resume import load_stage
from hloom.compiler.target import attach_target, resolve
from hloom.compiler.timing import Timing
from hloom.dialects.target import target_of
from hloom.passes.errors import PipelineError
from hloom.runtime.artifact import Artifact
from hloom.runtime.comparison import random_array
from hloom.runtime.errors import ExecutionError
from hloom.runtime.executable import Executable

from ._common import POLICY_HELP, ToolParser, read_input, run_tool, target_help, warn_idle_rules, write_output
from ._values import indices

_PTX = "ptx"


def main(argv: list[str] | None = None) -> int:
    return run_tool(_compile, argv)


def _compile(argv: list[str]) -> int:
    options = _parser().parse(argv)
    if not options.to and not options.output:
        raise PipelineError("nothing says where the compiled program goes", remedy="give -o out.hloom, or --to=STAGE to see it on the way")
    source = read_input(options.input)
    try:
        if options.from_ == "input":
            program = load_text(source, options.function)
            bound = indices(options.bind, len(program.inputs))
        else:
            program, bound = load_stage(source, options.from_)
        printed = AsmOptions(debuginfo=options.mlir_print_debuginfo)
        with watching(Instrumentation(asm=printed, timing=Timing() if options.mlir_timing else None)) as watch:
            if not options.to:
                name, start = name_of(options.input), options.from_
                given = {"target": options.target, "policy": options.policy, "dump_dir": options.dump}
                original = _original(program, options)
                artifact = compile_program(program, bound=bound, name=name, watch=watch, start=start, **given)
                if options.verify:
                    _verify(artifact, program, original, bound, options.target)
                warn_idle_rules(artifact.manifest["report"])
                artifact.save(options.output)
                return 0
            module = program.module.operation
            attach_target(module, resolve(options.target))
            set_policy(module, options.policy, options.from_)
            if options.from_ == "input":
                bind_arguments(program, bound)
            run_stages(module, options.from_, "gpu" if options.to == _PTX else options.to, dump_dir=options.dump, watch=watch)
            text = _ptx(module, watch) if options.to == _PTX else watch.asm.asm(module)
            write_output(options.output or "-", text + "\n")
    except ExecutionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _original(program: Program, options: argparse.Namespace) -> bytes:
    """The program before it is compiled, for --verify."""
    if not options.verify:
        return b""
    if options.from_ != "input":
        raise PipelineError(f"the interpreter runs no program at stage {options.from_}", remedy="give --verify without --from")
    return bytecode_of(program.module)


def _verify(artifact: Artifact, program: Program, original: bytes, bound: list[int], target: str) -> None:
    from hloom.compiler.verify import interpreter_reference, verify_executable

    rng = np.random.default_rng(1)
    values = {index: random_array(program.inputs[index], rng) for index in bound}
    exe = Executable(artifact)
    if values:
        exe.bind(values)
    verify_executable(exe, program, original, interpreter_reference(program, original), values, target)


def _ptx(module: ir.Operation, watch: Instrumentation) -> str:
    from hloom.compiler.cuda.ptx import emit_ptx  # LLVM is needed here alone

    return emit_ptx(module, target_of(module), watch)


def _parser() -> ToolParser:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = ToolParser("hloom-compile", description=summary, epilog=rest)
    parser.add_argument("input", help="MLIR text, bytecode or a VHLO artifact; - for stdin")
    parser.add_argument("-o", dest="output", metavar="FILE", help="the .hloom file, or where the text of --to goes")
    parser.add_argument("--target", default="auto", help=target_help())
    parser.add_argument("--policy", metavar="FILE", help=POLICY_HELP)
    verify = "run the program on random inputs beside the reference interpreter; if they differ, name the first op, write nothing"
    parser.add_argument("--verify", action="store_true", help=verify)
    parser.add_argument("--function", default="main", help="the entry")
    parser.add_argument("--bind", default="", metavar="N,N-N", help="inputs (by index) that are bound once instead of given at each call")
    parser.add_argument("--from", dest="from_", default="input", choices=STAGE_NAMES, metavar="STAGE", help="the stage the input is at")
    parser.add_argument("--to", choices=(*STAGE_NAMES, _PTX), metavar="STAGE", help="stop there and write it as text; ptx: kernels alone")
    parser.add_argument("--dump", type=Path, metavar="DIR", help="write the program at every stage into this folder")
    parser.add_argument("--mlir-print-debuginfo", action="store_true", help="write locations too, with --to and --dump")
    parser.add_argument("--mlir-timing", action="store_true", help="print the time of every pass")
    return parser


if __name__ == "__main__":
    sys.exit(main())
