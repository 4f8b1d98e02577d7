"""Convolutions as a library takes them: sizes and strides of plain forward convolutions, whatever their layout."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from torch_mlir import ir

from ..common.rewriting import i64_array, i64_attribute, integer, integers, padding_pairs
from ..stablehlo.support.dimensions import ConvDims
from .epilogue import Epilogue

ELEMENTS = ("f16", "bf16", "f32")


@dataclass(frozen=True)
class Conv:
    """y = x * w. Sizes and strides (in elements) are [n, c, spatial…], [k, c / groups, spatial…] and [n, k, spatial…] of x, w and y."""

    input: tuple[int, ...]
    filter: tuple[int, ...]
    output: tuple[int, ...]
    input_strides: tuple[int, ...]
    filter_strides: tuple[int, ...]
    output_strides: tuple[int, ...]
    window_strides: tuple[int, ...]
    padding_low: tuple[int, ...]
    padding_high: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int

    library: ClassVar = "conv"
    activations: ClassVar = ("relu",)
    results: ClassVar = ()
    """The types of y that the library writes beside that of x and w."""

    @property
    def columns(self) -> tuple[int, int]:
        """(extent, inner): element i of y, as it lies, is of channel i // inner % extent."""
        return self.output[1], self.output_strides[1]

    @property
    def obstacle(self) -> str:
        """Why the library does not take it: the channels of a tensor neither come right after the batch (or the features) nor last."""
        tensors = ((self.input, self.input_strides), (self.filter, self.filter_strides), (self.output, self.output_strides))
        packed = all(any(_lies(*tensor, order) for order in self._orders()) for tensor in tensors)
        return "" if packed else "its types, layout or window is none of the library's"

    @property
    def of_one_group(self) -> Conv:
        """The sizes of what a group convolves alone."""
        x, y = ((count, channels // self.groups, *spatial) for count, channels, *spatial in (self.input, self.output))
        return replace(self, input=x, filter=(y[1], *self.filter[1:]), output=y, groups=1)

    def attributes(self, epilogue: Epilogue) -> dict[str, ir.Attribute]:
        """Those of lhlo.conv."""
        own = {name: i64_array(value) if isinstance(value, tuple) else i64_attribute(value) for name, value in vars(self).items()}
        flags = {"bias": epilogue.bias is not None, "residual": epilogue.residual is not None, "relu": bool(epilogue.activation)}
        return own | {name: i64_attribute(flag) for name, flag in flags.items()}

    def _orders(self) -> tuple[list[int], list[int]]:
        rank = len(self.input)
        return list(range(rank)), [0, *range(2, rank), 1]


def _lies(sizes: tuple[int, ...], strides: tuple[int, ...], order: list[int]) -> bool:
    """Whether a tensor is contiguous with its dimensions in that order, those of extent 1 anywhere."""
    return all(sizes[d] == 1 or strides[d] == prod(sizes[e] for e in order[i + 1 :]) for i, d in enumerate(order))


def conv_of(op: ir.Operation, elements: Collection[str] = ELEMENTS, batch_groups: Collection[int] = (1,)) -> Conv | None:
    """The convolution that a stablehlo.convolution on row-major operands is.

    None for other numbers of batch groups than `batch_groups`, base dilation, reversed windows and negative padding, for other elements
    than `elements` of x and w alike, for no or more than three spatial dimensions, and where there is nothing to compute.
    """
    if op.name != "stablehlo.convolution":
        return None
    x, w, y = (ir.RankedTensorType(value.type) for value in (*op.operands, op.results[0]))
    dims = ConvDims.of(op)
    rank = len(dims.spatial[0])
    kinds = [str(kind.element_type) for kind in (x, w)]
    padding = padding_pairs(op, rank)
    reversal = any(ir.DenseBoolArrayAttr(op.attributes["window_reversal"])) if "window_reversal" in op.attributes else False
    plain = integer(op, "batch_group_count") in batch_groups and set(integers(op, "lhs_dilation")) <= {1} and not reversal
    if not plain or not 1 <= rank <= 3 or kinds[0] != kinds[1] or kinds[0] not in elements:
        return None
    if any(min(pair) < 0 for pair in padding) or not all(prod(kind.shape) for kind in (x, w, y)):
        return None
    orders = [
        (dims.first[0], dims.second[0], *dims.spatial[0]),
        (dims.second[1], dims.first[1], *dims.spatial[1]),
        (dims.first[2], dims.second[2], *dims.spatial[2]),
    ]
    sizes = [tuple(kind.shape[d] for d in order) for kind, order in zip((x, w, y), orders)]
    strides = [tuple(prod(kind.shape[d + 1 :]) for d in order) for kind, order in zip((x, w, y), orders)]
    return Conv(
        input=sizes[0],
        filter=sizes[1],
        output=sizes[2],
        input_strides=strides[0],
        filter_strides=strides[1],
        output_strides=strides[2],
        window_strides=tuple(integers(op, "window_strides", [1] * rank)),
        padding_low=tuple(low for low, _ in padding),
        padding_high=tuple(high for _, high in padding),
        dilations=tuple(integers(op, "rhs_dilation", [1] * rank)),
        groups=integer(op, "feature_group_count"),
    )
