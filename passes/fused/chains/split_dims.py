"""Splits dimensions of a group that reshapes make of several, so that a dimension is the same one from its arguments to its results.

    %1 = dot_general %a, %b            : tensor<24x64x64xf32>       %1 = dot_general %a', %b'    : tensor<2x12x64x64xf32>
    %2 = reshape %1                    : tensor<2x12x64x64xf32>  →  %3 = add %1, %c              : tensor<2x12x64x64xf32>
    %3 = add %2, %c

Arguments are reshaped where the function begins, results where it ends: views.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.ops import is_elementwise
from ...common.rewriting import (
    attributes_of,
    clone_with,
    create,
    element_of,
    erase_unused,
    i64_array,
    i64_attr,
    integer,
    integers,
    ops_in,
    value_of,
)
from ...stablehlo.support import build
from ...stablehlo.support.constants import splat_attribute
from .chain import dimensions
from .dims import Dim, Dims

_MOST = 8
"""Classes that are split, one after the other."""


def split_dims(function: ir.Operation) -> bool:
    """Whether all could be split; where not, the function is no group."""
    for _ in range(_MOST):
        dims = Dims(function)
        first = _first(dims, function)
        if first is None:
            return True
        if not _Split(function, dict([first]), dims).rewrite():
            return False
    return False


def _first(dims: Dims, function: ir.Operation) -> tuple[Dim, tuple[int, ...]] | None:
    """The class that is split next: arguments' last, for where all that is cut from one has been split alike, its reshape is a view."""
    arguments = function.regions[0].blocks[0].arguments
    given = {dims.of(value, d) for value in arguments for d in range(len(build.shape_of(value)))}
    return min(dims.joined, key=lambda each: each[0] in given, default=None)


class _Split:
    """Rewrites a function so that the dimensions of the classes `factors` are of so many elements each."""

    def __init__(self, function: ir.Operation, factors: dict[Dim, tuple[int, ...]], dims: Dims):
        self.function, self.factors, self.dims = function, factors, dims
        self.new: dict[ir.Value, ir.Value] = {}
        self._known: dict[ir.Value, list[list[int]]] = {}

    def rewrite(self) -> bool:
        block = self.function.regions[0].blocks[0]
        *ops, end = ops_in(block)
        with ir.InsertionPoint.at_block_begin(block), self.function.location:
            for argument in block.arguments:
                self.new[argument] = self._reshaped(argument, self._shape(argument))
        for op in ops:
            with ir.InsertionPoint(end), op.location:
                if not self._op(op):
                    return False
        with ir.InsertionPoint(end), end.location:
            for number, value in enumerate(end.operands):
                end.operands[number] = self._reshaped(self.new[value], build.shape_of(value))
        erase_unused(ops)
        return True

    def _parts(self, value: ir.Value) -> list[list[int]]:
        """The extents that each dimension is made of."""
        if value not in self._known:
            found = self._known[value] = []
            for d, extent in enumerate(build.shape_of(value)):
                factors = self.factors.get(self.dims.of(value, d), (extent,))
                found.append(list(factors) if prod(factors) == extent else [extent])
        return self._known[value]

    def _shape(self, value: ir.Value) -> list[int]:
        return [n for part in self._parts(value) for n in part]

    def _places(self, value: ir.Value, dims: list[int]) -> list[int]:
        """Where dimensions lie now."""
        starts, parts = [0], self._parts(value)
        for part in parts:
            starts.append(starts[-1] + len(part))
        return [at for d in dims for at in range(starts[d], starts[d + 1])]

    @staticmethod
    def _reshaped(value: ir.Value, shape: list[int]) -> ir.Value:
        return value if build.shape_of(value) == shape else build.reshape(value, shape)

    def _op(self, op: ir.Operation) -> bool:
        values = [*op.operands, *op.results]
        if op.name == "stablehlo.reshape":
            self.new[op.results[0]] = self._reshaped(self.new[op.operands[0]], self._shape(op.results[0]))
            return True
        if all(self._shape(v) == build.shape_of(v) for v in values):
            clone_with(op, self.new)
            return True
        rule = _elementwise if is_elementwise(op) else _RULES.get(op.name.removeprefix("stablehlo."))
        return rule is not None and rule(self, op)

    def _make(self, op: ir.Operation, **attributes: ir.Attribute) -> bool:
        """The op on the new operands, with other attributes."""
        kinds = [build.tensor(self._shape(v), element_of(v)) for v in op.results]
        made = create(op.name, kinds, [self.new[v] for v in op.operands], regions=len(op.regions), **{**attributes_of(op), **attributes})
        for region, new in zip(op.regions, made.regions):
            copy_region(region, new)
        self.new.update(zip(op.results, made.results))
        return True


