"""What a mask selects, computed of all elements: a tensor whose size depends on data is in no program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hloom

torch = pytest.importorskip("torch")
F = torch.nn.functional

WEIGHT = torch.linspace(-1, 1, 15).reshape(5, 3)
CLASSES = torch.tensor([1, 4, 0, 2, 3, 3, 0])
T = Any


def written(change: Callable[[T], None]) -> Callable[[T], T]:
    def function(x: T) -> T:
        y = x.clone()
        change(y)
        return y

    return function


def doubled(y: T) -> None:
    y[y > 0] *= 2


def by_another_mask(y: T) -> None:
    y[y > 0] = y[y > 0].sin() + 1


def of_rows(y: T) -> None:
    chosen = y[:, 0] > 0
    y[chosen, 1] = y[chosen, 2] * 3


def scaled(y: T) -> None:
    chosen = y > 0
    y[chosen] = (y[chosen] - y[chosen].mean()) / y[chosen].std()


def experts(x: T) -> T:
    """As Mixtral's: each expert is given its rows, and adds what it makes of them to these."""
    weights, chosen = x[:, :3].softmax(-1).topk(2, -1)
    result = torch.zeros(7, 3)
    for expert, mask in enumerate(F.one_hot(chosen, 3).permute(2, 1, 0)):
        place, row = torch.where(mask)
        result.index_add_(0, row, (x[None, row].reshape(-1, 5) @ WEIGHT * (expert + 1)).tanh() * weights[row, place, None])
    return result


def attended(x: T) -> T:
    rows = x[x[:, 0] > 0][None]
    return F.scaled_dot_product_attention(x[None], rows, rows)


def losses(x: T) -> T:
    some = x[x > 0]
    wanted = some.detach().sin()
    return (
        F.mse_loss(some, wanted)
        + F.smooth_l1_loss(some, wanted)
        + x.sum() / some.numel()
        + F.cross_entropy(x[CLASSES > 1], CLASSES[CLASSES > 1])
    )


CASES = {
    "doubled": written(doubled),
    "by another mask": written(by_another_mask),
    "of rows": written(of_rows),
    "scaled": written(scaled),
    "experts": experts,
    "attended": attended,
    "losses": losses,
    "sum": lambda x: x[x > 0].sum(),
    "columns": lambda x: x[:, x[0] > 0].square().mean(1),
    "greatest": lambda x: x[x[:, 1] > 0].max(0),
    "median": lambda x: x[x > 0].median(),
    "the first": lambda x: x[x > 0][0] + x[x[:, 0] > 0][-1],
    "two greatest": lambda x: x[x > 0].topk(2)[0],
    "in order": lambda x: (x[x[:, 0] > 0].sort(0)[0] * x[0]).sum(),
    "of those": lambda x: (lambda y: y[y < 1].norm())(x[x > 0]),
    "products": lambda x: (lambda y: y.t() @ y)(x[x[:, 0] > 0]),
    "one row": lambda x: (x[x[:, 0] > 0].reshape(-1) ** 2).sum(),
    "places": lambda x: x[(x > 0).nonzero(as_tuple=True)].mean(),
    "side by side": lambda x: torch.cat([x[x > 0] * 3, x[x < 0]]).square().sum(),
    "pairs": lambda x: (lambda s: torch.outer(s, s).sum() + (s[(s > 0.5) | (s < 0.1)] * 2).sum())(x[x > 0]),
    "softmax": lambda x: x[x > 0].softmax(0).square().sum(),
    "products of all": lambda x: (
        lambda y: y[y > 0.4].prod() + y[y[:, 0] > 0].prod(1).sum() + y[y[:, 1] > 0].prod(0, dtype=torch.float64).sum().float()
    )(
        torch.where(x > 1, 0 * x, x)  # with zeros, of which some are alone
    ),
    "sums so far": lambda x: x[x > 0].cumsum(0).sin().sum() + (x[x[:, 0] > 0].cumsum(1, dtype=torch.float64) * x[0]).sum().float(),
}


