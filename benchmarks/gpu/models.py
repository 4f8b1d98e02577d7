"""Whole models of PyTorch on a GPU: hloom's programs beside the same module by torch, eager and compiled.

A prepared folder holds the programs without weights (NAME.hloom, NAME.measured.hloom). Where the GPU is, torch makes the module, with
random weights from a seed; hloom is given these, by name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import hloom

from ..layers.table import Layer, read
from .kernels import MEASURED, thunk_times
from .peers import Ready, captured, set_up_torch
from .timing import Launch, call_times, device_times

DEVICE = "cuda"
_BATCH = 32
_SLACK = 1e-5
"""Of the norm: what an f32 result may differ where eager's own has no error at all."""

_ROWS = read(Path(__file__).parent / "models.txt", _BATCH)
MODELS = {row.name: row for plain in _ROWS.values() for row in (plain.of_type("bf16"), plain)}


def model_ready(folder: Path, name: str, peer: str) -> tuple[dict[str, Any], Ready]:
    """One copy: what of a model fits may lie in the L2. `off` and `eager_off` are the norms of the differences of this result, and of
    eager's, from eager's in finer numbers, over its norm; `differs` tells a result that is wrong."""
    import torch

    module, inputs = _made(MODELS[name])
    finer, finer_inputs = _finer(module, inputs)
    expected, eager = finer(*finer_inputs), module(*inputs)
    call, replay = PEERS[peer](module, inputs, folder / f"{name}.hloom")
    answer: dict[str, Any] = {"off": _difference(call(), expected), "eager_off": _difference(eager, expected)}
    if not answer["off"] <= 2 * answer["eager_off"] + _SLACK:
        answer["differs"] = f"by {answer['off']:.1e} from finer numbers, eager by {answer['eager_off']:.1e}"
    return answer, Ready([], partial(device_times, [replay]), partial(call_times, [call], torch.cuda.synchronize))


def model_kernels(folder: Path, name: str) -> list[dict[str, Any]]:
    module, inputs = _made(MODELS[name])
    return thunk_times(_bound(folder / f"{name}{MEASURED}", module), inputs)


def _made(row: Layer) -> tuple[Any, list[Any]]:
    """The module and its inputs on the GPU, f32 as f32."""
    import torch

    from ..layers import modules

    set_up_torch()
    with torch.device(DEVICE):
        module = modules.make(row)
    return module, [tensor.to(DEVICE) for tensor in modules.tensors(row)]


def _finer(module: Any, inputs: list[Any]) -> tuple[Any, list[Any]]:
    """A copy in f32, or in f64 where it is in f32."""
    import torch

    dtypes = {each.dtype for each in module.parameters()}
    finer = torch.float64 if torch.float32 in dtypes else torch.float32
    return copy.deepcopy(module).to(finer), [tensor.to(finer) if tensor.is_floating_point() else tensor for tensor in inputs]


def _difference(result: Any, expected: Any) -> float:
    import torch

    norm = torch.linalg.vector_norm
    return float(norm(result.double() - expected.double()) / norm(expected.double()))


Calls = tuple[Callable[[], Any], Launch]
"""A call that gives the result, and what the GPU's time is taken of."""


def _hloom(module: Any, inputs: list[Any], path: Path) -> Calls:
    import torch

    from ..layers.modules import DTYPES

    exe = _bound(path, module)
    outputs = [torch.empty(spec.shape, dtype=DTYPES[spec.dtype], device=DEVICE) for spec in exe.signature.outputs]
    launch = partial(exe.flat, inputs, outputs)

    def call() -> Any:
        launch()
        return outputs[0]

    return call, launch


def _bound(path: Path, module: Any) -> Any:
    exe = hloom.load(path)
    values = dict(module.named_buffers(remove_duplicate=False)) | dict(module.named_parameters(remove_duplicate=False))
    exe.bind({spec.name: values[spec.name] for spec in exe.signature.bound.values()})
    return exe


def _torch(compiled: bool, module: Any, inputs: list[Any], path: Path) -> Calls:
    import torch

    function = torch.compile(module) if compiled else module
    call = partial(function, *inputs)
    call()
    return call, captured(call, [])


PEERS: dict[str, Callable[[Any, list[Any], Path], Calls]] = {
    "hloom": _hloom,
    "eager": partial(_torch, False),
    "compile": partial(_torch, True),
}
