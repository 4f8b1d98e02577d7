"""Scalar code and code for several lanes at once, written alike: loads, stores and selects, masked where not all lanes are live.

A value is one of: a `LinearIndex` (an index, linear in the lane number), a scalar that is the same in every lane, or a vector of lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from hloom.dialects.storage import element_bytes, storage_element

from ...common.bf16 import even_first, in_turn_again
from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, value_of
from ...common.storage import Panels, Storage, loaded, stored
from ...common.vectors import in_turn, joined, lanes_of, splat, static_mask, steps, vector_of, widened

Rep: TypeAlias = "LinearIndex | ir.Value"

_LINE_BYTES = 64
KEEP_IN_ALL_CACHES = 3
_MOST_STEP, _MOST_STEP_BYTES = 8, 48
"""Elements that are further apart are gathered: narrow ones by their number, others by their bytes."""


@dataclass(frozen=True)
class Place:
    """An index lane by lane: `first`, which is the same in all lanes, and a number each."""

    first: LinearIndex
    numbers: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    divided: bool = False
    """Whether it is a quotient or remainder of the lanes', of which no more than what live lanes read is known to exist."""


@dataclass(frozen=True)
class Block:
    """Elements that several chunks of lanes compute: how many, the numbers of those of one chunk, and indices of which the places of all
    elements are known."""

    size: int
    part: np.ndarray
    places: Mapping[ir.Value, Place]


