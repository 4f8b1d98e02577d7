"""Recurrent layers of torch's: a loop over time, whose step is compiled once."""

from __future__ import annotations

import re

import pytest

import hloom

torch = pytest.importorskip("torch")
nn = torch.nn

_KINDS = (nn.LSTM, nn.GRU, nn.RNN)
_OPTIONS = [
    {},
    {"batch_first": True, "bidirectional": True, "num_layers": 2},
    {"bias": False, "num_layers": 2},
    {"batch_first": True, "bias": False, "bidirectional": True},
]


def _same(layer, *inputs):
    with torch.no_grad():
        found, expected = hloom.compile(layer, *inputs)(*inputs), layer(*inputs)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("steps", [1, 3, 9])
@pytest.mark.parametrize("options", _OPTIONS)
@pytest.mark.parametrize("kind", _KINDS)
def test_layers(kind, options, steps):
    shape = (2, steps, 5) if options.get("batch_first") else (steps, 2, 5)
    _same(kind(5, 7, **options).eval(), torch.randn(shape))


def test_other_cells_and_states():
    x, state = torch.randn(9, 2, 5), torch.randn(1, 2, 7)
    _same(nn.RNN(5, 7, nonlinearity="relu").eval(), x, state)
    _same(nn.GRU(5, 7).eval(), x, state)
    _same(nn.LSTM(5, 7, proj_size=3).eval(), x, (torch.randn(1, 2, 3), state))
    _same(nn.LSTM(5, 7, proj_size=3, bias=False).eval(), x)
    _same(nn.LSTM(5, 7).eval(), x[:, 0])


@pytest.mark.parametrize("kind", _KINDS)
def test_a_step_is_compiled_once(kind):
    layer = kind(16, 16).eval()
    few, many = (len(hloom.compile(layer, torch.randn(steps, 4, 16)).report.data["groups"]) for steps in (8, 64))
    assert few == many < 12


@pytest.mark.parametrize(("kind", "limit"), [(nn.RNN, 2**-10), (nn.GRU, 2**-11), (nn.LSTM, 2**-12)])
def test_of_narrow_elements(kind, limit):
    """In the mean; a cell that is rounded at each step goes twice as far astray."""
    layer, x = kind(32, 32).eval().bfloat16(), torch.randn(40, 4, 32).bfloat16()
    with torch.no_grad():
        found = hloom.compile(layer, x)(x)[0].double()
        error = (found - layer.double()(x.double())[0]).abs().mean()
    assert error < limit


def test_under_torch_compile_without_gradients():
    layer, x = nn.GRU(5, 6, batch_first=True, bidirectional=True).eval(), torch.randn(2, 9, 5)
    with torch.no_grad(), torch._dynamo.config.patch(allow_rnn=True):
        torch.testing.assert_close(torch.compile(layer, backend="hloom")(x), layer(x), rtol=1e-5, atol=1e-5)
    report = hloom.programs()[-1].report.text()
    assert re.search(r"matmul .* thread +18 ", report), "one kernel of both ways, called at each step"


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("road", ["compile", "torch.compile", "gradients"])
def test_elements_are_dropped_between_layers_in_training(layer: type[nn.RNNBase], road: str):
    """All of them, here: what remains is the last layer's result for zeros. torch's own decomposition drops none."""
    torch.manual_seed(0)
    module, x = layer(4, 5, 2, dropout=1 - 1e-7, bidirectional=True).train(), torch.randn(2, 3, 4)
    last = layer(10, 5, bidirectional=True)
    last.load_state_dict({name.replace("_l1", "_l0"): value for name, value in module.state_dict().items() if "_l1" in name})
    with torch._dynamo.config.patch(allow_rnn=True), torch.set_grad_enabled(road == "gradients"):
        compiled = hloom.compile(module, x, target="cpu") if road == "compile" else torch.compile(module, backend="hloom")
        torch.testing.assert_close(compiled(x)[0], last(torch.zeros(2, 3, 10))[0], rtol=1e-5, atol=1e-5)
