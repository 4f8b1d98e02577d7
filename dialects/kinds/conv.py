"""conv: a forward convolution by a library."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from hloom.runtime.cuda.kinds.conv import groups_fit, is_of_one_rank, tensors, wrong_windows
from hloom.runtime.thunk_schema import FLOATS

from .._support import WRITES_OUTPUTS, DenseArray
from ..lhlo import Buffer, LhloOp, past_buffers, referenced
from ..library_call import accumulator, activated, past_slices, views
from ..thunk import Machine, ThunkOp, integers
from ..thunk_json import plain


class LhloConv(LhloOp, name="conv", traits=[WRITES_OUTPUTS]):
    """A forward convolution by a library: y = f(x * w + bias + residual). The attributes are those of `thunk.conv`.

    `more` is the bias and the residual, where `bias` and `residual` are 1.
    """

    x: Operand[ir.MemRefType]
    w: Operand[ir.MemRefType]
    more: Sequence[Operand[Buffer]]
    out: Operand[ir.MemRefType]
    input: DenseArray
    filter: DenseArray
    output: DenseArray
    input_strides: DenseArray
    filter_strides: DenseArray
    output_strides: DenseArray
    window_strides: DenseArray
    padding_low: DenseArray
    padding_high: DenseArray
    dilations: DenseArray
    groups: ir.IntegerAttr
    bias: ir.IntegerAttr
    residual: ir.IntegerAttr
    relu: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        x, w, y = [[integers(self.attributes[f"{name}{part}"]) for part in ("", "_strides")] for name in ("input", "filter", "output")]
        residual, more = self.residual.value, list(self.more)
        if len(more) != self.bias.value + residual or any(len(sizes) != len(strides) for sizes, strides in (x, w, y)):
            yield f"takes {len(more)} buffers for its bias and residual, or has not one stride a dimension"
            return
        tensors = [("x", self.x, *x), ("w", self.w, *w), ("y", self.out, *y)]
        if residual:
            tensors.append(("the residual", referenced(more[-1]), *y))
        yield from past_buffers(tensors)

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        return {"element": ir.TypeAttr.get(ir.MemRefType(self.x.type).element_type)}


class ThunkConv(ThunkOp, name="conv"):
    """A forward convolution by a library: y = f(x * w + bias + residual), f the identity or max(·, 0).

    `reads` holds x, w, then the bias and the residual where `bias` and `residual` are 1; f is max(·, 0) where `relu` is 1. All are of type
    `element`; sums are taken in f32, f64 for f64. `input`, `filter` and `output` are the sizes [n, c, spatial…], [k, c / groups, spatial…]
    and [n, k, spatial…], one to three spatial dimensions; the strides are in elements, in the same order whatever the layout. The bias
    has k elements; the residual lies as y does. A dilation of d reads every d-th element.
    """

    reads: DenseArray
    writes: DenseArray
    element: ir.TypeAttr
    input: DenseArray
    filter: DenseArray
    output: DenseArray
    input_strides: DenseArray
    filter_strides: DenseArray
    output_strides: DenseArray
    window_strides: DenseArray
    padding_low: DenseArray
    padding_high: DenseArray
    dilations: DenseArray
    groups: ir.IntegerAttr
    bias: ir.IntegerAttr
    residual: ir.IntegerAttr
    relu: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        op = plain(self)
        flags = {op["bias"], op["residual"], op["relu"]} <= {0, 1} and 1 <= len(op["window_strides"]) <= 3
        slices_fit = len(op["reads"]) == 2 + op["bias"] + op["residual"] and len(op["writes"]) == 1
        if not (flags and slices_fit and is_of_one_rank(op)):
            yield "wants x, w, the bias and the residual to read, one slice to write, and one to three spatial dimensions throughout"
            return
        if op["element"] not in FLOATS:
            yield f"convolves {op['element']}"
            return
        if op["groups"] < 1 or not groups_fit(op):
            yield f"{op['groups']} groups do not take {op['input'][1]} to {op['filter'][0]} channels"
        for extent, tap, made in wrong_windows(op):
            yield f"a window of {tap} over {extent} elements gives no {made}"
        yield from past_slices(tensors(op))

    def simulate(self, machine: Machine) -> None:
        op = plain(self)
        found = views(machine, op, tensors(op))
        wide = accumulator(op["element"])
        total = _sums(op, found["x"].astype(wide), found["w"].astype(wide))
        if op["bias"]:
            total += found["the bias"].astype(wide).reshape(-1, *(1,) * (total.ndim - 2))
        if op["residual"]:
            total += found["the residual"].astype(wide)
        found["y"][:] = activated(total, "relu" if op["relu"] else "none").astype(found["y"].dtype)

    def describe(self) -> str:
        sizes = " by ".join("x".join(map(str, integers(each))) for each in (self.input, self.filter))
        after = [name for name in ("bias", "residual", "relu") if self.attributes[name].value]
        return " ".join(["library conv", sizes, str(self.element), *after])

    def flops(self) -> int:
        return 2 * prod(integers(self.output)) * prod(integers(self.filter)[1:])


def _sums(op: dict[str, Any], x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """x * w, by one batched matrix product for each tap of the window."""
    (n, k, *spatial), groups = op["output"], op["groups"]
    padded = np.pad(x, [(0, 0), (0, 0), *zip(op["padding_low"], op["padding_high"])])
    total = np.zeros((n, groups, k // groups, prod(spatial)), x.dtype)
    for number, tap in enumerate(product(*map(range, op["filter"][2:]))):
        window = [
            slice(at * dilation, at * dilation + (extent - 1) * stride + 1, stride)
            for at, dilation, extent, stride in zip(tap, op["dilations"], spatial, op["window_strides"])
        ]
        seen = padded[tuple([slice(None), slice(None), *window])].reshape(n, groups, -1, total.shape[-1])
        total += np.matmul(w.reshape(*w.shape[:2], -1)[:, :, number].reshape(groups, k // groups, -1), seen)
    return total.reshape(op["output"])
