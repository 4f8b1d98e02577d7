"""What libraries compute on a GPU, computed by numpy: thunk.gemm and thunk.conv on flat arrays.

Sums are taken in f32, in f64 for f64. An epilogue is applied before the one rounding to the result's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

Numbers = Sequence[int]


@dataclass(frozen=True)
class Gemm:
    """C = f(op(A)·op(B) + residual + bias); the fields are the attributes of thunk.gemm."""

    transposed: Numbers
    sizes: Numbers
    leading: Numbers
    strides: Numbers
    epilogue: str = "none"
    accumulate: bool = False

    def run(self, reads: Sequence[np.ndarray], out: np.ndarray) -> None:
        batch, m, n, k = self.sizes
        shapes = [(k, m) if self.transposed[0] else (m, k), (n, k) if self.transposed[1] else (k, n), (m, n)]
        places = [((batch, *shape), (stride, lead, 1)) for shape, lead, stride in zip(shapes, self.leading, self.strides)]
        accumulator = _accumulator(out)
        operands = [_strided(x, *place).astype(accumulator) for x, place in zip(reads[:2], places)]
        total = np.matmul(*(x.swapaxes(1, 2) if flag else x for x, flag in zip(operands, self.transposed)))
        if self.accumulate:
            total = total + _strided(reads[-1], *places[2]).astype(accumulator)
        if self.epilogue.startswith("bias"):
            total = total + reads[2][:n].astype(accumulator)
        _strided(out, *places[2])[:] = _activated(total, self.epilogue.rpartition("_")[2]).astype(out.dtype)


@dataclass(frozen=True)
class Convolution:
    """y = f(x * w + bias + residual); the fields are the attributes of thunk.conv."""

    input: Numbers
    filter: Numbers
    output: Numbers
    input_strides: Numbers
    filter_strides: Numbers
    output_strides: Numbers
    window_strides: Numbers
    padding_low: Numbers
    padding_high: Numbers
    dilations: Numbers
    groups: int = 1
    bias: bool = False
    residual: bool = False
    relu: bool = False

    def run(self, reads: Sequence[np.ndarray], out: np.ndarray) -> None:
        accumulator = _accumulator(out)
        x = _strided(reads[0], self.input, self.input_strides).astype(accumulator)
        w = _strided(reads[1], self.filter, self.filter_strides).astype(accumulator)
        total = self._sums(x, w)
        if self.bias:
            total += reads[2][: self.output[1]].astype(accumulator).reshape(-1, *(1,) * (len(self.output) - 2))
        if self.residual:
            total += _strided(reads[-1], self.output, self.output_strides).astype(accumulator)
        _strided(out, self.output, self.output_strides)[:] = _activated(total, "relu" if self.relu else "none").astype(out.dtype)

    def _sums(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """One batched matrix product for each tap of the window."""
        n, k, *spatial = self.output
        padded = np.pad(x, [(0, 0), (0, 0), *zip(self.padding_low, self.padding_high)])
        total = np.zeros((n, self.groups, k // self.groups, int(np.prod(spatial))), x.dtype)
        for number, tap in enumerate(product(*map(range, self.filter[2:]))):
            window = [
                slice(at * dilation, at * dilation + (extent - 1) * stride + 1, stride)
                for at, dilation, extent, stride in zip(tap, self.dilations, spatial, self.window_strides)
            ]
            seen = padded[tuple([slice(None), slice(None), *window])].reshape(n, self.groups, -1, total.shape[-1])
            total += np.matmul(w.reshape(*w.shape[:2], -1)[:, :, number].reshape(self.groups, k // self.groups, -1), seen)
        return total.reshape(self.output)


def _accumulator(out: np.ndarray) -> np.dtype:
    return np.dtype(np.float64 if out.dtype == np.float64 else np.float32)


def _activated(values: np.ndarray, function: str) -> np.ndarray:
    if function == "relu":
        return np.maximum(values, 0)
    if function == "gelu":
        return values * (1 + np.tanh(np.sqrt(2 / np.pi).astype(values.dtype) * (values + values.dtype.type(0.044715) * values**3))) / 2
    return values


def _strided(flat: np.ndarray, shape: Numbers, strides: Numbers) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * flat.itemsize for stride in strides])
