"""The scalar body of a linalg op, evaluated at one point of its loops or for a vector of neighbouring points.

A value of the body (`Rep`) is a `LinearIndex` (linear in the lane number), a scalar (the same in all lanes) or a vector (an element a
lane). Scalars stay scalars as long as they can: what is the same along a row is computed once a row. An index that advances with the lane
makes a contiguous load.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from torch_mlir import ir

from ..errors import PassFailure
from .affine import fold
from .linear_index import LinearIndex
from .rewriting import attributes_of, ops_in
from .vectors import broadcast, is_vector, vector_of

Rep: TypeAlias = "LinearIndex | ir.Value"


class ScalarBody(ABC):
    """Evaluates ops where the loops' indices are `indices`; `given` are values known beforehand. A back end does what is abstract."""

    def __init__(self, indices: Sequence[Rep], given: Mapping[ir.Value, Rep]):
        self.indices = indices
        self.reps: dict[ir.Value, Rep] = dict(given)

    @abstractmethod
    def outside(self, value: ir.Value) -> Rep:
        """A value that no op of the body makes: an argument that is not given, or a scalar from outside the body."""

    @abstractmethod
    def extract(self, tensor: ir.Value, indices: list[Rep]) -> Rep:
        """The element of `tensor` at `indices`, in each lane."""

    @abstractmethod
    def values(self, operands: Sequence[Rep]) -> list[ir.Value]:
        """What an op is emitted on: scalars where all operands are the same in all lanes."""

    @abstractmethod
    def index_op(self, op: ir.Operation, operands: list[LinearIndex]) -> Rep | None:
        """An op on indices whose result is no linear sum but known to be the same in all lanes (or linear after all); else None."""

    @abstractmethod
    def branch(self, op: ir.Operation) -> Sequence[Rep]:
        """The results of an scf.if."""

    def rep(self, value: ir.Value) -> Rep:
        """A value of the body that has been evaluated, or one from outside."""
        if value not in self.reps:
            self.reps[value] = self.outside(value)
        return self.reps[value]

    def run(self, ops: Iterable[ir.Operation]) -> None:
        """Evaluates ops in order; `rep` then knows their results."""
        for op in ops:
            results = self._evaluate(op)  # which may replace `reps`
            self.reps.update(zip(op.results, results))

    def yielded(self, block: ir.Block) -> list[Rep]:
        """Evaluates a block; what its terminator yields."""
        *ops, last = ops_in(block)
        self.run(ops)
        return [self.rep(v) for v in last.operands]

    def emit(self, op: ir.Operation, operands: list[Rep]) -> list[ir.Value]:
        """The results of `op` on `operands`."""
        return clone_on(op, self.values(operands), op.location)

    def _evaluate(self, op: ir.Operation) -> Sequence[Rep]:
        if op.name == "linalg.index":
            return [self.indices[ir.IntegerAttr(op.attributes["dim"]).value]]
        if op.name == "tensor.extract":
            return [self.extract(op.operands[0], [self.rep(v) for v in list(op.operands)[1:]])]
        if op.name == "scf.if":
            return self.branch(op)
        if list(op.regions):
            raise PassFailure("an op with a region in the body of a group", op=op.name, loc=str(op.location))
        operands = [self.rep(v) for v in op.operands]
        linear = self._linear(op, operands) if op.results else None
        return self.emit(op, operands) if linear is None else [linear]

    def _linear(self, op: ir.Operation, operands: list[Rep]) -> Rep | None:
        """The result of an op on indices, where it is linear in the lane number or the same in all lanes."""
        is_index = isinstance(op.results[0].type, ir.IndexType)
        if is_index and op.name == "arith.constant":
            return LinearIndex(constant=ir.IntegerAttr(op.attributes["value"]).value)
        if is_index and op.name in ("arith.index_cast", "arith.index_castui"):
            return None if isinstance(operands[0], LinearIndex) or is_vector(operands[0]) else LinearIndex.of(self.emit(op, operands)[0])
        indices = [o for o in operands if isinstance(o, LinearIndex)]
        if not indices or len(indices) < len(operands):
            return None
        total = linear(op.name.removeprefix("arith."), *indices) if is_index and len(indices) == 2 else None
        return self.index_op(op, indices) if total is None else total


def linear(name: str, a: LinearIndex, b: LinearIndex) -> LinearIndex | None:
    """The result of arith's op `name` on two indices, where it is linear in them: a sum, a difference, or a multiple."""
    if name == "addi":
        return a + b
    if name == "subi":
        return a - b
    if name == "muli" and (a.is_constant or b.is_constant):
        return a * b.constant if b.is_constant else b * a.constant
    return None


def affine(expr: ir.AffineExpr, dims: Sequence[Rep], emit: Callable[[str, Rep, Rep], Rep]) -> Rep:
    """`expr` at `dims`. `emit` computes what is not linear: an op of arith, by its name, on two values."""

    def combine(name: str, a: Rep, b: Rep) -> Rep:
        total = linear(name, a, b) if isinstance(a, LinearIndex) and isinstance(b, LinearIndex) else None
        return emit(name, a, b) if total is None else total

    return fold(expr, dims.__getitem__, lambda number: LinearIndex(constant=number), combine)


def clone_on(op: ir.Operation, operands: Sequence[ir.Value], location: ir.Location | None = None) -> list[ir.Value]:
    """The results of a scalar op on other operands; on vectors, if one of them is a vector."""
    length = next((ir.VectorType(v.type).shape[0] for v in operands if is_vector(v)), None)
    types = [r.type if length is None else vector_of(length, r.type) for r in op.results]
    values = operands if length is None else [broadcast(v, length) for v in operands]
    return list(ir.Operation.create(op.name, results=types, operands=values, attributes=attributes_of(op), loc=location).results)
