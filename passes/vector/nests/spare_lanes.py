"""The last columns of a product, where they leave half of a register or more idle: each column has several lanes, which take the steps of
the sum in turn.

    24 columns, 16 lanes:

    for k: for u: a[u][0..32) += x[u, k] * w[k, 0..24)                  two registers, eight lanes of which are idle
                                        ↓
    p[k, n, s] = w[k + s, n]                                            packed once for all rows
    for k by 2: for u: a[u][0..48) += (x[u, k], x[u, k + 1], x[u, k], …) * p[k, 0..48)         three registers for two steps
    y[u, n] = a[u][2 n] + a[u][2 n + 1]

Neighbours in x are one broadcast, which serves all registers. So many whole registers take part as the columns have beside whole blocks.

Must hold: a sum of products of floats, many rows, whose last loop is of a known number of steps and moves the one operand by one element,
the other from a row to the next. Declined: windows that reach into zeros along that loop, numbers of steps that the lanes do not divide,
and what would not become shorter by a tenth, as sums of few steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.storage import element_bytes, storage_element
from hloom.dialects.target import TargetView

from ...common.contraction import summed_product
from ...common.control_flow import nest_each
from ...common.linear_index import LinearIndex
from ...common.lines import LEAST_ROWS
from ...common.rewriting import value_of
from ...common.spare_columns import SpareColumns, spare_columns
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from ...common.vectors import in_turn, static_mask, vector_of, widened
from .body import Captured, LanesBody
from .lanes import Lanes, Rep
from .nests import point_indices
from .packing import Scratch, summed, unless_repeated
from .partial_sums import float_that_is_summed
from .windows import Taps, windows_of
from .work import Work, stride_along


@dataclass(frozen=True)
class SpareLanes(Lanes):
    """`count` columns, each in so many lanes (`together`) side by side, which take steps of the sum in turn."""

    together: int = 1

    @property
    def columns(self) -> Lanes:
        return Lanes(self.count, self.mask)

    def type(self, element: ir.Type) -> ir.Type:
        return vector_of(self.count * self.together, element)

    def widen(self, rep: Rep) -> ir.Value:
        return widened(rep.value() if isinstance(rep, LinearIndex) else rep, self.count * self.together)

    def load(self, storage: Storage, address: LinearIndex | ir.Value) -> ir.Value:
        """What is packed for the lanes; of an operand that is the same in all columns, the elements of so many steps."""
        assert isinstance(address, LinearIndex)
        length = self.count * self.together if address.lanes else self.together
        kind = vector_of(length, storage_element(storage.element))
        read = value_of("vector.load", kind, [storage.base, address.uniform().address_in(storage.base)])
        return read if address.lanes else vector.shuffle(read, read, [*range(self.together)] * self.count)

    def folded(self, total: ir.Value) -> ir.Value:
        """The sum of each column's lanes. All lanes add their neighbours: sums of pairs alone LLVM makes horizontal additions, which reach
        half of the registers, and keeps the sums of a block in these."""
        lanes, apart = range(self.count * self.together), 1
        while apart < self.together:
            total = arith.addf(total, vector.shuffle(total, total, [lane ^ apart for lane in lanes]))
            apart *= 2
        return vector.shuffle(total, total, [*lanes][:: self.together])


@dataclass(frozen=True)
class SharedColumns:
    """What of a product is `spare`: columns up to `end` along the loop `vector`, of input `number`, with steps along the loop `depth`."""

    spare: SpareColumns
    vector: int
    depth: int
    number: int
    end: int
    one: int

    @staticmethod
    def of(work: Work, vector: int, jam: int | None, target: TargetView) -> SharedColumns | None:
        """None where all columns are computed alike."""
        end, one, reduced = work.extents[vector], work.lanes(target), [d for d, parallel in enumerate(work.parallel) if not parallel]
        steps = [extent for extent in (work.extents[d] for d in reduced) if isinstance(extent, int)]
        if not isinstance(end, int) or not steps or len(steps) < len(reduced) or not _sums_products(work):
            return None
        last, spare = reduced[-1], spare_columns(end, steps, one, target)
        many = jam is not None and size_bound(work.extents[jam]) >= LEAST_ROWS
        if spare is None or not many or any(window.tap == last for window in windows_of(work)):
            return None
        for number, (m, source) in enumerate(zip(work.maps, work.inputs)):
            other = work.inputs[1 - number]
            if not isinstance(source, Storage) or not isinstance(other, Storage) or stride_along(m, source, vector) != 1:
                continue
            plain = not any(source.bounds) and stride_along(m, source, last) is not None
            along = [stride_along(work.maps[1 - number], other, d) for d in (vector, last)]
            panel = prod(steps) // spare.together * spare.registers * one * element_bytes(source.element)
            if plain and along == [0, 1] and panel <= target.l2_bytes // 4:
                return SharedColumns(spare, vector, last, number, end, one)
        return None

    @property
    def together(self) -> int:
        """Lanes of each column."""
        return self.spare.together

    @property
    def columns(self) -> int:
        """How many columns these are."""
        return self.end - self.spare.first

    @property
    def lanes(self) -> int:
        """Of all these columns, and those that are idle."""
        return self.spare.registers * self.one

    def parts(self) -> list[tuple[LinearIndex, SpareLanes]]:
        """The first column and the lanes of each register."""
        wide, found = self.one // self.together, []
        for first in range(self.spare.first, self.end, wide):
            live = min(wide, self.end - first)
            mask = None if live == wide else static_mask(wide, live)
            found.append((LinearIndex(constant=first), SpareLanes(wide, mask, together=self.together)))
        return found

    def in_turns(self, steps: Taps) -> Taps:
        """The loop over those steps that the first lane of each column takes, in turns."""
        assert isinstance(steps, tuple) and isinstance(steps[0], int) and isinstance(steps[1], int)
        return steps[0] // self.together, steps[1] // self.together

    def packed(self, work: Work, fixed: dict[int, LinearIndex], captured: Captured, scratch: Scratch) -> Work:
        """Emits the copy of the rows of these columns; the work that reads it."""
        storage, m = work.inputs[self.number], work.maps[self.number]
        assert isinstance(storage, Storage)
        along = [d for d in summed(work, self.number) if d != self.depth] + [self.depth]
        outer = [size_bound(work.extents[d]) for d in along]
        whole = scratch((*outer[:-1], outer[-1] // self.together, self.lanes), storage.element)
        strides = (*whole.strides[:-2], self.lanes // self.together, self.together)
        begin = whole.offset - self.spare.first * self.together
        panel = replace(whole, offset=begin, strides=strides, sizes=(*outer, self.end))

        def address(at: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes) -> LinearIndex:
            body = LanesBody(lanes, point_indices(len(work.extents), {**fixed, **at}, self.vector, start, lanes), captured)
            found = storage.address(body.at(m))
            return found if lanes.count > 1 else found.along_lanes()

        def row(indices: list[LinearIndex]) -> None:
            *taps, turn = indices
            for start, lanes in self.parts():
                steps = [dict(zip(along, (*taps, turn * self.together + step))) for step in range(self.together)]
                rows = [lanes.columns.load(replace(storage, ahead=0), address(at, start, lanes.columns)) for at in steps]
                place = panel.address([*taps, turn * self.together, start]).along_lanes()
                Lanes(self.one).store(in_turn(rows), panel, place)

        def copy() -> None:
            nest_each([*outer[:-1], outer[-1] // self.together], row)

        if isinstance(storage.base.owner, ir.Block) and not storage.writable:
            base = address(dict.fromkeys(along, LinearIndex()), LinearIndex(), Lanes(1)).uniform()
            unless_repeated(base, scratch, copy)
        else:
            copy()
        new_map = ir.AffineMap.get(m.n_dims, 0, [ir.AffineDimExpr.get(d) for d in (*along, self.vector)])
        inputs, maps = list(work.inputs), list(work.maps)
        inputs[self.number], maps[self.number] = panel, new_map
        return replace(work, inputs=inputs, maps=maps)


def _sums_products(work: Work) -> bool:
    element = float_that_is_summed(work)
    plain = len(work.inputs) == 2 and work.block is not None and summed_product(work.block) is not None and not work.asks_for_index()
    return plain and not work.picked and element is not None and all(isinstance(s, Storage) and s.element == element for s in work.inputs)
