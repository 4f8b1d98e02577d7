"""Sums of few elements along a dimension, at places and with weights that are constants: resizes, products with few numbers a column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from torch_mlir import ir

from ...common.folding import dtype_of
from . import build, constants


@dataclass(frozen=True)
class Places:
    """Along a dimension, for each element of the result the elements of the operand that it reads, and their weights (1), a row each."""

    places: np.ndarray
    weights: np.ndarray | None = None

    @staticmethod
    def of(sums: np.ndarray, read: np.ndarray, weights: np.ndarray, count: int, extent: int) -> Places:
        """Of `count` sums: each of the operand's `extent` elements in `read` counts its weight in one of `sums`."""
        first, behind = np.full(count, extent), np.zeros(count, np.int64)
        np.minimum.at(first, sums, read)
        np.maximum.at(behind, sums, read + 1)
        first = np.minimum(first, behind)
        if (behind - first).max() > 2 * np.bincount(sums, minlength=count).max():
            return Places._scattered(sums, read, weights, count)
        stride = max(extent // count, 1)
        even = stride * np.arange(count)  # so that each tap is a strided slice, but at the ends
        even += (first - even).min()
        if (behind - even).max() <= (behind - first).max() + 1:
            first = even
        at = first + np.arange(max((behind - first).max(), 1))[:, None]
        held = np.zeros(at.shape, weights.dtype)
        np.add.at(held, (read - first[sums], sums), weights)
        return Places(np.clip(at, 0, extent - 1), None if (held == 1).all() else held)

    @staticmethod
    def _scattered(sums: np.ndarray, read: np.ndarray, weights: np.ndarray, count: int) -> Places:
        """Where what a sum reads does not lie together: what it reads first, second, and so on; the rest counts 0."""
        order = np.lexsort((read, sums))
        sums, read, weights = sums[order], read[order], weights[order]
        terms = np.bincount(sums, minlength=count)
        row = np.arange(len(sums)) - np.repeat(np.cumsum(terms) - terms, terms)
        at, held = np.zeros((terms.max(), count), np.int64), np.zeros((terms.max(), count), weights.dtype)
        at[row, sums], held[row, sums] = read, weights
        return Places(at, None if (held == 1).all() else held)

    def transposed(self, extent: int) -> Places:
        """Of the gradient: for each of the operand's `extent` elements the elements of the result that read it."""
        count = self.places.shape[1]
        weights = np.ones(self.places.shape, np.float32) if self.weights is None else self.weights
        reads = weights != 0
        return Places.of(self.places[reads], np.broadcast_to(np.arange(count), self.places.shape)[reads], weights[reads], extent, count)


def taken(x: ir.Value, d: int, places: np.ndarray) -> ir.Value:
    """The elements at `places` along a dimension."""
    if np.array_equal(places, np.arange(build.shape_of(x)[d])):
        return x
    held = constants.write(places.astype(np.int32), build.tensor([len(places)], ir.IntegerType.get_signless(32)))
    return build.take(x, d, held)


def along_dimension(x: ir.Value, d: int, places: Places) -> ir.Value:
    """The sums along a dimension; half precision comes back in f32 where anything is added."""
    if len(places.places) == 1 and places.weights is None:
        return taken(x, d, places.places[0])
    x = build.convert(x, build.accumulator(build.element_of(x)))
    return reduce(build.add, [_weighted(x, d, row, places, number) for number, row in enumerate(places.places)])


def _weighted(x: ir.Value, d: int, row: np.ndarray, places: Places, number: int) -> ir.Value:
    value = taken(x, d, row)
    if places.weights is None:
        return value
    element = build.element_of(x)
    held = constants.write(places.weights[number].astype(dtype_of(element)), build.tensor([len(row)], element))
    return build.multiply(value, build.broadcast(held, build.shape_of(value), [d]))
