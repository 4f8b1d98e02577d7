"""Random numbers of PyTorch's: their moments, and that no draw is infinite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

SHAPE = (257, 2001)
RATES = torch.linspace(0, 1, SHAPE[1])

FORMS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "rand": (lambda x: torch.rand_like(x), 1 / 2, 12**-0.5),
    "randn": (lambda x: torch.randn(SHAPE, dtype=x.dtype), 0, 1),
    "randn_like": (lambda x: torch.randn_like(x), 0, 1),
    "normal": (lambda x: torch.normal(2.0, 3.0, SHAPE, dtype=x.dtype), 2, 3),
    "normal of tensors": (lambda x: torch.normal(x + 2, x + 3), 2, 3),
    "normal_": (lambda x: x.clone().normal_(2, 3), 2, 3),
    "exponential_": (lambda x: x.clone().exponential_(2), 1 / 2, 1 / 2),
    "geometric_": (lambda x: x.clone().geometric_(0.25), 4, 12**0.5),
    "log_normal_": (lambda x: x.clone().log_normal_(0, 0.5).log(), 0, 1 / 2),
    "cauchy_": (lambda x: x.clone().cauchy_(1, 2).sub(1).div(2).atan(), 0, torch.pi * 12**-0.5),
    "bernoulli_": (lambda x: x.clone().bernoulli_(0.2), 0.2, 0.4),
    "bernoulli": (lambda x: torch.bernoulli(x + RATES.to(x.dtype)), 1 / 2, 1 / 2),
    "dropout": (lambda x: F.dropout(x + 1, 0.2), 1, 1 / 2),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_moments(form: str, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    draw, mean, deviation = FORMS[form]
    compiled = torch.compile(draw, backend="hloom", fullgraph=True)
    one, other = (compiled(torch.zeros(SHAPE, dtype=dtype)).double() for _ in range(2))
    error = deviation * SHAPE[0] ** -0.5 * SHAPE[1] ** -0.5
    rounding = 0.006 * (abs(mean) + deviation) if dtype == torch.bfloat16 else 0
    assert one.isfinite().all()
    assert abs(one.mean() - mean) < 5 * error + rounding
    assert abs(one.std() - deviation) < 12 * error + rounding
    assert one.ne(other).any()


def test_exponentials_are_above_zero() -> None:
    """gumbel_softmax takes their logarithm. A sixteen-millionth of the numbers was 0 or infinite."""
    drawn = torch.compile(lambda x: x.clone().exponential_(1), backend="hloom", fullgraph=True)(torch.zeros(1 << 25))
    assert 0 < drawn.min() < 1e-6
    assert 15 < drawn.max() < 18


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32], ids=str)
def test_permutations(dtype: torch.dtype) -> None:
    """Each holds every place once; each place is as often anywhere."""
    torch.manual_seed(1)
    draw = torch.compile(lambda: torch.randperm(5, dtype=dtype), backend="hloom", fullgraph=True)
    drawn = torch.stack([draw() for _ in range(1000)])
    assert drawn.dtype == dtype
    assert torch.equal(drawn.sort(1).values, torch.arange(5, dtype=dtype).expand(1000, 5))
    often = torch.nn.functional.one_hot(drawn.long()).sum(0)
    assert (often - 200).abs().max() < 5 * (1000 * 0.2 * 0.8) ** 0.5


@pytest.mark.parametrize("count", [0, 1, 2, 300, 65_536, 65_537])
def test_permutations_of_many(count: int) -> None:
    """Above 2^16 places words are sorted twice."""
    torch.manual_seed(1)
    draw = torch.compile(lambda: torch.randperm(count), backend="hloom", fullgraph=True)
    drawn = draw(), draw()
    for each in drawn:
        assert torch.equal(each.sort().values, torch.arange(count))
    if count >= 300:
        assert (drawn[0] == drawn[1]).sum() < 12
        assert abs(torch.corrcoef(torch.stack([drawn[0].double(), torch.arange(count).double()]))[0, 1]) < 5 * count**-0.5


INTEGERS: dict[str, tuple[Callable[[], torch.Tensor], int, int]] = {
    "of both signs": (lambda: torch.randint(-3, 7, (60_000,)), -3, 7),
    "below 0": (lambda: torch.randint(-10, -2, (60_000,), dtype=torch.int32), -10, -2),
    "bytes": (lambda: torch.randint(200, 256, (60_000,), dtype=torch.uint8), 200, 256),
    "floats": (lambda: torch.randint(-5, 5, (60_000,), dtype=torch.bfloat16), -5, 5),
    "like": (lambda: torch.randint_like(torch.zeros(60_000), -3, 3), -3, 3),
    "of 31 bits": (lambda: torch.randint(2**31 - 1, (60_000,)), 0, 2**31 - 1),
    "of 63 bits": (lambda: torch.randint(-(2**62), 2**62, (60_000,)), -(2**62), 2**62),
}


@pytest.mark.parametrize("form", INTEGERS)
def test_integers(form: str) -> None:
    """Each is as often drawn as any other. Those below 0 were rounded up, to what is excluded too, and large ones were even."""
    torch.manual_seed(1)
    draw, low, high = INTEGERS[form]
    drawn = torch.compile(draw, backend="hloom", fullgraph=True)()
    assert drawn.dtype == draw().dtype
    whole = drawn.to(torch.int64)
    assert low <= whole.min() <= whole.max() < high
    assert abs((whole & 1).double().mean() - 1 / 2) < 0.01
    parts = high - low if high - low < 100 else 8
    shares = ((whole.double() - low) * parts / (high - low)).long().bincount(minlength=parts) / len(whole)
    torch.testing.assert_close(shares, torch.full([parts], 1 / parts), atol=0.01, rtol=0)


WEIGHTS = torch.tensor([[0.0, 1, 2, 5, 0], [3, 0, 1, 0.5, 0.5]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize(("count", "replacement"), [(1, False), (1, True), (3, False), (40, True)])
def test_places_are_drawn_by_their_weights(count: int, replacement: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    torch._dynamo.reset()  # one function, more often than torch compiles one
    rows = 4000
    given = WEIGHTS.to(dtype).repeat(rows, 1)
    draw = torch.compile(lambda x: torch.multinomial(x, count, replacement), backend="hloom", fullgraph=True)
    drawn, eager = draw(given), torch.multinomial(given, count, replacement)
    assert drawn.dtype == eager.dtype
    assert drawn.shape == eager.shape
    assert not given.gather(1, drawn).eq(0).any()
    shares, wanted = (F.one_hot(each, 5).reshape(rows, 2, -1, 5).double().mean(0) for each in (drawn, eager))
    assert (shares - wanted).abs().max() < 0.05
    assert (shares.mean(1) - wanted.mean(1)).abs().max() < 0.02
    if not replacement:
        assert all(len(set(row)) == count for row in drawn.tolist())


def test_a_place_of_many_is_drawn_at_many_points() -> None:
    torch.manual_seed(1)
    weights = torch.rand(40)
    draw = torch.compile(lambda x: torch.multinomial(x, 100_000, True), backend="hloom", fullgraph=True)
    shares = draw(weights).bincount(minlength=40) / 100_000
    torch.testing.assert_close(shares, weights / weights.sum(), atol=0.003, rtol=0)
