"""gpu and scf: who a thread is, exchange between threads, control flow under masks."""

from __future__ import annotations

from torch_mlir import ir

from .element_types import element_name
from .ops_arith import REDUCTIONS
from .ops_memory import word_of
from .translate import Translator, emits

_AXES = {"x": 0, "y": 1, "z": 2}
_SHUFFLED = ("f32", "i32", "i64", "f64")


@emits("gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim")
def _coordinate(t: Translator, op: ir.Operation) -> None:
    axis = _AXES[word_of(op.attributes["dimension"])]
    what = op.name.removeprefix("gpu.")
    extents = {"block_dim": "block", "grid_dim": "grid"}.get(what)
    t.result(op, f"R.launch.{extents}[{axis}]" if extents else f"R.{what}({axis})")


@emits("gpu.lane_id")
def _lane(t: Translator, op: ir.Operation) -> None:
    t.result(op, "R.lane")


@emits("gpu.subgroup_id")
def _subgroup(t: Translator, op: ir.Operation) -> None:
    t.result(op, "R.thread // 32")


@emits("gpu.subgroup_size")
def _subgroup_size(t: Translator, op: ir.Operation) -> None:
    t.result(op, "32")


@emits("gpu.num_subgroups")
def _subgroups(t: Translator, op: ir.Operation) -> None:
    t.result(op, "R.warps")


@emits("gpu.barrier")
def _barrier(t: Translator, op: ir.Operation) -> None:
    if "scope" in op.attributes and word_of(op.attributes["scope"]) != "workgroup":
        raise t.fail(op, "only barriers of whole blocks are simulated")
    t.line(f"R.barrier({t.mask}, {t.site(op)})")


@emits("nvvm.barrier")
def _barrier_of_some(t: Translator, op: ir.Operation) -> None:
    _, threads = t.operands(op)
    t.line(f"R.barrier_of(int({threads}), {t.mask}, {t.site(op)})")


@emits("grid.barrier")
def _grid_barrier(t: Translator, op: ir.Operation) -> None:
    t.line(f"R.grid_barrier({t.mask}, {t.site(op)})")


@emits("gpu.shuffle")
def _shuffle(t: Translator, op: ir.Operation) -> None:
    kind = element_name(op.results[0].type)
    if kind not in _SHUFFLED or isinstance(op.results[0].type, ir.VectorType):
        raise t.fail(op, f"there is no shuffle of {op.results[0].type}", "bitcast and extend to i32 first")
    value, offset, width = t.operands(op)
    results = f"{t.new(op.results[0])}, {t.new(op.results[1])}"
    t.line(f'{results} = R.shuffle({value}, {offset}, {width}, "{word_of(op.attributes["mode"])}", {t.mask}, {t.site(op)})')


@emits("gpu.subgroup_reduce")
def _subgroup_reduce(t: Translator, op: ir.Operation) -> None:
    if "cluster_size" in op.attributes:
        raise t.fail(op, "a reduction of clusters of a warp", "use shuffles")
    function = REDUCTIONS.get(word_of(op.attributes["op"]))
    if function is None:
        raise t.fail(op, f"the simulator knows no reduction {word_of(op.attributes['op'])}")
    t.result(op, f"R.subgroup_reduce({t.names[op.operands[0]]}, {function}, {t.mask}, {t.site(op)})")


@emits("gpu.return", "scf.yield", "scf.condition", "memref.atomic_yield")
def _terminator(t: Translator, op: ir.Operation) -> None:
    """The op around it takes what it yields."""


@emits("scf.if")
def _if(t: Translator, op: ir.Operation) -> None:
    condition = t.names[op.operands[0]]
    results = [t.new(result) for result in op.results]
    chosen: list[list[str]] = []
    for region, test in zip(op.regions, (condition, f"np.logical_not({condition})")):
        if not len(region.blocks):
            continue
        mask, mine = t.new(prefix="m"), [t.new() for _ in results]
        chosen.append(mine)
        t.line(f"{mask} = R.narrow({t.mask}, {test})")
        for name in mine:
            t.line(f"{name} = None")
        t.line(f"if {mask} is not False:")
        with t.nested(mask):
            yielded = t.block(region.blocks[0])
            for name, value in zip(mine, yielded):
                t.line(f"{name} = {value}")
            t.line("pass")
    for result, *sides in zip(results, *chosen):
        t.line(f"{result} = select({condition}, {', '.join(sides)})")
        t.line(f"del {', '.join(sides)}")


@emits("scf.for")
def _for(t: Translator, op: ir.Operation) -> None:
    block = op.regions[0].blocks[0]
    low, high, step, *starts = t.operands(op)
    index, *carried = [t.new(argument) for argument in block.arguments]
    for name, start in zip(carried, starts):
        t.line(f"{name} = {start}")
    mask = t.new(prefix="m")
    t.line(f"for {index}, {mask} in R.count_up({low}, {high}, {step}, {t.mask}):")
    with t.nested(mask):
        yielded = t.block(block)
        _carry(t, carried, yielded, mask)
    for result, name in zip(op.results, carried):
        t.line(f"{t.new(result)} = {name}")


def _carry(t: Translator, carried: list[str], values: list[str], mask: str) -> None:
    """The loop-carried values of the next trip."""
    if not carried:
        t.line("pass")
        return
    targets = "".join(f"{name}, " for name in carried)
    t.line(f"{targets}= {', '.join(f'R.update({mask}, {new}, {old})' for new, old in zip(values, carried))},")


@emits("scf.while")
def _while(t: Translator, op: ir.Operation) -> None:
    before, after = (region.blocks[0] for region in op.regions)
    carried = [t.new(argument) for argument in before.arguments]
    results = [t.new(result) for result in op.results]
    arguments = [t.new(argument) for argument in after.arguments]
    mask = t.new(prefix="m")
    for name, start in zip(carried, t.operands(op)):
        t.line(f"{name} = {start}")
    for name in results:
        t.line(f"{name} = None")
    t.line(f"{mask} = {t.mask}")
    t.line(f"while {mask} is not False:")
    with t.nested(mask):
        condition, *passed = t.block(before)
        for result, argument, value in zip(results, arguments, passed):
            t.line(f"{result} = R.update({mask}, {value}, {result})")
            t.line(f"{argument} = {value}")
        t.line(f"{mask} = R.narrow({mask}, {condition})")
        t.line(f"if {mask} is False: break")
        _carry(t, carried, t.block(after), mask)


@emits("cf.assert")
def _assert(t: Translator, op: ir.Operation) -> None:
    t.line(f"R.require({t.names[op.operands[0]]}, {t.mask}, {str(op.attributes['msg'])!r}, {t.site(op)})")


@emits("llvm.call", "llvm.call_intrinsic")
def _opaque(t: Translator, op: ir.Operation) -> None:
    raise t.fail(op, f"{op.name} cannot be simulated", "use an op of gpu, nvgpu, vector, arith or math instead")
