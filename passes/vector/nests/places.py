"""Reads at places that are known while code is emitted: lanes whose places lie close together are a load and a shuffle, no gather.

    %p = extract %table[%lane]                              v = vector.load %x[first]
    %y = tensor.extract %x[%row, clamp(index_cast %p)]      y = vector.shuffle v, [places - first]

The places come from a short constant, at the constant starts of the vector loop's chunks, which are emitted one by one; what clamps and
scales them is computed here. Or from where each lane is in a block of short rows (short_rows.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import vector

from hloom.dialects.storage import storage_element

from ...common.linear_index import LinearIndex
from ...common.rewriting import integer
from ...common.scalar_body import linear
from ...common.storage import Storage, loaded
from ...common.vectors import is_vector, mask_of, vector_of
from .comparisons import PREDICATES
from .lanes import Lanes, Place, Rep

MOST_REGISTERS = 4
"""Places that span more registers are gathered."""

FOLDS: dict[str, Callable[..., np.ndarray]] = {
    "arith.index_cast": lambda x: x, "arith.index_castui": lambda x: x, "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
}  # fmt: skip


_HOLDS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip


@dataclass
class Places:
    """The vectors of integers of one body that are known, as far as they differ between lanes."""

    lanes: Lanes

    def __post_init__(self) -> None:
        self._known: dict[ir.Value, Place] = {} if self.lanes.block is None else dict(self.lanes.block.places)

    @property
    def _size(self) -> int:
        return self.lanes.count if self.lanes.block is None else self.lanes.block.size

    @property
    def _part(self) -> np.ndarray | slice:
        return slice(None) if self.lanes.block is None else self.lanes.block.part

    def entry(self, storage: Storage, address: Rep) -> ir.Value | None:
        """The elements of a constant from a constant address on, as a constant; None where one of them is not known."""
        if not storage.table or self.lanes.count == 1 or not isinstance(address, LinearIndex) or address.terms or address.lanes != 1:
            return None
        last = len(storage.table) - 1  # a lane beyond it is not live
        numbers = np.array([storage.table[min(address.constant + lane, last)] for lane in range(self.lanes.count)])
        return self._made(Place(LinearIndex(), numbers), storage.element)

    def fold(self, name: str, element: ir.Type, operands: Sequence[Rep]) -> ir.Value | None:
        """The result of an op on integers that are known; None where one is not."""
        places = [place for operand in operands if (place := self._place(operand)) is not None]
        if name not in FOLDS or len(places) < len(operands) or not any(isinstance(o, ir.Value) for o in operands):
            return None
        if all(place.first.is_constant for place in places):
            return self._made(Place(LinearIndex(), FOLDS[name](*(place.numbers + place.first.constant for place in places))), element)
        first = linear(name.removeprefix("arith."), *(place.first for place in places)) if len(places) == 2 else None
        if first is None or name == "arith.muli":
            return None
        return self._made(Place(first, FOLDS[name](*(place.numbers for place in places))), element)

    def compared(self, op: ir.Operation, a: Rep, b: Rep) -> tuple[ir.Value, bool | None] | None:
        """What a comparison of indices of which all is known gives in each lane, and whether in all; else None."""
        places = [self._place(operand) for operand in (a, b)]
        if not any(operand in self._known for operand in (a, b) if isinstance(operand, ir.Value)):
            return None
        if places[0] is None or places[1] is None or not (places[0].first - places[1].first).is_constant:
            return None
        apart = places[0].numbers - places[1].numbers + (places[0].first - places[1].first).constant
        found = _HOLDS[PREDICATES[integer(op, "predicate")]](apart, 0) if integer(op, "predicate") in PREDICATES else None
        if found is None:
            return None
        holds = np.broadcast_to(found, [self._size])[self._part]
        return mask_of(holds.tolist()), bool(holds[0]) if holds.all() or not holds.any() else None

    def read(self, storage: Storage, indices: Sequence[Rep]) -> ir.Value | None:
        """The elements at `indices`, of which some are known lane by lane, the others are the same in all lanes; else None."""
        varying = [dim for dim, index in enumerate(indices) if index in self._known] if self._known else []
        if not varying or any(_varies(index) for dim, index in enumerate(indices) if dim not in varying):
            return None
        places = [self._known[index] if dim in varying else Place(LinearIndex.of(index)) for dim, index in enumerate(indices)]
        address, numbers = storage.address([place.first for place in places]), np.zeros(1, np.int64)
        for place, stride in zip(places, storage.strides):
            numbers = numbers + place.numbers * stride
        if storage.table and address.is_constant:
            return self._made(Place(LinearIndex(), np.array(storage.table)[address.constant + numbers]), storage.element)
        if self.lanes.block is not None:  # what other chunks read exists
            return self._taken(storage, address, numbers[self.lanes.block.part], (int(numbers.min()), int(numbers.max()) + 1))
        (dim, *others), size = varying, storage.sizes[varying[0]]
        if others or storage.strides[dim] != 1 or not isinstance(size, int):
            return None
        return self._taken(storage, address, numbers, (0, size))

    def _taken(self, storage: Storage, address: LinearIndex, places: np.ndarray, room: tuple[int, int]) -> ir.Value | None:
        """The elements at these places behind an address: loaded in one piece of the room, where elements exist, and shuffled."""
        count = self.lanes.count
        if np.ptp(places) == 0:
            return Lanes(1).load(storage, address + int(places[0]))
        if np.array_equal(places, places[0] + np.arange(count)):
            return replace(self.lanes, mask=None).load(storage, (address + int(places[0])).along_lanes())
        size = min(count, room[1] - room[0])
        for width in range(size, (MOST_REGISTERS + 1) * count, count):
            width = min(width, room[1] - room[0])
            first = max(room[0], min(int(places.min()), room[1] - width))
            if places.max() < first + width:
                starts = [min(start, width - size) for start in range(0, width, size)]
                return loaded(_shuffled(storage, address + first, places - first, starts, size), storage.element)
        return None

    def _place(self, operand: Rep) -> Place | None:
        if isinstance(operand, LinearIndex):
            return None if operand.lanes else Place(operand)
        return self._known.get(operand)

    def _made(self, place: Place, element: ir.Type) -> ir.Value:
        numbers = np.broadcast_to(place.numbers, [self._size])
        made = self.lanes.at(place.first, numbers[self._part], element)
        self._known[made] = replace(place, numbers=numbers)
        return made


def _varies(index: Rep) -> bool:
    return bool(index.lanes) if isinstance(index, LinearIndex) else is_vector(index)


def _shuffled(storage: Storage, address: LinearIndex, places: np.ndarray, starts: Sequence[int], size: int) -> ir.Value:
    """What lies at `places`, of pieces of `size` elements from `starts` on: of two at a time, as processors shuffle."""
    kind = vector_of(size, storage_element(storage.element))
    rows = [vector.load(kind, storage.base, [(address + start).address_in(storage.base)]) for start in starts]
    found, others = rows[0], rows[1:]
    lanes = [int(place) if place < starts[0] + size else 0 for place in places]
    for row, start in zip(others, starts[1:]):
        same = ir.VectorType(found.type).shape[0]
        lanes = [same + int(place) - start if start <= place < start + size else lane for place, lane in zip(places, lanes)]
        found, lanes = vector.shuffle(found, row, lanes), list(range(len(places)))
    return found if others else vector.shuffle(found, found, lanes)
