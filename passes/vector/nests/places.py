"""Reads at places that are known while code is emitted: lanes whose places lie close together are a load and a shuffle, no gather.

    %p = extract %table[%lane]                              v = vector.load %x[first]
    %y = tensor.extract %x[%row, clamp(index_cast %p)]      y = vector.shuffle v, [places - first]

The places come from a short constant, at the constant starts of the vector loop's chunks, which are emitted one by one; what clamps and
scales them is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.storage import storage_element

from ...common.linear_index import LinearIndex
from ...common.storage import Storage, loaded
from ...common.vectors import is_vector, vector_of
from .lanes import Lanes, Rep

_MOST_REGISTERS = 2
"""Places that span more registers are gathered."""

_FOLDS: dict[str, Callable[..., np.ndarray]] = {
    "arith.index_cast": lambda x: x, "arith.index_castui": lambda x: x, "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
}  # fmt: skip


@dataclass
class Places:
    """The vectors of integers of one body that are known, a number a lane."""

    lanes: Lanes

    def __post_init__(self) -> None:
        self._known: dict[ir.Value, np.ndarray] = {}

    def entry(self, storage: Storage, address: Rep) -> ir.Value | None:
        """The elements of a constant from a constant address on, as a constant; None where one of them is not known."""
        if not storage.table or self.lanes.count == 1 or not isinstance(address, LinearIndex) or address.terms or address.lanes != 1:
            return None
        last = len(storage.table) - 1  # a lane beyond it is not live
        numbers = np.array([storage.table[min(address.constant + lane, last)] for lane in range(self.lanes.count)])
        return self._constant(numbers, storage.element)

    def fold(self, op: ir.Operation, operands: Sequence[Rep]) -> ir.Value | None:
        """The result of an op on integers that are known; None where one is not."""
        numbers = [self._numbers(operand) for operand in operands]
        if op.name not in _FOLDS or any(n is None for n in numbers) or not any(isinstance(o, ir.Value) for o in operands):
            return None
        found = np.broadcast_to(_FOLDS[op.name](*numbers), [self.lanes.count])
        return self._constant(found, op.results[0].type)

    def read(self, storage: Storage, indices: Sequence[Rep]) -> ir.Value | None:
        """The elements at `indices`, of which one is known lane by lane, the others are the same in all lanes; else None."""
        varying = [dim for dim, index in enumerate(indices) if index in self._known] if self._known else []
        others = [index for dim, index in enumerate(indices) if dim not in varying]
        apart = any(isinstance(index, ir.Value) and is_vector(index) for index in others)
        if len(varying) != 1 or apart or storage.strides[varying[0]] != 1:
            return None
        uniform = [LinearIndex.of(index) for index in others]
        if any(index.lanes for index in uniform):
            return None
        (dim,), size = varying, storage.sizes[varying[0]]
        places, count = self._known[indices[dim]], self.lanes.count
        if not isinstance(size, int):
            return None
        width = next((w for w in range(count, (_MOST_REGISTERS + 1) * count, count) if _span(places, w, size) < w), None)
        if width is None:
            return None
        first, width = int(max(0, min(places.min(), size - width))), min(width, size)
        point = iter(uniform)
        start = storage.address([LinearIndex(constant=first) if d == dim else next(point) for d in range(len(indices))])
        row = vector.load(vector_of(width, storage_element(storage.element)), storage.base, [start.address_in(storage.base)])
        return loaded(vector.shuffle(row, row, [int(place) - first for place in places]), storage.element)

    def _numbers(self, operand: Rep) -> np.ndarray | None:
        if isinstance(operand, LinearIndex):
            return np.array(operand.constant) if operand.is_constant else None
        return self._known.get(operand)

    def _constant(self, numbers: np.ndarray, element: ir.Type) -> ir.Value:
        kind = vector_of(self.lanes.count, element)
        made = arith.constant(kind, ir.DenseElementsAttr.get([ir.IntegerAttr.get(element, int(n)) for n in numbers], kind))
        self._known[made] = numbers
        return made


def _span(places: np.ndarray, width: int, size: int) -> int:
    """How far the last place lies behind the first element that is loaded, of `width`, all within the `size` of its dimension."""
    return int(places.max() - max(0, min(places.min(), size - width)))
