"""The body of a linalg op in the code of a thread."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.target import target_of

from ...common.axes import TileOp
from ...common.linear_index import LinearIndex
from ...common.quotients import is_multiplied, quotient
from ...common.scalar_body import Rep, ScalarBody
from ...common.vectors import is_vector, widened
from .indices import Indices, Memo

_UNIFORM_LEFT = (CmpIPredicate.slt, CmpIPredicate.sge, CmpIPredicate.ult, CmpIPredicate.uge)
_UNIFORM_RIGHT = (CmpIPredicate.sgt, CmpIPredicate.sle, CmpIPredicate.ugt, CmpIPredicate.ule)
"""Comparisons of x + lane with y (of y with x + lane) that come out the same in all lanes where x and y are multiples of the lane count."""


class Reader(Protocol):
    """Reads the tensors of a tile: Reader, which evaluates bodies that read on."""

    indices: Indices
    memo: Memo

    def captured(self, value: ir.Value) -> Rep: ...
    def materialise(self, rep: Rep, lanes: int) -> ir.Value: ...
    def read(self, tensor: ir.Value, indices: Sequence[Rep], lanes: int) -> Rep: ...
    def read_operand(self, op: TileOp, number: int, indices: Sequence[Rep], lanes: int) -> Rep: ...


class ThreadBody(ScalarBody):
    """Evaluates ops of the body of `op` at `indices` (of its loops). `given` are values of block arguments; the tile has the others."""

    def __init__(self, tile: Reader, op: TileOp, indices: Sequence[Rep], lanes: int, given: dict[ir.Value, ir.Value] | None = None):
        super().__init__(indices, given or {})
        self.tile, self.op, self.lanes = tile, op, lanes
        self.arguments = {a: n for n, a in enumerate(op.op.regions[0].blocks[0].arguments)}

    def outside(self, value: ir.Value) -> Rep:
        if value in self.arguments:
            return self.tile.read_operand(self.op, self.arguments[value], self.indices, self.lanes)
        return self.tile.captured(value)

    def extract(self, tensor: ir.Value, indices: list[Rep]) -> Rep:
        return self.tile.read(tensor, indices, self.lanes)

    def value(self, value: ir.Value) -> ir.Value:
        """`value` as a scalar or a vector."""
        return self.tile.materialise(self.rep(value), self.lanes)

    def values(self, operands: Sequence[Rep]) -> list[ir.Value]:
        return [self.tile.materialise(o, self.lanes) for o in operands]

    def wide(self, rep: Rep) -> ir.Value:
        return widened(self.tile.materialise(rep, self.lanes), self.lanes)

    def emit(self, op: ir.Operation, operands: list[Rep]) -> list[ir.Value]:
        if op.name == "arith.divf" and is_vector(operands[0]) and not is_vector(operands[1]):
            x, divisor = self.values(operands)
            target = target_of(op)
            if is_multiplied(divisor.type, target):
                return [quotient(x, divisor, target, lambda: super(ThreadBody, self).emit(op, operands)[0])]
        return super().emit(op, operands)

    def inside(self) -> AbstractContextManager[None]:
        return self.tile.memo.scope()

    def index_op(self, op: ir.Operation, operands: list[LinearIndex]) -> Rep | None:
        a, b = operands[0], operands[-1]
        if op.name == "arith.cmpi":
            return self._compare(op, a, b)
        if not isinstance(op.results[0].type, ir.IndexType):
            return None
        if op.name in ("arith.divui", "arith.remui") and b.is_constant and b.constant > 0:
            parts = self.tile.indices.divide(a, b.constant, self.lanes)
            return None if parts is None else parts[op.name == "arith.remui"]
        uniform = len(operands) == 2 and not a.lanes and not b.lanes
        return self.tile.indices.op(op.name.removeprefix("arith."), a, b) if uniform else None

    def _compare(self, op: ir.Operation, a: LinearIndex, b: LinearIndex) -> ir.Value | None:
        """A comparison that comes out the same in all lanes, as a scalar."""
        lanes, other = (a, b) if a.lanes else (b, a)
        if lanes.lanes:
            same = ir.IntegerAttr(op.attributes["predicate"]).value in (_UNIFORM_LEFT if a.lanes else _UNIFORM_RIGHT)
            whole = not other.lanes and all(self.tile.indices.divisor(x.uniform()) % self.lanes == 0 for x in (a, b))
            if lanes.lanes != 1 or not same or not whole:
                return None
        return self.emit(op, [a.uniform(), b.uniform()])[0]

    def branch(self, op: ir.Operation) -> list[ir.Value]:
        """Bodies have no effects, so both sides are computed and one is chosen."""
        condition = self.value(op.operands[0])
        sides = []
        for region in op.regions:
            ops = [o.operation for o in region.blocks[0].operations]
            self.run(ops[:-1])
            sides.append([self.value(v) for v in ops[-1].operands])
        found = []
        for yes, no in zip(*sides):
            lanes = self.lanes if any(is_vector(v) for v in (condition, yes, no)) else 1
            found.append(arith.select(condition, widened(yes, lanes), widened(no, lanes)))
        return found
