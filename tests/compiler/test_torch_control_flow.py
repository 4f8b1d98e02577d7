"""torch.cond, while_loop, scan and map of modules and functions, beside eager."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._higher_order_ops.map import map as mapped  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

import hloom  # noqa: E402

X = torch.linspace(-1, 1, 24).reshape(4, 6)


def agrees(function, *inputs):
    exe = hloom.compile(function, *inputs)
    with torch.no_grad():
        torch.testing.assert_close(exe(*inputs), function(*inputs), rtol=1e-5, atol=1e-5)
    return exe


class Expert(nn.Module):
    """Weights that each branch reads."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(6, 5), nn.Linear(6, 5)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.first(x).relu(), lambda x: self.second(x) * 2, (x,))


@pytest.mark.parametrize("shift", [-1.0, 1.0])
def test_a_branch_is_chosen(shift):
    exe = agrees(Expert().eval(), X + shift)
    both = Expert().eval()
    torch.testing.assert_close(exe(X - shift), both(X - shift).detach(), rtol=1e-5, atol=1e-5)


def test_branches_of_several_results_and_types():
    def function(x, flags, n):
        def yes(x, flags, n):
            return x.sum(0), ~flags, n + 1

        def no(x, flags, n):
            return x.amax(0), flags & True, n * 3

        return torch.cond(flags.any(), yes, no, (x, flags, n))

    for flags in (torch.tensor([False, True]), torch.tensor([False, False])):
        agrees(function, X, flags, torch.tensor([250, 3], dtype=torch.uint8))


def test_a_loop_runs_until_its_condition_fails():
    def function(x, least):
        def goes_on(number, x):
            return (x.abs().max() > least) & (number < 100)

        return while_loop(goes_on, lambda number, x: (number + 1, x * 0.8), (torch.tensor(0), x))

    exe = agrees(function, X, torch.tensor(0.1))
    number, _ = exe(X, torch.tensor(2.0))
    assert int(number) == 0


def test_a_choice_in_a_loop_in_bf16():
    def function(x):
        def step(number, x):
            return number + 1, torch.cond(number % 2 == 0, lambda x: x + 1, lambda x: x / 2, (x,))

        return while_loop(lambda number, x: number < 5, step, (torch.tensor(0), x))[1]

    agrees(function, X.bfloat16())


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_carries_and_stacks(reverse):
    def function(x, y):
        def step(carry, row):
            a, b = row
            carry = 0.5 * carry + a
            return carry, (carry * 2, b.sum())

        return scan(step, torch.zeros(6), (x, y), reverse=reverse)

    agrees(function, X, torch.ones(4, 2, 3))


def test_rows_are_mapped():
    agrees(lambda x, w: mapped(lambda row, w: (row @ w, row.max()), x, w), X, torch.ones(6, 2))


def test_text_is_generated_in_a_loop():
    """Greedy tokens of a recurrent decoder, each written where it belongs."""

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.embedding, self.cell, self.head = nn.Embedding(11, 8), nn.GRUCell(8, 8), nn.Linear(8, 11)
            with torch.no_grad():
                for parameter in self.parameters():
                    parameter.mul_(4)  # so that the text is no one token

        def forward(self, first):
            def step(number, token, hidden, text):
                hidden = self.cell(self.embedding(token), hidden)
                token = self.head(hidden).argmax(1)
                places = torch.arange(text.shape[1])
                return number + 1, token, hidden, torch.where(places == number, token[:, None], text)

            begin = (torch.tensor(0), first, torch.zeros(2, 8), torch.zeros(2, 12, dtype=torch.int64))
            return while_loop(lambda number, *_: number < 12, step, begin)[3]

    text = agrees(Decoder().eval(), torch.tensor([1, 4]))(torch.tensor([1, 4]))
    assert len(text.unique()) > 1


def test_numbers_are_refused():
    def function(x):
        return while_loop(lambda number, x: number < 3, lambda number, x: (number + 1, x * 2), (0, x))

    with pytest.raises(hloom.CompileError, match="a number that it computes"):
        hloom.compile(function, X)


class _Chosen(Expert):
    """The same after a loop."""

    def forward(self, x):
        _, x = while_loop(lambda number, _: number < 3, lambda number, x: (number + 1, torch.sin(x) * 1.5), (torch.tensor(0), x))
        return super().forward(x)


@torch.no_grad()
def test_the_backend_compiles_choices_and_loops():
    torch._dynamo.reset()
    model = _Chosen()
    compiled = torch.compile(model, backend="hloom", fullgraph=True)
    for x in (X + 1, X - 1):
        torch.testing.assert_close(compiled(x), model(x))
    assert not torch.equal(model.first(X), model.second(X))


def test_gradients_of_a_choice():
    torch._dynamo.reset()
    weight = torch.linspace(-1, 1, 6).requires_grad_()

    def function(x, weight):
        return torch.cond(x.sum() > 0, lambda x, w: (x * w).sin(), lambda x, w: x / (w + 3), (x, weight)).sum()

    compiled = torch.compile(function, backend="hloom", fullgraph=True)
    for x in (torch.ones(6), -torch.ones(6)):
        (got,), (wanted,) = (torch.autograd.grad(of(x, weight), (weight,)) for of in (compiled, function))
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("squash", [torch.tanh, torch.sigmoid])
def test_gradients_of_a_scan(squash):
    """The backward of such a function reads its result, which the scan gives as well."""
    torch._dynamo.reset()
    found = []

    def scanned(x, h):
        return scan(lambda c, row: (squash(c * 0.5 + row), squash(c * 0.5 + row) * row), h, x)

    for backend in ("eager", "hloom"):
        function = torch.compile(scanned, backend=backend, fullgraph=True)
        x = X.clone().requires_grad_()
        last, rows = function(x, torch.zeros(6))
        (last.sum() + rows.square().sum()).backward()
        found.append((last, rows, x.grad))
    torch.testing.assert_close(found[1], found[0])


def _choosing(x):
    return torch.cond(x.sum() > 0, lambda x: x.reshape(x.shape[0] * x.shape[1]).cumsum(0), lambda x: (x * x.shape[0]).flatten(), (x,))


def _choosing_within(x):
    inner = lambda x: torch.cond(x.mean() > -9, lambda x: x.roll(x.shape[0] - 1, 0), lambda x: x.flip(0), (x,))  # noqa: E731
    return torch.cond(x.sum() > 0, inner, lambda x: x.flip(0), (x,))


def _repeating(x):
    rows = lambda y: torch.arange(x.shape[0])[:, None] + y  # noqa: E731
    return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, rows(y) * 0.5), (torch.tensor(0), x.clone()))[1]


def _scanning(x):
    return scan(lambda c, r: (c + r * x.shape[1], c.clone()), x[0] * 0, x)[1]


@pytest.mark.parametrize("function", [_choosing, _choosing_within, _repeating, _scanning])
def test_graphs_that_read_open_sizes(function):
    """Dynamo hands sizes on to them."""
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="hloom", fullgraph=True, dynamic=True)
    for rows in (5, 4):
        x = torch.linspace(-1, 2, rows * 3).reshape(rows, 3)
        torch.testing.assert_close(compiled(x), function(x))
