"""A row's torch module, made from its text, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from .table import Layer

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i64": torch.int64}
NAMES: dict[str, Any] = {**vars(nn), "F": F, "torch": torch, "nn": nn}


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def make(row: Layer) -> nn.Module:
    """The module, the same at each call, for inference, in the type of the row's floats."""
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    arguments = "xyz"[: len(row.inputs)]
    is_function = re.search(r"\bx\b", row.module)
    made = eval(f"lambda {', '.join(arguments)}: {row.module}" if is_function else row.module, dict(NAMES))
    module = Function(made) if is_function else made
    floats = [DTYPES[each.dtype] for each in row.inputs if each.dtype != "i64"]
    return module.eval().to(floats[0] if floats else torch.float32)


def tensors(row: Layer) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(array).to(DTYPES[each.dtype]) for each, array in zip(row.inputs, row.arrays()))


def leaves(results: Any) -> list[Tensor]:
    """The tensors among a module's results."""
    if isinstance(results, Tensor):
        return [results]
    if isinstance(results, dict):
        results = results.values()
    return [leaf for each in results for leaf in leaves(each)] if isinstance(results, (list, tuple, type({}.values()))) else []


def cost(row: Layer) -> tuple[int, int, int]:
    """Floating-point operations of the products and convolutions (taps on padding count), bytes read and bytes written at least: inputs,
    parameters and results once each, of a table that is looked up what is looked up."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        module = make(row)
        inputs = [torch.empty(each.shape, dtype=DTYPES[each.dtype]) for each in row.inputs]
        results = leaves(module(*inputs))
    written = sum(tensor.nbytes for tensor in results)
    tables = {id(each.weight) for each in module.modules() if isinstance(each, (nn.Embedding, nn.EmbeddingBag))}
    parameters = sum(min(each.nbytes, written) if id(each) in tables else each.nbytes for each in [*module.parameters(), *module.buffers()])
    return counter.get_total_flops(), sum(tensor.nbytes for tensor in inputs) + parameters, written
