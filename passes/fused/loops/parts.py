"""The results of a loop as tiles: which dimensions a tile lies over, and the scalars of each of its elements.

Results that need each other are one part, a nest over the dimensions of the largest; a result that is the same for all of its elements (a
counter, a key) and is wanted after the loop is a part of its own. A short dimension along which the body mixes elements is no dimension of
the tile: each of its elements is a scalar.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from torch_mlir import ir

from ...common.index_expression import Expr, Point, loop
from .nodes import Loop, Node
from .rules import follow
from .trace import Obstacle, Tracer, used_results

MOST_APART = 16
"""A longer dimension is one of the tile."""


@dataclass
class Part:
    """`extents` of the tile's loops. `roots[result]`: its elements' nodes, one for each index of the dimensions that are none of the tile;
    `axes[result]`: the loop of each of its dimensions, None for those."""

    tracer: Tracer
    extents: list[int]
    roots: dict[int, list[tuple[Point, Node]]] = field(default_factory=dict)
    axes: dict[int, list[int | None]] = field(default_factory=dict)

    @property
    def points(self) -> int:
        return prod(self.extents)

    @property
    def loops(self) -> list[Loop]:
        return list(self.tracer.loops.values())


def parts_of(op: ir.Operation) -> list[Part]:
    """The parts of a while's results that are used. Raises Obstacle where an element needs too much of others."""
    left = used_results(op)
    found = []
    while left:
        first = max(left, key=lambda n: (prod(_shape(op, n)), -n))
        part = _part(op, first)
        for number in left:
            if number != first:
                _join(part, op, number, _shape(op, first))
        left = [n for n in left if n not in part.roots]
        found.append(part)
    return found


def _shape(op: ir.Operation, number: int) -> tuple[int, ...]:
    return tuple(ir.RankedTensorType(op.results[number].type).shape)


def _part(op: ir.Operation, number: int) -> Part:
    """The part that result `number` is the largest of: with as many of its dimensions in the tile as can be."""
    shape = _shape(op, number)
    short = sorted((d for d, extent in enumerate(shape) if 1 < extent <= MOST_APART), key=lambda d: (shape[d], d))
    refused: Obstacle | None = None
    for count in range(len(short) + 1):
        apart = short[:count]
        if prod(shape[d] for d in apart) > MOST_APART:
            break
        tiled = [d for d, extent in enumerate(shape) if extent > 1 and d not in apart]
        part = Part(Tracer(op, follow), [shape[d] for d in tiled])
        try:
            _add(part, number, shape, [tiled.index(d) if d in tiled else None for d in range(len(shape))])
            return part
        except Obstacle as obstacle:
            refused = refused or obstacle
    assert refused is not None
    raise refused


def _add(part: Part, number: int, shape: Sequence[int], axes: list[int | None]) -> None:
    roots = [(point, part.tracer.root(number, point)) for point in _points(part, shape, axes)]
    part.roots[number], part.axes[number] = roots, axes


def _points(part: Part, shape: Sequence[int], axes: Sequence[int | None]) -> Iterator[Point]:
    """The indices of a result over the tile: all of the dimensions that are none of the tile's."""
    choices = [[loop(axis, extent)] if axis is not None else list(map(Expr, range(extent))) for axis, extent in zip(axes, shape)]
    return itertools.product(*choices)


def _join(part: Part, op: ir.Operation, number: int, shape: Sequence[int]) -> None:
    """Adds a result that the tile has anyway, or that has the shape of its first."""
    own = _shape(op, number)
    if own == tuple(shape):
        axes = next(iter(part.axes.values()))
    else:
        made = part.tracer.loops[op].slots if op in part.tracer.loops else {}
        point = next((p for carry, p in made if carry == number and {i.dim for i in p} - {None} == set(range(len(part.extents)))), None)
        if point is None or not part.extents:
            return
        axes = [index.dim for index in point]
    if prod(extent for axis, extent in zip(axes, own) if axis is None) > MOST_APART:
        return
    try:
        _add(part, number, own, list(axes))
    except Obstacle:
        part.roots.pop(number, None)
