"""A row's torch module, made from its text, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from ..packages import load
from .decoder import Decoder
from .table import Layer
from .unet import UNet

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i64": torch.int64}
PACKAGES = ("torchvision", "timm", "transformers")


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


class First(nn.Module):
    """The first result of a module that gives several, by name or place."""

    def __init__(self, module: nn.Module):
        super().__init__()
        self.module = module

    def forward(self, *inputs: Tensor) -> Tensor:
        results = self.module(*inputs)
        return next(iter(results.values())) if isinstance(results, dict) else results[0]


_MODULES = {name: each for name, each in vars(nn).items() if isinstance(each, type)}
NAMES: dict[str, Any] = {
    **_MODULES,
    "__name__": __name__,
    "F": F,
    "torch": torch,
    "nn": nn,
    "First": First,
    "UNet": UNet,
    "Decoder": Decoder,
}


def make(row: Layer) -> nn.Module:
    """The module, the same at each call, for inference, in the type of the row's floats."""
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    arguments = "xyz"[: len(row.inputs)]
    is_function = re.search(r"\bx\b", row.module)
    packages = {name: load(name) for name in PACKAGES if f"{name}." in row.module}
    made = eval(f"lambda {', '.join(arguments)}: {row.module}" if is_function else row.module, {**NAMES, **packages})
    module = Function(made) if is_function else made
    floats = [DTYPES[each.dtype] for each in row.inputs if each.dtype != "i64"]
    return module.eval().to(floats[0] if floats else DTYPES[row.dtype])


def tensors(row: Layer) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(array).to(DTYPES[each.dtype]) for each, array in zip(row.inputs, row.arrays()))


def leaves(results: Any) -> list[Tensor]:
    """The tensors among a module's results."""
    if isinstance(results, Tensor):
        return [results]
    if isinstance(results, dict):
        results = results.values()
    return [leaf for each in results for leaf in leaves(each)] if isinstance(results, (list, tuple, type({}.values()))) else []


def _run(row: Layer) -> tuple[int, nn.Module, list[Tensor], list[Tensor]]:
    """Flops, and what they are of, where the device is set."""
    module = make(row)
    inputs = [torch.zeros(each.shape, dtype=DTYPES[each.dtype]) for each in row.inputs]
    with FlopCounterMode(display=False) as counter:
        results = leaves(module(*inputs))
    return counter.get_total_flops(), module, inputs, results


def cost(row: Layer) -> tuple[int, int, int]:
    """Floating-point operations of the products and convolutions (taps on padding count), bytes read and bytes written at least: inputs,
    parameters and results once each, of a table that is looked up what is looked up."""
    try:
        with torch.device("meta"):
            flops, module, inputs, results = _run(row)
    except (NotImplementedError, RuntimeError):  # the module looks at its numbers
        flops, module, inputs, results = _run(row)
    written = sum(tensor.nbytes for tensor in results)
    tables = {id(each.weight) for each in module.modules() if isinstance(each, (nn.Embedding, nn.EmbeddingBag))}
    parameters = sum(min(each.nbytes, written) if id(each) in tables else each.nbytes for each in [*module.parameters(), *module.buffers()])
    return flops, sum(tensor.nbytes for tensor in inputs) + parameters, written
