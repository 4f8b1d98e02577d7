"""The scalar body of a linalg op, evaluated at one point or for a vector of neighbouring points.

A value of the body is a `LinearIndex`, a scalar (the same in all lanes) or a vector. Scalars stay scalars as long as they can, so what is
done once a row is done once; an index that advances with the lane makes a vector load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from torch_mlir import ir

from ...common.axes import TileOp
from ...common.linear_index import LinearIndex
from ...common.rewriting import attributes_of, create
from ...errors import PassFailure
from .memory import is_vector, widened

if TYPE_CHECKING:
    from .tile import Tile

Rep: TypeAlias = "LinearIndex | ir.Value"

_UNIFORM_LEFT = {2: "slt", 5: "sge", 6: "ult", 9: "uge"}
_UNIFORM_RIGHT = {4: "sgt", 3: "sle", 8: "ugt", 7: "ule"}
"""Comparisons of x + lane with y (of y with x + lane) that come out the same in all lanes where x and y are multiples of the lane count."""


class Body:
    """Evaluates ops of the body of `op` at `indices` (of its loops). `given` are values of block arguments; the tile has the others."""

    def __init__(self, tile: Tile, op: TileOp, indices: Sequence[Rep], lanes: int, given: dict[ir.Value, Rep] | None = None):
        self.tile, self.op, self.indices, self.lanes = tile, op, indices, lanes
        self.reps: dict[ir.Value, Rep] = dict(given or {})
        self.arguments = {a: n for n, a in enumerate(op.op.regions[0].blocks[0].arguments)}

    def run(self, ops: Iterable[ir.Operation]) -> None:
        for op in ops:
            self._evaluate(op)

    def rep(self, value: ir.Value) -> Rep:
        if value not in self.reps:
            if value in self.arguments:
                number = self.arguments[value]
                self.reps[value] = self.tile.read_operand(self.op, number, self.indices, self.lanes)
            else:
                self.reps[value] = self.tile.captured(value)
        return self.reps[value]

    def value(self, value: ir.Value) -> ir.Value:
        """`value` as a scalar or a vector."""
        return self.tile.materialise(self.rep(value), self.lanes)

    def _evaluate(self, op: ir.Operation) -> None:
        if op.name == "linalg.index":
            self.reps[op.results[0]] = self.indices[ir.IntegerAttr(op.attributes["dim"]).value]
        elif op.name == "tensor.extract":
            indices = [self.rep(v) for v in list(op.operands)[1:]]
            self.reps[op.results[0]] = self.tile.read(op.operands[0], indices, self.lanes)
        elif op.name == "scf.if":
            self._select(op)
        elif op.regions and len(list(op.regions)):
            raise PassFailure("an op with a region in the body of a group", op=op.name, loc=str(op.location), stage="gpu")
        else:
            operands = [self.rep(v) for v in op.operands]
            linear = self._linear(op, operands)
            results = [linear] if linear is not None else self._emit(op, operands)
            self.reps.update(zip(op.results, results))

    def _linear(self, op: ir.Operation, operands: list[Rep]) -> Rep | None:
        """The op on indices, where the result is linear in the lane number, or the same in all lanes."""
        if not op.results:
            return None
        index = isinstance(op.results[0].type, ir.IndexType)
        if index and op.name == "arith.constant":
            return LinearIndex(constant=ir.IntegerAttr(op.attributes["value"]).value)
        if index and op.name in ("arith.index_cast", "arith.index_castui"):
            return None if not isinstance(operands[0], ir.Value) or is_vector(operands[0]) else LinearIndex.of(self._emit(op, operands)[0])
        if not operands or not all(isinstance(o, LinearIndex) for o in operands):
            return None
        if op.name == "arith.cmpi":
            return self._compare(op, *operands)
        return self._arithmetic(op, operands) if index else None

    def _arithmetic(self, op: ir.Operation, operands: list[LinearIndex]) -> LinearIndex | None:
        a, b = (operands[0], operands[-1])
        if op.name == "arith.addi":
            return a + b
        if op.name == "arith.subi":
            return a - b
        if op.name == "arith.muli" and (a.is_constant or b.is_constant):
            return a * b.constant if b.is_constant else b * a.constant
        if op.name in ("arith.divui", "arith.remui") and b.is_constant and b.constant > 0:
            parts = self.tile.indices.divide(a, b.constant, self.lanes)
            return None if parts is None else parts[op.name == "arith.remui"]
        if len(operands) == 2 and not a.lanes and not b.lanes:
            return self.tile.indices.op(op.name.removeprefix("arith."), a, b)
        return None

    def _compare(self, op: ir.Operation, a: LinearIndex, b: LinearIndex) -> ir.Value | None:
        """A comparison that comes out the same in all lanes, as a scalar."""
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        lanes, other = (a, b) if a.lanes else (b, a)
        if lanes.lanes:
            same = predicate in (_UNIFORM_LEFT if a.lanes else _UNIFORM_RIGHT)
            whole = not other.lanes and all(self.tile.indices.divisor(x.uniform()) % self.lanes == 0 for x in (a, b))
            if lanes.lanes != 1 or not same or not whole:
                return None
        return self._emit(op, [a.uniform(), b.uniform()])[0]

    def _emit(self, op: ir.Operation, operands: list[Rep]) -> list[ir.Value]:
        """The op on scalars if all operands are, else on vectors."""
        values = [self.tile.materialise(o, self.lanes) for o in operands]
        types = [r.type for r in op.results]
        if any(is_vector(v) for v in values):
            values = [widened(v, self.lanes) for v in values]
            types = [ir.VectorType.get([self.lanes], t) for t in types]
        made = ir.Operation.create(op.name, results=types, operands=values, attributes=attributes_of(op), loc=op.location)
        return list(made.results)

    def _select(self, op: ir.Operation) -> None:
        """scf.if: bodies have no effects, so both sides are computed and one is chosen."""
        condition = self.value(op.operands[0])
        sides = []
        for region in op.regions:
            ops = [o.operation for o in region.blocks[0].operations]
            self.run(ops[:-1])
            sides.append([self.value(v) for v in ops[-1].operands])
        for result, yes, no in zip(op.results, *sides):
            lanes = self.lanes if any(is_vector(v) for v in (condition, yes, no)) else 1
            yes, no = widened(yes, lanes), widened(no, lanes)
            self.reps[result] = create("arith.select", [yes.type], [condition, yes, no]).results[0]
