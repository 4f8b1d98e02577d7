"""hloom-compile: compiles a program to one file that runs without a compiler, or to any stage on the way.

hloom-compile mlp.mlir -o mlp.hloom
hloom-compile mlp.mlir --to=tiled                    the program at that stage, as text
hloom-compile mlp.mlir --dump=out                    the program at every stage, a file each in out/
hloom-compile mlp.mlir --target=sm_90a --to=ptx      its kernels for a GPU
hloom-compile mlp.mlir --to=assembly                 its machine code as text; for a GPU, SASS
hloom-compile mlp.mlir --policy=mine.toml -o mlp.hloom    the policy overrides what cost decides
hloom-compile mlp.mlir --tune=60 -o mlp.hloom             measures other decisions for a minute, writes the best to mlp.policy.toml
hloom-compile fused.mlir --from=fused -o mlp.hloom   goes on from a dump, which may have been edited
hloom-compile mlp.mlir --verify -o mlp.hloom         checked against the reference interpreter before it is written
hloom-compile mlp.mlir --bind=1-4 -o mlp.hloom       inputs 1 to 4 are weights, bound once after loading
hloom-compile open.mlir --shape=1x8xf32 --shape=64x8xf32 -o open.hloom    a program of open shapes, for these two
hloom-compile model.mlir --function=prefill,decode -o model.hloom         several entries in one file
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hloom.compiler.compile import ASSEMBLY, PTX, Compilation
from hloom.compiler.frontend import name_of
from hloom.compiler.instrument import AsmOptions, Instrumentation
from hloom.compiler.pipeline import STAGE_NAMES
from hloom.compiler.resume import load_stage
from hloom.compiler.timing import Timing
from hloom.passes.errors import PipelineError
from hloom.runtime.artifact import Artifact
from hloom.runtime.comparison import random_array
from hloom.runtime.entries import packed_entries
from hloom.runtime.executable import Executable

from ._common import ToolParser, compilation_of, read_input, run_tool, warn_idle_rules, write_output
from ._shapes import only, programs
from ._values import indices


def main(argv: list[str] | None = None) -> int:
    return run_tool(_compile, argv)


def _compile(argv: list[str]) -> int:
    options = _parser().parse(argv)
    if options.calibrate:
        return _calibrate(options)
    if options.program is None:
        raise PipelineError("no program is given", remedy="name a .mlir, .mlirbc or .vhlo file, or - for stdin")
    if not (options.to or options.output or options.dump):
        remedy = "give -o out.hloom, --to=STAGE for its text at one stage, or --dump=DIR for all of them"
        raise PipelineError("nothing says where the compiled program goes", remedy=remedy)
    options.source = read_input(options.program)
    entries = options.function.split(",")
    if options.tune is not None:
        _tune(options, entries)
    if options.to:
        if len(entries) > 1:
            raise PipelineError("--to takes one entry", remedy="give --function once for each")
        made, _ = _compilations(options)
        write_output(options.output or "-", made[0].text(options.to) + "\n")
        return 0
    parts = {entry: _artifact(argparse.Namespace(**{**vars(options), "function": entry})) for entry in entries}
    whole = packed_entries(parts, name_of(options.program)) if len(entries) > 1 else parts[entries[0]]
    if options.output == "-":
        whole.write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif options.output:
        whole.save(options.output)
    return 0


def _tune(options: argparse.Namespace, entries: list[str]) -> None:
    """Has `options.policy` name the policy that is found for the program, or was found before."""
    from hloom.compiler.tuning.policy_file import told
    from hloom.compiler.tuning.session import tuned

    if options.from_ != "input" or len(entries) > 1:
        raise PipelineError("--tune takes one program from its start", remedy="tune each entry alone, and give its policy")
    found, _, sets = programs(options.source, options)
    only(sets, "--tune")
    options.policy = options.policy or f"{(options.output or options.program).removesuffix('.hloom')}.policy.toml"
    rng, specs = np.random.default_rng(1), found[0].inputs
    bind = {index: random_array(specs[index], rng) for index in indices(options.bind, len(specs))}
    made = tuned(found[0], name_of(options.program), seconds_of(options.tune), options.policy, target=options.target, bind=bind)
    print(f"{options.policy} was there: nothing is measured" if made.tuning is None else told(made.tuning), file=sys.stderr)


def _calibrate(options: argparse.Namespace) -> int:
    from hloom.compiler.tuning.calibration import calibrated_text

    if not options.output:
        raise PipelineError("nothing says where the target's file goes", remedy="give -o machine.toml")
    write_output(options.output, calibrated_text(options.target))
    return 0


def seconds_of(text: str) -> float:
    """Raises PipelineError."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise PipelineError(f"--tune takes seconds, got {text!r}")
    return seconds


