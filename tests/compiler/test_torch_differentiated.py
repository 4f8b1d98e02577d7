"""Ops whose own gradients torch.compile cannot trace, in whole graphs: what hloom computes them by is differentiated."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import hloom  # noqa: F401  the backend

PLACES = torch.tensor([3, 1, 3])


def fill(x: Tensor, value: Tensor) -> Tensor:
    return x.index_fill(0, PLACES, value)


def fill_in_place(x: Tensor, value: Tensor) -> Tensor:
    return (x * 2).index_fill_(1, PLACES, value)


def values_and_gradients(function: Callable[..., Tensor], *inputs: Tensor) -> list[Tensor | None]:
    leaves = [x.clone().requires_grad_() for x in inputs]
    made = function(*leaves)
    (made * torch.arange(made.numel()).reshape(made.shape)).sum().backward()
    return [made.detach(), *(x.grad for x in leaves)]


@pytest.mark.parametrize("function", [fill, fill_in_place])
def test_a_number_for_places(function: Callable[..., Tensor]) -> None:
    inputs = torch.randn(5, 4, generator=torch.Generator().manual_seed(0)), torch.tensor(2.0)
    compiled = torch.compile(function, backend="hloom", fullgraph=True)
    torch.testing.assert_close(values_and_gradients(compiled, *inputs), values_and_gradients(function, *inputs))


@pytest.mark.parametrize("size", [(2, 3, 5, 4), (2, 3, 5, 1, 3)])
def test_places_of_a_map(size: tuple[int, ...]) -> None:
    """A spatial transformer's."""
    maps = torch.randn(2, len(size) - 2, len(size) - 1, generator=torch.Generator().manual_seed(0))

    def function(maps: Tensor) -> Tensor:
        return F.affine_grid(maps, list(size), align_corners=False)

    compiled = torch.compile(function, backend="hloom", fullgraph=True)
    torch.testing.assert_close(values_and_gradients(compiled, maps), values_and_gradients(function, maps))
