"""torch.compile(backend="hloom") of graphs whose sizes go on to change: what is compiled, and what PyTorch computes."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.nn.functional as F

from hloom.compiler.dynamo import sizes


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few are many."""
    monkeypatch.setattr(sizes, "AT_ONCE", 2)
    monkeypatch.setattr(sizes, "AGAIN", 2)
    monkeypatch.setattr(sizes, "STEP", 3)


@pytest.fixture
def programs(monkeypatch):
    """The sets of operands that a program was made for."""
    made = []
    specialised = sizes.BySizes._specialised

    def recorded(self, operands):
        made.append([tuple(each.shape) for each in operands if isinstance(each, torch.Tensor)])
        return specialised(self, operands)

    monkeypatch.setattr(sizes.BySizes, "_specialised", recorded)
    return made


def compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, backend="hloom", fullgraph=True, dynamic=True)


def rows(x):
    return F.softmax(x @ x.t(), -1).sum(0) + x.shape[0]


def test_sizes_beyond_a_few_wait_until_they_are_called_often(programs):
    call, wanted = compiled(rows), [3, 5]
    for number in (3, 5):
        x = torch.randn(number, 4)
        torch.testing.assert_close(call(x), rows(x))
    with pytest.warns(UserWarning, match="pad to a multiple"):
        call(torch.randn(6, 4))
    for number in (7, 8, 6, 9, 3):
        x = torch.randn(number, 4)
        torch.testing.assert_close(call(x), rows(x))
    assert [shape for ((shape, _),) in programs] == wanted
    for _ in range(7):
        x = torch.randn(6, 4)
        torch.testing.assert_close(call(x), rows(x))
    assert [shape for ((shape, _),) in programs] == [*wanted, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            call(torch.randn(7, 4))
        assert len(programs) == 3, "each program asks for more calls of the next set"
        call(torch.randn(7, 4))
    assert len(programs) == 4


@pytest.mark.filterwarnings("error")
def test_sizes_that_are_seen_once_get_no_program(programs, monkeypatch):
    monkeypatch.setattr(sizes, "AGAIN", 5)
    call = compiled(rows)
    for numbers, made in [((3, 5, 6, 7), 2), ((6, 8), 3), ((7, 8), 5)]:
        for number in numbers:
            x = torch.randn(number, 4)
            torch.testing.assert_close(call(x), rows(x))
        assert len(programs) == made
    with pytest.warns(UserWarning, match="pad to a multiple"):
        call(torch.randn(9, 4))


@pytest.mark.filterwarnings("ignore:the sizes of a graph")
def test_gradients_and_operands_that_are_changed(programs):
    def step(x, weight, seen):
        seen.add_(x.detach().sum())
        drawn = (F.dropout(x, 0.5) @ weight).mean() * 0  # is another in each, and has no weight
        return drawn + (x @ weight).tanh().sum() * x.shape[0]

    call = compiled(step)
    weight, ours = [torch.full((4, 3), 0.5, requires_grad=True) for _ in range(2)]
    seen, our_seen = torch.zeros(()), torch.zeros(())
    for number in (2, 3, 5, 6, 7):
        x = torch.randn(number, 4)
        call(x, ours, our_seen).backward()
        step(x, weight, seen).backward()
    torch.testing.assert_close(ours.grad, weight.grad)
    torch.testing.assert_close(our_seen, seen)
    assert len(programs) == 4  # two forward, two backward


@pytest.mark.filterwarnings("ignore:the sizes of a graph")
def test_what_a_mask_selects(programs):
    def chosen(x):
        some = x[x > 0]
        y = x.clone()
        y[x > 0] = some.sin() * 2
        return y, some.sum()

    call = compiled(chosen)
    for number in (2, 3, 5, 6):
        x = torch.randn(number, 4)
        torch.testing.assert_close(call(x), chosen(x))
    assert len(programs) == 2


@pytest.mark.filterwarnings("error")
def test_graphs_that_call_others_are_compiled(programs):
    def loop(x):
        return torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))[1]

    call = compiled(loop)
    for number in (2, 3, 5, 6):
        x = torch.randn(number, 4)
        torch.testing.assert_close(call(x), x * 8)
    assert len(programs) == 4
