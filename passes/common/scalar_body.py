"""The scalar body of a linalg op, evaluated at one point of its loops or for a vector of neighbouring points.

A value of the body (`Rep`) is a `LinearIndex` (linear in the lane number), a scalar (the same in all lanes) or a vector (an element a
lane). Scalars stay scalars as long as they can: what is the same along a row is computed once a row. An index that advances with the lane
makes a contiguous load.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import scf

from ..errors import PassFailure
from .affine import fold_unsigned
from .control_flow import while_loop
from .index_emitter import emitting
from .linear_index import LinearIndex
from .rewriting import attributes_of, captured_values, ops_in
from .vectors import broadcast, is_vector, vector_of

Rep: TypeAlias = "LinearIndex | ir.Value"

_FIRST_CARRIED = {"scf.for": 3, "scf.while": 0}
"""Where among a loop's operands those begin that it carries."""


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

    @abstractmethod
    def wide(self, rep: Rep) -> ir.Value:
        """A value with an element for each lane."""

    def inside(self) -> AbstractContextManager[None]:
        """Around what a loop of the body does."""
        return nullcontext()

    def loop(self, op: ir.Operation) -> Sequence[Rep]:
        """The results of an scf.for or scf.while, whose turns are the same for all lanes. What it carries is a vector where it comes to
        differ between lanes."""
        self.around(op)
        starts = [self.rep(value) for value in list(op.operands)[_FIRST_CARRIED[op.name] :]]
        differ = differing(op, starts, self.reps)
        carried = [self.wide(rep) if each else same_for_all(rep) for rep, each in zip(starts, differ)]
        if op.name == "scf.for":
            made = scf.ForOp(*(LinearIndex.of(self.rep(bound)).value() for bound in list(op.operands)[:3]), carried)
            number, *arguments = op.regions[0].blocks[0].arguments
            given = {number: LinearIndex.of(made.induction_variable), **dict(zip(arguments, made.inner_iter_args))}
            with emitting(made.body):
                scf.yield_(self._turn(op.regions[0].blocks[0], given, differ))
            return list(made.results_)
        condition, body = (region.blocks[0] for region in op.regions)

        def goes_on(*values: ir.Value) -> ir.Value:
            with self._within(dict(zip(condition.arguments, values))):
                return same_for_all(self.yielded(condition)[0])

        def turn(*values: ir.Value) -> list[ir.Value]:
            return self._turn(body, dict(zip(body.arguments, values)), differ)

        return while_loop(carried, goes_on, turn)

    def around(self, op: ir.Operation) -> list[Rep]:
        """The scalars that an op and its regions read, which are so evaluated before it."""
        values = (*op.operands, *captured_values(op))
        return [self.rep(value) for value in values if not isinstance(value.type, ir.RankedTensorType)]

    def _turn(self, block: ir.Block, given: Mapping[ir.Value, Rep], differ: Sequence[bool]) -> list[ir.Value]:
        with self._within(given):
            return [self.wide(rep) if each else same_for_all(rep) for rep, each in zip(self.yielded(block), differ)]

    @contextmanager
    def _within(self, given: Mapping[ir.Value, Rep]) -> Iterator[None]:
        """A region: what is known in it is not known behind it."""
        before = self.reps
        self.reps = {**before, **given}
        with self.inside():
            yield
        self.reps = before

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
        if op.name in _FIRST_CARRIED:
            return self.loop(op)
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


def differing(op: ir.Operation, starts: Sequence[Rep], reps: Mapping[ir.Value, Rep]) -> list[bool]:
    """Which of the values that a loop carries are not the same in all lanes; `starts` are the first, `reps` what is known around it."""
    return _differing(op, [not is_same_for_all(rep) for rep in starts], lambda value: value in reps and not is_same_for_all(reps[value]))


def _differing(op: ir.Operation, differ: list[bool], outside: Callable[[ir.Value], bool]) -> list[bool]:
    """The same, of which the first ones and those around the loop are known."""
    block = op.regions[-1].blocks[0]
    arguments = list(block.arguments)[len(block.arguments) - len(differ) :]
    while True:
        differs = _differs_in(block, {argument for argument, each in zip(arguments, differ) if each}, outside)
        after = [each or differs(value) for each, value in zip(differ, ops_in(block)[-1].operands)]
        if after == differ:
            return differ
        differ = after


def _differs_in(block: ir.Block, found: set[ir.Value], outside: Callable[[ir.Value], bool]) -> Callable[[ir.Value], bool]:
    """What tells of a value in the block whether it differs, where those in `found` do. Of a loop in it each result is told by itself:
    what turns it is the same in all lanes, though an element of each is carried beside it."""

    def differs(value: ir.Value) -> bool:
        return value in found or outside(value)

    for inner in ops_in(block)[:-1]:
        if inner.name in _FIRST_CARRIED:
            starts = list(inner.operands)[_FIRST_CARRIED[inner.name] :]
            parts = _differing(inner, list(map(differs, starts)), differs)
            found.update(result for result, each in zip(inner.results, parts) if each)
        elif any(map(differs, (*inner.operands, *captured_values(inner)))):
            found.update(inner.results)
    return differs


def is_same_for_all(rep: Rep) -> bool:
    """Whether a value is the same in all lanes."""
    return not rep.lanes if isinstance(rep, LinearIndex) else not is_vector(rep)


def same_for_all(rep: Rep) -> ir.Value:
    """A value that is the same in all lanes, as a scalar."""
    return rep.value() if isinstance(rep, LinearIndex) else rep


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

    def is_natural(a: Rep) -> bool:
        return isinstance(a, LinearIndex) and min([a.constant, a.lanes, *a.terms.values()]) >= 0

    return fold_unsigned(expr, dims.__getitem__, lambda number: LinearIndex(constant=number), combine, is_natural)


def clone_on(op: ir.Operation, operands: Sequence[ir.Value], location: ir.Location | None = None) -> list[ir.Value]:
    """The results of a scalar op on other operands; on vectors, if one of them is a vector."""
    length = next((ir.VectorType(v.type).shape[0] for v in operands if is_vector(v)), None)
    types = [r.type if length is None else vector_of(length, r.type) for r in op.results]
    values = operands if length is None else [broadcast(v, length) for v in operands]
    return list(ir.Operation.create(op.name, results=types, operands=values, attributes=attributes_of(op), loc=location).results)
