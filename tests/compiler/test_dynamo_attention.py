"""Attention that a model writes out, in training: what the forward saves, and the gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

TOKENS, WIDTH = 96, 16
MATRIX = 2 * 3 * TOKENS * TOKENS
"""Elements of the scores."""


def _attention(q: Any, k: Any, v: Any) -> Any:
    return ((q @ k.transpose(-2, -1)) * WIDTH**-0.5).softmax(-1) @ v


def _causal(q: Any, k: Any, v: Any) -> Any:
    mask = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()
    return ((q @ k.transpose(-2, -1)) * WIDTH**-0.5).masked_fill(~mask, float("-inf")).softmax(-1) @ v


def _widened(q: Any, k: Any, v: Any) -> Any:
    return F.softmax(q @ k.transpose(-2, -1), dim=-1, dtype=torch.float32).to(q.dtype) @ v


def _by_einsum(q: Any, k: Any, v: Any) -> Any:
    return torch.einsum("bhij,bhjd->bhid", torch.einsum("bhid,bhjd->bhij", q, k).softmax(-1), v)


def _with_bias(q: Any, k: Any, v: Any) -> Any:
    return (q @ k.transpose(-2, -1) + torch.arange(TOKENS).float() * 0.01).softmax(-1) @ v


def _in_a_checkpoint(q: Any, k: Any, v: Any) -> Any:
    return checkpoint(_attention, q, k, v, use_reentrant=False)


FORMS = (_attention, _causal, _widened, _by_einsum, _with_bias, _in_a_checkpoint)


def _operands(dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(2, 3, TOKENS, WIDTH, dtype=dtype, requires_grad=True) for _ in range(3)]


def _trained(function: Callable[..., Any], operands: list[torch.Tensor]) -> tuple[list[Any], set[int]]:
    """The result and the gradients, and how many elements the tensors have that the forward saves."""
    sizes: set[int] = set()

    def saved(tensor: torch.Tensor) -> torch.Tensor:
        sizes.add(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(saved, lambda tensor: tensor):
        out = function(*operands)
    first = out[0] if isinstance(out, tuple) else out
    wanted = [each for each in operands if each.requires_grad]
    return [first.detach(), *torch.autograd.grad((first * first.detach().cos()).sum(), wanted)], sizes


def _agree(found: list[Any], wanted: list[Any], rtol: float = 2e-4, atol: float = 2e-5) -> None:
    for each, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(each, other, rtol=rtol, atol=atol)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__.strip("_"))
def test_no_matrix_is_saved(form: Callable[..., Any]) -> None:
    operands = _operands()
    found, saved = _trained(torch.compile(form, backend="hloom", fullgraph=True), operands)
    wanted, _ = _trained(form, operands)
    assert max(saved) < MATRIX
    _agree(found, wanted)


def test_open_sizes() -> None:
    compiled = torch.compile(_attention, backend="hloom", fullgraph=True, dynamic=True)
    for tokens in (TOKENS, 70):
        operands = [each[:, :, :tokens].detach().requires_grad_() for each in _operands()]
        found, saved = _trained(compiled, operands)
        wanted, _ = _trained(_attention, operands)
        assert max(saved) < 2 * 3 * tokens * tokens
        _agree(found, wanted)


def test_halves() -> None:
    operands = _operands(torch.bfloat16)
    found, saved = _trained(torch.compile(_widened, backend="hloom", fullgraph=True), operands)
    wanted, _ = _trained(_widened, operands)
    assert max(saved) < MATRIX
    _agree(found, wanted, rtol=5e-2, atol=5e-2)


def test_of_a_dropout_the_mask_is_saved() -> None:
    """Where the values are the unit matrix, the result is the weights that were left, and shows what was drawn."""
    q, k, _ = _operands()
    v = torch.eye(TOKENS).expand(2, 3, TOKENS, TOKENS).clone().requires_grad_()

    def dropped(q: Any, k: Any, v: Any) -> Any:
        return F.dropout((q @ k.transpose(-2, -1)).softmax(-1), 0.3) @ v

    (out, *found), saved = _trained(torch.compile(dropped, backend="hloom", fullgraph=True), [q, k, v])
    mask = out != 0
    assert MATRIX in saved
    assert 0.25 < 1 - mask.float().mean() < 0.35
    (again, *wanted), _ = _trained(lambda q, k, v: ((q @ k.transpose(-2, -1)).softmax(-1) * mask / 0.7) @ v, [q, k, v])
    _agree([out, *found], [again, *wanted])


def test_weights_that_are_results_stay() -> None:
    def both(q: Any, k: Any, v: Any) -> Any:
        weights = (q @ k.transpose(-2, -1)).softmax(-1)
        return weights @ v, weights

    operands = _operands()
    found, saved = _trained(torch.compile(both, backend="hloom", fullgraph=True), operands)
    wanted, _ = _trained(both, operands)
    assert MATRIX in saved
    _agree(found, wanted)


def test_what_no_gradient_reads_is_not_made_again() -> None:
    """Of a teacher's attention the backward needs the result alone."""

    def step(q: Any, k: Any, v: Any, weight: Any) -> Any:
        return _attention(q, k, v) @ weight

    q, k, v = (each.detach() for each in _operands())
    weight = torch.randn(WIDTH, WIDTH, requires_grad=True)
    kept: list[torch.Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        torch.compile(step, backend="hloom", fullgraph=True)(q, k, v, weight).sum().backward()
    assert sum(each.numel() for each in kept) == q.numel()
    torch.testing.assert_close(weight.grad, _attention(q, k, v).sum((0, 1, 2))[:, None].expand(WIDTH, WIDTH), rtol=2e-4, atol=2e-4)


def test_narrow_scores_stay() -> None:
    """Scores no larger than what they are made of are saved, as torch decides."""
    q, k, v = (torch.randn(2, 3, 16, 64, requires_grad=True) for _ in range(3))
    found, saved = _trained(torch.compile(_attention, backend="hloom", fullgraph=True), [q, k, v])
    wanted, _ = _trained(_attention, [q, k, v])
    assert 2 * 3 * 16 * 16 in saved
    _agree(found, wanted)
