"""Contractions of integers less their zero points, as products of the integers themselves, which are bytes where the differences are not.

    sum((a - p) * (b - q)) = sum(a * b) - p * sum(b) - q * sum(a - p)

is exact in i32, also where a part of it wraps. What is added beside the product are sums of columns and rows, or of a convolution's
kernels; those whose factor is 0 are not there. A convolution is padded with the zero point first: then all windows are whole. Its kernels
have no zero point: the sums of windows cost more than they save.
"""

from __future__ import annotations

from math import prod
from typing import Any

from torch_mlir import ir

from ...common.rewriting import attributes_of, element_of, integers, padding_pairs, value_of
from . import build
from .dimensions import ConvDims, DotDims

_I32 = "i32"


class IntegerProduct:
    """The contraction `op` of `operands`, integers that stand for so much less: `points`."""

    def __init__(self, op: ir.Operation, operands: tuple[ir.Value, ir.Value], points: tuple[int, int]):
        self.op, self.points = op, points
        self.attributes: dict[str, Any] = attributes_of(op)
        self.shape = build.shape_of(op.results[0])
        self.is_dot = op.name == "stablehlo.dot_general"
        image, other = operands
        if points[0] and not self.is_dot:
            image = self._padded(image)
        self.operands = image, other

    @property
    def depth(self) -> int:
        """How many products each sum has."""
        return depth_of(self.op)

    def total(self) -> ir.Value:
        """The sums of products, in i32."""
        kind = build.tensor(self.shape, ir.Type.parse(_I32))
        total = value_of(self.op.name, kind, list(self.operands), **self.attributes)
        left, right = self.points
        if left:
            total = build.subtract(total, self._sums(1, left))
        if right:
            total = build.subtract(total, self.sums(0, right))
        return total

    def sums(self, side: int, times: int = 1) -> ir.Value:
        """The sums of an operand, less its point, over what is contracted, at the points of the result, in i32."""
        return self._sums(side, times, self.depth * self.points[side])

    def _sums(self, side: int, times: int, less: int = 0) -> ir.Value:
        """(the sums of the integers - `less`) * `times`. Few numbers are computed with: what @init makes is not spread over the result."""
        operand = build.convert(self.operands[side], ir.Type.parse(_I32))
        sums, places = self._dot_sums(operand, side) if self.is_dot else self._kernel_sums(operand)
        if less:
            sums = build.subtract(sums, build.full_like(sums, less))
        if times != 1:
            sums = build.multiply(sums, build.full_like(sums, times))
        return build.broadcast(sums, self.shape, places)

    def _dot_sums(self, operand: ir.Value, side: int) -> tuple[ir.Value, list[int]]:
        """With the dimensions of the result that they have."""
        dims = DotDims.of(self.op)
        sums = build.sum_along(operand, list(dims.contracting[side]))
        first = len(dims.batch[0]) + (len(dims.free(0)) if side else 0)
        kept = sorted((*dims.batch[side], *dims.free(side)))
        places = [dims.batch[side].index(d) if d in dims.batch[side] else first + dims.free(side).index(d) for d in kept]
        order = sorted(range(len(kept)), key=places.__getitem__)
        return build.transpose(sums, order), sorted(places)

    def _kernel_sums(self, kernel: ir.Value) -> tuple[ir.Value, list[int]]:
        """Of each output feature."""
        feature = ConvDims.of(self.op).second
        return build.sum_along(kernel, [d for d in range(len(build.shape_of(kernel))) if d != feature[1]]), [feature[2]]

    def _padded(self, image: ir.Value) -> ir.Value:
        """The image padded and dilated with its zero point; the convolution does neither then."""
        spatial, shape = ConvDims.of(self.op).spatial[0], build.shape_of(image)
        pairs, base = padding_pairs(self.op, len(spatial)), integers(self.op, "lhs_dilation", [1] * len(spatial))
        low, high, interior = ([0] * len(shape) for _ in range(3))
        for dim, (before, after), step in zip(spatial, pairs, base):
            low[dim], high[dim], interior[dim] = before, after, step - 1
        for name in ("padding", "lhs_dilation"):
            self.attributes.pop(name, None)
        return build.pad(image, build.full(build.tensor([], element_of(image)), self.points[0]), low, high, interior)


def depth_of(op: ir.Operation) -> int:
    """How many products each sum of a contraction has."""
    shape = build.shape_of(op.operands[1])
    if op.name == "stablehlo.dot_general":
        return prod(shape[d] for d in DotDims.of(op).contracting[1])
    return prod(shape) // max(1, shape[ConvDims.of(op).second[1]])


def is_padded(op: ir.Operation) -> bool:
    """Whether a convolution's windows reach beyond its image's elements, or lie between them."""
    count = len(ConvDims.of(op).spatial[0])
    padding = padding_pairs(op, count) if "padding" in op.attributes else []
    return any(low or high for low, high in padding) or any(step > 1 for step in integers(op, "lhs_dilation", [1] * count))


def as_signed(value: ir.Value, point: int) -> tuple[ir.Value, int]:
    """Integers as i8, with their zero point: unsigned ones of 8 bits are moved by 128."""
    element, i8 = element_of(value), ir.IntegerType.get_signless(8)
    if not element.is_unsigned or element.width < 8:
        return (build.convert(value, i8), point) if element.is_unsigned else (value, point)
    flipped = build.elementwise("xor", value, build.full_like(value, 128))
    return build.elementwise("bitcast_convert", flipped, result=build.tensor(build.shape_of(value), i8)), point - 128
