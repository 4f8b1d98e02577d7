"""thunk.conv: a convolution by cuDNN, with residual, bias and activation in the same graph of operations.

The strides of the thunk are cuDNN's: nothing is laid out again. The plan is made when the program is loaded.
"""

from __future__ import annotations

from typing import Any

from ..errors import DamagedFileError
from ..thunks import Thunk
from .libraries import checked
from .step import Context, Memory, Needs

_TYPES = {"f16": "HALF", "bf16": "BFLOAT16", "f32": "FLOAT", "f64": "DOUBLE"}


class ConvStep:
    def __init__(self, thunk: Thunk):
        self.thunk = thunk
        if thunk["element"] not in _TYPES:
            raise DamagedFileError(f"a thunk.conv of {thunk['element']}")
        self.bias, self.residual, self.relu = (bool(thunk[name]) for name in ("bias", "residual", "relu"))
        self.empty = 0 in thunk["output"]

    @checked("cuDNN", "planning a convolution")
    def prepare(self, needs: Needs) -> None:
        if self.empty:
            return
        self._cudnn, self._handle = needs.libraries.module("cuDNN"), needs.libraries.handle("cuDNN")
        self._build()
        needs.ask_workspace(self._graph.get_workspace_size())

    def _build(self) -> None:
        cudnn, thunk = self._cudnn, self.thunk
        io = getattr(cudnn.data_type, _TYPES[thunk["element"]])
        compute = cudnn.data_type.DOUBLE if thunk["element"] == "f64" else cudnn.data_type.FLOAT
        graph = cudnn.pygraph(handle=self._handle, io_data_type=io, intermediate_data_type=compute, compute_data_type=compute)

        def tensor(name: str, sizes: list[int], strides: list[int]) -> Any:
            return graph.tensor(name=name, dim=_planar(sizes), stride=_planar(strides, strides[1]), data_type=io)

        x = tensor("x", thunk["input"], thunk["input_strides"])
        w = tensor("w", thunk["filter"], thunk["filter_strides"])
        self._tensors = [x, w]
        y = graph.conv_fprop(
            image=x,
            weight=w,
            pre_padding=_window(thunk["padding_low"], 0),
            post_padding=_window(thunk["padding_high"], 0),
            stride=_window(thunk["window_strides"], 1),
            dilation=_window(thunk["dilations"], 1),
        )
        features = thunk["output"][1]
        # reads has the bias before the residual
        if self.bias:
            ones = [1] * (len(thunk["output"]) - 2)
            bias = tensor("bias", [1, features, *ones], [features, 1, *[features] * len(ones)])
            self._tensors.append(bias)
        if self.residual:
            z = tensor("residual", thunk["output"], thunk["output_strides"])
            self._tensors.append(z)
            y = graph.add(a=y, b=z)
        if self.bias:
            y = graph.bias(input=y, bias=bias)
        if self.relu:
            y = graph.relu(input=y)
        y.set_output(True).set_data_type(io)
        y.set_dim(_planar(thunk["output"])).set_stride(_planar(thunk["output_strides"], thunk["output_strides"][1]))
        self._tensors.append(y)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        graph.check_support()
        graph.build_plans()
        self._graph = graph

    def initialise(self, context: Context) -> None:
        self._workspace = context.workspace

    @checked("cuDNN", "running a convolution")
    def execute(self, recorder: Any, memory: Memory) -> None:
        if self.empty:
            return
        addresses = [memory.address(at) for at in (*self.thunk.reads, *self.thunk.writes)]
        self._cudnn.set_stream(handle=self._handle, stream=recorder.stream)
        self._graph.execute(dict(zip(self._tensors, addresses)), self._workspace, handle=self._handle)


def _planar(values: list[int], between: int = 1) -> list[int]:
    """Sizes or strides of n, c and the spatial dimensions; cuDNN wants two of these at least, so one gets another of extent 1 before it."""
    n, c, *spatial = values
    return [n, c, *([between] if len(spatial) == 1 else []), *spatial]


def _window(values: list[int], neutral: int) -> list[int]:
    return [neutral, *values] if len(values) == 1 else list(values)
