"""A run of keys parted by a bound, from one buffer into another: those up to it from the front on, the others from the back.

    for each element behind the last whole vector, then for each vector of the run:
      those up to the bound to target[left : ], the others to target[ : right]; left, right move towards each other

Between left and right there is always as much room as keys are left, so a whole vector may be stored at either end, of which what is too
much is overwritten later. With AVX2 or NEON the lanes that are above the bound are the number of a permutation, which a table holds: it
brings the others to the front, in order (vpermd, tbl). With 512 bits each side is compressed for itself (vpcompressd), the upper one stored
under a mask. Source: M. Blacher, J. Giesen, L. Kühne, Fast and robust vectorized in-place sorting of primitive types, 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math, memref, vector

from hloom.dialects.target import TargetView

from ...common.control_flow import loop
from ...common.rewriting import index_constant, intrinsic, symbol_name, value_of
from ...common.vectors import broadcast, extract, vector_of

_UNROLLED = 4
_sgt = arith.CmpIPredicate.sgt


@dataclass(frozen=True)
class Lanes:
    """Vectors of signed integers, as they are kept in buffers whose elements have as many bits."""

    integer: ir.Type
    count: int

    @property
    def kind(self) -> ir.Type:
        return vector_of(self.count, self.integer)

    def load(self, base: ir.Value, place: ir.Value) -> ir.Value:
        return self._integers(vector.load(vector_of(self.count, _element(base)), base, [place]))

    def load_some(self, base: ir.Value, place: ir.Value, live: ir.Value, otherwise: ir.Value) -> ir.Value:
        """The first `live` lanes from memory, the others from a vector."""
        kind = vector_of(self.count, _element(base))
        mask = vector.create_mask(vector_of(self.count, _bit()), [live])
        return self._integers(vector.maskedload(kind, base, [place], mask, arith.bitcast(kind, otherwise)))

    def store(self, value: ir.Value, base: ir.Value, place: ir.Value) -> None:
        vector.store(arith.bitcast(vector_of(self.count, _element(base)), value), base, [place])

    def store_some(self, value: ir.Value, base: ir.Value, place: ir.Value, live: ir.Value) -> None:
        mask = vector.create_mask(vector_of(self.count, _bit()), [live])
        vector.maskedstore(base, [place], mask, arith.bitcast(vector_of(self.count, _element(base)), value))

    def load_one(self, base: ir.Value, place: ir.Value) -> ir.Value:
        return arith.bitcast(self.integer, memref.load(base, [place]))

    def store_one(self, value: ir.Value, base: ir.Value, place: ir.Value) -> None:
        memref.store(arith.bitcast(_element(base), value), base, [place])

    def _integers(self, value: ir.Value) -> ir.Value:
        return arith.bitcast(self.kind, value)


def _element(base: ir.Value) -> ir.Type:
    return ir.MemRefType(base.type).element_type


def _bit() -> ir.Type:
    return ir.IntegerType.get_signless(1)


@dataclass(frozen=True)
class _Permutation:
    """An instruction that gathers `count` units of so many bits, each by its own index of as many, from one register."""

    intrinsic: str
    count: int
    bits: int

    @property
    def kind(self) -> ir.Type:
        return vector_of(self.count, ir.IntegerType.get_signless(self.bits))

    def apply(self, value: ir.Value, order: ir.Value) -> ir.Value:
        units = vector.bitcast(self.kind, value)
        return vector.bitcast(value.type, intrinsic(self.intrinsic, self.kind, [units, order]))


_PERMUTATIONS = {
    ("x86_64", 256): _Permutation("llvm.x86.avx2.permd", 8, 32),
    ("aarch64", 128): _Permutation("llvm.aarch64.neon.tbl1.v16i8", 16, 8),
}

Place = Callable[[ir.Value, ir.Value, ir.Value, ir.Value, ir.Value], list[ir.Value]]
"""Stores a vector's keys at both ends of the room in a buffer, given its lanes that are above the bound; the room that is left."""


