"""How an operand of a contraction lies in memory, loop by loop."""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from .work import stride_along


@dataclass(frozen=True)
class Access:
    """How an operand of the work lies in memory: its stride along each loop, and the address at which all loops are 0."""

    storage: Storage
    strides: list[int]
    origin: LinearIndex

    @staticmethod
    def of(m: ir.AffineMap, storage: object, loops: int) -> Access | None:
        """None where the operand is no tensor, or its map not linear."""
        if not isinstance(storage, Storage):
            return None
        strides = [stride for d in range(loops) if (stride := stride_along(m, storage, d)) is not None]
        if len(strides) != loops:
            return None
        zeros = ir.AffineMap.get(0, 0, [ir.AffineConstantExpr.get(0)] * m.n_dims)
        constants = [ir.AffineConstantExpr(e.compose(zeros)).value for e in m.results]
        return Access(storage, strides, storage.offset + sum(c * s for c, s in zip(constants, storage.strides)))

    def at(self, fixed: dict[int, LinearIndex]) -> LinearIndex:
        address = self.origin
        for dim, index in fixed.items():
            address = address + index * self.strides[dim]
        return address
