"""thunk.conv: a convolution by cuDNN, with residual, bias and activation in the same graph of operations; or one of its gradients.

The strides of the thunk are cuDNN's: nothing is laid out again. The plan is made when the program is loaded. Where cuDNN has none for a
convolution without a bias (channels first, with relu or residual: no engine), it gets a bias of zeros. Where it has none at all, a warning
says so, and a plain kernel computes it.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from ...schema import each, integer, one_of
from ...thunk_schema import BIT, FLOATS, INSIDE, MOST, NAMES, SIZE, Tensor, moving, past_slices
from ...thunks import Launches, Op, Thunk
from .. import plain_convolution
from ..libraries import checked, generated_instead
from ..step import BufferAddresses, Context, Needs, Step

_TENSORS = ("input", "filter", "output")
_EPILOGUE = ("bias", "residual", "relu")
_WINDOW = ("window_strides", "padding_low", "padding_high", "dilations")
_TYPES = {"f16": "HALF", "bf16": "BFLOAT16", "f32": "FLOAT", "f64": "DOUBLE"}
_INEXACT_SUM = ("REDUCED_PRECISION_REDUCTION",)
_INEXACT = {"f32": ("TENSOR_CORE", "DOWN_CONVERT_INPUTS", *_INEXACT_SUM)}
"""Plans that cuDNN would choose first and that do not compute what the thunk says: f32 as tf32 or less, sums in less than f32."""
READS = {"output": ("input", "filter"), "filter": ("input", "output"), "input": ("output", "filter")}
"""What is read to compute what it `makes`: y of x and w; the gradient by w of x and that by y; the gradient by x of that by y and w."""
_UNORDERED = ("NONDETERMINISTIC",)
"""Of gradients also those that add in the order in which blocks come."""
_METHODS = {
    "output": ("conv_fprop", ("image", "weight")),
    "filter": ("conv_wgrad", ("image", "loss")),
    "input": ("conv_dgrad", ("loss", "filter")),
}
"""Of cuDNN's graphs, with the names of what they read."""
LETTERS = {"input": "x", "filter": "w", "output": "y"}


_FIELDS = {
    **moving(),
    **dict.fromkeys(_TENSORS, each(SIZE, least=3, most=5)),
    **dict.fromkeys((f"{name}_strides" for name in _TENSORS), each(SIZE, least=3, most=5)),
    **dict.fromkeys(_WINDOW, each(INSIDE, least=1, most=3)),
    **dict.fromkeys(_EPILOGUE, BIT),
    "groups": integer(1, MOST),
    "makes": one_of(*READS),
    "element": one_of(*FLOATS),
    "source": NAMES,
}


class NoPlan(Exception):
    """cuDNN does not do what the thunk says."""


