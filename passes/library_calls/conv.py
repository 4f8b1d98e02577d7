"""Convolutions as a library takes them: sizes and strides, whatever the layout, of plain forward convolutions and of their gradients."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

from torch_mlir import ir

from ..common.rewriting import i64_array, i64_attr, integer, integers, padding_pairs, reversal
from ..stablehlo.support.dimensions import ConvDims
from .epilogue import Epilogue

ELEMENTS = ("f16", "bf16", "f32")


@dataclass(frozen=True)
class Conv:
    """y = x * w. Sizes and strides (in elements) are [n, c, spatial…], [k, c / groups, spatial…] and [n, k, spatial…] of x, w and y.

    `makes`: "output"; or "filter" or "input", where it is the gradient by w of x and the gradient by y, or that by x of that by y and w.
    """

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
    makes: str = "output"

    library: ClassVar = "conv"
    results: ClassVar = ()
    """The types of y that the library writes beside that of x and w."""

    @property
    def activations(self) -> tuple[str, ...]:
        return ("relu",) if self.makes == "output" else ()

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
        own = {name: _attribute(value) for name, value in vars(self).items()}
        flags = {"bias": epilogue.bias is not None, "residual": epilogue.residual is not None, "relu": bool(epilogue.activation)}
        return own | {name: i64_attr(flag) for name, flag in flags.items()}

    def _orders(self) -> tuple[list[int], list[int]]:
        rank = len(self.input)
        return list(range(rank)), [0, *range(2, rank), 1]


def _attribute(value: tuple[int, ...] | int | str) -> ir.Attribute:
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    return i64_array(value) if isinstance(value, tuple) else i64_attr(value)


def _lies(sizes: tuple[int, ...], strides: tuple[int, ...], order: list[int]) -> bool:
    """Whether a tensor is contiguous with its dimensions in that order, those of extent 1 anywhere."""
    return all(sizes[d] == 1 or strides[d] == prod(sizes[e] for e in order[i + 1 :]) for i, d in enumerate(order))


def conv_of(op: ir.Operation, elements: Collection[str] = ELEMENTS, batch_groups: Collection[int] = (1,)) -> Conv | None:
    """The convolution that a stablehlo.convolution on row-major operands is.

    None for other numbers of batch groups than `batch_groups`, base dilation, reversed windows and negative padding, for other elements
    than `elements` of x and w alike, for no or more than three spatial dimensions, and where there is nothing to compute.
    """
    if not _is_taken(op, elements):
        return None
    dims = ConvDims.of(op)
    rank = len(dims.spatial[0])
    padding = padding_pairs(op, rank)
    plain = integer(op, "batch_group_count") in batch_groups and set(integers(op, "lhs_dilation")) <= {1} and not any(reversal(op, rank))
    if not plain or any(min(pair) < 0 for pair in padding):
        return None
    return Conv(
        **_laid(op.operands[0], "input", (dims.first[0], dims.second[0], *dims.spatial[0])),
        **_laid(op.operands[1], "filter", (dims.second[1], dims.first[1], *dims.spatial[1])),
        **_laid(op.results[0], "output", (dims.first[2], dims.second[2], *dims.spatial[2])),
        window_strides=tuple(integers(op, "window_strides", [1] * rank)),
        padding_low=tuple(low for low, _ in padding),
        padding_high=tuple(high for _, high in padding),
        dilations=tuple(integers(op, "rhs_dilation", [1] * rank)),
        groups=integer(op, "feature_group_count"),
    )


def gradient_of(op: ir.Operation) -> Conv | None:
    """The gradient of a convolution that a stablehlo.convolution on row-major operands is, as frameworks write them; None if it is none.

        by w   [f, 0, 1, b]x[i, 0, 1, o]: x, whose images lie outside and are summed, by windows that are the gradient by y; strides are
               the forward's dilations and dilations its strides, batch groups its groups
        by x   the gradient by y, with zeros between its elements where the forward has strides, by w with its windows reversed

    Declined: what `conv_of` declines of types and ranks; gradients of convolutions that are padded otherwise on one side than on the other;
    by x those without strides, which are plain convolutions of reversed weights, and those with groups.
    """
    if not _is_taken(op, ELEMENTS):
        return None
    found = gradient_by_input(op)
    if found is not None:
        turned = reversal(op, len(found.dilations))
        return found if _fits(found) and all(each or taps == 1 for each, taps in zip(turned, found.filter[2:])) else None
    found = _by_filter(op)
    return found if found is not None and _fits(found) else None


def library_conv(op: ir.Operation) -> Conv | None:
    """What a library does of a convolution."""
    return gradient_of(op) or conv_of(op)


def _is_taken(op: ir.Operation, elements: Collection[str]) -> bool:
    """Whether it is a convolution of a type and a rank that libraries have, and there is something to compute."""
    if op.name != "stablehlo.convolution":
        return False
    x, w, y = (ir.RankedTensorType(value.type) for value in (*op.operands, op.results[0]))
    kinds = {str(kind.element_type) for kind in (x, w)}
    return 3 <= x.rank <= 5 and len(kinds) == 1 and kinds <= {*elements} and all(prod(kind.shape) for kind in (x, w, y))


def _laid(value: ir.Value, name: str, order: tuple[int, ...]) -> dict[str, Any]:
    """Sizes and strides of a row-major tensor, its dimensions in that order."""
    shape = ir.RankedTensorType(value.type).shape
    return {name: tuple(shape[d] for d in order), f"{name}_strides": tuple(prod(shape[d + 1 :]) for d in order)}


def _by_filter(op: ir.Operation) -> Conv | None:
    dims = ConvDims.of(op)
    rank = len(dims.spatial[0])
    dilated = set(integers(op, "lhs_dilation")) - {1}
    if dims.second[0] > dims.first[0] or integer(op, "feature_group_count") != 1 or any(reversal(op, rank)) or dilated:
        return None
    low = tuple(low for low, _ in padding_pairs(op, rank))
    return Conv(
        **_laid(op.operands[0], "input", (dims.second[0], dims.first[0], *dims.spatial[0])),
        **_laid(op.results[0], "filter", (dims.second[2], dims.first[2], *dims.spatial[2])),
        **_laid(op.operands[1], "output", (dims.first[1], dims.second[1], *dims.spatial[1])),
        window_strides=tuple(integers(op, "rhs_dilation", [1] * rank)),
        padding_low=low,
        padding_high=low,
        dilations=tuple(integers(op, "window_strides", [1] * rank)),
        groups=integer(op, "batch_group_count"),
        makes="filter",
    )


def gradient_by_input(op: ir.Operation) -> Conv | None:
    """The gradient that `gradient_of` would say a convolution of elements with zeros between them is, were its windows reversed and the
    forward convolution padded alike on both sides."""
    if not _is_taken(op, ELEMENTS) or set(integers(op, "lhs_dilation")) <= {1}:
        return None
    dims = ConvDims.of(op)
    if dims.second[0] < dims.first[0]:
        return None  # images are summed: the gradient by the weights of a transposed convolution
    rank = len(dims.spatial[0])
    taps = [ir.RankedTensorType(op.operands[1].type).shape[d] for d in dims.spatial[1]]
    grouped = integer(op, "feature_group_count") * integer(op, "batch_group_count") != 1
    if grouped or set(integers(op, "window_strides", [1] * rank)) - {1}:
        return None
    dilations = tuple(integers(op, "rhs_dilation", [1] * rank))
    low = tuple((count - 1) * apart - pair[0] for count, apart, pair in zip(taps, dilations, padding_pairs(op, rank)))
    return Conv(
        **_laid(op.results[0], "input", (dims.first[2], dims.second[2], *dims.spatial[2])),
        **_laid(op.operands[1], "filter", (dims.first[1], dims.second[1], *dims.spatial[1])),
        **_laid(op.operands[0], "output", (dims.first[0], dims.second[0], *dims.spatial[0])),
        window_strides=tuple(integers(op, "lhs_dilation", [1] * rank)),
        padding_low=low,
        padding_high=low,
        dilations=dilations,
        groups=1,
        makes="input",
    )


def _fits(conv: Conv) -> bool:
    """Whether the forward convolution, padded on both sides as on the one that is known, gives a y of that size."""
    sizes = zip(conv.input[2:], conv.filter[2:], conv.output[2:], conv.window_strides, conv.padding_low, conv.dilations)
    return all(
        low >= 0 and made == (2 * low + extent - (taps - 1) * apart - 1) // stride + 1 for extent, taps, made, stride, low, apart in sizes
    )
