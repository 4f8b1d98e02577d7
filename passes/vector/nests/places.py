"""Reads at places that are known while code is emitted: lanes whose places lie close together are a load and a shuffle, no gather.

    %p = extract %table[%lane]                              v = vector.load %x[first]
    %y = tensor.extract %x[%row, clamp(index_cast %p)]      y = vector.shuffle v, [places - first]

The places come from a short constant, at the constant starts of the vector loop's chunks, which are emitted one by one; what clamps and
scales them is computed here. Or from where each lane is in a block of short rows (short_rows.py). Or they are quotients and remainders of
what lies along the lanes, where a chunk begins at a multiple of the divisor and a constant:

    extract %x[(%i + 3) floordiv 2], of lanes i = 64 k + 0 … 63     →     vector.load %x[32 k + 1] : vector<33>;  shuffle [0, 1, 1, 2, 2, …]
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
from ...common.scalar_body import is_same_for_all, linear
from ...common.storage import Storage, loaded
from ...common.vectors import is_vector, mask_of, splat, vector_of
from .comparisons import PREDICATES, bounds, truth
from .divisors import factor, quotient
from .lanes import Lanes, Place, Rep

MOST_REGISTERS = 4
"""Places that span more registers are gathered."""

FOLDS: dict[str, Callable[..., np.ndarray]] = {
    "arith.index_cast": lambda x: x, "arith.index_castui": lambda x: x, "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
}  # fmt: skip


_DIVISIONS = ("arith.divui", "arith.remui")
_NEAR = 2
"""Times as many elements as lanes are loaded for them where places are known from where the loops are."""


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
        made = self._divided(name, element, *operands) if name in _DIVISIONS else self._folded(name, element, operands)
        divided = name in _DIVISIONS or any(self._known[each].divided for each in operands if each in self._known)
        if made is not None and divided:
            self._known[made] = replace(self._known[made], divided=True)
        return made

    def _folded(self, name: str, element: ir.Type, operands: Sequence[Rep]) -> ir.Value | None:
        places = [place for operand in operands if (place := self._place(operand)) is not None]
        if name not in FOLDS or len(places) < len(operands) or not any(isinstance(o, ir.Value) for o in operands):
            return None
        if all(place.first.is_constant for place in places):
            return self._made(Place(LinearIndex(), FOLDS[name](*(place.numbers + place.first.constant for place in places))), element)
        if name in ("arith.maxsi", "arith.minsi"):
            return self._clamped(name, element, *places)
        if name == "arith.muli":
            return self._multiplied(element, *places)
        first = linear(name.removeprefix("arith."), *(place.first for place in places)) if len(places) == 2 else None
        return None if first is None else self._made(Place(first, FOLDS[name](*(place.numbers for place in places))), element)

    def _multiplied(self, element: ir.Type, a: Place, b: Place) -> ir.Value | None:
        if b.first.is_constant and len(set(b.numbers)) == 1:
            number = int(b.numbers[0]) + b.first.constant
            return self._made(Place(a.first * number, a.numbers * number), element)
        return self._multiplied(element, b, a) if a.first.is_constant and len(set(a.numbers)) == 1 else None

    def _clamped(self, name: str, element: ir.Type, a: Place, b: Place) -> ir.Value | None:
        """The greater or lesser of two, if they are as far apart everywhere, or one of them is that in all lanes."""
        apart, between = self._apart(a, b)
        if (a.first - b.first).is_constant:
            return self._made(Place(b.first, b.numbers + FOLDS[name](apart, 0)), element)
        if between is None or between[0] < 0 < between[1]:
            return None
        return self._made(a if (between[0] >= 0) == (name == "arith.maxsi") else b, element)

    def _divided(self, name: str, element: ir.Type, a: Rep, b: Rep) -> ir.Value | None:
        """A quotient or remainder by a constant of what begins, but for a constant, at a multiple of it."""
        place, divisor = self._place(a, lanes=True), b.constant if isinstance(b, LinearIndex) and b.is_constant else 0
        if place is None or divisor <= 0 or self.lanes.count == 1 or is_same_for_all(a):
            return None
        begin, numbers = LinearIndex(place.first.terms), place.numbers + place.first.constant
        if factor(begin, divisor, self.lanes.multiples) != divisor or not self._is_natural(begin, numbers):
            return None
        if name == "arith.remui":
            return self._made(Place(LinearIndex(), numbers % divisor), element)
        return self._made(Place(quotient(begin, divisor, self.lanes.multiples), numbers // divisor), element)

    def _is_natural(self, first: LinearIndex, numbers: np.ndarray) -> bool:
        """Whether no lane that is live has less than 0."""
        least = int(self._live(numbers).min())
        if least >= 0 and all(k > 0 for k in first.terms.values()):
            return True
        between = bounds(first, self.lanes)
        return between is not None and between[0] + least >= 0

    def _live(self, numbers: np.ndarray) -> np.ndarray:
        """Those of the lanes that are live, as far as these are known."""
        numbers = np.broadcast_to(numbers, [self._size])[self._part]
        return numbers[: self.lanes.known_live() or self.lanes.count]

    def _apart(self, a: Place, b: Place) -> tuple[np.ndarray, tuple[int, int] | None]:
        """How far a is before b: but for what the loops tell, and from where to where in all live lanes, if that is known."""
        first = a.first - b.first
        numbers = a.numbers - b.numbers + first.constant
        between, live = bounds(LinearIndex(first.terms), self.lanes), self._live(numbers)
        return numbers, None if between is None else (between[0] + int(live.min()), between[1] + int(live.max()))

    def compared(self, op: ir.Operation, a: Rep, b: Rep) -> ir.Value | bool | None:
        """What a comparison of indices that are known gives in each lane, or in all if that is alike; None where neither is known."""
        if not any(operand in self._known for operand in (a, b) if isinstance(operand, ir.Value)):
            return None
        places = [self._place(operand) for operand in (a, b)]
        predicate = PREDICATES.get(integer(op, "predicate"), "")
        if places[0] is None or places[1] is None:
            return None
        apart, between = self._apart(places[0], places[1])
        sure, possible = (between and truth(predicate, *between)) or (False, True)
        if sure or not possible:
            return sure
        found = [truth(predicate, int(each), int(each)) for each in np.broadcast_to(apart, [self._size])[self._part]]
        if not (places[0].first - places[1].first).is_constant or None in found:
            return None
        return mask_of([each is not None and each[0] for each in found])

    def read(self, storage: Storage, indices: Sequence[Rep]) -> ir.Value | None:
        """The elements at `indices`, of which some are known lane by lane, the others are linear or the same in all lanes; else None."""
        varying = [dim for dim, index in enumerate(indices) if index in self._known] if self._known else []
        if not varying or any(is_vector(index) for dim, index in enumerate(indices) if dim not in varying and isinstance(index, ir.Value)):
            return None
        places = [self._place(index, lanes=True) or Place(LinearIndex.of(index)) for index in indices]
        address, numbers = storage.address([place.first for place in places]), np.zeros(1, np.int64)
        for place, stride in zip(places, storage.strides):
            numbers = numbers + place.numbers * stride
        if storage.table and address.is_constant:
            entries = address.constant + self._live(numbers)
            if 0 <= entries.min() and entries.max() < len(storage.table):
                last = len(storage.table) - 1  # a lane beyond it is not live
                return self._made(
                    Place(LinearIndex(), np.array(storage.table)[np.minimum(address.constant + numbers, last)]), storage.element
                )
        if self.lanes.block is not None:  # what other chunks read exists
            return self._taken(storage, address, numbers[self.lanes.block.part], (int(numbers.min()), int(numbers.max()) + 1))
        (dim, *others), size = varying, storage.sizes[varying[0]]
        known = places[dim].first.is_constant and not places[dim].divided
        known = known and not any(map(_varies, (index for index in indices if index not in self._known)))
        if known and not others and storage.strides[dim] == 1 and isinstance(size, int):
            return self._taken(storage, address, numbers, (0, size))
        return self._within(storage, address, numbers)

    def _within(self, storage: Storage, address: LinearIndex, places: np.ndarray) -> ir.Value | None:
        """The elements at these places behind an address, of which those that the live lanes have exist, and those between them."""
        places, live = np.broadcast_to(places, [self.lanes.count]), self._live(places)
        low, size = int(live.min()), int(np.ptp(live)) + 1
        if size > _NEAR * self.lanes.count:
            return None
        if size == 1:
            return Lanes(1).load(storage, address + low)
        lanes = np.clip(places - low, 0, size - 1)
        if not self.lanes.known_live():
            return self._masked(storage, address + low, lanes, size)
        width = min(self.lanes.count, 1 << (size.bit_length() - 1))
        starts = [*range(0, size - width, width), size - width]
        return loaded(_shuffled(storage, address + low, lanes, starts, width), storage.element)

    def _masked(self, storage: Storage, address: LinearIndex, places: np.ndarray, size: int) -> ir.Value | None:
        """The same where the first lanes are live, but not known how many: none is loaded that lies behind those of all live lanes."""
        if (np.diff(places) < 0).any() or places[0]:
            return None
        width = 1 << (size - 1).bit_length()
        readers = [int(np.searchsorted(places, place)) for place in range(size)]
        assert self.lanes.mask is not None
        none = splat(self.lanes.type(ir.IntegerType.get_signless(1)), 0)
        mask = vector.shuffle(self.lanes.mask, none, [*readers, *[self.lanes.count] * (width - size)])
        read = Lanes(width, mask).load(replace(storage, ahead=0), address.along_lanes())
        return vector.shuffle(read, read, [int(place) for place in places])

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

    def _place(self, operand: Rep, lanes: bool = False) -> Place | None:
        """Where it is in each lane, if that is known; an index along the `lanes` too, if these are asked for."""
        if not isinstance(operand, LinearIndex):
            return self._known.get(operand)
        if operand.lanes and (not lanes or self.lanes.block is not None):
            return None
        return Place(operand.uniform(), operand.lanes * np.arange(self.lanes.count)) if operand.lanes else Place(operand)

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
        if same > size:
            row = vector.shuffle(row, row, [min(lane, size - 1) for lane in range(same)])
        lanes = [same + int(place) - start if start <= place < start + size else lane for place, lane in zip(places, lanes)]
        found, lanes = vector.shuffle(found, row, lanes), list(range(len(places)))
    return found if others else vector.shuffle(found, found, lanes)
