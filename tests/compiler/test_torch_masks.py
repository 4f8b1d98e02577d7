"""Assignments where a mask is set, which StableHLO has as choices, and gradients of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hloom

torch = pytest.importorskip("torch")

ROWS = torch.tensor([True, False, True, True])


def assigned(*index: Any, value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def module(x: Any) -> Any:
        y = x.clone()
        y[tuple(each(x) if callable(each) else each for each in index)] = value(x)
        return y

    return module


CASES = {
    "a number": assigned(lambda x: x > 0.5, value=lambda x: 0),
    "a number for rows": assigned(lambda x: x[:, 0] > 0, value=lambda x: 7),
    "a row": assigned(lambda x: x[:, 0] > 0, value=lambda x: x[0] * 2),
    "a part of columns": assigned(slice(None), lambda x: x[0] > 0, value=lambda x: x.sum()),
    "rows in order": assigned(ROWS, value=lambda x: x[:3] * 2),
    "elements in order": assigned(torch.eye(4, 7) > 0, value=lambda x: x[0, :4]),
    "a mask and a place": assigned(lambda x: x[:, 0] > 0, -1, value=lambda x: 7),
    "a place and a mask": assigned(2, lambda x: x[0] > 0, value=lambda x: x[0, 0]),
    "of no dimensions": assigned(torch.tensor(True), value=lambda x: 3),
    "summed": lambda x: x.index_put((x > 0,), x.mean(), accumulate=True),
}


@pytest.mark.parametrize("name", CASES)
def test_masks_choose(name: str) -> None:
    torch.manual_seed(0)
    x, module = torch.randn(4, 7), CASES[name]
    torch.testing.assert_close(hloom.compile(module, x, target="cpu")(x), module(x))


@pytest.mark.parametrize("name", ["a number", "a row", "rows in order", "elements in order", "summed"])
def test_gradients_of_what_is_assigned(name: str) -> None:
    torch.manual_seed(0)
    x, found = torch.randn(4, 7), []
    for call in (CASES[name], torch.compile(CASES[name], backend="hloom", fullgraph=True)):
        leaf = x.clone().requires_grad_()
        call(leaf).square().sum().backward()
        found.append(leaf.grad)
    torch.testing.assert_close(found[1], found[0])


@pytest.mark.parametrize(
    "value", [torch.tensor(0.5), torch.randn(7), torch.randn(4, 1), torch.randn(7, dtype=torch.complex64), torch.arange(7)], ids=str
)
def test_a_choice_is_as_large_as_its_mask(value: Any) -> None:
    """Where both values are one, too."""
    mask = torch.rand(4, 7) > 0.5
    for choose in (
        lambda mask, x: torch.where(mask, x, x),
        lambda mask, x: torch.where(mask[0, 0], x, x * 2),
        lambda mask, x: x.where(mask, 0),
    ):
        expected, found = choose(mask, value), torch.compile(choose, backend="hloom", fullgraph=True)(mask, value)
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)


def test_what_is_assigned_lies_as_it_did() -> None:
    def module(x: Any, mask: Any) -> Any:
        columns = (x * 2).t()
        columns[mask] = -1
        return columns, torch.index_put(x.t(), (mask,), x[0, 0])

    x = torch.randn(5, 4)
    found, expected = (call(x, x.t() > 0) for call in (torch.compile(module, backend="hloom", fullgraph=True), module))
    assert [each.stride() for each in found] == [each.stride() for each in expected] == [(1, 4), (1, 4)]
    assert all(map(torch.equal, found, expected))