def results(call: Callable[[T], Any], x: T, wants_gradients: bool) -> list[Any]:
    x = x.clone().requires_grad_(wants_gradients)
    made = call(x)
    found = list(made) if isinstance(made, (tuple, list)) else [made]
    if wants_gradients:
        found[0].square().sum().backward()
        found.append(x.grad)
    return [each.detach() for each in found]


@pytest.fixture(scope="module")
def x() -> T:
    return torch.randn(7, 5, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("name", CASES)
def test_gradients_through_what_is_selected(name: str, x: T) -> None:
    call = torch.compile(CASES[name], backend="hloom", fullgraph=True)
    torch.testing.assert_close(results(call, x, True), results(CASES[name], x, True))


@pytest.mark.parametrize("name", ["by another mask", "experts", "median", "one row"])
def test_open_sizes(name: str, x: T) -> None:
    call = torch.compile(CASES[name], backend="hloom", fullgraph=True, dynamic=True)
    torch.testing.assert_close(results(call, x, True), results(CASES[name], x, True))


@pytest.mark.parametrize("name", ["doubled", "scaled", "experts", "greatest", "of those", "places"])
def test_exports(name: str, x: T) -> None:
    made = hloom.compile(CASES[name], x)(x)
    torch.testing.assert_close(made, CASES[name](x))


def test_distinct_elements() -> None:
    def function(x: T) -> tuple[T, ...]:
        found, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        return (found * counts).sum() + found.numel(), inverse, torch.unique_consecutive(x).sum()

    x = torch.tensor([[3, 3, -1], [7, 3, 3], [-1, 0, 0]])
    for call in (torch.compile(function, backend="hloom", fullgraph=True), hloom.compile(function, x)):
        torch.testing.assert_close(tuple(call(x)), function(x))


def test_results_that_are_no_floats(x: T) -> None:
    def function(x: T) -> tuple[T, ...]:
        chosen = x > 0.5
        hits = x[chosen].clamp(max=1) == x[chosen]
        return chosen.nonzero()[0, 1], hits.float().mean(), hits.sum(), x[chosen].argmax()

    for call in (torch.compile(function, backend="hloom", fullgraph=True), hloom.compile(function, x)):
        torch.testing.assert_close(tuple(call(x)), function(x))


def test_branches_select() -> None:
    def function(x: T) -> T:
        return torch.cond(x.sum() > 0, lambda x: x[x > 0].mean(), lambda x: x[x < 1].sum(), (x,))

    for x in (torch.arange(-2.0, 5), torch.arange(-5.0, 2)):
        for call in (torch.compile(function, backend="hloom", fullgraph=True), hloom.compile(function, x)):
            torch.testing.assert_close(call(x), function(x))


def test_nothing_is_selected() -> None:
    def function(x: T) -> tuple[T, ...]:
        some = x[x > 9]
        return some.sum(), some.mean(), (some > 0).any(), (some > 0).all()

    x = torch.ones(4)
    torch.testing.assert_close(torch.compile(function, backend="hloom", fullgraph=True)(x), function(x), equal_nan=True)


SIZED: dict[str, Callable[[T], Any]] = {
    "places": lambda x: torch.nonzero(x > 0),
    "places of a number": lambda x: (torch.nonzero(x[0, 0] < 99), len(torch.nonzero(x[0, 0] > 99))),
    "so many places": lambda x: (torch.nonzero_static(x[0, 0], size=3).sum(1), torch.nonzero_static(x[:0], size=2, fill_value=7)),
    "places of one": lambda x: (x[0] > 0).nonzero()[:, 0],
    "by dimensions": lambda x: torch.where(x > 0),
    "elements": lambda x: x.masked_select(x > 0) * 2,
    "rows": lambda x: x[x[:, 0] > 0].sin(),
    "rows as columns": lambda x: x[x[:, 0] > 0].t(),
    "columns": lambda x: x[:, x[0] > 0],
    "both": lambda x: x[x[:, 0] > 0][:, x[0] > 0],
    "distinct": lambda x: torch.unique(x.round(), return_inverse=True, return_counts=True),
    "runs": lambda x: torch.unique_consecutive(x.round().reshape(-1)),
    "distinct rows": lambda x: torch.unique(x.round().clamp(0, 1), dim=0, return_inverse=True, return_counts=True),
    "distinct columns": lambda x: torch.unique(x.round().clamp(0, 1).repeat(1, 2), dim=-1, return_inverse=True, return_counts=True),
    "distinct planes": lambda x: torch.unique((x > 0)[:, :2].reshape(-1, 2, 1).repeat(2, 1, 3), dim=0),
    "runs of rows": lambda x: torch.unique_consecutive((x > 0)[:, :2].sort(0)[0], dim=0, return_inverse=True, return_counts=True),
    "nothing": lambda x: (x[x > 99], *torch.where(x > 99)),
    "all": lambda x: x[x < 99],
    "how many": lambda x: (x[x > 0].numel(), x[x > 0], x.sum()),
    "of those": lambda x: (lambda some: some[some < 1])(x[x > 0]),
    "side by side": lambda x: torch.cat([x[x > 0], x[x < 0]]),
}


DYNAMIC = ("places", "how many", "both", "distinct rows")


@pytest.mark.parametrize(("name", "dynamic"), [*((name, False) for name in SIZED), *((name, True) for name in DYNAMIC)])
def test_results_of_a_size_that_depends_on_data(name: str, dynamic: bool, x: T) -> None:
    call = torch.compile(SIZED[name], backend="hloom", fullgraph=True, dynamic=dynamic)
    for given in (x, x.flip(0) - 0.3):
        made, wanted = (list(each) if isinstance(each, tuple) else [each] for each in (call(given), SIZED[name](given)))
        torch.testing.assert_close(made, wanted, check_stride=True)


def test_results_that_are_cut_in_training(x: T) -> None:
    def function(x: T) -> tuple[T, ...]:
        return x[x > 0].sum(), torch.nonzero(x > 0), x[x > 0].detach()

    call = torch.compile(function, backend="hloom", fullgraph=True)
    torch.testing.assert_close(results(call, x, True), results(function, x, True))


def test_cut_results_are_their_own(x: T) -> None:
    """What a call gave stays when the program is called again, or its result written."""
    call = torch.compile(lambda x: (x[x > 0], x[x > 0] * 1), backend="hloom", fullgraph=True)
    first, second = call(x)
    kept = second.clone()
    first.fill_(7)
    call(-x)
    assert torch.equal(second, kept)


@pytest.mark.parametrize("sized", ["places", "elements", "distinct", "rows"])
def test_exports_have_no_results_of_such_a_size(sized: str, x: T) -> None:
    with pytest.raises(hloom.CompileError, match="HL101"):
        hloom.compile(SIZED[sized], x)


def test_gradients_of_a_result_of_such_a_size_are_refused(x: T) -> None:
    with pytest.raises(Exception, match=r"HL101.*the gradient of a result whose size depends on data"):
        torch.compile(lambda x: x[x > 0], backend="hloom", fullgraph=True)(x.clone().requires_grad_())


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("aten.bincount", lambda x: torch.bincount(x.long().abs(), minlength=3)),
        ("aten.split", lambda x: next(part.sum() for part in x[x > 0].split([1, 2]))),
    ],
)
def test_what_is_refused(op: str, function: Callable[[T], T], x: T) -> None:
    with pytest.raises(Exception, match=rf"HL101[^|]*\n  op: {op}(.*\n)*  remedy: ") as told:
        torch.compile(function, backend="hloom", fullgraph=True)(x.reshape(-1))
    assert "test_torch_selections.py" in str(told.value)
    with pytest.raises(hloom.CompileError, match=op):
        hloom.compile(function, x.reshape(-1))
