"""Transforms of columns that stand side by side: Stockham's algorithm, whose stages need no reordering.

A stage of radix r, of n elements left to transform in s interleaved parts, with m = n / r:

    y[q + s (r p + j)] = w(n)^(j p) · sum over k of x[q + s (p + m k)] · w(r)^(j k)        for p < m, q < s, j < r

Each x is a vector, or several, of columns. Stages go back and forth between two buffers of the kernel's; the first reads what the caller
loads, the last writes what the caller stores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from ...common.control_flow import for_each
from ...common.linear_index import LinearIndex
from ...common.vectors import splat
from .arrays import Arrays
from .butterflies import Complex, butterfly, times

Load = Callable[[LinearIndex, LinearIndex], Complex]
"""The vector of row k, from column v of the block on."""
Store = Callable[[LinearIndex, LinearIndex, Complex], None]


@dataclass(frozen=True)
class Columns:
    """`width`: columns of a block, whole vectors. `buffers`: two, of `length` rows; none for one radix. `table`: the memref of roots of
    unity, those of these stages from `start` on."""

    radices: tuple[int, ...]
    width: int
    kind: ir.VectorType
    buffers: Sequence[Arrays]
    table: ir.Value | None
    start: int
    factor: float = 1.0

    @property
    def length(self) -> int:
        return prod(self.radices)

    @property
    def result(self) -> Arrays:
        """The buffer in which the last stage leaves rows of `width` where no `store` takes them."""
        return self.buffers[(len(self.radices) - 1) % 2]

    def emit(self, load: Load, store: Store | None = None) -> None:
        """Transforms a block of columns."""
        left, parts, start = self.length, 1, self.start
        for number, radix in enumerate(self.radices):
            last = number == len(self.radices) - 1
            read = load if number == 0 else self._load(self.buffers[(number - 1) % 2])
            write = store if last and store is not None else self._store(self.buffers[number % 2])
            self._stage(radix, left // radix, parts, start, read, write, last)
            start += 2 * (left // radix) * (radix - 1)
            left, parts = left // radix, parts * radix

    def _stage(self, radix: int, groups: int, parts: int, start: int, read: Load, write: Store, last: bool) -> None:
        def at(p: LinearIndex, q: LinearIndex, v: LinearIndex) -> None:
            made = butterfly([read(q + (p + groups * k) * parts, v) for k in range(radix)])
            for j, value in enumerate(made):
                if j and groups > 1:
                    value = times(value, self._root(p * (2 * (radix - 1)) + (start + 2 * (j - 1))))
                if last and self.factor != 1:
                    value = times_real(value, self.factor)
                write(q + (p * radix + j) * parts, v, value)

        step = self.kind.shape[0]
        for_each(0, groups, 1, lambda p: for_each(0, parts, 1, lambda q: for_each(0, self.width, step, lambda v: at(p, q, v))))

    def _root(self, at: LinearIndex) -> Complex:
        """A number of the table in all lanes."""
        return tuple(vector.broadcast(self.kind, memref.load(self.table, [(at + part).value()])) for part in range(2))

    def _load(self, arrays: Arrays) -> Load:
        return lambda row, v: arrays.load(row * self.width + v)

    def _store(self, arrays: Arrays) -> Store:
        return lambda row, v, value: arrays.store(row * self.width + v, value)


def times_real(z: Complex, factor: float) -> Complex:
    number = splat(z[0].type, factor)
    return arith.mulf(z[0], number), arith.mulf(z[1], number)
