"""Programs decomposed an op at a time: the graph is run_decompositions', and equal ops are traced once."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch._export.utils import _collect_all_valid_cia_ops_for_aten_namespace  # noqa: E402
from torch_mlir.extras.fx_decomp_util import get_expanded_decomposition_table  # noqa: E402

import hloom  # noqa: E402
from hloom.compiler.frontends import torch_decompose, torch_lowerings, torch_registry, torch_trace, torch_upstream  # noqa: E402
from hloom.compiler.frontends.torch_export import exported_module  # noqa: E402
from hloom.compiler.frontends.torch_registry import all_decompositions, overloads, own_decompositions_first  # noqa: E402
from hloom.compiler.frontends.torch_upstream import upstream_decomposition  # noqa: E402

nn = torch.nn
assert torch_lowerings  # registers hloom's own


class Residual(nn.Module):
    """Ops in place, ops of several results, ops that give their operand back."""

    def __init__(self, channels: int = 8):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels)
        self.relu, self.drop = nn.ReLU(inplace=True), nn.Dropout(0.5)

    def forward(self, x):
        y = self.drop(self.relu(self.norm(self.conv(x))))
        y += x
        return nn.functional.max_pool2d(self.relu(y), 3, stride=1, padding=1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")

    def forward(self, x):
        top, places = self.layer(x).flatten(1).topk(3)
        return top, places, torch.nn.functional.softmax(x, -1, dtype=torch.float64).cumsum(1), x.std(0), torch.tensor([1, 2]) + 1


class Cells(nn.Module):
    """Cells whose parts change one another's results in place."""

    def __init__(self):
        super().__init__()
        self.long, self.gated = nn.LSTMCell(4, 8), nn.GRUCell(8, 8)

    def forward(self, x):
        state = (x.new_zeros(3, 8), x.new_zeros(3, 8))
        for step in x:
            state = self.long(step, state)
        return self.gated(state[0], state[1])


def _graphs(module: Any, *inputs: Any) -> tuple[Any, Any, Any]:
    exported = exported_module(module.eval(), inputs, {})
    with own_decompositions_first():
        return exported, torch_decompose.decomposed(exported), exported.run_decompositions(all_decompositions())


def _listed(exported: Any) -> list[Any]:
    """The nodes with their operands by position, their types, and what else they are given."""
    places: dict[Any, int] = {}
    found = []
    for node in exported.graph.nodes:
        operands: list[int] = []
        rest = torch.fx.node.map_arg((node.args, dict(node.kwargs)), lambda n, operands=operands: operands.append(places[n]))
        value = node.meta.get("val")
        found.append((node.op, str(node.target) if node.op == "call_function" else node.name, operands, str(rest), str(value)))
        places[node] = len(places)
    return [*found[:-1], found[-1][2]]  # the output's name is anything


