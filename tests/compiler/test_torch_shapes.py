"""Shapes that are told at once are those that torch finds by its decompositions, and nothing else changes."""

from __future__ import annotations

import contextlib

import pytest

torch = pytest.importorskip("torch")

import hloom  # noqa: E402
from hloom.compiler.frontends import torch_registry  # noqa: E402
from hloom.compiler.frontends.torch_registry import own_decompositions_first  # noqa: E402


def _network() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 5, 3), torch.nn.BatchNorm2d(5), torch.nn.Conv2d(5, 7, 3), torch.nn.BatchNorm2d(7, affine=False)]
    return torch.nn.Sequential(*layers).eval()


def _values(module: torch.nn.Module, x: torch.Tensor) -> list[tuple[str, str]]:
    """Each op of an export, and the shapes, strides and types of what it gives."""
    with own_decompositions_first(), torch.no_grad():
        graph = torch.export.export(module, (x,), strict=False).graph
    return [(node.name, str(torch.utils._pytree.tree_map(_described, node.meta.get("val")))) for node in graph.nodes]


def _described(leaf: object) -> object:
    return (leaf.shape, leaf.stride(), leaf.dtype, leaf.device) if isinstance(leaf, torch.Tensor) else leaf


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many shapes were found by torch's decomposition."""
    op, counts = torch.ops.aten._native_batch_norm_legit_no_training.default, []
    whole = torch._decomp.decomposition_table[op]

    def counted(*given: object) -> object:
        counts.append(1)
        return whole(*given)

    counted.__module__, counted.__name__ = whole.__module__, whole.__name__
    monkeypatch.setitem(torch._decomp.decomposition_table, op, counted)
    return counts


@pytest.mark.parametrize("form", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_export_is_the_same(form, dtype, calls, monkeypatch):
    module = _network().to(dtype)
    x = torch.randn(2, 3, 11 + dtype.itemsize, 13).to(
        dtype, memory_format=form
    )  # sizes that no other test has, for torch remembers results
    at_once = _values(module, x)
    assert not calls
    torch._subclasses.FakeTensorMode.cache_clear()
    monkeypatch.setattr(torch_registry, "shapes_at_once", contextlib.nullcontext)
    assert _values(module, x) == at_once
    assert calls


def test_other_strides_are_torchs_to_find(calls):
    norm = torch.nn.BatchNorm2d(6).eval()
    x = torch.randn(5, 17, 19, 6).permute(0, 3, 2, 1)
    _values(norm, x)
    assert calls


def test_too_few_moments_are_refused():
    class Wrong(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            moments = torch.zeros(4), torch.ones(4)
            return torch.ops.aten._native_batch_norm_legit_no_training(x, None, None, *moments, 0.1, 1e-5)[0]

    with pytest.raises(hloom.CompileError):
        hloom.compile(Wrong().eval(), torch.randn(1, 3, 6, 7))


def test_recorded_batch_norms_are_torchs_decomposition():
    from torch.fx.experimental.proxy_tensor import make_fx

    op = torch.ops.aten._native_batch_norm_legit_no_training.default
    tensors = [torch.randn(2, 3, 4, 5), torch.randn(3), torch.randn(3), torch.randn(3), torch.rand(3)]
    with own_decompositions_first():
        table = {op: torch._decomp.decomposition_table[op]}
        graph = make_fx(lambda *given: op(*given, 0.1, 1e-5)[0], decomposition_table=table, tracing_mode="fake")(*tensors)
    torch.testing.assert_close(graph(*tensors), op(*tensors, 0.1, 1e-5)[0])


_LAYERS = [{}, {"batch_first": True}, {"bidirectional": True, "num_layers": 2, "batch_first": True}, {"bias": False, "num_layers": 2}]


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@pytest.mark.parametrize("options", _LAYERS)
def test_a_recurrent_layer_is_run_for_no_shape(kind, options, monkeypatch):
    layer, x = kind(5, 7, **options).eval(), torch.randn(3, 4, 5)
    monkeypatch.setattr(torch._decomp.decompositions, "_rnn_helper", None)
    at_once = _values(layer, x)
    monkeypatch.undo()
    torch._subclasses.FakeTensorMode.cache_clear()
    monkeypatch.setattr(torch_registry, "shapes_at_once", contextlib.nullcontext)
    assert _values(layer, x) == at_once


def test_a_projected_state_is_torchs_to_find(monkeypatch):
    layer, x = torch.nn.LSTM(5, 7, proj_size=3).eval(), torch.randn(3, 4, 5)
    told = _values(layer, x)
    monkeypatch.setattr(torch_registry, "shapes_at_once", contextlib.nullcontext)
    assert _values(layer, x) == told
