"""Arguments and results of torch modules that are no tensors: numbers, flags, strings, None; keywords; containers."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402

X = torch.arange(1.0, 7.0).reshape(2, 3)


class Mixed(torch.nn.Module):
    def forward(self, x, scale=None, mode="plain", *, shift=0, flag=False):
        y = x if scale is None else x * scale
        y = y + shift if mode == "plain" else y - shift
        return {"y": y, "mode": mode, "n": (3, 2.5, flag), "none": None, "a": x}


def equal(got, want) -> None:
    assert torch.utils._pytree.tree_structure(got) == torch.utils._pytree.tree_structure(want)
    for a, b in zip(*map(torch.utils._pytree.tree_leaves, (got, want)), strict=True):
        assert type(a) is type(b)
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b


@pytest.mark.parametrize("value", [3.14, 3, True, None, float("inf")])
def test_numbers_are_compiled_in_and_checked(value, tmp_path: Path) -> None:
    exe = hloom.compile(Mixed(), X, value)
    exe.save(tmp_path / "m.hloom")
    for program in (exe, hloom.load(tmp_path / "m.hloom")):
        equal(program(X, value), Mixed()(X, value))
        for other in (2.0, 7, "3.14", False, X):
            with pytest.raises(hloom.InputError if value is not None else hloom.ArityError, match=r"inputs\[1\]"):
                program(X, other)


def test_what_differs_is_named() -> None:
    exe = hloom.compile(Mixed(), X, 2.5, "minus", kwargs={"shift": 3, "flag": True})
    equal(exe(X, 2.5, "minus", shift=3, flag=True), Mixed()(X, 2.5, "minus", shift=3, flag=True))
    for given, keywords, message in (
        ((X, 2, "minus"), {"shift": 3, "flag": True}, r"inputs\[1\] was compiled in as 2.5, got 2\n"),
        ((X, 2.5, "plain"), {"shift": 3, "flag": True}, r"inputs\[2\] was compiled in as 'minus', got 'plain'"),
        ((X, 2.5, "minus"), {"shift": 3, "flag": 1}, r"keywords\['flag'\] was compiled in as True, got 1\n"),
        ((X, 2.5, "minus"), {"shift": X, "flag": True}, r"keywords\['shift'\] was compiled in as 3, got a Tensor"),
    ):
        with pytest.raises(hloom.InputError, match=message):
            exe(*given, **keywords)


def test_a_nan_is_the_same_nan() -> None:
    exe = hloom.compile(Mixed(), X, float("nan"))
    assert exe(X, float("nan"))["y"].isnan().all()
    with pytest.raises(hloom.InputError, match="compiled in as nan"):
        exe(X, 1.0)


def test_keywords_hold_tensors_and_numbers() -> None:
    def scaled(x, *, mask, factor=1.0):
        return x * mask * factor

    exe = hloom.compile(scaled, X, kwargs={"mask": X + 1, "factor": 2.0})
    equal(exe(X, mask=X + 3, factor=2.0), scaled(X, mask=X + 3, factor=2.0))
    with pytest.raises(hloom.ArityError, match=r"keys \['mask', 'factor'\]"):
        exe(X, mask=X)


Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Output:
    a: torch.Tensor
    n: int


torch.export.register_dataclass(Output)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 5,
        lambda x: None,
        lambda x: (),
        lambda x: x,
        lambda x: (x, x),
        lambda x: (x + 1,) * 2 + (x,),
        lambda x: (torch.ones(3), x, "text"),
        lambda x: (x.t(), x[1:], x.view(-1), x.expand(2, 2, 3)),
        lambda x: [x.size(0), list(x.shape), {"n": x.numel()}],
        lambda x: {"z": 1, "b": x + 1, "a": None, "c": {"y": x, "x": True}},
    ],
)
def test_results_keep_their_structure(function) -> None:
    equal(hloom.compile(function, X)(X), function(X))


def test_containers_of_the_frameworks_classes() -> None:
    result = hloom.compile(lambda x: Output(x + 1, 3), X)(X)
    assert torch.equal(result.a, X + 1) and result.n == 3
    result = hloom.compile(lambda x: OrderedDict(z=x, b=x + 1), X)(X)
    assert list(result) == ["z", "b"] and torch.equal(result["b"], X + 1)
    result = hloom.compile(lambda x: Pair(x, 2.5), X)(X)
    assert result._fields == ("a", "b") and torch.equal(result.a, X) and result.b == 2.5
    pair = Pair(X, X + 1)
    equal(hloom.compile(lambda p, q: p.a + p.b + q[0]["k"], pair, [{"k": X}])(pair, [{"k": X}]), 3 * X + 1)
    assert np.array_equal(hloom.compile(Mixed(), X.numpy())(X.numpy())["y"], X.numpy())


def test_results_that_cannot_be() -> None:
    class Plain:
        pass

    with pytest.raises(hloom.InvalidProgramError, match=r"a number that it computes from its inputs\n(.*\n)*.*without .item\(\)"):
        hloom.compile(lambda x: (x, x.sum().item()), X)
    with pytest.raises(hloom.InvalidProgramError, match=r"Plain(.*\n)*.*register_dataclass"):
        hloom.compile(lambda x: Plain(), X)
    with pytest.raises(hloom.InvalidProgramError, match=r"torch.export failed"):
        hloom.compile(lambda x, d: x.to(d), X, torch.float64)


@pytest.mark.parametrize("place", [2, 0, -1])
def test_a_tensor_tells_the_place(place):
    class Selects(torch.nn.Module):
        def forward(self, x, i):
            return x[i], x[:, i] * 2, x.select(-1, i), x[i][i], x[i, 1:], torch.arange(7)[i]

    x, i = torch.randn(5, 3), torch.tensor(place)
    for given in (Selects(), torch.export.export(Selects(), (x, i), strict=False)):
        for got, wanted in zip(hloom.compile(given, x, i)(x, i), Selects()(x, i)):
            assert torch.equal(torch.as_tensor(got), wanted)


def test_a_number_read_from_a_tensor_is_computed_with():
    def function(x):
        total = x.sum().item()
        return x * total, x.clamp(max=total / 4), torch.full((2,), total) + (total - 1) ** 2

    x = torch.rand(3)
    for call in (hloom.compile(function, x), torch.compile(function, backend="hloom", fullgraph=True)):
        torch.testing.assert_close(tuple(call(x)), function(x))


def test_a_size_read_from_a_tensor_is_refused_by_its_name():
    with pytest.raises(hloom.CompileError, match=r"aten.slice"):
        hloom.compile(lambda x: x[: x.sum().to(torch.int64).item()], torch.ones(3))