@dataclass(frozen=True)
class Lanes:
    """How wide code is emitted: `count` lanes of which `mask` (vector of i1, None for all) are live. One lane means scalar code."""

    count: int
    mask: ir.Value | None = None
    live: int = 0
    """How many of them are live, where that is known."""
    reach: Mapping[ir.Value, tuple[int, int]] = field(default_factory=dict, compare=False)
    """The least and the greatest value of indices of which that is known."""
    multiples: Mapping[ir.Value, int] = field(default_factory=dict, compare=False)
    """What indices are multiples of, where their loops do not tell."""
    even_first: bool = False
    """Whether elements with even numbers are in the first half of the lanes, and the others in the second. Masks, and what is in memory,
    are in turn."""
    block: Block | None = field(default=None, compare=False)
    """What they are part of, where more is known of that than of a row of neighbours."""

    @property
    def columns(self) -> Lanes:
        """One lane for each column."""
        return self

    def type(self, element: ir.Type) -> ir.Type:
        """The type of one element a lane."""
        return lanes_of(self.count, element)

    def widen(self, rep: Rep) -> ir.Value:
        """`rep` as a vector (a scalar where code is scalar)."""
        if not isinstance(rep, LinearIndex):
            return widened(rep, self.count)
        wide = widened(rep.value(), self.count)
        return arith.addi(wide, steps(self.count, rep.lanes)) if rep.lanes and self.count > 1 else wide

    def at(self, first: LinearIndex, numbers: np.ndarray, element: ir.Type) -> ir.Value:
        """The index `first`, which is the same in all lanes, and a number each, as integers of this type."""
        kind = vector_of(self.count, element)
        made = arith.constant(kind, ir.DenseElementsAttr.get([ir.IntegerAttr.get(element, int(n)) for n in numbers + first.constant], kind))
        rest = first - first.constant
        return made if rest.is_constant else arith.addi(self.widen(rest), made)

    def load(self, storage: Storage, address: LinearIndex | ir.Value) -> ir.Value:
        """Each lane's element; `address` is linear, or a vector of indices into the base."""
        return loaded(self._read(storage, address), storage.element)

    def _read(self, storage: Storage, address: LinearIndex | ir.Value) -> ir.Value:
        """Each lane's element as it lies in memory."""
        if isinstance(address, LinearIndex) and (address.lanes == 0 or self.count == 1):
            element = storage_element(storage.element)
            return value_of("memref.load", element, [storage.base, address.address_in(storage.base)])  # the bindings' own take longer
        if isinstance(address, LinearIndex) and address.lanes == 1:
            return self._load_contiguous(storage, address)
        if isinstance(address, LinearIndex) and address.lanes < 0 and (live := self.known_live()):
            upwards = address.at_lane(live - 1) + LinearIndex(lanes=-address.lanes)
            if upwards.lanes == 1 or _in_turns(storage, upwards) or _lies_near(storage, upwards):
                return self._load_backwards(storage, upwards, live)
        if isinstance(address, LinearIndex) and _in_turns(storage, address):
            return self._load_of_turns(storage, address)
        if isinstance(address, LinearIndex) and _lies_near(storage, address):
            return self._load_apart(storage, address)
        if isinstance(address, LinearIndex) and _is_near(storage, address) and self.mask is None:
            return self._load_narrow_apart(storage, address)
        return self._gather(storage, address)

    def _load_contiguous(self, storage: Storage, address: LinearIndex) -> ir.Value:
        if storage.panels is not None and self.count > storage.panels.width:
            return self._load_panels(storage, storage.panels, address)
        kind = self.type(storage_element(storage.element))
        start = address.uniform().address_in(storage.base)
        if storage.ahead and not storage.writable:
            self.prefetch(storage, address)
        if self.mask is None:
            read = value_of("vector.load", kind, [storage.base, start])
        else:
            read = vector.maskedload(kind, storage.base, [start], self.mask, splat(kind, 0))
        return vector.shuffle(read, read, even_first(self.count)) if self.even_first else read

    def _load_panels(self, storage: Storage, panels: Panels, address: LinearIndex) -> ir.Value:
        """Whole panels, side by side."""
        firsts = [address + number * panels.step for number in range(self.count // panels.width)]
        return joined([Lanes(panels.width)._load_contiguous(storage, first) for first in firsts])

    def _load_backwards(self, storage: Storage, upwards: LinearIndex, live: int) -> ir.Value:
        """What the lanes read from the last live one on, turned around in the register."""
        read = self._read(replace(storage, ahead=-storage.ahead), upwards)
        return vector.shuffle(read, read, [max(live - 1 - lane, 0) for lane in range(self.count)])

    def known_live(self) -> int:
        """How many lanes are live, which are the first ones; 0 where that is not known."""
        if self.mask is None:
            return self.count
        owner = defining_op(self.mask)
        known = owner is not None and owner.name == "arith.constant"
        return sum(map(bool, ir.DenseIntElementsAttr(owner.attributes["value"]))) if owner is not None and known else 0

    def _load_of_turns(self, storage: Storage, address: LinearIndex) -> ir.Value:
        """One of so many elements: all are loaded. The first of a turn prefetches."""
        step = address.lanes
        place = address.constant % step
        whole = (address - place).uniform().along_lanes()
        turns = self.times(step)._load_contiguous(replace(storage, ahead=0) if place else storage, whole)
        return vector.shuffle(turns, turns, [step * lane + place for lane in range(self.count)])

    def _load_apart(self, storage: Storage, address: LinearIndex) -> ir.Value:
        """Elements that lie near each other: all from the first to the last are loaded, none beyond."""
        step, live = address.lanes, self.known_live()
        if live:
            mask = static_mask(step * self.count, step * (live - 1) + 1)
        else:
            none = splat(self.type(ir.IntegerType.get_signless(1)), 0)
            assert self.mask is not None
            mask = vector.shuffle(self.mask, none, [-(-place // step) for place in range(step * self.count)])
        wide = Lanes(step * self.count, mask)._load_contiguous(replace(storage, ahead=0), address.along_lanes())
        return vector.shuffle(wide, wide, [step * lane for lane in range(self.count)])

    def _load_narrow_apart(self, storage: Storage, address: LinearIndex) -> ir.Value:
        """The same where not every processor masks elements: by whole registers, of which the last ends with the last element."""
        step, size = address.lanes, address.lanes * (self.count - 1) + 1
        width = min(_LINE_BYTES // element_bytes(storage.element), 1 << (size.bit_length() - 1))
        starts = [*range(0, size - width, width), size - width]
        starts += [size - width] * (-len(starts) % (1 << (len(starts) - 1).bit_length()))
        lanes, first = Lanes(width), address.along_lanes()
        wide = joined([lanes._load_contiguous(replace(storage, ahead=0), first + start) for start in starts])
        places, behind = (step * lane for lane in range(self.count)), starts.index(size - width)
        return vector.shuffle(wide, wide, [place if place < behind * width else place - starts[-1] + behind * width for place in places])

    def times(self, count: int) -> Lanes:
        """So many lanes side by side for each."""
        each = [lane for lane in range(self.count) for _ in range(count)]
        return Lanes(count * self.count, None if self.mask is None else vector.shuffle(self.mask, self.mask, each))

    def store_in_turn(self, parts: Sequence[Rep], storage: Storage, address: LinearIndex) -> None:
        """Stores each live lane's elements side by side, from `address` on, which is as many further in each lane. Truth values are bytes
        before they are shuffled: a register of masks is taken apart."""
        together = in_turn([stored(self.widen(part), storage.element) for part in parts])
        self.times(len(parts))._store(together, storage, address.uniform().along_lanes())

    def prefetch(self, storage: Storage, address: LinearIndex) -> None:
        """Prefetches what all lanes read, or write, `storage.ahead` elements further on."""
        for first in range(0, self.count, _LINE_BYTES // element_bytes(storage.element)):
            place = (address.uniform() + (storage.ahead + first)).address_in(storage.base)
            memref.prefetch(storage.base, [place], storage.writable, KEEP_IN_ALL_CACHES, True)

    def _gather(self, storage: Storage, address: LinearIndex | ir.Value) -> ir.Value:
        kind = self.type(storage_element(storage.element))
        start, indices = LinearIndex().value(), address
        if isinstance(address, LinearIndex):
            start, indices = address.uniform().address_in(storage.base), steps(self.count, address.lanes)
        return vector.gather(kind, storage.base, [start], indices, self._full_mask(), splat(kind, 0))

    def store(self, value: Rep, storage: Storage, address: LinearIndex) -> None:
        """Stores each live lane's element."""
        self._store(stored(self.widen(value), storage.element), storage, address)

    def _store(self, value: ir.Value, storage: Storage, address: LinearIndex) -> None:
        if self.count == 1:
            memref.store(value, storage.base, [address.address_in(storage.base)])
        elif address.lanes == 1:
            start = address.uniform().address_in(storage.base)
            if storage.ahead:
                self.prefetch(storage, address)
            if self.even_first:
                value = vector.shuffle(value, value, in_turn_again(self.count))
            if self.mask is None:
                vector.store(value, storage.base, [start])
            elif self.known_live() == 1 and isinstance(storage.element, ir.BF16Type):  # of which LLVM 22 would store 32 bits
                memref.store(vector.extract(value, [], [0]), storage.base, [start])
            else:
                vector.maskedstore(storage.base, [start], self.mask, value)
        else:
            places = [address.uniform().address_in(storage.base)], steps(self.count, address.lanes)
            vector.scatter(None, storage.base, *places, self._full_mask(), value)

    def select(self, condition: ir.Value | None, yes: ir.Value, no: ir.Value) -> ir.Value:
        """`yes` in the lanes where `condition` holds (None: in all), `no` in the others."""
        return yes if condition is None else arith.select(condition, yes, no)

    def where(self, mask: ir.Value) -> Lanes:
        """As many lanes, of which those are live that the mask holds in, too."""
        return replace(self, mask=mask if self.mask is None else arith.andi(mask, self.mask), live=0)

    def where_live(self, condition: ir.Value) -> ir.Value:
        """Where `condition` holds in a lane that is live."""
        return condition if self.mask is None else arith.andi(condition, self._mask_of_lanes(self.mask))

    def select_live(self, yes: ir.Value, no: ir.Value) -> ir.Value:
        """`yes` in the lanes that are live, `no` in the others."""
        return yes if self.mask is None else arith.select(self._mask_of_lanes(self.mask), yes, no)

    def _mask_of_lanes(self, mask: ir.Value) -> ir.Value:
        return vector.shuffle(mask, mask, even_first(self.count)) if self.even_first else mask

    def _full_mask(self) -> ir.Value:
        return splat(self.type(ir.IntegerType.get_signless(1)), 1) if self.mask is None else self.mask


def _in_turns(storage: Storage, address: LinearIndex) -> bool:
    """Whether the base is made of turns of as many elements as lanes are apart, and `address` is the same one of a turn in each lane."""
    (size,) = ir.MemRefType(storage.base.type).shape
    return (
        _is_near(storage, address)
        and size % address.lanes == 0
        and all(coefficient % address.lanes == 0 for coefficient in address.terms.values())
    )


def _lies_near(storage: Storage, address: LinearIndex) -> bool:
    """Whether the elements between those of the lanes are loaded too, wherever they begin."""
    return _is_near(storage, address) and element_bytes(storage.element) >= 4


def _is_near(storage: Storage, address: LinearIndex) -> bool:
    """Whether lanes are some elements apart, but not far."""
    size = element_bytes(storage.element)
    return 2 <= address.lanes <= (_MOST_STEP if size < 4 else _MOST_STEP_BYTES // size)
