"""Dimension numbers of dot_general and convolution as plain records that can be permuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.rewriting import attributes_of, reversal, value_of
from . import build

Pair = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class DotDims:
    """Batch and contracting dimensions of (lhs, rhs); the rest is free. The result has batch, lhs free, rhs free dimensions."""

    batch: Pair
    contracting: Pair
    ranks: tuple[int, int]

    @staticmethod
    def of(op: ir.Operation) -> DotDims:
        numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        return DotDims(
            (tuple(numbers.lhs_batching_dimensions), tuple(numbers.rhs_batching_dimensions)),
            (tuple(numbers.lhs_contracting_dimensions), tuple(numbers.rhs_contracting_dimensions)),
            (len(build.shape_of(op.operands[0])), len(build.shape_of(op.operands[1]))),
        )

    def free(self, side: int) -> list[int]:
        return [d for d in range(self.ranks[side]) if d not in self.batch[side] and d not in self.contracting[side]]

    def moved(self, side: int, permutation: Sequence[int]) -> DotDims:
        """For the operand of which this side's is the transpose by `permutation`."""

        def move(pair: Pair) -> Pair:
            moved = tuple(permutation[d] for d in pair[side])
            return (moved, pair[1]) if side == 0 else (pair[0], moved)

        return replace(self, batch=move(self.batch), contracting=move(self.contracting))

    def exchanged(self) -> DotDims:
        """For the operands in the other order."""
        return DotDims(self.batch[::-1], self.contracting[::-1], self.ranks[::-1])

    def emit(self, like: ir.Operation, lhs: ir.Value, rhs: ir.Value, kind: ir.Type) -> ir.Value:
        """A dot_general with the other attributes of `like`."""
        attributes = attributes_of(like)
        attributes["dot_dimension_numbers"] = build.dot_dimensions(*self.batch, *self.contracting)
        return value_of("stablehlo.dot_general", kind, [lhs, rhs], **attributes)


@dataclass(frozen=True)
class ConvDims:
    """Dimensions of (lhs, rhs, result): batch, input feature and batch first; then feature, output feature and feature; spatial."""

    first: tuple[int, int, int]
    second: tuple[int, int, int]
    spatial: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def of(op: ir.Operation) -> ConvDims:
        n = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        return ConvDims(
            (n.input_batch_dimension, n.kernel_input_feature_dimension, n.output_batch_dimension),
            (n.input_feature_dimension, n.kernel_output_feature_dimension, n.output_feature_dimension),
            (tuple(n.input_spatial_dimensions), tuple(n.kernel_spatial_dimensions), tuple(n.output_spatial_dimensions)),
        )

    def moved(self, side: int, permutation: Sequence[int]) -> ConvDims:
        """For the tensor of which this side's is the transpose by `permutation`."""

        def at(values: tuple, new: object) -> tuple:
            return tuple(new if i == side else old for i, old in enumerate(values))

        return ConvDims(
            at(self.first, permutation[self.first[side]]),
            at(self.second, permutation[self.second[side]]),
            at(self.spatial, tuple(permutation[d] for d in self.spatial[side])),
        )

    def order(self, side: int, other: ConvDims) -> list[int]:
        """The permutation of this side's tensor that gives it the dimension numbers of `other`."""
        places = {other.first[side]: self.first[side], other.second[side]: self.second[side]}
        places |= zip(other.spatial[side], self.spatial[side])
        return [places[d] for d in range(len(places))]

    def laid_out(self, op: ir.Operation, other: ConvDims) -> ir.Value:
        """The result of the convolution `op`, which has these dimension numbers, by one with those of `other`."""
        x, w, y = (self.order(side, other) for side in range(3))
        lhs, rhs = (build.transpose(value, order) for value, order in zip(op.operands, (x, w)))
        shape = build.shape_of(op.results[0])
        made = other.emit(op, lhs, rhs, build.tensor([shape[d] for d in y], build.element_of(op.results[0])))
        return build.transpose(made, [y.index(d) for d in range(len(y))])

    def unreversed(self, op: ir.Operation) -> ir.Value:
        """The weights of the convolution `op` as windows that are not reversed read them."""
        weights = op.operands[1]
        reverses = zip(self.spatial[1], reversal(op, len(self.spatial[1])))
        turned = [d for d, reverse in reverses if reverse and build.shape_of(weights)[d] > 1]
        return build.reverse(weights, turned) if turned else weights

    def attribute(self) -> ir.Attribute:
        return _stablehlo.ConvDimensionNumbers.get(
            input_batch_dimension=self.first[0],
            input_feature_dimension=self.second[0],
            input_spatial_dimensions=list(self.spatial[0]),
            kernel_input_feature_dimension=self.first[1],
            kernel_output_feature_dimension=self.second[1],
            kernel_spatial_dimensions=list(self.spatial[1]),
            output_batch_dimension=self.first[2],
            output_feature_dimension=self.second[2],
            output_spatial_dimensions=list(self.spatial[2]),
        )

    def emit(self, like: ir.Operation, lhs: ir.Value, rhs: ir.Value, kind: ir.Type, **changed: ir.Attribute) -> ir.Value:
        """A convolution with the other attributes of `like`, but for those `changed`."""
        attributes = {**attributes_of(like), "dimension_numbers": self.attribute(), **changed}
        return value_of("stablehlo.convolution", kind, [lhs, rhs], **attributes)
