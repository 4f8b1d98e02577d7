"""Reductions over a tile: in registers, then over the places of a vector, the lanes of a warp and the warps of a block.

In a spread layout several threads share a reduced dimension: each combines what it holds, then xor shuffles, then slots in shared memory
combine the threads' partial results, and the initial value is folded in once. In a serial layout each thread reduces for itself, from the
initial value on, by the body as it stands. A result that has an element for each step is stored as the steps go by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.affine import dim_position, loop_of
from ...common.axes import TileOp
from ...common.combiner import Combiner, goes_down
from ...common.linear_index import LinearIndex
from ...common.rewriting import ops_in
from ...common.storage import Storage
from ...common.vectors import from_lanes, is_vector, lane_of, widened
from ..support.emit import WARP, barrier, shuffle
from ..support.layout import Factor, Key, Layout
from .body import ThreadBody
from .extents import Extent
from .loops import nest
from .tile_values import TileValues
from .values import Empty, Reduced

_MOST_READ = 32
"""Partial results that a thread reads for itself where warps share results."""
Partials = dict[Key, list[ir.Value]]
"""The accumulators of each register of the kept dimensions."""


def emit_reduction(
    tile: TileValues, op: TileOp, layout: Layout, extents: list[Extent], combiner: Combiner | None, written: Mapping[int, list[Storage]]
) -> list[Reduced | Empty]:
    """Reduces `op` in `layout`; without a combiner, no dimension that is reduced may be shared by threads. `written`: where the results go
    that have an element for each step."""
    return Reduction(tile, op, layout, extents, combiner, written).emit()


class Reduction:
    """Emits a reduction; scans (scan.py) are made of the same parts."""

    def __init__(
        self,
        tile: TileValues,
        op: TileOp,
        layout: Layout,
        extents: list[Extent],
        combiner: Combiner | None,
        written: Mapping[int, list[Storage]],
    ):
        self.tile, self.op, self.layout, self.extents, self.combiner, self.written = tile, op, layout, extents, combiner, written
        self.reduced = [d for d, parallel in enumerate(op.parallel) if not parallel]
        self.block = op.op.regions[0].blocks[0]
        self.totals = [n for n in range(len(op.inits)) if n not in written]
        self.accumulators = [self.block.arguments[len(op.inputs) + n] for n in self.totals]
        self.lanes = layout.vector[1]

    def emit(self) -> list[Reduced | Empty]:
        spread = self.combiner is not None and any(self.layout.spread(d) for d in self.reduced)
        kept = sorted({self._kept(key) for key in self.layout.keys()})
        loops = any(self.layout.count(d, "s") > 1 for d in self.reduced)
        start = {key: self._start(key, spread) for key in kept} if loops or not spread else {}
        step = self._combine_elements if spread else self._run_body

        def inside(ivs: dict[int, LinearIndex], carried: list[ir.Value]) -> list[ir.Value]:
            parts = _unflatten(start, carried)
            for key in self.layout.keys():
                indices = [self._index(d, key, ivs) for d in range(len(key))]
                values = step(key, indices, ivs, parts.get(self._kept(key)))
                self._write(key, indices, ivs, values)
                parts[self._kept(key)] = [values[n] for n in self.totals]
            return [v for key in kept for v in parts[key]]

        flat = nest(self.tile.memo, self.layout, [v for parts in start.values() for v in parts], inside)
        width = len(self.accumulators)
        parts = {key: flat[i * width : (i + 1) * width] for i, key in enumerate(kept)}
        if spread:
            parts = self._across_threads(parts)
        return self._results(parts)

    def _write(self, key: Key, indices: list[LinearIndex], ivs: dict[int, LinearIndex], values: list[ir.Value]) -> None:
        """Stores what has an element for this step."""
        if not self.written:
            return
        threads = self.tile.threads
        with threads.where(threads.both(threads.owner(self.layout), threads.mask(self.layout, self.extents, key, ivs))):
            for number, places in self.written.items():
                at = [indices[loop_of(e)] for e in self.op.output_maps[number].results]
                for place in places:
                    self.tile.memory.store(values[number], place, place.address(at), self.lanes)

    def _kept(self, key: Key) -> Key:
        return tuple(0 if d in self.reduced else k for d, k in enumerate(key))

    def _index(self, dim: int, key: Key, ivs: dict[int, LinearIndex]) -> LinearIndex:
        index = self.tile.threads.index(self.layout, dim, self.extents[dim], key[dim], ivs)
        down = dim in self.reduced and goes_down(self.op.op)
        return LinearIndex(constant=self.extents[dim].bound - 1) - index if down else index

    def _out_indices(self, result: int, key: Key) -> list[LinearIndex]:
        dims = [dim_position(e) for e in self.op.output_maps[result].results]
        return [LinearIndex() if d is None else self._index(d, key, {}) for d in dims]

    def _initial(self, key: Key, lanes: int) -> list[ir.Value]:
        found = []
        for number in self.totals:
            tensor = self.op.inits[number]
            read = self.tile.read(tensor, self._out_indices(number, key), lanes)
            found.append(self.tile.materialise(read, lanes))
        return found

    def _start(self, key: Key, spread: bool) -> list[ir.Value]:
        if not spread:
            return [widened(v, self._kept_lanes()) for v in self._initial(key, self.lanes)]
        assert self.combiner is not None
        # StableHLO's initial values are identities of the reduction, so they serve where the combining op is none that we know
        values = self.combiner.neutral() or self._initial(key, self.lanes)
        return [widened(v, self.lanes) for v in values]

    def _kept_lanes(self) -> int:
        return 1 if self.layout.vector[0] in self.reduced else self.lanes

    def _run_body(self, key: Key, indices: list[LinearIndex], ivs: dict[int, LinearIndex], parts: list[ir.Value] | None) -> list[ir.Value]:
        ops = ops_in(self.block)
        body = ThreadBody(self.tile, self.op, indices, self.lanes, dict(zip(self.accumulators, parts or [])))
        body.run(ops[:-1])
        return [widened(body.value(v), self.lanes) for v in ops[-1].operands]

    def _combine_elements(
        self, key: Key, indices: list[LinearIndex], ivs: dict[int, LinearIndex], parts: list[ir.Value] | None
    ) -> list[ir.Value]:
        assert self.combiner is not None
        body = ThreadBody(self.tile, self.op, indices, self.lanes)
        body.run(self.combiner.before)
        values = [widened(body.value(v), self.lanes) for v in self.combiner.values]
        if not self.combiner.idempotent:
            values = self._mask(values, key, ivs)
        return values if parts is None else self._combine(parts, values, self.lanes)

    def _mask(self, values: list[ir.Value], key: Key, ivs: dict[int, LinearIndex]) -> list[ir.Value]:
        """Threads beyond the edge hold copies, which must not count."""
        mask = self.tile.threads.mask(self.layout, self.extents, key, ivs, self.reduced)
        if mask is None:
            return values
        nothing = self._start(self._kept(key), True)
        return [arith.select(mask, v, n) for v, n in zip(values, nothing)]

    def _combine(self, a: list[ir.Value], b: list[ir.Value], lanes: int) -> list[ir.Value]:
        assert self.combiner is not None
        given = {**dict(zip(self.accumulators, a)), **dict(zip(self.combiner.values, b))}
        body = ThreadBody(self.tile, self.op, [], lanes, given)
        body.run(self.combiner.ops)
        return [widened(body.value(v), lanes) if any(map(is_vector, [*a, *b])) else body.value(v) for v in self.combiner.returned]

    def _across_threads(self, parts: Partials) -> Partials:
        lanes = self.lanes
        if self.layout.vector[0] in self.reduced:
            parts = {key: self._across_vector(values) for key, values in parts.items()}
            lanes = 1
        for factor in [f for d in self.reduced for f in self.layout.dims[d] if f.kind == "l"]:
            parts = {key: self._across_lanes(values, factor, lanes) for key, values in parts.items()}
        warps = [f for d in self.reduced for f in self.layout.dims[d] if f.kind == "w"]
        if warps:
            parts = self._across_warps(parts, warps, lanes)
        return {key: self._combine([widened(v, lanes) for v in self._initial(key, lanes)], values, lanes) for key, values in parts.items()}

    def _across_lanes(self, values: list[ir.Value], factor: Factor, lanes: int) -> list[ir.Value]:
        """Neighbours first; where the order matters, the lower lane's values stand on the left."""
        assert self.combiner is not None
        distance = 1
        while distance < factor.size:
            mine, other = values, [shuffle(v, distance * factor.stride) for v in values]
            if not self.combiner.commutative:
                upper = self.tile.threads.part(Factor("l", 2, distance * factor.stride))
                swap = self.tile.threads.compare(CmpIPredicate.eq, upper, LinearIndex(constant=1))
                pairs = [(m, o, arith.select(swap, o, m)) for m, o in zip(mine, other)]
                mine, other = [low for _, _, low in pairs], [arith.select(swap, m, o) for m, o, _ in pairs]
            values = self._combine(mine, other, lanes)
            distance *= 2
        return values

    def _across_vector(self, values: list[ir.Value]) -> list[ir.Value]:
        return self._tree([[lane_of(v, j) for v in values] for j in range(self.lanes)], 1)

    def _tree(self, rows: list[list[ir.Value]], lanes: int) -> list[ir.Value]:
        while len(rows) > 1:
            pairs = [self._combine(a, b, lanes) for a, b in zip(rows[::2], rows[1::2])]
            rows = pairs + rows[len(pairs) * 2 :]
        return rows[0]

    def _across_warps(self, parts: Partials, factors: list[Factor], lanes: int) -> Partials:
        """Each warp leaves its partial results in slots of its own, and reads those of the warps that share its result."""
        if prod(f.size for f in factors) * len(parts) * lanes > _MOST_READ and self._all_warps_differ():
            return self._dealt_out(parts, factors, lanes)
        read = self._in_slots(parts, lanes)
        first = self.tile.threads.numbers["w"]
        for factor in factors:
            first = first - self.tile.threads.part(factor) * factor.stride
        others = [sum(c * f.stride for c, f in zip(cs, factors)) for cs in product(*(range(f.size) for f in factors))]
        return {key: self._tree([read(number, first + other) for other in others], lanes) for number, key in enumerate(parts)}

    def _dealt_out(self, parts: Partials, factors: list[Factor], lanes: int) -> Partials:
        """Warps that share results each combine some of them for all: a lane reads the partial result of one warp."""
        threads, memory = self.tile.threads, self.tile.memory
        own, place, places = self._places()
        order, sharing = self._mixed(factors)
        group, groups = self._mixed([f for d, fs in enumerate(self.layout.dims) if d not in self.reduced for f in fs if f.kind == "w"])
        results, line = groups * len(parts) * lanes * places, sharing + 1  # lines that begin in different banks
        slots, totals = ([memory.shared((results * each,), a.type) for a in self.accumulators] for each in (line, 1))

        def result(number: int, lane: int) -> LinearIndex:
            return place + (group * (len(parts) * lanes) + (number * lanes + lane)) * places

        with threads.where(own):
            for number, values in enumerate(parts.values()):
                for value, buffer in zip(values, slots):
                    for lane in range(lanes):
                        memory.store(lane_of(value, lane), buffer, result(number, lane) * line + order, 1)
        barrier()
        along, across = Factor("l", sharing, 1), Factor("l", WARP // sharing, sharing)
        mine, at_once = threads.numbers["w"] * across.size + threads.part(across), threads.warps * across.size
        first_lane = threads.owner(Layout(((across,), (Factor("w", threads.warps),))))
        for first in range(0, results, at_once):
            at, last, all_inside = mine + first, LinearIndex(constant=results - 1), first + at_once <= results
            read = at if all_inside else threads.indices.clamp(at, last)
            combined = self._across_lanes([memory.load(buffer, read * line + threads.part(along), 1) for buffer in slots], along, 1)
            inside = None if all_inside else threads.compare(CmpIPredicate.sle, at, last)
            with threads.where(threads.both(inside, first_lane)):
                for value, buffer in zip(combined, totals):
                    memory.store(value, buffer, at, 1)
        barrier()
        return {
            key: [from_lanes([memory.load(buffer, result(number, lane), 1) for lane in range(lanes)]) for buffer in totals]
            for number, key in enumerate(parts)
        }

    def _all_warps_differ(self) -> bool:
        """Whether no two warps hold the same elements."""
        return prod(f.size for fs in self.layout.dims for f in fs if f.kind == "w") == self.tile.threads.warps

    def _mixed(self, factors: Sequence[Factor]) -> tuple[LinearIndex, int]:
        """This thread's coordinates of these factors as one number, the last varying fastest; how many there are."""
        number, count = LinearIndex(), 1
        for factor in factors:
            number, count = number * factor.size + self.tile.threads.part(factor), count * factor.size
        return number, count

    def _places(self) -> tuple[ir.Value | None, LinearIndex, int]:
        """Which threads of a warp hold results that no other of its threads holds; which of these a thread is, of how many."""
        kept_lanes = [f for d, fs in enumerate(self.layout.dims) if d not in self.reduced for f in fs if f.kind == "l"]
        place, places = self._mixed(kept_lanes[::-1])
        return self.tile.threads.owner(Layout(((*kept_lanes,), (Factor("w", self.tile.threads.warps),)))), place, places

    def _in_slots(self, parts: Partials, lanes: int) -> Callable[[int, LinearIndex], list[ir.Value]]:
        """Brings each warp's partial results to shared memory; gives what reads those of that number, of a warp."""
        threads, memory = self.tile.threads, self.tile.memory
        own, place, places = self._places()
        slots = [memory.shared((len(parts) * lanes * threads.warps * places,), a.type) for a in self.accumulators]

        def slot(number: int, lane: int, of: LinearIndex) -> LinearIndex:
            return (of + (number * lanes + lane) * threads.warps) * places + place

        with threads.where(own):
            for number, values in enumerate(parts.values()):
                for value, buffer in zip(values, slots):
                    for lane in range(lanes):
                        memory.store(lane_of(value, lane), buffer, slot(number, lane, threads.numbers["w"]), 1)
        barrier()
        return lambda number, of: [
            from_lanes([memory.load(buffer, slot(number, lane, of), 1) for lane in range(lanes)]) for buffer in slots
        ]

    def _results(self, parts: Partials) -> list[Reduced | Empty]:
        lanes = self._kept_lanes()
        found: list[Reduced | Empty] = [Empty()] * len(self.op.output_maps)
        for number, result in enumerate(self.totals):
            out = self.op.output_maps[result]
            reduced = Reduced(self.op, result, self.layout.project([dim_position(e) for e in out.results]))
            for key, values in parts.items():
                indices = self._out_indices(result, key)
                several = lanes if any(i.lanes for i in indices) else 1
                reduced.values[tuple(indices), several] = widened(values[number], several)
            found[result] = reduced
        return found


def _unflatten(start: Partials, carried: list[ir.Value]) -> Partials:
    rest = iter(carried)
    return {key: [next(rest) for _ in values] for key, values in start.items()}
