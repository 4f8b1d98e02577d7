"""Where complex numbers lie: real and imaginary parts in a memref each, or side by side in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import memref, vector
from torch_mlir.dialects.vector import shuffle

from ...common.linear_index import LinearIndex
from ...common.vectors import splat_of, vector_of
from .butterflies import Complex

Memory: TypeAlias = "ir.Value | ir.Attribute"
"""A memref of one dimension, or the number that all its elements would be."""


class Numbers(Protocol):
    """An array of complex numbers, of which as many are read and written at a time as `kind` has lanes."""

    def load(self, at: LinearIndex) -> Complex: ...

    def store(self, at: LinearIndex, value: Complex) -> None: ...

    def narrow(self) -> Numbers:
        """The same array, of which one is read at a time."""


@dataclass(frozen=True)
class Arrays:
    """An array for each of the parts."""

    re: Memory
    im: Memory
    kind: ir.VectorType

    def load(self, at: LinearIndex) -> Complex:
        index = at.value()
        re, im = (splat_of(self.kind, a) if isinstance(a, ir.Attribute) else vector.load(self.kind, a, [index]) for a in (self.re, self.im))
        return re, im

    def store(self, at: LinearIndex, value: Complex) -> None:
        index = at.value()
        vector.store(value[0], self.re, [index])
        vector.store(value[1], self.im, [index])

    def narrow(self) -> Arrays:
        return replace(self, kind=vector_of(1, self.kind.element_type))

    @staticmethod
    def on_stack(count: int, kind: ir.VectorType) -> Arrays:
        memory = ir.MemRefType.get([count], kind.element_type)
        re, im = (memref.alloca(memory, [], [], alignment=64) for _ in range(2))
        return Arrays(re, im, kind)


@dataclass(frozen=True)
class Pairs:
    """One array of both. `places`: (0, 1) where the real part comes first, else (1, 0)."""

    memory: ir.Value
    places: Sequence[int]
    kind: ir.VectorType

    def load(self, at: LinearIndex) -> Complex:
        lanes = self.kind.shape[0]
        halves = [vector.load(self.kind, self.memory, [place.value()]) for place in self._halves(at)]
        re, im = (shuffle(*halves, [2 * lane + place for lane in range(lanes)]) for place in self.places)
        return re, im

    def store(self, at: LinearIndex, value: Complex) -> None:
        lanes = self.kind.shape[0]
        parts = [value[place] for place in self.places]
        mixed = [lane // 2 + lanes * (lane % 2) for lane in range(2 * lanes)]
        for half, place in enumerate(self._halves(at)):
            vector.store(shuffle(*parts, mixed[half * lanes : (half + 1) * lanes]), self.memory, [place.value()])

    def narrow(self) -> Pairs:
        return replace(self, kind=vector_of(1, self.kind.element_type))

    def _halves(self, at: LinearIndex) -> tuple[LinearIndex, LinearIndex]:
        return at * 2, at * 2 + self.kind.shape[0]


def numbers(memories: Sequence[Memory], places: Sequence[int], kind: ir.VectorType) -> Numbers:
    """The array in these memories: of both parts where there are `places`."""
    return Pairs(memories[0], places, kind) if places else Arrays(memories[0], memories[1], kind)
