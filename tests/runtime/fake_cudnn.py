"""A stand-in for cuDNN's front end that computes with NumPy, and has the plans that cuDNN 9.28 was seen to have for an H100 and an A100."""

from __future__ import annotations

import enum
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
from fake_driver import at, enqueue

_TYPES = {"HALF": np.float16, "FLOAT": np.float32, "DOUBLE": np.float64}


class Tensor:
    def __init__(self, dim: list[int] | None = None, stride: list[int] | None = None, kind: str = ""):
        self.dim, self.stride, self.kind = dim, stride, kind

    def set_output(self, output: bool) -> Tensor:
        return self

    def set_data_type(self, kind: str) -> Tensor:
        self.kind = kind
        return self

    def set_dim(self, dim: list[int]) -> Tensor:
        self.dim = dim
        return self

    def set_stride(self, stride: list[int]) -> Tensor:
        self.stride = stride
        return self

    def array(self, address: int) -> np.ndarray:
        assert self.dim and self.stride
        dtype = np.dtype(_TYPES[self.kind])
        count = 1 + sum((size - 1) * stride for size, stride in zip(self.dim, self.stride))
        return np.lib.stride_tricks.as_strided(at(address, dtype, count), self.dim, [stride * dtype.itemsize for stride in self.stride])


class Graph:
    """The steps up to plans must come in their order; execution computes."""

    def __init__(self, cudnn: Cudnn, io_data_type: str, compute_data_type: str):
        self.cudnn, self.io, self.compute = cudnn, io_data_type, compute_data_type
        self.done: list[str] = []
        self.window: dict[str, Any] = {}
        self.bias_: Any = None
        self.residual: Any = None
        self.has_relu = False
        self.deselected: set[str] = set()
        cudnn.graphs.append(self)

    def tensor(self, name: str, dim: list[int], stride: list[int], data_type: str) -> Tensor:
        return Tensor(dim, stride, data_type)

    def conv_fprop(self, image: Tensor, weight: Tensor, **window: Any) -> Tensor:
        return self._convolve(convolution, (image, weight), window)

    def conv_wgrad(self, image: Tensor, loss: Tensor, **window: Any) -> Tensor:
        return self._convolve(gradient_by_filter, (image, loss), window)

    def conv_dgrad(self, loss: Tensor, filter: Tensor, **window: Any) -> Tensor:
        return self._convolve(gradient_by_input, (loss, filter), window)

    def _convolve(self, function: Callable, read: tuple[Tensor, Tensor], window: dict[str, Any]) -> Tensor:
        self.function, self.read, self.window = function, read, window
        return self._last()

    def add(self, a: Tensor, b: Tensor) -> Tensor:
        self.residual = b
        return self._last()

    def bias(self, input: Tensor, bias: Tensor) -> Tensor:
        self.bias_ = bias
        return self._last()

    def relu(self, input: Tensor) -> Tensor:
        self.has_relu = True
        return self._last()

    def _last(self) -> Tensor:
        self.output = Tensor()
        return self.output

    def validate(self) -> None:
        self._step("validate")

    def build_operation_graph(self) -> None:
        self._step("build_operation_graph")

    def create_execution_plans(self, modes: list[str]) -> None:
        self._step("create_execution_plans")
        if self.cudnn.has_no_plans or (self.read[0].stride[1] != 1 and self._lacks_bias()):
            raise RuntimeError("No valid engine configs for the graph\nand more of it")

    def _lacks_bias(self) -> bool:
        return bool(self.residual or self.has_relu) and not self.bias_

    def deselect_numeric_notes(self, notes: list[str]) -> None:
        self._step("deselect_numeric_notes")
        self.deselected = set(notes)

    def check_support(self) -> None:
        self._step("check_support")
        if self.io == "FLOAT" and len(self.read[0].dim) == 5 and self.deselected and self._lacks_bias():
            raise RuntimeError("No valid execution plans")

    def build_plans(self) -> None:
        self._step("build_plans")

    def _step(self, name: str) -> None:
        order = ["validate", "build_operation_graph", "create_execution_plans", "deselect_numeric_notes", "check_support", "build_plans"]
        assert all(order.index(done) < order.index(name) for done in self.done), self.done
        self.done.append(name)

    def get_workspace_size(self) -> int:
        return 12345

    def execute(self, tensors: dict[Tensor, int], workspace: int, handle: int) -> None:
        assert "build_plans" in self.done and workspace % 256 == 0 and handle == Cudnn.HANDLE
        self.executed = dict(tensors)
        enqueue(self.cudnn.stream, lambda: self._compute(tensors))

    def _compute(self, tensors: dict[Tensor, int]) -> None:
        read = [self._exactly(tensor.array(tensors[tensor])) for tensor in self.read]
        window = [self.window[name] for name in ("pre_padding", "post_padding", "stride", "dilation")]
        made = [] if self.function is convolution else [self.output.dim]
        y = self.function(*read, *window, *made)
        for more in (self.residual, self.bias_):
            y = y + more.array(tensors[more]).astype(y.dtype) if more else y
        (place,) = [tensor for tensor in tensors if tensor not in (*self.read, self.residual, self.bias_)]
        place.array(tensors[place])[...] = np.maximum(y, 0) if self.has_relu else y

    def _exactly(self, values: np.ndarray) -> np.ndarray:
        """What the first plan multiplies: for f32 that is tf32, unless such plans were deselected."""
        if values.dtype != np.float32 or {"TENSOR_CORE", "DOWN_CONVERT_INPUTS"} <= self.deselected:
            return values.astype(np.float32) if values.dtype == np.float16 else values
        return (np.ascontiguousarray(values).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def convolution(x: np.ndarray, w: np.ndarray, low: list[int], high: list[int], strides: list[int], dilations: list[int]) -> np.ndarray:
    """Of [n, c, spatial…] by [k, c / groups, spatial…]."""
    x = np.pad(x, [(0, 0), (0, 0), *zip(low, high)])
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(w.shape[2:], dilations)]
    out = [(size - span) // stride + 1 for size, span, stride in zip(x.shape[2:], spans, strides)]
    groups = x.shape[1] // w.shape[1]
    y = np.zeros((x.shape[0], w.shape[0], *out), x.dtype)
    for tap in product(*map(range, w.shape[2:])):
        window = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, out, strides))
        taken = x[(slice(None), slice(None), *window)].reshape(x.shape[0], groups, w.shape[1], *out)
        taps = w[(slice(None), slice(None), *tap)].reshape(groups, w.shape[0] // groups, w.shape[1])
        y += np.einsum("ngc...,gkc->ngk...", taken, taps).reshape(y.shape)
    return y


def gradient_by_filter(x: np.ndarray, dy: np.ndarray, low: list, high: list, strides: list, dilations: list, made: list[int]) -> np.ndarray:
    """Of size `made`: convolution is linear in w, so that it is what multiplies each weight."""
    return _transposed(lambda w: convolution(x, w, low, high, strides, dilations), made, dy)


def gradient_by_input(dy: np.ndarray, w: np.ndarray, low: list, high: list, strides: list, dilations: list, made: list[int]) -> np.ndarray:
    return _transposed(lambda x: convolution(x, w, low, high, strides, dilations), made, dy)


def _transposed(linear: Callable, made: list[int], dy: np.ndarray) -> np.ndarray:
    """The gradient of a linear function of arrays of that size, from its value at each array with a single 1."""
    gradient = np.zeros(made, dy.dtype)
    for place in np.ndindex(*made):
        one = np.zeros(made, dy.dtype)
        one[place] = 1
        gradient[place] = (linear(one) * dy).sum()
    return gradient


class Cudnn:
    """The module `cudnn`."""

    HANDLE = 9
    data_type = SimpleNamespace(HALF="HALF", BFLOAT16="BFLOAT16", FLOAT="FLOAT", DOUBLE="DOUBLE")
    heur_mode = enum.Enum("heur_mode", ["A", "B", "FALLBACK"])
    numerical_note = SimpleNamespace(
        **{name: name for name in ("TENSOR_CORE", "DOWN_CONVERT_INPUTS", "REDUCED_PRECISION_REDUCTION", "NONDETERMINISTIC")}
    )

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.has_no_plans, self.handles = False, 0

    def create_handle(self) -> int:
        self.handles += 1
        return self.HANDLE

    def destroy_handle(self, handle: int) -> None:
        assert handle == self.HANDLE
        self.handles -= 1

    def set_stream(self, handle: int, stream: int) -> None:
        self.stream = stream

    def pygraph(self, handle: int, io_data_type: str, intermediate_data_type: str, compute_data_type: str) -> Graph:
        return Graph(self, io_data_type, compute_data_type)
