"""split-k: a contraction with too few tiles of results to fill a GPU sums its inner loop in parts, by blocks of their own.

Before (64 x 64 results, each of 65,536 products):
    "lhlo.fusion"(%x, %w, %r, %out) {callee = @fusion_0, …}
    func.func private @fusion_0(%x, %w, %r) -> … {
      %c = generic (i, j, k) ins(%x, %w) outs(%zero : tensor<64x64xf32>) { mulf, addf };  return tanh(%c + %r)
    }
After:
    %p = memref.view %arena[…]
    "lhlo.fusion"(%x, %w, %p) {callee = @fusion_0_part_k, …}
    "lhlo.fusion"(%r, %p, %out) {callee = @fusion_0, …}
    func.func private @fusion_0_part_k(%x, %w) -> … {
      %p = generic (s, i, j, k) ins(%x, %w at s * 2048 + k) outs(%zeros : tensor<32x64x64xf32>) { mulf, addf };  return %p
    }
    func.func private @fusion_0(%r, %p) -> … {
      %c = generic (i, j, s) ins(%p) outs(%zero : tensor<64x64xf32>) { addf };  return tanh(%c + %r)
    }

Gradients of weights are such contractions: few results, a sum over all tokens or pixels. The parts are added in their order, so that
results are the same from run to run; they stay in the type of the accumulator. Which loop is split, and into how many parts, is chosen by
the estimate of the schedules (passes/tiled/schedules/gpu_time.py) and the price of the second kernel. Buffers live from one call to the
next, behind the arena. Each split is a record.

Must hold: stage linalg, distribute-attention and split-contractions have run. Declined: targets that are no GPUs, library groups, groups
that are no one contraction, those of at most eight rows or columns, and where a second kernel costs more than it saves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.affine import index_at, to_affine
from ..common.index_expression import loops_of
from ..common.rewriting import generated_groups, i64_attr, integer, symbol_name, value_of
from ..common.rewriting import replace as replace_op
from ..fused.planner.codes import Code
from ..fused.planner.decisions import append_note
from ..linalg.lowering.generic import (
    PARALLEL,
    REDUCTION,
    Generic,
    affine_map,
    build_generic,
    dims,
    lend_extents,
    new_generic,
    read_generic,
    resized_start,
    shape_of,
)
from ..registry import register_pass
from ..tiled.emission.behind_arena import Host, hosts_of
from ..tiled.split_groups import cut_out, rewrite_calls
from .contraction.choose_kernel import estimate_of
from .contraction.contraction import ContractionGroup, read_contraction
from .contraction.epilogue import EpilogueEmitter

_MOST_PARTS = 64
_LEAST_STEPS = 64
"""Of the inner loop, in a part."""
_GAIN = 1.1
"""By how much the estimate of two kernels must be better."""
_PICOSECONDS = 10**12


@dataclass(frozen=True)
class _Split:
    """A loop of the contraction, and how many parts it is cut into."""

    loop: int
    extent: int
    parts: int


@register_pass("split-k", "sums contractions with few results in parts, by blocks of their own")
def split_k(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cuda":
        return
    with module.context, ir.Location.unknown():
        hosts = hosts_of(module)
        for group in generated_groups(module):
            _try_split(module, group, hosts, target)
        for host in hosts:
            host.finish()


def _try_split(module: ir.Operation, function: ir.Operation, hosts: list[Host], target: TargetView) -> None:
    contraction = read_contraction(function)
    if contraction is None or not EpilogueEmitter.accepts(contraction):
        return
    nest = read_generic(contraction.op)
    split = _choose(contraction, nest, target)
    if split is None:
        return
    steps, sum_ps, flops = contraction.sizes.inner, _sum_ps(contraction, split, target), integer(function, "hloom.flops", 0)
    with ir.InsertionPoint(nest.op), nest.op.location:
        parts = _in_parts(nest, split)
    cut = cut_out(function, parts, f"{symbol_name(function)}_part_k")
    if cut is None:
        raise AssertionError("the sum of the parts does not make them")
    cut.first.attributes["hloom.flops"] = i64_attr(flops)
    function.attributes["hloom.kind"], function.attributes["hloom.cost_ps"] = ir.StringAttr.get("reduce"), i64_attr(sum_ps)
    for host in hosts:
        host.begin_group()
        rewrite_calls(host, function, cut)
    names = [symbol_name(cut.first), symbol_name(function)]
    reason = f"sums of {steps} products with few results are taken in {split.parts} parts, which have a buffer"
    append_note(module, Code.SPLIT, names, reason, str(cut.types[0]))


def _choose(contraction: ContractionGroup, nest: Generic, target: TargetView) -> _Split | None:
    """The split of least time; None where the contraction as it is takes no longer."""
    sizes = contraction.sizes
    whole = estimate_of(contraction, sizes, target)
    if whole is None or whole.ps < 2 * target.launch_ps:
        return None
    best, least = None, whole.ps
    for split in _splits(nest, sizes.inner):
        parts = replace(sizes, batch=sizes.batch * split.parts, inner=sizes.inner // split.parts, work=0)
        estimate = estimate_of(contraction, parts, target)
        if estimate is None:
            continue
        time = estimate.ps + _sum_ps(contraction, split, target)
        if time < least:
            best, least = split, time
    return best if _GAIN * least < whole.ps else None


def _splits(nest: Generic, inner: int) -> Iterator[_Split]:
    for loop, (extent, kind) in enumerate(zip(nest.extents, nest.iterators)):
        if kind == REDUCTION:
            for parts in range(2, min(_MOST_PARTS, extent, inner // _LEAST_STEPS) + 1):
                if extent % parts == 0:
                    yield _Split(loop, extent, parts)


def _sum_ps(contraction: ContractionGroup, split: _Split, target: TargetView) -> int:
    """What the second kernel takes, and writing the parts: they stay in the last cache where it has room."""
    sizes = contraction.sizes
    size = split.parts * sizes.batch * sizes.rows * sizes.cols * element_bytes(contraction.accumulator)
    rate = target.llc_bytes_per_second if size < target.llc_bytes else target.dram_bytes_per_second
    return target.launch_ps + 2 * size * _PICOSECONDS // rate


def _in_parts(nest: Generic, split: _Split) -> ir.Value:
    """The sums of the parts, from which the contraction's result is made now."""
    extents = [split.parts, *nest.extents]
    extents[1 + split.loop] = split.extent // split.parts
    part, *point = loops_of(extents)
    point[split.loop] = part * extents[1 + split.loop] + point[split.loop]
    maps = [[to_affine(index_at(expression, point)) for expression in indexing.results] for indexing in nest.maps]
    maps[-1].insert(0, to_affine(part))
    start = resized_start(nest.outs[0], [split.parts, *shape_of(nest.outs[0])])
    assert start is not None, "contractions start from a fill"
    iterators, combiner = [PARALLEL, *nest.iterators], nest.terminator.operands[0].owner.operation.name
    made = new_generic(nest.inputs, [start], [affine_map(len(extents), each) for each in maps], iterators)
    nest.block.append_to(made.regions[0])
    parts = lend_extents(made, extents).results[0]
    replace_op(nest.op, [_sum(parts, nest.outs, combiner)])
    return parts


def _sum(parts: ir.Value, outs: list[ir.Value], combiner: str) -> ir.Value:
    """The sum of the parts along their first dimension, in their order."""
    rank = len(shape_of(parts))

    def body(part: ir.Value, total: ir.Value) -> list[ir.Value]:
        return [value_of(combiner, total.type, [total, part])]

    source, result = affine_map(rank, dims([rank - 1, *range(rank - 1)])), affine_map(rank, dims(range(rank - 1)))
    return build_generic([parts], outs, [source, result], [*[PARALLEL] * (rank - 1), REDUCTION], body).results[0]
