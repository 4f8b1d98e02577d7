"""What a group that is made of others is priced at."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView

from ...common.rewriting import element_of, i64_attr, integer, kind_of, walk
from ..planner.cost import SECOND, kernel_ps
from .chain import CONTRACTION_KINDS, returned

Figures = tuple[int, int, int]
"""Time, bytes and flops."""


def figures_of(function: ir.Operation, parts: Sequence[ir.Operation], target: TargetView, share: float) -> Figures:
    """The arithmetic of the parts, `share` of it, of which contractions go at the rate of what they multiply; what the group reads and
    writes."""
    moved = bytes_moved(function)
    flops = [round(share * integer(part, "hloom.flops")) for part in parts]
    rate = max(1, target.peak_flops(str(element_of(walk(function, "stablehlo.dot_general")[0].operands[0]))))
    products = sum(n for n, part in zip(flops, parts) if kind_of(part) in CONTRACTION_KINDS)
    arithmetic = products * SECOND // rate + (sum(flops) - products) * SECOND // target.f32_flops
    return kernel_ps(moved * SECOND // target.llc_bytes_per_second, arithmetic, target), moved, sum(flops)


def bytes_moved(function: ir.Operation) -> int:
    """What a group reads and writes."""
    return sum(byte_size(v.type) for v in (*function.regions[0].blocks[0].arguments, *returned(function).operands))


def priced(function: ir.Operation, figures: Figures) -> int:
    """Writes a contraction's figures at its group, and returns the time."""
    function.attributes["hloom.kind"] = ir.StringAttr.get("matmul")
    for key, figure in zip(("cost_ps", "bytes", "flops"), figures):
        function.attributes[f"hloom.{key}"] = i64_attr(figure)
    return figures[0]
