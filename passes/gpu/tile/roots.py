"""Roots: what a kernel computes and keeps. Reductions, stores of results, and copies to shared memory, each in its layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes

from ...common.affine import dim_position
from ...common.axes import TileOp
from ...common.combiner import Combiner, split
from ...common.linear_index import LinearIndex
from ...common.rewriting import element_of
from ...common.storage import Storage
from ...tiled.schedules.gpu_tile_sizes import access_elements
from ..support.emit import WARP, barrier
from ..support.layout import Layout, blocked, ordered, scanned, serial
from .extents import Extent, shape_of
from .loops import nest
from .memory import NoRoom
from .reduce import emit_reduction
from .scan import emit_scan, scan_combiner
from .tensor_reads import TensorRead, accesses, accesses_of, address_strides, hero, loop_strides, memory_order
from .tile_values import TileValues
from .values import Empty, Output, Reduced, View

REGISTERS = 32
"""Elements that a thread holds of one value."""
MOST_KEPT = 64
"""Results of a reduction that a thread holds at once."""
SERIAL_REGISTERS = 16
"""Elements that a thread unrolls where it reduces for itself."""


class Roots:
    """Chooses the layouts of a tile's roots (`layouts`, by name) and emits them."""

    def __init__(self, tile: TileValues, function: ir.Operation):
        self.tile = tile
        self.layouts: dict[str, Layout] = {}
        self._reductions: dict[tuple, Layout] = {}
        self._vector = access_elements(function)

    def reduce(self, op: TileOp, extents: list[Extent], narrow: bool, written: Mapping[int, list[Storage]]) -> list[Reduced | Empty]:
        """Emits a reduction; results that have an element for each step go where `written` says."""
        bounds = [e.bound for e in extents]
        reduced = frozenset(d for d, parallel in enumerate(op.parallel) if not parallel)
        scan = None if written else scan_combiner(op)
        if scan is not None:
            return self._scan(op, extents, narrow, scan)
        combiner = split(op.op.regions[0].blocks[0], len(op.inputs), len(op.inits))
        found = accesses(self.tile.env, op)
        most = hero(found, bounds)
        order = memory_order(most.strides, bounds) if most is not None else list(reversed(range(len(bounds))))
        outputs = prod(n for d, n in enumerate(bounds) if d not in reduced)
        warps = self.tile.threads.warps
        along = [d for d in reduced if bounds[d] > 1]
        in_order = combiner is None or not combiner.commutative
        if combiner is None or outputs >= WARP * warps or (in_order and len(along) > 1):
            out = [d for d in map(dim_position, op.output_maps[0].results) if d is not None]
            kept = list(reversed(out)) + [d for d in range(len(bounds)) if d not in out]
            vector = self._fit(extents, kept[0], narrow, outputs) if out else 1
            layout = serial(bounds, kept, vector=vector, warps=warps, registers=SERIAL_REGISTERS, reduced=reduced, in_order=in_order)
        elif in_order and along:
            layout = ordered(bounds, along[0], warps=warps)
        else:
            vector = self._fit(extents, order[0], narrow, prod(bounds)) if order else 1
            layout = blocked(bounds, order, vector=vector, warps=warps, registers=REGISTERS, reduced=reduced)
            self._reductions.setdefault((tuple(extents), tuple(order)), layout)
        if not written and _kept_registers(layout, reduced) > MOST_KEPT:
            raise NoRoom
        self._name("reduction", layout)
        return emit_reduction(self.tile, op, layout, extents, combiner, written)

    def _scan(self, op: TileOp, extents: list[Extent], narrow: bool, combiner: Combiner) -> list[Reduced | Empty]:
        bounds = [e.bound for e in extents]
        most = hero(accesses(self.tile.env, op), bounds)
        order = memory_order(most.strides, bounds) if most is not None else []
        order += [d for d in reversed(range(len(bounds))) if d not in order]
        vector = self._fit(extents, order[0], narrow, prod(bounds))
        layout = scanned(bounds, order, op.parallel.index(False), vector=vector, warps=self.tile.threads.warps)
        self._name("scan", layout)
        return emit_scan(self.tile, op, layout, extents, combiner)

    def store(self, outputs: list[Output], narrow: bool) -> None:
        """Stores values of equal extents."""
        extents = outputs[0].extents
        layout = self._store_layout(outputs, extents, narrow)
        lanes = layout.vector[1]
        self._name("result", layout)
        own = self.tile.threads.owner(layout)

        def inside(ivs: dict[int, LinearIndex], carried: list[ir.Value]) -> list[ir.Value]:
            for key in layout.keys():
                indices = [self.tile.threads.index(layout, d, e, key[d], ivs) for d, e in enumerate(extents)]
                mask = self.tile.threads.both(own, self.tile.threads.mask(layout, extents, key, ivs))
                with self.tile.threads.where(mask):  # reads too: where an input shares the buffer, others may have written it
                    values = [self.tile.materialise(self.tile.read(o.tensor, indices, lanes), lanes) for o in outputs]
                    for output, value in zip(outputs, values):
                        for destination in output.destinations:
                            self.tile.memory.store(value, destination, destination.address(indices), lanes)
            return []

        nest(self.tile.memo, layout, [], inside)

    def _store_layout(self, outputs: list[Output], extents: list[Extent], narrow: bool) -> Layout:
        bounds = [e.bound for e in extents]
        identity = loop_strides(len(bounds))
        found = [a for o in outputs for a in accesses_of(self.tile.env, o.tensor, identity)]
        destination = address_strides(outputs[0].destinations[0], identity)
        order = memory_order(destination, bounds)
        inherited = self._inherited(found, bounds) or self._reductions.get((tuple(extents), tuple(order)))
        if inherited is not None:
            self.tile.may_narrow = False
            return inherited
        vector = self._fit(extents, order[0], narrow, prod(bounds)) if order else 1
        return blocked(bounds, order, vector=vector, warps=self.tile.threads.warps, registers=REGISTERS)

    def _inherited(self, found: list[TensorRead], bounds: list[int]) -> Layout | None:
        """The layout of a reduction's result that lies along all dimensions."""
        wanted = {d for d, n in enumerate(bounds) if n > 1}
        for access in found:
            if not isinstance(access.value, Reduced) or not wanted <= access.loops():
                continue
            places = [e.bound for e in shape_of(access.tensor)]  # of `d mod n` the steps are those of `d`
            at = [
                next((i for i, steps in enumerate(access.indices) if steps.terms == {d: 1} and places[i] == bounds[d]), None)
                for d in range(len(bounds))
            ]
            if all(at[d] is not None for d in wanted):
                return access.value.layout.project([at[d] if d in wanted else None for d in range(len(bounds))])
        return None

    def share(self, tensor: ir.Value) -> None:
        """Copies a value to shared memory, where every thread of the block may read it."""
        value, extents = self.tile.env[tensor], shape_of(tensor)
        bounds = tuple(e.bound for e in extents)
        if isinstance(value, Reduced):
            layout, element = value.layout, element_of(tensor)
        else:
            assert isinstance(value, View)
            element = value.storage.element
            order = memory_order(address_strides(value.storage, loop_strides(len(bounds))), list(bounds))
            vector = self._fit(extents, order[0], False, prod(bounds))
            layout = blocked(bounds, order, vector=vector, warps=self.tile.threads.warps, registers=REGISTERS)
            value.staged = True
        pad = max(1, 4 // element_bytes(element)) if len(bounds) > 1 else 0
        storage = self.tile.memory.shared(bounds, element, pad)
        self._name("shared", layout)
        lanes = layout.vector[1]
        own = self.tile.threads.owner(layout)

        def inside(ivs: dict[int, LinearIndex], carried: list[ir.Value]) -> list[ir.Value]:
            for key in layout.keys():
                indices = [self.tile.threads.index(layout, d, e, key[d], ivs) for d, e in enumerate(extents)]
                read = self.tile.materialise(self.tile.read(tensor, indices, lanes), lanes)
                with self.tile.threads.where(self.tile.threads.both(own, self.tile.threads.mask(layout, extents, key, ivs))):
                    self.tile.memory.store(read, storage, storage.address(indices), lanes)
            return []

        nest(self.tile.memo, layout, [], inside)
        barrier()
        self.tile.env[tensor] = View(storage, staged=True)

    def _fit(self, extents: Sequence[Extent], dim: int, narrow: bool, points: int) -> int:
        """How many elements along `dim` a thread takes at once: as many as 16 bytes hold, if over half of the threads then have any."""
        if narrow:
            return 1
        vector = self._vector
        while vector > 1 and (extents[dim].divisor % vector or 2 * points <= WARP * self.tile.threads.warps * vector):
            vector //= 2
        return vector

    def _name(self, kind: str, layout: Layout) -> None:
        number = sum(name.startswith(kind) for name in self.layouts)
        self.layouts[f"{kind}_{number}"] = layout


def _kept_registers(layout: Layout, reduced: frozenset[int]) -> int:
    """Results that each thread holds."""
    dim, lanes = layout.vector
    kept = [layout.count(d, "r") for d in range(len(layout.dims)) if d not in reduced]
    return prod(kept) * (lanes if dim not in reduced else 1)
