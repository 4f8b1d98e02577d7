"""What the settings of a case are written with: small generators of tensors, seeded by the setting's own text.

A setting is the argument list of a function, `(f(3, 5), dim=-1)`, or a layer's two, `(3, stride=2)(f(2, 3, 9))`. Tensors among the
arguments become inputs of the compiled program; the rest is closed over.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, -4.0, 0.75, -0.25, 1e-3, -1e-6, 7.25, -20.0, 88.0, 1e4, -1e10, 1e-30, 3e38]
SPECIAL = [math.inf, -math.inf, math.nan]


def names(setting: str) -> dict[str, Any]:
    """The names that the setting's text may use."""
    generator = torch.Generator().manual_seed(zlib.crc32(setting.encode()))

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 2

    def uniform(low: float, high: float) -> Callable[..., torch.Tensor]:
        return lambda *shape: torch.rand(shape, generator=generator) * (high - low) + low

    def integer(dtype: torch.dtype, low: int = -9, high: int = 10) -> Callable[..., torch.Tensor]:
        return lambda *shape: torch.randint(low, high, shape, generator=generator).to(dtype)

    return {
        "torch": torch,
        "nn": nn,
        "math": math,
        "f": normal,
        "d": lambda *shape: normal(*shape).double(),
        "bf": lambda *shape: normal(*shape).bfloat16(),
        "h": lambda *shape: normal(*shape).half(),
        "c": lambda *shape: torch.complex(normal(*shape), normal(*shape)),
        "pos": uniform(0.1, 4.0),
        "unit": uniform(-0.99, 0.99),
        "p01": uniform(0.01, 0.99),
        "ge1": uniform(1.01, 6.0),
        "i8": integer(torch.int8),
        "i16": integer(torch.int16),
        "i32": integer(torch.int32),
        "i64": integer(torch.int64),
        "u8": integer(torch.uint8, 0, 20),
        "nat": integer(torch.int64, 0, 9),
        "nz": lambda *shape: integer(torch.int32, 1, 7)(*shape) * (integer(torch.int32, 0, 2)(*shape) * 2 - 1),
        "b": lambda *shape: integer(torch.int64, 0, 2)(*shape).bool(),
        "idx": lambda n, *shape: integer(torch.int64, 0, n)(*shape),
        "edge": lambda: torch.tensor(EDGES + SPECIAL),
        "edges2": lambda: (torch.tensor(EDGES + SPECIAL)[:, None] + torch.zeros(24), torch.tensor(EDGES + SPECIAL) + torch.zeros(24, 1)),
        "t": torch.tensor,
    }


class Call(nn.Module):
    """A module that calls a function: its forward takes the tensors among the arguments, in order."""

    def __init__(self, name: str, function: Callable, args: tuple, kwargs: dict[str, Any]):
        super().__init__()
        self.name, self.args, self.kwargs, self.function = name, args, kwargs, function

    def inputs(self) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []
        _map_tensors((self.args, self.kwargs), lambda tensor: found.append(tensor) or tensor)
        return found

    def forward(self, *tensors: torch.Tensor) -> Any:
        rest = iter(tensors)
        changes = self.name.endswith("_")
        args, kwargs = _map_tensors((self.args, self.kwargs), lambda _: next(rest).clone() if changes else next(rest))
        return self.function(*args, **kwargs)


def build(name: str, setting: str) -> Call:
    """The module that the setting describes; parameters and statistics of a layer are random."""
    space = names(setting)
    function = eval(name, {"torch": torch, "F": nn.functional, "nn": nn, "Tensor": torch.Tensor})
    if not name.startswith("nn."):
        args, kwargs = eval(f"_take{setting}", {**space, "_take": lambda *args, **kwargs: (args, kwargs)})
        return Call(name, function, args, kwargs)

    def layer(*args: Any, **kwargs: Any) -> Callable[..., Call]:
        torch.manual_seed(zlib.crc32(setting.encode()))
        module = function(*args, **kwargs).eval()
        for buffer in module.buffers():
            if buffer.is_floating_point():
                buffer.uniform_(0.5, 1.5)
        return lambda *args, **kwargs: Call(name, module, args, kwargs)

    return eval(f"_layer{setting}", {**space, "_layer": layer})


def _map_tensors(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: _map_tensors(item, function) for key, item in value.items()}
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return type(value)(_map_tensors(item, function) for item in value)
    return value
