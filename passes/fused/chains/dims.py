"""Which dimensions of a group's values are the same one: ties through its ops, and what each op does along a dimension.

s = dot_general(q, k)        s's rows are q's, its columns k's; both sum over the depth
m = reduce max (s, dims [2]) m's rows are s's; the columns are reduced
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from torch_mlir import ir

from ...common.ops import is_elementwise
from ...common.rewriting import body_ops, defining_op, integers, is_block_argument
from ...stablehlo.support.build import shape_of
from .chain import dimensions

Dim = tuple[ir.Value, int]
_REDUCING = ("dot_general", "reduce")
_SOURCES = ("stablehlo.constant", "stablehlo.iota")


class Dims:
    """The dimensions of all values in a function of StableHLO ops, in classes of those that are one.

    `at_points`: what is made of no contraction or reduction is read wherever it is asked for, so that what it is broadcast along is none of
    its dimensions (positions, and segments, which are both the rows' and the columns').
    """

    def __init__(self, function: ir.Operation, at_points: bool = False):
        self._at_points, self._made = at_points, set[ir.Value]()
        self._parent: dict[Dim, Dim] = {}
        self.reduced: dict[ir.Operation, set[Dim]] = {}
        """Of contractions and reductions the dimensions that they reduce, of their operands."""
        self._bad: list[Dim] = []
        self._joined: list[tuple[Dim, tuple[int, ...]]] = []
        self.ops = body_ops(function)
        for op in self.ops:
            self._read(op)
        self.bad = {self.of(*dim) for dim in self._bad}
        """Classes along which an op does something else."""
        self.joined = [(self.of(*dim), extents) for dim, extents in self._joined]
        """Classes that a reshape makes of several dimensions, or into several, and the extents of these."""

    def of(self, value: ir.Value, dim: int) -> Dim:
        """The class of a dimension, told by one of it."""
        at = (value, dim)
        while self._parent.get(at, at) != at:
            at = self._parent[at]
        return at

    def classes(self, value: ir.Value) -> list[Dim | None]:
        """Those of a value's dimensions; None where there is but one element."""
        return [self.of(value, d) if n != 1 else None for d, n in enumerate(shape_of(value))]

    def reduces(self, op: ir.Operation) -> set[Dim]:
        """The classes that an op reduces, of more than one element."""
        return {self.of(value, d) for value, d in self.reduced.get(op, ()) if shape_of(value)[d] != 1}

    def _tie(self, value: ir.Value, dim: int, other: ir.Value, at: int) -> None:
        a, b = self.of(value, dim), self.of(other, at)
        if a != b:
            self._parent[b] = a

    def _read(self, op: ir.Operation) -> None:
        """Ties the dimensions of an op's values; along those of an op that is not known it does something else."""
        name = op.name.removeprefix("stablehlo.")
        if name in _REDUCING or any(value in self._made for value in op.operands):
            self._made.update(op.results)
        if name in _READERS:
            _READERS[name](self, op)
        elif is_elementwise(op):
            self._elementwise(op)
        elif op.name not in _SOURCES:
            self._bad += [(v, d) for v in (*op.operands, *op.results) for d in range(len(shape_of(v)))]

    def _elementwise(self, op: ir.Operation) -> None:
        for value in op.operands:
            for d in range(len(shape_of(value))):
                self._tie(value, d, op.results[0], d)

    def _broadcast(self, op: ir.Operation) -> None:
        if self._at_points and op.operands[0] not in self._made:
            return
        before, after = shape_of(op.operands[0]), shape_of(op.results[0])
        for d, at in enumerate(integers(op, "broadcast_dimensions")):
            if before[d] == after[at]:
                self._tie(op.operands[0], d, op.results[0], at)

    def _transpose(self, op: ir.Operation) -> None:
        for at, d in enumerate(integers(op, "permutation")):
            self._tie(op.operands[0], d, op.results[0], at)

    def _slice(self, op: ir.Operation) -> None:
        """A part of a dimension is another one. Parts of an argument are read by themselves: queries and keys of one projection."""
        source = defining_op(op.operands[0])
        if source is None or (source.name == "stablehlo.reshape" and is_block_argument(source.operands[0])):
            return
        before, after = shape_of(op.operands[0]), shape_of(op.results[0])
        for d in range(len(before)):
            if before[d] == after[d]:
                self._tie(op.operands[0], d, op.results[0], d)

    def _reshape(self, op: ir.Operation) -> None:
        """Where the function begins or ends it is a view, on whose other side nothing is."""
        value, result = op.operands[0], op.results[0]
        begins = is_block_argument(value) and {_reshapes_to(use.owner.operation) for use in value.uses} == {tuple(shape_of(result))}
        at_edge = begins or all(use.owner.operation.name == "func.return" for use in result.uses)
        for befores, afters in segments(shape_of(value), shape_of(result)):
            if len(befores) == len(afters) == 1:
                self._tie(value, befores[0], result, afters[0])
                continue
            if at_edge:
                continue
            if len(afters) == 1:
                self._joined.append(((result, afters[0]), tuple(shape_of(value)[d] for d in befores)))
            elif len(befores) == 1:
                self._joined.append(((value, befores[0]), tuple(shape_of(result)[d] for d in afters)))
            self._bad += [*((value, d) for d in befores), *((result, d) for d in afters)]

    def _reduce(self, op: ir.Operation) -> None:
        along = integers(op, "dimensions")
        inputs = list(op.operands)[: len(op.results)]
        self.reduced[op] = {(value, d) for value in inputs for d in along}
        kept = [d for d in range(len(shape_of(inputs[0]))) if d not in along]
        for value, result in zip(inputs, op.results):
            for at, d in enumerate(kept):
                self._tie(value, d, op.results[0], at)
                self._tie(result, at, op.results[0], at)
            for d in along:
                self._tie(value, d, inputs[0], d)

    def _dot(self, op: ir.Operation) -> None:
        numbers, (left, right), result = dimensions(op), list(op.operands), op.results[0]
        pairs = [list(d) for d in (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions)]
        summed = [list(d) for d in (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)]
        for at, (a, b) in enumerate(zip(*pairs)):
            self._tie(left, a, result, at)
            self._tie(right, b, result, at)
        at = len(pairs[0])
        for value, batch, along in zip((left, right), pairs, summed):
            for d in range(len(shape_of(value))):
                if d not in batch and d not in along:
                    self._tie(value, d, result, at)
                    at += 1
        for a, b in zip(*summed):
            self._tie(left, a, right, b)
        self.reduced[op] = {(left, d) for d in summed[0]}


_READERS: dict[str, Callable[[Dims, ir.Operation], None]] = {
    "broadcast_in_dim": Dims._broadcast,
    "transpose": Dims._transpose,
    "reshape": Dims._reshape,
    "slice": Dims._slice,
    "reduce": Dims._reduce,
    "dot_general": Dims._dot,
}


def _reshapes_to(op: ir.Operation) -> tuple[int, ...] | None:
    return tuple(shape_of(op.results[0])) if op.name == "stablehlo.reshape" else None


def segments(before: Sequence[int], after: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Which dimensions of a shape become which of another of as many elements, those of one element left out."""
    a = [d for d, n in enumerate(before) if n != 1]
    b = [d for d, n in enumerate(after) if n != 1]
    while a and b:
        left, right = [a.pop(0)], [b.pop(0)]
        while (x := prod(before[d] for d in left)) != (y := prod(after[d] for d in right)):
            if x < y:
                left.append(a.pop(0))
            else:
                right.append(b.pop(0))
        yield left, right