@pytest.mark.parametrize(
    ("module", "inputs"),
    [
        (nn.Sequential(Residual(), Residual()), (torch.randn(2, 8, 6, 6),)),
        (Attention(), (torch.randn(3, 4, 16),)),
        (Cells(), (torch.randn(4, 3, 4),)),
    ],
    ids=["residual", "attention", "cells"],
)
def test_the_graph_is_that_of_run_decompositions(module: Any, inputs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (torch_registry._lowerings, torch_registry._decompositions):  # run_decompositions knows no batch norms
        monkeypatch.delitem(table, "aten.batch_norm")
    _, new, old = _graphs(module, *inputs)
    assert _listed(new) == _listed(old)
    assert [spec.arg.name for spec in new.graph_signature.input_specs] == [n.name for n in new.graph.nodes if n.op == "placeholder"]


def test_a_batch_norm_by_tracked_moments_stays_one_op() -> None:
    _, new, _ = _graphs(Residual(), torch.randn(2, 8, 6, 6))
    assert [str(node.target) for node in new.graph.nodes if node.op == "call_function"][:2] == [
        "aten.convolution.default",
        "aten.batch_norm.default",
    ]


def _changes_its_own(x):
    return x.mul(2).add_(1)


def _changes_a_view(x):
    whole = x.mul(2)
    whole[0].add_(1)
    return whole


def _changes_what_is_viewed(x):
    whole = x.mul(2)
    first = whole[0]
    return whole.add_(1) * first


def _changes_the_operand(x):
    return x.add_(1)


def _changes_a_diagonal(x):
    whole = x.mul(2)
    whole.diagonal().add_(1)
    return whole


def _changes_what_a_diagonal_is_of(x):
    whole = x.mul(2)
    diagonal = whole.diagonal()
    whole.add_(1)
    return diagonal


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (_changes_its_own, True),
        (_changes_a_view, False),
        (_changes_what_is_viewed, False),
        (_changes_the_operand, False),
        (_changes_a_diagonal, False),
        (_changes_what_a_diagonal_is_of, False),
    ],
)
def test_what_changes_in_place_where_nobody_else_sees_it_is_recorded(function: Any, kept: bool) -> None:
    def trace() -> list[str]:
        diagonal = {torch.ops.aten.diagonal.default: torch_registry.decomposition_of(torch.ops.aten.diagonal.default)}
        graph = torch_trace.traced(function, [torch.zeros(2, 3)], torch_decompose.FakeTensorMode(), diagonal.get)
        return [str(node.target) for node in graph.nodes if node.op == "call_function"]

    if kept:
        assert trace() == ["aten.mul.Tensor", "aten.add.Tensor"]
        return
    with pytest.raises(torch_trace.Declined):
        trace()


def test_equal_ops_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[Any] = []
    trace = torch_decompose._Decomposition.trace
    monkeypatch.setattr(torch_decompose._Decomposition, "trace", lambda self, *given: traced.append(given[0]) or trace(self, *given))
    counts = []
    for layers in (2, 8):
        traced.clear()
        _graphs(nn.Sequential(*[Residual() for _ in range(layers)]), torch.randn(2, 8, 6, 6))
        counts.append(len(traced))
    assert counts[0] == counts[1] > 0


def test_the_users_program_stays_as_it_is() -> None:
    exported = exported_module(Residual().eval(), (torch.randn(1, 8, 4, 4),), {})
    before = _listed(exported)
    hloom.compile(exported, torch.randn(1, 8, 4, 4))
    assert _listed(exported) == before


class Window(nn.Module):
    def forward(self, x):
        y = x * 2
        y[:, 1:].add_(1)
        return y.relu_()


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        self.seen.add_(1)
        return x + self.seen


class ViewFirst(nn.Module):
    def forward(self, x):
        y = x + 1
        seen = y.view(-1)
        y.mul_(3)
        return seen


class Classifier(nn.Module):
    """Its dropout changes a view in place, if in training alone."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2, inplace=True)

    def forward(self, x):
        return self.drop(torch.flatten(x * 2, 1)) + 1


def test_what_changes_nothing_in_inference_is_its_operand(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", whole)
    x = torch.randn(2, 3, 4)
    assert torch.equal(torch.as_tensor(hloom.compile(Classifier().eval(), x)(x)), x.flatten(1) * 2 + 1)


class Narrow(nn.Module):
    def forward(self, x):
        return (x.to(torch.int32) * 2).mul_(x.to(torch.int64)).abs_()


def _copied(x):
    y = torch.zeros_like(x)
    z = x * 2
    y.copy_(z)
    y.add_(1)
    return y, z


def _numbered(x):
    """As Swin's mask of windows."""
    numbers = x.new_zeros((4, 6))
    for count, rows in enumerate((slice(0, -3), slice(-3, -1), slice(-1, None))):
        for columns in (slice(0, 2), slice(2, None)):
            numbers[rows, columns] = count
    return x.sum() + numbers


def _views_are_read_again(x):
    y = x * 2
    rows = y[1:]
    row = rows[0]
    row.mul_(3)
    row[1:].add_(rows[0, :2] + 1)
    return y, rows, row


