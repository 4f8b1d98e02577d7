"""Scans over a tile: in registers, then over the lanes of a warp and the warps of a block, and back to each element.

    values of a register, combined in turn:         p0 = v0, p1 = p0 + v1, …                     the last of them is its total
    totals of lanes, by log2(lanes) shuffles:       t = t + the total 1, 2, 4, … lanes before    what lies before a lane is the t before it
    totals of the registers, in turn:               the last lane's t of each
    totals of warps, through shared memory:         those of the warps before

Results are registers, as a reduction's are (`Reduced`): what is computed of them is computed by the thread that has them. The order of the
elements is kept: the body need not commute. The initial value of one operand is an identity of its body (common/scans.py), and stands for
what lies before the first element.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate
from torch_mlir.dialects.gpu import ShuffleMode

from ...common.axes import TileOp
from ...common.combiner import Combiner, split_scan
from ...common.linear_index import LinearIndex
from ...common.rewriting import ops_in
from ...common.vectors import from_lanes, lane_of, widened
from ..support.emit import select_each, shuffle
from ..support.layout import Factor, Key, Layout
from .body import ThreadBody
from .extents import Extent, stored_results
from .reduce import Partials, Reduction
from .tile_values import TileValues
from .values import Empty, Reduced

Totals = list[ir.Value]
"""A value for each accumulator of the scan's body."""


@dataclass(frozen=True)
class _Before:
    """What lies before some elements; in threads for which `valid` does not hold, nothing does."""

    totals: Totals
    valid: ir.Value | None = None


@dataclass(frozen=True)
class _Part:
    """A register: each of its elements and those before it, what lies before it in its warp (None: nothing), and all of both."""

    elements: list[Totals]
    before: _Before | None
    total: Totals


def scan_combiner(op: TileOp) -> Combiner | None:
    """How neighbouring parts of a scan are combined; None of what is no scan, or has to be taken in order."""
    stored = stored_results(op)
    count = len(op.inits) - len(stored)
    if not stored or stored[0] != count or op.parallel.count(False) != 1:
        return None
    block = op.op.regions[0].blocks[0]
    yielded = list(ops_in(block)[-1].operands)
    combiner = split_scan(block, len(op.inputs), count)
    return combiner if combiner is not None and all(yielded[n] in yielded[:count] for n in stored) else None


def emit_scan(tile: TileValues, op: TileOp, layout: Layout, extents: list[Extent], combiner: Combiner) -> list[Reduced | Empty]:
    """Scans `op` in `layout`, which has no loops. The totals of whole rows are no results."""
    return _Scan(tile, op, layout, extents, combiner, {n: [] for n in stored_results(op)}).emit()


class _Scan(Reduction):
    def emit(self) -> list[Reduced | Empty]:
        (self.dim,) = self.reduced
        self.along = self.layout.vector[0] == self.dim
        self.width = 1 if self.along else self.lanes
        parts: dict[Key, list[_Part]] = {}
        for key in self.layout.keys():
            parts.setdefault(self._kept(key), []).append(self._part(key))
        before = {row: self._identity(row) for row in parts}
        warps = self._factor("w")
        if warps is not None:
            before = self._warps_before({row: self._folded([part.total for part in each]) for row, each in parts.items()}, warps)
        yielded = list(ops_in(self.block)[-1].operands)
        results = {n: Reduced(self.op, n, self.layout) for n in self.written}
        for key in self.layout.keys():
            row = self._kept(key)
            part, earlier = parts[row][key[self.dim]], before[row]
            start = self._both(earlier, part.before)
            elements = [self._after(start, element) for element in part.elements]
            for number, result in results.items():
                places = [element[yielded.index(yielded[number])] for element in elements]
                indices = self._out_indices(number, key)
                several = self.lanes if any(index.lanes for index in indices) else 1
                result.values[tuple(indices), several] = from_lanes(places) if self.along else places[0]
            before[row] = _Before(self._after(earlier, part.total))
        return [results.get(n, Empty()) for n in range(len(self.op.output_maps))]

    def _factor(self, kind: str) -> Factor | None:
        return next((factor for factor in self.layout.dims[self.dim] if factor.kind == kind), None)

    def _identity(self, row: Key) -> _Before | None:
        """What lies before the first element, if that is an element: of several operands, initial values are not known to be identities."""
        if len(self.totals) > 1:
            return None
        return _Before([lane_of(value, 0) if self.along else value for value in self._start(row, True)])

    def _after(self, before: _Before | None, values: Totals) -> Totals:
        """These values and what lies before them."""
        if before is None:
            return values
        both = self._combine(before.totals, values, self.width)
        return both if before.valid is None else select_each(before.valid, both, values)

    def _both(self, first: _Before | None, second: _Before | None) -> _Before | None:
        if first is None or second is None:
            return first or second
        both = self._after(first, second.totals)
        if second.valid is None:
            return _Before(both)
        valid = None if first.valid is None else arith.ori(first.valid, second.valid)
        return _Before(select_each(second.valid, both, first.totals), valid)

    def _folded(self, totals: list[Totals]) -> Totals:
        """All of these in their order."""
        return reduce(lambda a, b: self._combine(a, b, self.width), totals)

    def _part(self, key: Key) -> _Part:
        assert self.combiner is not None
        body = ThreadBody(self.tile, self.op, [self._index(d, key, {}) for d in range(len(key))], self.lanes)
        body.run(self.combiner.before)
        values = [widened(body.value(v), self.lanes) for v in self.combiner.values]
        rows = [[lane_of(v, place) for v in values] for place in range(self.lanes)] if self.along else [values]
        elements = list(accumulate(rows, lambda a, b: self._combine(a, b, self.width)))
        lanes = self._factor("l")
        return _Part(elements, None, elements[-1]) if lanes is None else self._across_warp(elements, lanes, self._kept(key))

    def _across_warp(self, elements: list[Totals], lanes: Factor, row: Key) -> _Part:
        threads, total, distance = self.tile.threads, elements[-1], 1
        part = threads.part(lanes)
        while distance < lanes.size:
            there = threads.compare(CmpIPredicate.uge, part, LinearIndex(constant=distance))
            lower = [shuffle(value, distance * lanes.stride, ShuffleMode.UP) for value in total]
            total = self._after(_Before(lower, there), total)
            distance *= 2
        there = threads.compare(CmpIPredicate.uge, part, LinearIndex(constant=1))
        before, identity = [shuffle(value, lanes.stride, ShuffleMode.UP) for value in total], self._identity(row)
        last = threads.numbers["l"] + (LinearIndex(constant=lanes.size - 1) - part) * lanes.stride
        return _Part(
            elements,
            _Before(before, there) if identity is None else _Before(select_each(there, before, identity.totals)),
            [shuffle(value, last.value(), ShuffleMode.IDX) for value in total],
        )

    def _warps_before(self, totals: Partials, warps: Factor) -> dict[Key, _Before | None]:
        """What the warps before this one have of each row."""
        threads = self.tile.threads
        part = threads.part(warps)
        read, first = self._in_slots(totals, self.width), threads.numbers["w"] - part * warps.stride
        found = {}
        for number, row in enumerate(totals):
            before = self._identity(row)
            for warp in range(warps.size - 1):
                there = threads.compare(CmpIPredicate.ult, LinearIndex(constant=warp), part)
                before = self._both(before, _Before(read(number, first + warp * warps.stride), there))
            found[row] = before
        return found