def copy_region(source: ir.Region, target: ir.Region) -> None:
    """A copy of a region of one block, which reads nothing outside."""
    old = source.blocks[0]
    block = target.blocks.append(*[a.type for a in old.arguments])
    mapping: dict[ir.Value, ir.Value] = dict(zip(old.arguments, block.arguments))
    with ir.InsertionPoint(block):
        for op in ops_in(old):
            clone_with(op, mapping)


def _elementwise(split: _Split, op: ir.Operation) -> bool:
    return split._make(op)


def _constant(split: _Split, op: ir.Operation) -> bool:
    value = op.results[0]
    splat = splat_attribute(value)
    kind = build.tensor(split._shape(value), element_of(value))
    split.new[value] = build.splat(kind, splat) if splat is not None else build.reshape(op.clone().results[0], split._shape(value))
    return True


def _iota(split: _Split, op: ir.Operation) -> bool:
    value, along = op.results[0], integer(op, "iota_dimension")
    places = split._places(value, [along])
    if len(places) != 1:
        return False
    kind = build.tensor(split._shape(value), element_of(value))
    split.new[value] = value_of("stablehlo.iota", kind, iota_dimension=i64_attr(places[0]))
    return True


def _broadcast(split: _Split, op: ir.Operation) -> bool:
    before, after = op.operands[0], op.results[0]
    at: list[int] = []
    for d, target in enumerate(integers(op, "broadcast_dimensions")):
        here, there = split._parts(before)[d], split._places(after, [target])
        if len(here) != len(there) and here != [1]:
            return False
        at += there[: len(here)]
    return split._make(op, broadcast_dimensions=i64_array(at))


def _slice(split: _Split, op: ir.Operation) -> bool:
    """A part of a dimension is one of its outermost factor, where whole steps of this begin and end it."""
    before, after = op.operands[0], op.results[0]
    shape: list[int] = []
    bounds: list[tuple[int, int, int]] = []
    sides = (integers(op, name) for name in ("start_indices", "limit_indices", "strides"))
    for extent, (outer, *inner), start, limit, stride in zip(build.shape_of(before), split._parts(after), *sides):
        step = prod(inner)
        if (extent % step or start % step or stride > 1) and inner:
            return False
        shape += [extent // step, *inner]
        bounds += [(start // step, start // step + outer if inner else limit, stride), *((0, n, 1) for n in inner)]
    starts, limits, strides = (i64_array(each) for each in zip(*bounds))
    source = split._reshaped(split.new[before], shape)
    kind = build.tensor(split._shape(after), element_of(after))
    split.new[after] = value_of(op.name, kind, [source], start_indices=starts, limit_indices=limits, strides=strides)
    return True


def _transpose(split: _Split, op: ir.Operation) -> bool:
    return split._make(op, permutation=i64_array(split._places(op.operands[0], integers(op, "permutation"))))


def _reduce(split: _Split, op: ir.Operation) -> bool:
    return split._make(op, dimensions=i64_array(split._places(op.operands[0], integers(op, "dimensions"))))


def _dot(split: _Split, op: ir.Operation) -> bool:
    numbers, (left, right) = dimensions(op), op.operands
    new = _stablehlo.DotDimensionNumbers.get(
        split._places(left, list(numbers.lhs_batching_dimensions)),
        split._places(right, list(numbers.rhs_batching_dimensions)),
        split._places(left, list(numbers.lhs_contracting_dimensions)),
        split._places(right, list(numbers.rhs_contracting_dimensions)),
    )
    return split._make(op, dot_dimension_numbers=new)


_RULES: dict[str, Callable[[_Split, ir.Operation], bool]] = {
    "constant": _constant,
    "iota": _iota,
    "broadcast_in_dim": _broadcast,
    "transpose": _transpose,
    "reduce": _reduce,
    "slice": _slice,
    "dot_general": _dot,
}
