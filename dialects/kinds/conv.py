"""conv: a convolution by a library, or one of its gradients."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from hloom.runtime.cuda.kinds.conv import LETTERS, READS, groups_fit, is_of_one_rank, tensors, wrong_windows
from hloom.runtime.thunk_schema import FLOATS

from .._support import WRITES_OUTPUTS, DenseArray
from ..lhlo import Buffer, LhloOp, past_buffers, referenced
from ..library_call import accumulator, activated, past_slices, views
from ..thunk import Machine, ThunkOp, integers
from ..thunk_json import plain


class LhloConv(LhloOp, name="conv", traits=[WRITES_OUTPUTS]):
    """A convolution by a library, y = f(x * w + bias + residual), or one of its gradients. The attributes are those of `thunk.conv`.

    `x`, `w` and `out` are the tensors of the forward convolution that `thunk.conv` reads and writes. `more` is the bias and the residual,
    where `bias` and `residual` are 1.
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
    makes: ir.StringAttr
    bias: ir.IntegerAttr
    residual: ir.IntegerAttr
    relu: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if self.makes.value not in READS:
            yield f"computes no {self.makes.value}"
            return
        names = (*READS[self.makes.value], self.makes.value)
        x, w, y = [[integers(self.attributes[f"{name}{part}"]) for part in ("", "_strides")] for name in names]
        residual, more = self.residual.value, list(self.more)
        if len(more) != self.bias.value + residual or any(len(sizes) != len(strides) for sizes, strides in (x, w, y)):
            yield f"takes {len(more)} buffers for its bias and residual, or has not one stride a dimension"
            return
        tensors = [(LETTERS[name], value, *laid) for name, value, laid in zip(names, (self.x, self.w, self.out), (x, w, y))]
        if residual:
            tensors.append(("the residual", referenced(more[-1]), *y))
        yield from past_buffers(tensors)

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        return {"element": ir.TypeAttr.get(ir.MemRefType(self.x.type).element_type)}


class ThunkConv(ThunkOp, name="conv"):
    """A convolution by a library: y = f(x * w + bias + residual), f the identity or max(·, 0); or one of its gradients.

    Where `makes` is "output", `reads` holds x, w, then the bias and the residual where `bias` and `residual` are 1; f is max(·, 0) where
    `relu` is 1. All are of type `element`; sums are taken in f32, f64 for f64. `input`, `filter` and `output` are the sizes [n, c,
    spatial…], [k, c / groups, spatial…] and [n, k, spatial…], one to three spatial dimensions; the strides are in elements, in the same
    order whatever the layout. The bias has k elements; the residual lies as y does. A dilation of d reads every d-th element.

    Where `makes` is "filter", `reads` holds x and the gradient by y, of which the gradient by w is made; where it is "input", the gradient
    by y and w, of which the gradient by x is. Neither has a bias, a residual or f. A gradient is of its tensor's sizes and strides.
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
    makes: ir.StringAttr
    bias: ir.IntegerAttr
    residual: ir.IntegerAttr
    relu: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        op = plain(self)
        flags = {op["bias"], op["residual"], op["relu"]} <= {0, 1} and 1 <= len(op["window_strides"]) <= 3
        slices_fit = len(op["reads"]) == 2 + op["bias"] + op["residual"] and len(op["writes"]) == 1
        if not (flags and slices_fit and is_of_one_rank(op)):
            yield "wants two tensors, the bias and the residual to read, one slice to write, and one to three spatial dimensions throughout"
            return
        if op["makes"] not in READS or (op["makes"] != "output" and (op["bias"] or op["residual"] or op["relu"])):
            yield f"computes {op['makes']}, or adds to a gradient"
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
        read = [found[LETTERS[name]].astype(wide) for name in READS[op["makes"]]]
        if op["makes"] != "output":
            gradient = found[LETTERS[op["makes"]]]
            gradient[:] = _GRADIENTS[op["makes"]](op, *read).astype(gradient.dtype)
            return
        total = _sums(op, *read)
        if op["bias"]:
            total += found["the bias"].astype(wide).reshape(-1, *(1,) * (total.ndim - 2))
        if op["residual"]:
            total += found["the residual"].astype(wide)
        found["y"][:] = activated(total, "relu" if op["relu"] else "none").astype(found["y"].dtype)

    def describe(self) -> str:
        sizes = " by ".join("x".join(map(str, integers(each))) for each in (self.input, self.filter))
        after = [name for name in ("bias", "residual", "relu") if self.attributes[name].value]
        of = [] if self.makes.value == "output" else [f"gradient by {self.makes.value} of"]
        return " ".join(["library conv", *of, sizes, str(self.element), *after])

    def flops(self) -> int:
        return 2 * prod(integers(self.output)) * prod(integers(self.filter)[1:])


def _sums(op: dict[str, Any], x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """x * w, by one batched matrix product for each tap of the window."""
    total = np.zeros(_by_groups(op, op["output"]), x.dtype)
    padded = _padded(op, x)
    for number, window in enumerate(_windows(op)):
        seen = padded[window].reshape(_by_groups(op, (*op["input"][:2], *op["output"][2:])))
        total += np.matmul(_taps(op, w)[..., number], seen)
    return total.reshape(op["output"])


def _gradient_by_filter(op: dict[str, Any], x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Of each tap the products of what it saw of x and the gradient by y there."""
    total = _taps(op, np.zeros(op["filter"], x.dtype))
    padded, by_y = _padded(op, x), gradient.reshape(_by_groups(op, op["output"]))
    for number, window in enumerate(_windows(op)):
        seen = padded[window].reshape(_by_groups(op, (*op["input"][:2], *op["output"][2:])))
        total[..., number] = np.matmul(by_y, np.swapaxes(seen, -1, -2)).sum(axis=0)
    return total.reshape(op["filter"])