def _artifact(options: argparse.Namespace) -> Artifact:
    made, packed = _compilations(options)
    artifacts = []
    for each in made:
        artifacts.append(each.artifact())
        if options.verify:
            _verify(artifacts[-1], each)
        warn_idle_rules(artifacts[-1].manifest["report"])
    return packed(artifacts)


def _compilations(options: argparse.Namespace) -> tuple[list[Compilation], Callable[[list[Artifact]], Artifact]]:
    """One, or one for each --shape; and how their artifacts become one."""
    source = options.source
    watch = Instrumentation(asm=AsmOptions(debuginfo=options.mlir_print_debuginfo), timing=Timing() if options.mlir_timing else None)
    keep_original = options.verify and not options.to
    given: dict[str, Any] = {"dump_dir": options.dump, "watch": watch, "keep_original": keep_original}
    if options.from_ == "input":
        found, open_, sets = programs(source, options)
        if options.to or options.dump:
            only(sets, "--to" if options.to else "--dump")
        made = [compilation_of(program, options, **given) for program in found]
        if open_ is None or len(sets) == 1:
            return made, _alone
        from hloom.compiler.dynamic import packed_artifact

        once: dict[int, Any] = dict.fromkeys(made[0].bound)
        return made, lambda artifacts: packed_artifact(open_, made[0].name, once, list(zip(sets, artifacts)))
    if keep_original:
        raise PipelineError(f"the interpreter runs no program at stage {options.from_}", remedy="give --verify without --from")
    program, bound = load_stage(source, options.from_, options.program)
    given |= {"target": options.target, "policy": options.policy, "name": name_of(options.program)}
    return [Compilation(program, bound=bound, stage=options.from_, **given)], _alone


def _alone(artifacts: list[Artifact]) -> Artifact:
    return artifacts[0]


def _verify(artifact: Artifact, made: Compilation) -> None:
    from hloom.compiler.verify import interpreter_reference, verify_executable

    rng = np.random.default_rng(1)
    made.values = {index: random_array(made.program.inputs[index], rng) for index in made.bound}
    exe = Executable(artifact)
    if made.values:
        exe.bind(made.values)
    verify_executable(exe, made, interpreter_reference(made))


def _parser() -> ToolParser:
    parser = ToolParser("hloom-compile", description=__doc__)
    bind = "inputs (by index) that are bound once instead of given at each call"
    parser.add_program("MLIR text, bytecode or a VHLO artifact; - for stdin", bind, optional=True)
    parser.add_argument("-o", dest="output", metavar="FILE", help="where the .hloom file goes, or the text of --to; - is stdout")
    verify = "run the program on random inputs beside the reference interpreter; if they differ, name the first op, write nothing"
    parser.add_argument("--verify", action="store_true", help=verify)
    tune = "measure other decisions for SECONDS (60), and write the best as a policy: to the file of --policy, else beside -o"
    parser.add_argument("--tune", nargs="?", const="60", metavar="SECONDS", help=tune)
    calibrate = "take no program: measure this machine, and write a target file to -o, for --target"
    parser.add_argument("--calibrate", action="store_true", help=calibrate)
    parser.add_argument(
        "--from", dest="from_", default="input", choices=STAGE_NAMES, metavar="STAGE", help="the stage that the input is at"
    )
    to = "stop at this stage and write the program as text; ptx: a GPU's kernels; assembly: machine code (SASS for a GPU)"
    parser.add_argument("--to", choices=(*STAGE_NAMES, PTX, ASSEMBLY), metavar="STAGE", help=to)
    parser.add_argument("--dump", type=Path, metavar="DIR", help="write the program at every stage into this folder")
    parser.add_argument("--mlir-print-debuginfo", action="store_true", help="write locations too, with --to and --dump")
    parser.add_argument("--mlir-timing", action="store_true", help="print the time of every pass")
    return parser


if __name__ == "__main__":
    sys.exit(main())