class Partition:
    """`emit` parts runs of keys. A table that it needs becomes a constant of the kernel `function`."""

    def __init__(self, function: ir.Operation, lanes: Lanes, target: TargetView):
        self.lanes = lanes
        self.permutation = _PERMUTATIONS.get((target.machine, lanes.integer.width * lanes.count))
        self.place: Place = self._compressed if self.permutation is None else self._permuted
        if self.permutation is not None:
            self.table = _table(function, lanes, self.permutation)

    def emit(self, source: ir.Value, target: ir.Value, start: ir.Value, end: ir.Value, bound: ir.Value) -> ir.Value:
        """Where in `target` those above `bound` begin, which lie from start to end, as in `source`."""
        whole = _down(arith.subi(end, start), self.lanes.count)
        many = arith.addi(start, _down(whole, self.lanes.count * _UNROLLED))
        whole = arith.addi(start, whole)
        bounds = broadcast(bound, self.lanes.count)

        def one(place: ir.Value, room: Sequence[ir.Value]) -> list[ir.Value]:
            key = self.lanes.load_one(source, place)
            left, right = room
            last = arith.subi(right, index_constant(1))
            for each in (left, last):
                self.lanes.store_one(key, target, each)
            above = value_of("arith.index_castui", ir.IndexType.get(), [arith.cmpi(_sgt, key, bound)])
            return [arith.addi(left, arith.subi(index_constant(1), above)), arith.subi(right, above)]

        def vectors(place: ir.Value, room: Sequence[ir.Value], count: int) -> Sequence[ir.Value]:
            places = [arith.addi(place, index_constant(n * self.lanes.count)) for n in range(count)]
            for keys in [self.lanes.load(source, each) for each in places]:
                room = self.place(keys, arith.cmpi(_sgt, keys, bounds), target, *room)
            return room

        room = loop(whole, end, 1, [start, end], lambda place, room: one(place.value(), room))
        step = self.lanes.count
        room = loop(start, many, step * _UNROLLED, room, lambda place, room: list(vectors(place.value(), room, _UNROLLED)))
        return loop(many, whole, step, room, lambda place, room: list(vectors(place.value(), room, 1)))[0]

    def _permuted(self, keys: ir.Value, above: ir.Value, target: ir.Value, left: ir.Value, right: ir.Value) -> list[ir.Value]:
        by = self.permutation
        assert by is not None
        number = _mask_number(above)
        count = index_constant(self.lanes.count)
        order = vector.load(by.kind, self.table, [arith.muli(number, index_constant(by.count))])
        parted = by.apply(keys, order)
        self.lanes.store(parted, target, left)
        self.lanes.store(parted, target, arith.subi(right, count))
        many = math.ctpop(number)
        return [arith.addi(left, arith.subi(count, many)), arith.subi(right, many)]

    def _compressed(self, keys: ir.Value, above: ir.Value, target: ir.Value, left: ir.Value, right: ir.Value) -> list[ir.Value]:
        many = math.ctpop(_mask_number(above))
        ones = arith.constant(above.type, ir.DenseElementsAttr.get_splat(above.type, ir.IntegerAttr.get(_bit(), 1)))
        self.lanes.store(_compress(keys, arith.xori(above, ones)), target, left)
        right = arith.subi(right, many)
        self.lanes.store_some(_compress(keys, above), target, right, many)
        return [arith.addi(left, arith.subi(index_constant(self.lanes.count), many)), right]


def _down(value: ir.Value, step: int) -> ir.Value:
    """The greatest multiple of a power of two up to `value`."""
    return arith.andi(value, index_constant(-step))


def _mask_number(mask: ir.Value) -> ir.Value:
    """The lanes of a mask as an index, the first lane its lowest bit."""
    bits = ir.IntegerType.get_signless(ir.VectorType(mask.type).shape[0])
    return value_of("arith.index_castui", ir.IndexType.get(), [extract(vector.bitcast(vector_of(1, bits), mask), 0)])


def _compress(value: ir.Value, mask: ir.Value) -> ir.Value:
    """The lanes of `value` that the mask has, in front."""
    return intrinsic("llvm.experimental.vector.compress", value.type, [value, mask, value])


def _table(function: ir.Operation, lanes: Lanes, by: _Permutation) -> ir.Value:
    """For each set of lanes the permutation that brings these lanes behind the others."""
    numbers = np.arange(1 << lanes.count)[:, None] >> np.arange(lanes.count) & 1
    orders = np.argsort(numbers, axis=1, kind="stable")
    units = by.count // lanes.count
    raw = (orders[:, :, None] * units + np.arange(units)).astype(f"int{by.bits}").reshape(-1)
    buffer, name = ir.MemRefType.get([raw.size], ir.IntegerType.get_signless(by.bits)), f"{symbol_name(function)}_constant_orders"
    value = ir.DenseElementsAttr.get(raw)
    with ir.InsertionPoint(function):
        memref.global_(name, ir.TypeAttr.get(buffer), sym_visibility="private", initial_value=value, constant=True, alignment=64)
    return memref.get_global(buffer, name)