def _gradient_by_input(op: dict[str, Any], gradient: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient by y through each tap, added where that tap saw x."""
    total = _padded(op, np.zeros(op["input"], w.dtype))
    by_y = gradient.reshape(_by_groups(op, op["output"]))
    for number, window in enumerate(_windows(op)):
        through = np.matmul(np.swapaxes(_taps(op, w)[..., number], -1, -2), by_y)
        total[window] += through.reshape(*op["input"][:2], *op["output"][2:])
    inside = zip(op["padding_low"], op["input"][2:])
    return total[tuple([slice(None), slice(None), *(slice(low, low + extent) for low, extent in inside)])]


_GRADIENTS = {"filter": _gradient_by_filter, "input": _gradient_by_input}


def _windows(op: dict[str, Any]) -> Iterator[tuple[slice, ...]]:
    """The elements of the padded x that each tap sees, the last dimension's first."""
    for tap in product(*map(range, op["filter"][2:])):
        sizes = zip(tap, op["dilations"], op["output"][2:], op["window_strides"])
        seen = [slice(at * apart, at * apart + (extent - 1) * stride + 1, stride) for at, apart, extent, stride in sizes]
        yield (slice(None), slice(None), *seen)


def _padded(op: dict[str, Any], x: np.ndarray) -> np.ndarray:
    return np.pad(x, [(0, 0), (0, 0), *zip(op["padding_low"], op["padding_high"])])


def _by_groups(op: dict[str, Any], sizes: Sequence[int]) -> tuple[int, ...]:
    """[n, group, channel of the group, element] for sizes [n, channel, spatial…]."""
    return sizes[0], op["groups"], sizes[1] // op["groups"], prod(sizes[2:])


def _taps(op: dict[str, Any], w: np.ndarray) -> np.ndarray:
    """[group, feature of the group, channel of the group, tap] for [k, c / groups, spatial…]."""
    return w.reshape(op["groups"], w.shape[0] // op["groups"], w.shape[1], -1)
