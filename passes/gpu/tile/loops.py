"""Sequential loops of a layout."""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from ...common.control_flow import loop
from ...common.linear_index import LinearIndex
from ..support.layout import Layout
from .indices import Memo

Inside = Callable[[dict[int, LinearIndex], list[ir.Value]], list[ir.Value]]
"""What a loop does, given the loops' indices by dimension and the values carried; returns what is carried on."""


def nest(memo: Memo, layout: Layout, carried: list[ir.Value], inside: Inside) -> list[ir.Value]:
    """Runs `inside` within one loop for each dimension that has a sequential factor."""
    return nest_over(memo, [(d, layout.count(d, "s")) for d in range(len(layout.dims)) if layout.count(d, "s") > 1], carried, inside)


def nest_over(memo: Memo, trips: list[tuple[int, int]], carried: list[ir.Value], inside: Inside) -> list[ir.Value]:
    """Runs `inside` within loops over (dimension, trips), the outermost first."""
    return _loop(memo, trips, {}, carried, inside)


def _loop(memo: Memo, trips: list[tuple[int, int]], ivs: dict[int, LinearIndex], carried: list[ir.Value], inside: Inside) -> list[ir.Value]:
    if not trips:
        return inside(ivs, carried)
    (dim, count), *rest = trips

    def body(index: LinearIndex, values: list[ir.Value]) -> list[ir.Value]:
        with memo.scope():
            return _loop(memo, rest, {**ivs, dim: index}, values, inside)

    return loop(0, count, 1, carried, body)
