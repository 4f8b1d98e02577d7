"""Recurrent layers of torch's: a loop over time, whose step is compiled once."""

from __future__ import annotations

import re

import pytest

import hloom

torch = pytest.importorskip("torch")
nn = torch.nn

from hloom.compiler.dynamo.tracing import trace_undisturbed  # noqa: E402
from hloom.compiler.frontends.torch_lowerings import recurrent_gradients  # noqa: E402

_KINDS = (nn.LSTM, nn.GRU, nn.RNN)
_OPTIONS = [
    {},
    {"batch_first": True, "bidirectional": True, "num_layers": 2},
    {"bias": False, "num_layers": 2},
    {"batch_first": True, "bias": False, "bidirectional": True},
]


@pytest.fixture(autouse=True)
def _own_traces():
    """dynamo keeps few of a function."""
    torch._dynamo.reset()


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


def _learned(call, layer, inputs, seen=lambda out, end: [out, *end] if isinstance(end, tuple) else [out, end]):
    """What a call gives, and the gradients of its inputs and weights."""
    leaves = torch.utils._pytree.tree_map(lambda value: value.clone().requires_grad_(), inputs)
    layer.zero_grad()
    made = seen(*call(*leaves))
    sum((value.float() * torch.linspace(-1, 2, value.numel()).reshape(value.shape)).sum() for value in made).backward()
    given = torch.utils._pytree.tree_leaves(leaves)
    return [*made, *(each.grad for each in given), *(parameter.grad.clone() for parameter in layer.parameters())]


def _same_gradients(layer, *inputs, rtol=1e-4, atol=1e-5, **seen):
    """Of a layer whose step is compiled once."""
    with torch._dynamo.config.patch(allow_rnn=True):
        found = _learned(torch.compile(layer, backend="hloom", fullgraph=True), layer, inputs, **seen)
    for value, expected in zip(found, _learned(layer, layer, inputs, **seen)):
        torch.testing.assert_close(value, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("options", _OPTIONS[1:3])
@pytest.mark.parametrize("kind", _KINDS)
def test_gradients(kind, options):
    torch.manual_seed(0)
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    shape = (3, 6, 5) if options.get("batch_first") else (6, 3, 5)
    state = torch.randn(count, 3, 7)
    _same_gradients(kind(5, 7, **options), torch.randn(shape), (state, torch.randn(count, 3, 7)) if kind is nn.LSTM else state)


@pytest.mark.parametrize(("kind", "steps"), [(nn.LSTM, 1), (nn.LSTM, 3), (nn.GRU, 1), (nn.RNN, 2)])
def test_gradients_of_a_few_steps(kind, steps):
    _same_gradients(kind(5, 7, bidirectional=True), torch.randn(steps, 3, 5))


def test_gradients_of_other_cells_and_states():
    torch.manual_seed(0)
    _same_gradients(nn.RNN(5, 7, nonlinearity="relu"), torch.randn(6, 3, 5), torch.randn(1, 3, 7))
    _same_gradients(nn.GRU(5, 7, bidirectional=True), torch.randn(6, 5))
    _same_gradients(nn.LSTM(5, 7, proj_size=3), torch.randn(2, 2, 5))
    _same_gradients(nn.LSTM(5, 7).double(), torch.randn(6, 2, 5).double(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("part", [0, 1])
def test_gradients_of_a_part_of_the_results(part):
    """Of the last state alone, and of the results alone."""
    layer = nn.LSTM(5, 7, 2)
    _same_gradients(layer, torch.randn(6, 3, 5), seen=lambda *made: torch.utils._pytree.tree_leaves(made[part]))


def test_gradients_of_what_is_frozen():
    layer, x = nn.GRU(5, 7), torch.randn(6, 3, 5)
    layer.weight_hh_l0.requires_grad_(False)
    with torch._dynamo.config.patch(allow_rnn=True):
        torch.compile(layer, backend="hloom", fullgraph=True)(x)[0].square().sum().backward()
    found = layer.weight_ih_l0.grad.clone()
    layer.zero_grad()
    layer(x)[0].square().sum().backward()
    torch.testing.assert_close(found, layer.weight_ih_l0.grad, rtol=1e-4, atol=1e-5)
    assert layer.weight_hh_l0.grad is None


@pytest.mark.parametrize("kind", _KINDS)
def test_gradients_of_narrow_elements(kind):
    """No further from those of f64 than eager's are."""
    torch.manual_seed(0)
    layer, x = kind(16, 24).bfloat16(), torch.randn(20, 4, 16).bfloat16()
    with torch._dynamo.config.patch(allow_rnn=True):
        found = _learned(torch.compile(layer, backend="hloom", fullgraph=True), layer, (x,))
    eager = _learned(layer, layer, (x,))
    exact = _learned(layer.double(), layer, (x.double(),))
    for value, other, expected in zip(found, eager, exact):
        errors = [(each.double() - expected).square().mean().sqrt() for each in (value, other)]
        assert errors[0] < 1.1 * errors[1] + 1e-3 * expected.square().mean().sqrt()


@pytest.mark.parametrize("kind", _KINDS)
def test_a_step_back_is_compiled_once(kind, monkeypatch):
    """And no step is run for its shapes."""
    monkeypatch.setattr(torch._decomp.decompositions, "_rnn_helper", None)
    layer, groups = kind(16, 16, bidirectional=True), []
    with torch._dynamo.config.patch(allow_rnn=True):
        for steps in (20, 40):
            torch._dynamo.reset()
            trace_undisturbed()
            torch.compile(layer, backend="hloom", fullgraph=True, dynamic=False)(torch.randn(steps, 4, 16))[0].sum().backward()
            groups.append([len(program.report.data["groups"]) for program in hloom.programs()[-2:]])
    assert groups[0] == groups[1] and max(groups[0]) < 32


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
@pytest.mark.parametrize("backwards", [False, True])
def test_the_ops_of_gradients_are_pytorchs_too(kind, backwards):
    """Where an op stays with PyTorch, its neighbours may."""
    torch.manual_seed(0)
    gates = {"lstm": 4, "gru": 3}.get(kind, 1)
    x, states = torch.randn(5, 2, 3), [torch.randn(2, 4) for _ in range(2 if kind == "lstm" else 1)]
    weights = [torch.randn(shape) for shape in ([4 * gates, 3], [4 * gates, 4], [4 * gates], [4 * gates])]
    leaves = [each.requires_grad_() for each in (x, *states, *weights)]
    out, *ends = recurrent_gradients._Direction.apply(kind, True, backwards, len(states), *leaves)
    given = x.flip(0) if backwards else x
    state = [each.unsqueeze(0) for each in states]
    expected, *others = getattr(torch, kind)(given, state if kind == "lstm" else state[0], weights, True, 1, 0.0, False, False, False)
    both = [[out.flip(0) if backwards else out, *ends], [expected, *(each.squeeze(0) for each in others)]]
    gradients = [torch.autograd.grad(sum(value.square().sum() for value in made), leaves) for made in both]
    for found, wanted in zip(*both):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


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