def _a_view_is_read_before(x):
    y = x * 2
    before = y.view(-1) + 1
    y[0, ::2] = 7
    y.add_(before.view(2, 3))
    return y


def _one_column_from_another(x):
    y = x * 2
    y[:, 1] = y[:, 0]
    return y


@pytest.mark.parametrize(
    "function", [_copied, _numbered, _views_are_read_again, _a_view_is_read_before, _one_column_from_another, Window()]
)
def test_changed_slices_are_put_back(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", whole)
    x = torch.arange(6.0).reshape(2, 3)
    expected = function(x)
    found = hloom.compile(function, x)(x)
    pairs = zip(expected, found) if isinstance(expected, tuple) else [(expected, found)]
    assert all(torch.equal(torch.as_tensor(ours), theirs) for theirs, ours in pairs)


class TwoViews(nn.Module):
    """Another view sees the change of one."""

    def forward(self, x):
        y = x * 2
        first = y[:, :2]
        y[:, 1:].mul_(3)
        return first


class Diagonal(nn.Module):
    """A view that is none any more when it has been decomposed."""

    def forward(self, x):
        y = x.new_zeros(3, 3)
        y.diagonal().fill_(1)
        return y * x[:, :1].sum()


class PartOfDiagonal(nn.Module):
    def forward(self, x):
        y = x.repeat(2, 1)
        y.diagonal()[1:].add_(5)
        return y


class DiagonalOfWhatChanges(nn.Module):
    def forward(self, x):
        y = x * 2
        diagonal = y.diagonal()
        y.add_(1)
        return y.sum() + diagonal


class Strides(nn.Module):
    def forward(self, x):
        y = x * 2
        y.as_strided((2, 2), (3, 2)).mul_(3)
        return y


class StridesOfAView(nn.Module):
    def forward(self, x):
        y = x * 2
        return y[:, 1:].as_strided((2, 2), (1, 2)), y[1:].as_strided((2, 2), (1, 2), 1), x.t()[1:].as_strided((5,), (1,), 0)


@pytest.mark.parametrize(
    "module",
    [TwoViews(), Counts(), ViewFirst(), Narrow(), Diagonal(), PartOfDiagonal(), DiagonalOfWhatChanges(), Strides(), StridesOfAView()],
)
def test_changes_that_others_see_are_left_to_torch(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[Any] = []
    run = torch.export.ExportedProgram.run_decompositions
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", lambda self, table: whole.append(self) or run(self, table))
    x = torch.arange(6.0).reshape(2, 3)
    expected = copy.deepcopy(module)(x)
    exe = hloom.compile(module, x)
    assert whole
    torch.testing.assert_close(exe(x), expected, rtol=0, atol=0)


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_recurrent_layers_become_ops_that_are_compiled(layer):
    """torch has an op of oneDNN's for an LSTM that needs no gradients."""
    module, x = layer(6, 5, 2, bidirectional=True).eval(), torch.randn(3, 2, 6)
    with torch.no_grad():
        torch.testing.assert_close(hloom.compile(module, x)(x)[0], module(x)[0], rtol=1e-5, atol=1e-5)


def test_an_ops_decomposition_is_that_of_torch_mlirs_table() -> None:
    """Of a table made anew: which ops count as composite hangs on what of hloom's was in place when the one that is kept was made."""
    torch_upstream._tables.cache_clear()
    _collect_all_valid_cia_ops_for_aten_namespace.cache_clear()
    whole = get_expanded_decomposition_table.__wrapped__()
    assert len(whole) > 800
    for op in (each for name in torch.ops.aten for each in overloads(f"aten.{name}")):
        assert _what_it_calls(upstream_decomposition(op)) == _what_it_calls(whole.get(op)), op


def _what_it_calls(decomposition: Any) -> Any:
    """Those of composite ops are made anew each time: partial functions that hold the op."""
    return getattr(decomposition, "keywords", decomposition)
