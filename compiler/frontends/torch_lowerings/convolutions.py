"""Gradients of convolutions of any dimensions, strides, groups, each one convolution: with zeros between the elements of the gradient (by
the input), or with a window that is a whole picture (by the weights), as JAX writes them.

    y[n, o, j] = sum over i, t of x[n, i, j * stride + t * dilation - padding] * w[o, i, t]
    dx[n, i, :] = sum over o of dilated(dy)[n, o, :] * reversed(w)[o, i, :]
    dw[o, i, t] = sum over n, j of x[n, i, j * stride + t * dilation - padding] * dy[n, o, j]

A transposed convolution is the gradient by the input of one whose weights these are, so its own gradient by the input is that convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.common.rewriting import i64_array, i64_attr, value_of
from hloom.passes.stablehlo.support import build
from hloom.passes.stablehlo.support.dimensions import ConvDims

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering

_HALVES = ("f16", "bf16")


@torch_decomposition("aten.convolution", before_lowering=True)
def biased_convolution(x: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], *rest: Any) -> Tensor:
    """Of halves: torch adds the bias to the sum in f32 and rounds once."""
    if bias is None or x.dtype not in (torch.float16, torch.bfloat16):
        return NotImplemented
    result = torch.ops.aten.convolution(x.float(), weight.float(), None, stride, *rest)
    return (result + bias.float().reshape(-1, *[1] * (result.dim() - 2))).to(x.dtype)


@torch_lowering("aten.convolution")
def convolution(
    op: TorchOp,
    x: ir.Value,
    weight: ir.Value,
    bias: ir.Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> ir.Value:
    """Transposed ones whose output paddings differ: torch-mlir takes these in the wrong order."""
    if not transposed or len(set(output_padding)) == 1:
        return NotImplemented
    result = _Convolution.along(x, stride, padding, dilation, groups).by_input(x, weight, op.result.shape[2:])
    return result if bias is None else build.elementwise("add", result, build.broadcast(bias, build.shape_of(result), [1]))


@torch_lowering("aten.convolution_backward")
def convolution_backward(
    op: TorchOp,
    gradient: ir.Value,
    x: ir.Value,
    weight: ir.Value,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> list[ir.Value | None]:
    """By the input, by the weights and by the bias: those that are asked for."""
    convolution = _Convolution.along(x, stride, padding, dilation, groups)
    wanted = [asked and used for asked, used in zip(output_mask, op.used)]
    made: list[ir.Value | None] = [None, None, None]
    if wanted[0]:
        size = build.shape_of(x)[2:]
        made[0] = convolution.of(gradient, weight, size) if transposed else convolution.by_input(gradient, weight, size)
    if wanted[1]:
        image, result = (gradient, x) if transposed else (x, gradient)
        made[1] = convolution.by_weight(image, result, build.shape_of(weight)[2:])
    if wanted[2]:
        made[2] = _by_bias(gradient)
    return made


@dataclass(frozen=True)
class _Convolution:
    """An ordinary convolution: images [batch, features, …], weights [result's features, features of a group, …]."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]
    groups: int

    @staticmethod
    def along(x: ir.Value, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int) -> _Convolution:
        """Along the spatial dimensions of `x`, where one number may stand for all."""
        rank = len(build.shape_of(x)) - 2
        strides, paddings, dilations = ([*sizes] * (rank // len(sizes)) for sizes in (stride, padding, dilation))
        return _Convolution(strides, paddings, dilations, groups)

    @property
    def _places(self) -> tuple[int, ...]:
        return tuple(range(2, len(self.stride) + 2))

    def of(self, x: ir.Value, weight: ir.Value, size: Sequence[int]) -> ir.Value:
        """The convolution itself; `size` tells how much of what the stride leaves over is read."""
        high = [
            (n - 1) * s + d * (k - 1) + 1 - m - p
            for n, s, d, k, m, p in zip(size, self.stride, self.dilation, _size(weight), _size(x), self.padding)
        ]
        shape = [build.shape_of(x)[0], build.shape_of(weight)[0], *size]
        dims = ConvDims((0, 1, 0), (1, 0, 1), (self._places,) * 3)
        return _convolution(dims, x, weight, shape, (self.padding, high), self.stride, dilation=self.dilation, groups=self.groups)

    def by_input(self, gradient: ir.Value, weight: ir.Value, size: Sequence[int]) -> ir.Value:
        """Its gradient by an image of this size."""
        low = [d * (k - 1) - p for d, k, p in zip(self.dilation, _size(weight), self.padding)]
        high = [
            n + d * (k - 1) - (m - 1) * s - 1 - before
            for n, d, k, m, s, before in zip(size, self.dilation, _size(weight), _size(gradient), self.stride, low)
        ]
        outputs, inputs, *taps = build.shape_of(weight)
        if self.groups > 1:
            weight = build.reshape(weight, [self.groups, outputs // self.groups, inputs, *taps])
            weight = build.transpose(weight, [1, 0, *range(2, len(taps) + 3)])
            weight = build.reshape(weight, [outputs // self.groups, self.groups * inputs, *taps])
        weight = build.reverse(weight, [d for d, n in zip(self._places, taps) if n > 1])
        shape = [build.shape_of(gradient)[0], self.groups * inputs, *size]
        dims = ConvDims((0, 0, 0), (1, 1, 1), (self._places,) * 3)
        ones = [1] * len(taps)
        return _convolution(dims, gradient, weight, shape, (low, high), ones, self.stride, self.dilation, groups=self.groups)

    def by_weight(self, x: ir.Value, gradient: ir.Value, taps: Sequence[int]) -> ir.Value:
        """Its gradient by weights of these taps."""
        high = [
            (k - 1) * d + (m - 1) * s + 1 - n - p
            for k, d, m, s, n, p in zip(taps, self.dilation, _size(gradient), self.stride, _size(x), self.padding)
        ]
        shape = [build.shape_of(gradient)[1], build.shape_of(x)[1] // self.groups, *taps]
        dims = ConvDims((1, 0, 1), (0, 1, 0), (self._places,) * 3)
        return _convolution(dims, x, gradient, shape, (self.padding, high), self.dilation, dilation=self.stride, batches=self.groups)


def _size(value: ir.Value) -> list[int]:
    return build.shape_of(value)[2:]


def _convolution(
    dims: ConvDims,
    x: ir.Value,
    weight: ir.Value,
    shape: Sequence[int],
    padding: tuple[Sequence[int], Sequence[int]],
    stride: Sequence[int],
    spread: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    groups: int = 1,
    batches: int = 1,
) -> ir.Value:
    ones = [1] * len(stride)
    return value_of(
        "stablehlo.convolution", build.tensor(shape, build.element_of(x)), [x, weight],
        dimension_numbers=dims.attribute(), padding=ir.DenseElementsAttr.get(np.array(padding, np.int64).T.copy()),
        window_strides=i64_array(stride), lhs_dilation=i64_array(spread or ones), rhs_dilation=i64_array(dilation or ones),
        feature_group_count=i64_attr(groups), batch_group_count=i64_attr(batches),
    )  # fmt: skip


def _by_bias(gradient: ir.Value) -> ir.Value:
    """Of halves summed in f32."""
    element = build.element_of(gradient)
    wide = ir.F32Type.get() if str(element) in _HALVES else element
    total = build.sum_along(build.convert(gradient, wide), [0, *range(2, len(build.shape_of(gradient)))])
    return build.convert(total, element)