class ConvStep(Step, kind="conv", fields=_FIELDS):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        if not is_of_one_rank(op):
            yield "has sizes, strides and windows of different numbers of dimensions"
            return
        if len(op["reads"]) != 2 + op["bias"] + op["residual"] or len(op["writes"]) != 1:
            yield "wants two tensors, the bias and the residual to read, and one slice to write"
            return
        if op["makes"] != "output" and any(op[name] for name in _EPILOGUE):
            yield f"adds to the gradient by its {op['makes']}"
        if not groups_fit(op):
            yield f"has {op['groups']} groups, which do not take {op['input'][1]} to {op['filter'][0]} channels"
        for extent, tap, made in wrong_windows(op):
            yield f"has a window of {tap} over {extent} elements that gives no {made}"
        yield from past_slices(tensors(op))

    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.bias, self.residual, self.relu = (bool(thunk[name]) for name in _EPILOGUE)
        self.empty = 0 in thunk[thunk["makes"]]
        self.zero_bias = self.is_plain = False

    @checked("cuDNN", "planning a convolution")
    def prepare(self, needs: Needs) -> None:
        self._cudnn, self._handle = needs.libraries.module("cuDNN"), needs.libraries.handle("cuDNN")
        try:
            self._graph, self._tensors = self._plan()
        except NoPlan as lacking:
            self.is_plain, self.zero_bias = True, False
            warnings.warn(f"{lacking}; a slow kernel computes it: {generated_instead('convolution')}", RuntimeWarning, stacklevel=2)
            return
        needs.ask_workspace(self._graph.get_workspace_size())
        if self.zero_bias:
            needs.ask_zeros(self.thunk["output"][1] * FLOATS[self.thunk["element"]])

    def _plan(self) -> tuple[Any, list[Any]]:
        try:
            return self._build(self.bias)
        except Exception as error:
            reason = str(error).partition("\n")[0]
        self.zero_bias = not self.bias and self.thunk["makes"] == "output"
        if self.zero_bias:
            with contextlib.suppress(Exception):
                return self._build(True)
        sizes = " * ".join("x".join(map(str, self.thunk[name])) for name in ("input", "filter"))
        gradient = {"output": ""}.get(self.thunk["makes"], f"gradient by the {self.thunk['makes']} of the ")
        raise NoPlan(f"cuDNN has no plan for the {gradient}{self.thunk['element']} convolution {sizes}: {reason}")

    def _build(self, with_bias: bool) -> tuple[Any, list[Any]]:
        """The graph with its plan, and its tensors: the two of the product, bias, residual, the result; those that there are."""
        cudnn, thunk = self._cudnn, self.thunk
        io = getattr(cudnn.data_type, _TYPES[thunk["element"]])
        compute = cudnn.data_type.DOUBLE if thunk["element"] == "f64" else cudnn.data_type.FLOAT
        graph = cudnn.pygraph(handle=self._handle, io_data_type=io, intermediate_data_type=compute, compute_data_type=compute)

        def tensor(name: str, sizes: list[int], strides: list[int]) -> Any:
            return graph.tensor(name=name, dim=_planar(sizes), stride=_planar(strides, strides[1]), data_type=io)

        makes = thunk["makes"]
        tensors = [tensor(LETTERS[name], thunk[name], thunk[f"{name}_strides"]) for name in READS[makes]]
        method, roles = _METHODS[makes]
        y = getattr(graph, method)(
            **dict(zip(roles, tensors)),
            pre_padding=_window(thunk["padding_low"], 0),
            post_padding=_window(thunk["padding_high"], 0),
            stride=_window(thunk["window_strides"], 1),
            dilation=_window(thunk["dilations"], 1),
        )
        features = thunk["output"][1]
        # reads has the bias before the residual
        if with_bias:
            ones = [1] * (len(thunk["output"]) - 2)
            bias = tensor("bias", [1, features, *ones], [features, 1, *[features] * len(ones)])
            tensors.append(bias)
        if self.residual:
            z = tensor("residual", thunk["output"], thunk["output_strides"])
            tensors.append(z)
            y = graph.add(a=y, b=z)
        if with_bias:
            y = graph.bias(input=y, bias=bias)
        if self.relu:
            y = graph.relu(input=y)
        y.set_output(True).set_data_type(io)
        strides = thunk[f"{makes}_strides"]
        y.set_dim(_planar(thunk[makes])).set_stride(_planar(strides, strides[1]))
        tensors.append(y)
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        excluded = (*_INEXACT.get(thunk["element"], _INEXACT_SUM), *(_UNORDERED if makes != "output" else ()))
        graph.deselect_numeric_notes([getattr(cudnn.numerical_note, name) for name in excluded])
        graph.check_support()
        graph.build_plans()
        return graph, tensors

    def initialise(self, context: Context) -> None:
        self._workspace, self._zeros = context.workspace, context.zeros
        if self.is_plain and not self.empty:
            module = context.driver.load(plain_convolution.text_of(self.thunk.attributes))
            self._kernel = context.driver.kernel(module, plain_convolution.NAME)

    @checked("cuDNN", "running a convolution")
    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        if self.is_plain:
            self._execute_plainly(recorder, buffers)
            return
        x, w, *more = [buffers.address(at) for at in (*self.thunk.reads, *self.thunk.writes)]
        addresses = [x, w, *([self._zeros] if self.zero_bias else []), *more]
        self._cudnn.set_stream(handle=self._handle, stream=recorder.stream)
        self._graph.execute(dict(zip(self._tensors, addresses)), self._workspace, handle=self._handle)

    def _execute_plainly(self, recorder: Any, buffers: BufferAddresses) -> None:
        if self.empty:
            return
        starts = [buffers.address(at) for at in (*self.thunk.reads, *self.thunk.writes)]
        grid, block = plain_convolution.grid_of(self.thunk.attributes), (plain_convolution.THREADS, 1, 1)
        for offsets in plain_convolution.offsets_of(self.thunk.attributes):
            addresses = [start + offset for start, offset in zip(starts, offsets)]
            recorder.launch(self._kernel, grid, block, 0, addresses)


def _planar(values: list[int], between: int = 1) -> list[int]:
    """Sizes or strides of n, c and the spatial dimensions; cuDNN wants two of these at least, so one gets another of extent 1 before it."""
    n, c, *spatial = values
    return [n, c, *([between] if len(spatial) == 1 else []), *spatial]


def _window(values: list[int], neutral: int) -> list[int]:
    return [neutral, *values] if len(values) == 1 else list(values)


def is_of_one_rank(op: Op) -> bool:
    """Whether sizes, strides and windows have the same number of spatial dimensions."""
    tensors = [op[f"{name}{suffix}"] for name in _TENSORS for suffix in ("", "_strides")]
    return {len(part) - 2 for part in tensors} | {len(op[name]) for name in _WINDOW} == {len(op["window_strides"])}


def groups_fit(op: Op) -> bool:
    """Whether the channels of x, w and y go together."""
    (n, c), (k, depth), (batch, features) = (op[name][:2] for name in _TENSORS)
    return (n, k, c) == (batch, features, depth * op["groups"]) and not k % op["groups"]


def wrong_windows(op: Op) -> Iterator[tuple[int, int, int]]:
    """(extent, taps, extent of y) of each dimension in which y is not what the window makes of x."""
    sizes = zip(*(op[name][2:] for name in _TENSORS), *(op[name] for name in _WINDOW))
    for extent, tap, made, stride, low, high, dilation in sizes:
        if min(stride, dilation) < 1 or made != max(0, (low + extent + high - (tap - 1) * dilation - 1) // stride + 1):
            yield extent, tap, made


def tensors(op: Op) -> list[Tensor]:
    """The two of the product and its result, then the residual and the bias where there are any."""
    first, second, *more = op["reads"]
    slices = zip((*READS[op["makes"]], op["makes"]), (first, second, op["writes"][0]))
    found = [Tensor(LETTERS[name], op[name], op[f"{name}_strides"], op["element"], at) for name, at in slices]
    if op["residual"]:
        found.append(Tensor("the residual", op["output"], op["output_strides"], op["element"], more[-1]))
    if op["bias"]:
        found.append(Tensor("the bias", op["filter"][:1], (1,), op["element"], more[0]))
    return found
