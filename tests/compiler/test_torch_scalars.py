"""Ops along dimensions of tensors that have none, which end a process in torch-mlir."""

from __future__ import annotations

import pytest
import torch

import hloom

_ALONG = {
    "sum": lambda x: torch.ops.aten.sum.dim_IntList(x, [], True),
    "sum of flags": lambda x: (x > 0).sum(0, keepdim=True),
    "mean": lambda x: x.mean(0, keepdim=True),
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(-1),
    "logsumexp": lambda x: x.logsumexp(0, keepdim=True),
    "norm": lambda x: torch.linalg.vector_norm(x, 2, [], True),
    "any": lambda x: (x > 0).any(0),
    "prod": lambda x: x.prod(0, keepdim=True),
    "cumsum": lambda x: x.cumsum(0),
    "flip": lambda x: x.flip(0),
    "gather": lambda x: x.gather(0, torch.tensor(0)),
    "scatter": lambda x: x.scatter(0, torch.tensor(0), x + 1),
}


@pytest.mark.parametrize("name", _ALONG)
def test_scalars_have_one_element_along_any_dimension(name: str) -> None:
    x = torch.tensor(-2.5)
    torch.testing.assert_close(hloom.compile(_ALONG[name], x, target="cpu")(x), _ALONG[name](x))


@pytest.mark.parametrize("function", [torch.amin, torch.amax, torch.logsumexp])
def test_gradients_of_scalars(function) -> None:
    x = torch.tensor(1.5, requires_grad=True)
    dims = () if function is not torch.logsumexp else (0,)
    torch.compile(lambda x: function(x, *dims), backend="hloom", fullgraph=True)(x).backward()
    assert x.grad == 1


def test_numbers_beside_doubles_are_doubles():
    x = torch.tensor([-1.0, 2.0, 0.3], dtype=torch.float64)

    def module(x):
        return 1.1 - x, 0.1 / x, x.angle(), x * torch.linspace(0.1, 1.3, 3, dtype=torch.float64), torch.where(x < 0, 0.1, x), 0.1 // x

    for found, expected in zip(hloom.compile(module, x)(x), module(x), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-15, atol=0)
