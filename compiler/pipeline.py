"""The stages of a compile and the passes of each, from top to bottom. The roads to the CPU and to CUDA part after `tiled`.

docs/architecture.md says what holds at each stage; stage_rules.py checks it. To change what a stage does, edit its list: an entry is
pipeline text, hloom's passes and upstream's alike. `hloom-opt --stage-<name>` runs the passes of one stage.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from torch_mlir import ir

from hloom.dialects.target import target_of
from hloom.passes.errors import CompileError, PipelineError

from .debug import Debug, watching
from .instrument import AsmOptions, Instrumentation
from .passmanager import Step, parse_pipeline, register_bundle, run_steps
from .stage_passes import LOWER_KERNELS, NVVM, STABLEHLO
from .stage_rules import verify_reached, verify_stage


@dataclass(frozen=True)
class Stage:
    """A named form of the program, and the passes that bring the form before it there."""

    name: str
    description: str
    passes: tuple[str, ...] = ()
    kind: str = ""
    """Of the targets whose road has this stage; "" for all."""
    on_cuda: tuple[str, ...] = ()
    """The passes on the road to CUDA, where they are others."""

    def passes_for(self, kind: str) -> tuple[str, ...]:
        return self.on_cuda if kind == "cuda" and self.on_cuda else self.passes


register_bundle(
    "canonicalize-ingress",
    (
        "generalize-contractions",
        "inline-producers",
        "read-in-place",
        "sink-updates",
        "narrow-producers",
        "select-to-maximum",
        "fuse-horner",
        "split-loops",
        "collapse-loop-dims",
        "split-loops",
        "fold-views",
        "destination-passing-style",
    ),
    "linalg as the schedules want it: contractions as generics, producers inlined, compare and select as maximumf",
)
register_bundle("lower-kernels", LOWER_KERNELS, "the kernels in the LLVM dialect, behind one signature")

STAGES = (
    Stage("input", "the program as the front end delivered it"),
    Stage(
        "stablehlo",
        "canonical StableHLO in one function",
        tuple(STABLEHLO),
    ),
    Stage(
        "fused",
        "every op in a named group",
        (
            "fuse-loops",
            "plan-fusion",
            "sink-reshapes",
            "join-row-blocks",
            "part-masks",
            "recompute-operands",
            "join-contractions",
            "join-phases",
            "hoist-constant-groups",
            "repeat-reductions",
            "evaluate-init",
            "rematerialise",
            "join-launches",
        ),
    ),
    Stage(
        "lhlo",
        "the groups called on buffers",
        ("assign-buffers",),
    ),
    Stage(
        "linalg",
        "the body of each group as linalg on tensors, canonicalised",
        ("lower-to-linalg", "canonicalize-ingress", "relax-weights", "expand-math", "widen-half-floats", "keep-widened", "widen-weights"),
        # math ops stay what they are up to nvvm, where libdevice has most of them
        on_cuda=("lower-to-linalg", "canonicalize-ingress", "widen-half-floats"),
    ),
    Stage(
        "tiled",
        "each group as one loop over tiles",
        ("split-groups", "sort-scratch", "tile-and-fuse", "place-pieces"),
        on_cuda=(
            "distribute-attention",
            "split-contractions",
            "split-k",
            "distribute-contractions",
            "split-groups",
            "split-sorts",
            "tile-and-fuse",
        ),
    ),
    Stage(
        "vector",
        "each group as a kernel over vectors and memrefs",
        ("sort-rows", "fourier-kernels", "vectorize-tiles", "join-regions"),
        kind="cpu",
    ),
    Stage(
        "gpu",
        "each group as a kernel of a gpu.module, its tiles distributed over threads",
        (
            "distribute-scatters",
            "distribute-sorts",
            "distribute-tiles",
            "join-kernels",
            "join-chains",
            "canonicalize",
            "cse",
            "load-ahead",
            "canonicalize",
            "cse",
        ),
        kind="cuda",
    ),
    Stage(
        "thunk",
        "the host program as thunks over buffer slices",
        ("emit-thunks", "read-to-and-fro"),
    ),
    Stage(
        "llvm",
        "kernels and host program in the LLVM dialect",
        (
            "lower-kernels",
            "lower-thunks",
        ),
        kind="cpu",
    ),
    Stage("nvvm", "kernels in the LLVM and NVVM dialects", tuple(NVVM), kind="cuda"),
)

_BY_NAME = {stage.name: number for number, stage in enumerate(STAGES)}
STAGE_NAMES = tuple(_BY_NAME)

for _stage in STAGES:
    if _stage.passes:
        register_bundle(f"stage-{_stage.name}", _stage.passes, _stage.description)


def stage_number(name: str) -> int:
    """Position of the stage of that name. Raises PipelineError if there is none."""
    if name not in _BY_NAME:
        raise PipelineError(f"no stage {name!r}", remedy=f"the stages: {', '.join(STAGE_NAMES)}")
    return _BY_NAME[name]


def run_stages(
    module: ir.Operation,
    from_: str = "input",
    to: str = "llvm",
    *,
    dump_dir: Path | None = None,
    watch: Instrumentation | None = None,
    checked: bool = False,
) -> None:
    """Takes a module that is at stage `from_` to stage `to`, in place, checking at each stage what must hold there; at `from_`, too, unless
    it was `checked`, and of what hloom's passes alone have written only if `watch` wants it whole.

    `dump_dir` receives NN-<stage>.mlir of every stage passed, `from_` included. `watch` says what to print and to time; whoever makes one
    does so with `watching()`, for HLOOM_DEBUG. Raises a CompileError that names the stage.
    """
    kind = target_of(module).kind
    road = [stage for stage in STAGES if stage.kind in ("", kind)]
    first, last = (_position(name, road, kind) for name in (from_, to))
    if first > last:
        raise PipelineError(f"stage {from_!r} comes after stage {to!r}", remedy=f"the order: {', '.join(stage.name for stage in road)}")
    if watch is None:
        with watching() as watch:
            return run_stages(module, from_, to, dump_dir=dump_dir, watch=watch, checked=checked)
    debug = Debug.from_environment()
    dump_dir = dump_dir or debug.dump_dir
    module = module.operation
    unverified: list[Step] = []
    for number in range(first, last + 1):
        stage = road[number]
        looked_at = dump_dir is not None or watch.reached is not None or number == last
        if watch.timing:
            watch.timing.begin_stage(stage.name)
        if number > first:
            checks = ("check-bounds",) if debug.bounds and kind == "cpu" and stage.name == "thunk" else ()
            steps = parse_pipeline(",".join([*checks, *stage.passes_for(kind)]), module.context)
            run_steps(module, steps, watch, stage=stage.name, unverified=unverified, settled=looked_at)
        if number > first or not checked:
            verify = verify_reached if number > first and not watch.verify_whole else verify_stage
            with watch.timing.measure("verify the stage") if watch.timing else nullcontext():
                verify(module, stage.name)
        if watch.reached and number > first:
            watch.reached(stage.name, module)
        if dump_dir:
            _dump(module, dump_dir / f"{number:02d}-{stage.name}.mlir", watch.asm)


def _position(name: str, road: list[Stage], kind: str) -> int:
    stage = STAGES[stage_number(name)]
    if stage not in road:
        remedy = f"its stages: {', '.join(stage.name for stage in road)}"
        raise PipelineError(f"the road to a {kind} target has no stage {name!r}", remedy=remedy)
    return road.index(stage)


class Pipeline:
    """A list of passes to run over a module: pipeline text, hloom's passes and upstream's alike.

    hloom.Pipeline("plan-fusion,func.func(cse)").run(module)
    """

    def __init__(self, text: str):
        self.text = text

    def run(self, module: ir.Module | ir.Operation, watch: Instrumentation | None = None) -> None:
        """Runs the passes in order, verifying after each. Raises PipelineError on an unknown pass, a CompileError where one fails."""
        run_steps(module.operation, parse_pipeline(self.text, module.context), watch)

    def __repr__(self) -> str:
        return f"Pipeline({self.text!r})"


def _dump(module: ir.Operation, path: Path, asm: AsmOptions) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(asm.asm(module) + "\n")
    except OSError as error:
        raise CompileError(f"cannot write the dump {path}: {error.strerror}") from None
