"""The results of a loop as tiles: which dimensions a tile lies over, and the scalars of each of its elements.

Results that need each other are one part, a nest over the dimensions of the largest; a result that is the same for all of its elements (a
counter, a key) and is wanted after the loop is a part of its own. A short dimension along which the body mixes elements is no dimension of
the tile: each of its elements is a scalar, which the tile's elements would else compute each for itself. What is written turn by turn
(streams.py) has the turns as one more dimension.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.index_expression import ZERO, Expr, Point, loop
from ...stablehlo.rules.loops import find_counter
from ..planner.codes import Code
from .nodes import Loop, Node
from .rules import follow
from .streams import Stream, stream_of
from .trace import Obstacle, Tracer, used_results
from .work import work_of_turn

MOST_APART = 16
"""A longer dimension is one of the tile."""
LESS = 5
"""A dimension that could be one of the tile is none where that saves one op in so many: its elements are then put together."""


@dataclass
class Part:
    """`extents` of the tile's loops. `roots[result]`: its elements' nodes, one for each index of the dimensions that are none of the tile;
    `axes[result]`: the loop of each of its dimensions, None for those; the turns are the loop behind the tile's. `streams`: results that
    are written turn by turn."""

    tracer: Tracer
    extents: list[int]
    roots: dict[int, list[tuple[Point, Node]]] = field(default_factory=dict)
    axes: dict[int, list[int | None]] = field(default_factory=dict)
    streams: dict[int, Stream] = field(default_factory=dict)

    @property
    def points(self) -> int:
        return prod(self.extents)

    def vectors(self, lanes: int) -> int:
        """What vectors of so many lanes compute in a turn."""
        varying, same = work_of_turn(self.tracer.nodes, self.outer)
        return -(-self.points // lanes) * varying + same

    @property
    def down(self) -> bool:
        """Whether what is written turn by turn is written from the last row on."""
        return any(stream.down for stream in self.streams.values())

    @property
    def turns_are_alike(self) -> bool:
        """Whether what is written turn by turn needs nothing of other turns: these are a loop of the nest like the others."""
        counter = find_counter(self.outer.op)
        return bool(self.streams) and counter is not None and all(carry == counter.index for carry, _ in self.outer.slots)

    @property
    def outer(self) -> Loop:
        return self.tracer.outer


class _Results:
    """A while's results: their shapes, without the turns."""

    def __init__(self, op: ir.Operation):
        self.op, self.used = op, used_results(op)
        self.streams = {n: stream for n in self.used if (stream := stream_of(op, n)) is not None}

    def shape(self, number: int) -> tuple[int, ...]:
        shape = ir.RankedTensorType(self.op.results[number].type).shape
        return tuple(extent for d, extent in enumerate(shape) if number not in self.streams or d != self.streams[number].dim)


def parts_of(op: ir.Operation) -> list[Part]:
    """The parts of a while's results that are used. Raises Obstacle where an element needs too much of others."""
    results = _Results(op)
    left, found = list(results.used), []
    while left:
        first = max(left, key=lambda n: (prod(results.shape(n)), -n))
        part = _part(results, first)
        for number in left:
            if number != first:
                _join(part, results, number, first)
        left = [n for n in left if n not in part.roots]
        found.append(part)
    return found


def _part(results: _Results, number: int) -> Part:
    """The part that result `number` is the largest of: with as many of its dimensions in the tile as can be, but of a CPU's vectors fewer
    where they then compute less."""
    shape, target = results.shape(number), target_of(results.op)
    short = sorted((d for d, extent in enumerate(shape) if 1 < extent <= MOST_APART), key=lambda d: (shape[d], d))
    refused: Obstacle | None = None
    found: Part | None = None
    for count in range(len(short) + 1):
        apart = short[:count]
        tiled = [d for d, extent in enumerate(shape) if extent > 1 and d not in apart]
        if prod(shape[d] for d in apart) > MOST_APART or (found is not None and not (tiled and target.kind == "cpu" and _mixes(found))):
            break
        part = Part(Tracer(results.op, follow), [shape[d] for d in tiled])
        try:
            _add(part, results, number, [tiled.index(d) if d in tiled else None for d in range(len(shape))])
        except Obstacle as obstacle:
            refused = refused or obstacle
            continue
        lanes = target.lanes(32)
        if found is None or LESS * part.vectors(lanes) <= (LESS - 1) * found.vectors(lanes):
            found = part
    if found is None:
        assert refused is not None
        raise refused
    return found


def _mixes(part: Part) -> bool:
    """Whether an element needs others of a carry: in a tile over them each would compute these for itself."""
    loop = part.outer
    return any(
        index.is_constant and extent > 1
        for carry, point in loop.slots
        for index, extent in zip(point, ir.RankedTensorType(loop.op.results[carry].type).shape)
    )


def _add(part: Part, results: _Results, number: int, axes: list[int | None]) -> None:
    """Traces a result; `axes` are the loops of its dimensions but the turns."""
    stream, tracer = results.streams.get(number), part.tracer
    points = list(_points(results.shape(number), axes))
    if stream is not None and any(other.down != stream.down for other in part.streams.values()):
        raise Obstacle(Code.LOOP_BODY, "rows are written from the first on, and from the last on", tracer.loop.results[number])
    if stream is None:
        part.roots[number], part.axes[number] = [(point, tracer.root(number, point)) for point in points], axes
        return
    wholes = [(*point[: stream.dim], ZERO, *point[stream.dim :]) for point in points]
    part.roots[number] = [(point, tracer.written(stream.row, point)) for point in wholes]
    part.axes[number] = [*axes[: stream.dim], len(part.extents), *axes[stream.dim :]]
    part.streams[number] = stream


def _points(shape: Sequence[int], axes: Sequence[int | None]) -> Iterator[Point]:
    """The indices of a result over the tile: all of the dimensions that are none of the tile's."""
    choices = [[loop(axis, extent)] if axis is not None else list(map(Expr, range(extent))) for axis, extent in zip(axes, shape)]
    return itertools.product(*choices)


def _join(part: Part, results: _Results, number: int, first: int) -> None:
    """Adds a result that the tile has anyway, or that has the shape of its first."""
    own = results.shape(number)
    if own == results.shape(first):
        axes = [axis for axis in part.axes[first] if axis != len(part.extents)]
    else:
        every = set(range(len(part.extents)))
        point = next((p for carry, p in part.outer.slots if carry == number and {i.dim for i in p} - {None} == every), None)
        if point is None or not part.extents or number in results.streams:
            return
        axes = [index.dim for index in point]
    if prod(extent for axis, extent in zip(axes, own) if axis is None) > MOST_APART:
        return
    try:
        _add(part, results, number, list(axes))
    except Obstacle:
        part.roots.pop(number, None)
