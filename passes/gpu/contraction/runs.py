"""Reading and writing a buffer at a point of a contraction, as a vector along one loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes, is_i1

from ...common.linear_index import LinearIndex
from ...common.storage import stored
from ...common.vectors import ACCESS_BYTES, broadcast, elements, from_elements, splat
from ..support.emit import load, store
from .contraction import ElementAccess


@dataclass(frozen=True)
class Run:
    """`length` neighbours along the loop `along`, the first at the point `loops`, which is a multiple of the length along it."""

    loops: Mapping[int, LinearIndex]
    along: int | None
    length: int = 1

    def read(self, buffer: ir.Value, access: ElementAccess) -> ir.Value:
        """The elements: one vector, in as few accesses as alignment allows, or a scalar where they are the same along the run."""
        at, step = access.index.at(self.loops), self._step(access)
        if self.length == 1 or not step:
            return _as_bool(load(buffer, [at.value()]), access.element)
        size = self._piece(access)
        parts = [load(buffer, [(at + i * step).value()], size) for i in range(0, self.length, size)]
        return _as_bool(parts[0] if len(parts) == 1 else from_elements([e for p in parts for e in elements(p)]), access.element)

    def write(self, value: ir.Value, buffer: ir.Value, access: ElementAccess) -> None:
        """Stores a vector; a scalar is stored at every point of the run."""
        at, step = access.index.at(self.loops), self._step(access)
        if self.length > 1:
            value = broadcast(value, self.length)
        value = stored(value, access.element)
        size = self._piece(access)
        if size == self.length:
            store(value, buffer, [at.value()])
            return
        scalars = elements(value)
        for i in range(0, self.length, size):
            store(scalars[i] if size == 1 else from_elements(scalars[i : i + size]), buffer, [(at + i * step).value()])

    def _step(self, access: ElementAccess) -> int:
        return 0 if self.along is None else access.index.coefficient(self.along)

    def _piece(self, access: ElementAccess) -> int:
        """How many elements one access takes."""
        if self.along is None or self._step(access) != 1:
            return 1
        return min(access.index.without(self.along).alignment(self.length), ACCESS_BYTES // element_bytes(access.element))


def _as_bool(value: ir.Value, element: ir.Type) -> ir.Value:
    return arith.cmpi(CmpIPredicate.ne, value, splat(value.type, 0)) if is_i1(element) else value
