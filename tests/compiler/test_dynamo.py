"""torch.compile(…, backend="hloom") beside eager: inference, training, what stays with PyTorch, sizes that change, weights that do."""

from __future__ import annotations

import copy
import warnings

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from hloom.runtime.executable import Executable  # noqa: E402

F = torch.nn.functional


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "hloom leaves")
        yield


def compiled(function, **options):
    return torch.compile(function, backend="hloom", **options)


def same(results, expected) -> None:
    torch.testing.assert_close(results, expected, atol=1e-5, rtol=1e-4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.SiLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=8), nn.GroupNorm(2, 8)
        )
        self.up, self.head = nn.ConvTranspose2d(8, 4, 2, 2), nn.Linear(4, 5)

    def forward(self, x):
        return self.head(F.gelu(self.up(self.features(x))).mean((2, 3)))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.layer = nn.Embedding(11, 16), nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)

    def forward(self, tokens):
        x = self.layer(self.table(tokens), src_mask=nn.Transformer.generate_square_subsequent_mask(tokens.shape[1]), is_causal=True)
        return (x @ self.table.weight.t()).flatten(0, 1)


@pytest.mark.parametrize(
    ("model", "inputs", "classes"),
    [(Net, (4, 3, 12, 12), 5), (Decoder, None, 11), (lambda: nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 3)), (4, 7), 3)],
    ids=["convolutions", "attention", "dense"],
)
def test_training(model, inputs, classes):
    eager = model()
    ours = copy.deepcopy(eager)
    x = torch.randn(inputs) if inputs else torch.randint(classes, (2, 6))
    wanted = torch.randint(classes, (4 if inputs else 12,))
    losses = []
    for net, call in ((eager, eager), (ours, compiled(ours))):
        optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.cross_entropy(call(x), wanted)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    same(losses[3:], losses[:3])
    same(dict(ours.state_dict()), dict(eager.state_dict()))
    with torch.no_grad():
        same(compiled(ours.eval())(x), eager.eval()(x))


def test_weights_that_change_are_bound_again():
    net, x = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 3)).eval(), torch.randn(2, 64)
    call = compiled(net)

    def new(): net[1].weight = nn.Parameter(torch.randn(3, 64))  # fmt: skip

    changes = [
        lambda: None,
        lambda: net[0].weight.data.mul_(2),
        lambda: net[0].bias.add_(1),
        new,
        lambda: net.load_state_dict({name: torch.randn_like(value) for name, value in net.state_dict().items()}),
    ]
    with torch.no_grad():
        for change in changes:
            change()
            same(call(x), net(x))
    with torch.inference_mode():
        same(call(x), net(x))
        net[0].weight = nn.Parameter(torch.randn(64, 64))  # torch counts no versions of it
        same(call(x), net(x))


def test_results_that_alias_are_none_or_numbers():
    x = torch.randn(6, 5)
    whole, rows, nothing, number, more, flat = compiled(lambda x: (x, x[1:], None, 3, x + 1, (x + 1).view(-1)))(x)
    assert whole is x and rows.data_ptr() == x[1:].data_ptr() and nothing is None and number == 3
    same((more, flat), (x + 1, (x + 1).view(-1)))


def test_a_backward_that_is_called_again():
    """After a graph that was kept, and after one that was not."""
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
    compiled, x = torch.compile(net, backend="hloom"), torch.ones(3, 4)
    compiled(x).sum().backward()
    once = [parameter.grad.clone() for parameter in net.parameters()]
    net.zero_grad()
    loss = compiled(x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    torch.testing.assert_close([parameter.grad for parameter in net.parameters()], [2 * each for each in once])


def test_changes_in_place():
    def function(x, y):
        x[1:3] = 0
        y.add_(1).mul_(2)
        return y, x.sum()

    given, expected = [[torch.arange(20.0).reshape(4, 5), torch.ones(3)] for _ in range(2)]
    same(compiled(function)(*given), function(*expected))
    same(given, expected)


def test_strides():
    def function(x, y):
        return x.t() @ y, (x + y.flip(0)).t()

    x, y = torch.randn(10, 12)[::2, 1:6].t(), torch.randn(5, 5)
    results, expected = compiled(function)(x, y), function(x, y)
    same(results, expected)
    assert [result.stride() for result in results] == [value.stride() for value in expected]
    image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert compiled(lambda x: x * 2)(image).is_contiguous(memory_format=torch.channels_last)


def test_layers_that_share_a_graph_are_each_bound_once(monkeypatch):
    bound = []
    bind, refresh = Executable.bind, Executable.refresh
    monkeypatch.setattr(Executable, "bind", lambda exe, values: (bound.append(exe), bind(exe, values))[1])
    monkeypatch.setattr(Executable, "refresh", lambda exe: (bound.append(exe), refresh(exe))[1])
    layers = [nn.Linear(16, 16) for _ in range(3)]
    fast = [torch.compile(layer, backend="hloom") for layer in layers]
    x = torch.randn(4, 16)

    def check():
        for one, other in zip(fast, layers):
            same(one(x), other(x))

    with torch.no_grad():
        check()
        check()
        assert len(bound) == len(set(map(id, bound))) == 3
        layers[1].weight.mul_(2)  # bound again, the others not
        check()
        check()
        assert len(bound) == 4 and bound[3] is bound[1]
        layers[1].weight.data = torch.randn(16, 16)  # its memory is free for others
        check()
        check()
        assert len(bound) == 5 and bound[4] is bound[1]


@pytest.mark.parametrize(("order", "part"), [((0, 1, 2, 3), slice(None)), ((0, 2, 1, 3), slice(3)), ((2, 0, 1, 3), slice(None))])
def test_strides_of_attention(order, part):
    size = 2, 3, 5, 8
    whole = torch.randn([size[d] for d in order]).permute([order.index(d) for d in range(4)])
    query, key = whole[:, :, part].requires_grad_(), torch.randn(size, requires_grad=True)
    function = torch.nn.functional.scaled_dot_product_attention
    results, expected = compiled(function)(query, key, key), function(query, key, key)
    same(results, expected)
    assert results.stride() == expected.stride()
    gradients, wanted = (torch.autograd.grad(each.sum(), (query, key)) for each in (results, expected))
    same(gradients, wanted)
    assert [each.stride() for each in gradients] == [each.stride() for each in wanted]


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16], ids=str)
def test_attention_saves_no_scores(kind):
    """What the forward pass keeps for the gradients is no larger than its operands."""
    inputs = [torch.randn(1, 2, 64, 8, dtype=kind, requires_grad=True) for _ in range(3)]
    saved: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: saved.append(x.numel()) or x, lambda x: x):
        compiled(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))(*inputs)
    assert saved and max(saved) <= inputs[0].numel()


@pytest.mark.parametrize("options", [{"dynamic": True}, {}, {"dynamic": False}])
def test_sizes_that_change(options):
    def function(x):
        return F.softmax(x @ x.t(), -1).sum(0) + x.shape[0]

    call = compiled(function, **options)
    for rows in (3, 5, 7, 1, 3):
        x = torch.randn(rows, 4)
        same(call(x), function(x))


def test_training_with_sizes_that_change():
    weight, ours = [torch.full((4, 3), 0.5, requires_grad=True) for _ in range(2)]
    call = compiled(lambda x, w: (x @ w).tanh().sum() * x.shape[0], dynamic=True)
    for rows in (2, 5):
        x = torch.randn(rows, 4)
        call(x, ours).backward()
        ((x @ weight).tanh().sum() * rows).backward()
    same(ours.grad, weight.grad)


@pytest.mark.parametrize("options", [{"mode": "nearest"}, {"mode": "bilinear", "align_corners": True}, {"mode": "bicubic"}])
def test_resizes_to_sizes_that_change(options):
    def function(x, like):
        return F.interpolate(x, size=like.shape[-2:], **options) + F.interpolate(like, scale_factor=0.5, **options).sum()

    call = compiled(function, dynamic=True)
    for size in ((6, 7), (4, 9)):
        x, ours = [torch.linspace(0, 1, 24).view(1, 2, 3, 4).requires_grad_() for _ in range(2)]
        like = torch.randn(1, 2, *size)
        result, expected = call(ours, like), function(x, like)
        same(result, expected)
        result.square().sum().backward()
        expected.square().sum().backward()
        same(ours.grad, x.grad)


def test_numbers_that_change():
    call = compiled(lambda x, a, b: x * a + b)
    x = torch.randn(3)
    for a, b in ((1, 2.0), (2, 3.0), (3, 4.5)):
        same(call(x, a, b), x * a + b)


@torch.library.custom_op("hloom_test::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    """An op that nobody has told hloom of."""
    return x.flip(0).contiguous()


turned.register_fake(torch.empty_like)


def test_what_is_not_compiled_stays_with_pytorch():
    def function(x):
        return turned(x @ x.t() + 1) @ x * 2

    x = torch.randn(4, 4)
    with pytest.warns(UserWarning, match=r"hloom leaves 1 of \d+ ops of a graph to PyTorch: hloom_test.turned.default\."):
        same(compiled(function)(x), function(x))


def test_sparse_gradients_stay_with_pytorch():
    table = nn.Embedding(10, 4, sparse=True)
    twin, x = copy.deepcopy(table), torch.tensor([1, 2, 1])
    loss = compiled(table)(x).square().sum()  # whole
    with pytest.warns(UserWarning, match="a sparse tensor"):
        loss.backward()
    twin(x).square().sum().backward()
    assert table.weight.grad.is_sparse
    torch.testing.assert_close(table.weight.grad.to_dense(), twin.weight.grad.to_dense())


def test_fullgraph_lets_nothing_stay_with_pytorch():
    with pytest.raises(Exception, match=r"HL101.*hloom_test.turned"):
        compiled(lambda x: turned(x) + 1, fullgraph=True)(torch.eye(3))


def test_a_graph_of_data_dependent_size():
    def function(x):
        y = x.sin() * 2
        return torch.bincount((y > 0).long().flatten()), y

    x, call = torch.randn(4, 4), compiled(function)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True), pytest.warns(UserWarning, match="aten.bincount"):
        same(call(x), function(x))


def test_random_numbers_follow_torchs_seed():
    drop, x = compiled(nn.Dropout(0.3)), torch.ones(1000, requires_grad=True)
    torch.manual_seed(1)
    first = drop(x)
    torch.manual_seed(1)
    assert torch.equal(drop(x), first)
    assert not torch.equal(drop(x), first)
    assert 0.2 < (first == 0).float().mean() < 0.4
    first.sum().backward()
    assert torch.equal(x.grad, first.detach())


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop])
def test_optimizers(kind):
    ours = [nn.Parameter(torch.randn(n, 3)) for n in range(1, 5)]
    eager = copy.deepcopy(ours)
    optimizers = [kind(parameters, lr=0.01) for parameters in (ours, eager)]
    steps = [compiled(optimizers[0].step), optimizers[1].step]
    for _ in range(3):
        for mine, theirs in zip(ours, eager):
            mine.grad = theirs.grad = torch.randn_like(mine)
        for step in steps:
            step()
    same(ours, eager)


def test_checkpoints_save_what_is_drawn():
    """A dropout saves its mask; the gradients are of the numbers that the forward drew."""
    layer = nn.Sequential(nn.Linear(64, 64), nn.Dropout(0.25), nn.Tanh()).double()
    weight, direction, x = layer[0].weight, torch.randn(64, 64).double(), torch.randn(32, 64).double()
    step = compiled(lambda x: checkpoint(lambda x: layer(x) * torch.rand_like(x), x, use_reentrant=False), fullgraph=True)

    saved = []

    def loss(distance=0.0):
        with torch.no_grad():
            weight.add_(distance * direction)
        torch.manual_seed(1)
        saved.clear()
        with torch.autograd.graph.saved_tensors_hooks(lambda each: saved.append(each) or each, lambda each: each):
            result = step(x)
        return result.square().sum()

    loss().backward()
    kinds = [each.dtype for each in saved if each.shape == x.shape and each.data_ptr() != x.data_ptr()]
    assert sorted(kinds, key=str) == [torch.bool, torch.float64]
    same((weight.grad * direction).sum(), (loss(1e-5) - loss(-2e-5)).detach() / 2e-5)


@pytest.mark.parametrize("name", ["attention", "rrelu"])
def test_checkpoints_of_ops_of_several_results(name):
    """Attention without a dropout is made again: the forward saves its operands alone. Of rrelu both results are saved."""
    x = torch.randn(2, 2, 5, 8, requires_grad=True)

    def attention(x):
        return F.scaled_dot_product_attention(x.sin(), x.cos(), x.tanh(), is_causal=True).exp()

    function = attention if name == "attention" else (lambda x: F.rrelu(x.sin(), 0.2, 0.2, training=True).exp())
    step = compiled(lambda x: checkpoint(function, x, use_reentrant=False), fullgraph=True)
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda each: saved.append(each) or each, lambda each: each):
        result = step(x)
    assert name == "rrelu" or {each.data_ptr() for each in saved} == {x.data_ptr()}
    same(torch.autograd.grad(result.sum(), x), torch.autograd.grad(function(x).sum(), x))


def test_checkpoints_and_autocast():
    net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 5))
    ours, x = copy.deepcopy(net), torch.randn(6, 5)

    def function(net, x):
        with torch.autocast("cpu", torch.bfloat16):
            half = net(x)
        return checkpoint(net, x, use_reentrant=False).sum() + half.float().sum()

    compiled(function)(ours, x).backward()
    function(net, x).backward()
    torch.testing.assert_close([p.grad for p in ours.parameters()], [p.grad for p in net.parameters()], atol=1e-3, rtol=1e-2)


@pytest.mark.parametrize(
    ("norm_first", "masks"),
    [(True, []), (False, ["mask"]), (True, ["src_key_padding_mask"]), (False, ["mask", "src_key_padding_mask"]), (False, [])],
)
def test_layers_that_are_one_op_without_gradients(norm_first, masks):
    layer = nn.TransformerEncoderLayer(16, 2, 32, activation="gelu" if norm_first else "relu", norm_first=norm_first, batch_first=True)
    net, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(), torch.randn(3, 5, 16)
    tensors = {"mask": torch.triu(torch.ones(5, 5), 1).bool(), "src_key_padding_mask": torch.arange(5) > torch.tensor([[4], [2], [1]])}
    given = {name: tensors[name] for name in masks}
    with torch.no_grad():
        same(compiled(net)(x, **given), net(x, **given))


@torch.no_grad()
def test_attention_that_is_one_op_without_gradients():
    attention, x = nn.MultiheadAttention(16, 2, batch_first=True).eval(), torch.randn(3, 5, 16)
    same(compiled(attention)(x, x, x), attention(x, x, x))


def test_functional_transforms():
    def function(x):
        return torch.func.grad(lambda x: (x.sin() ** 2).sum())(x), torch.vmap(lambda row: row.cumsum(0) * row.max())(x)

    x = torch.randn(4, 3)
    same(compiled(function)(x), function(x))


def test_nested_tensors_of_rows_of_unlike_lengths():
    linear, norm = nn.Linear(4, 4), nn.LayerNorm(4)

    def function(rows):
        return norm(rows) + F.gelu(linear(rows)).softmax(-1)

    step = compiled(function, fullgraph=True)
    for lengths in ((3, 5), (2, 6, 1)):
        given = torch.nested.nested_tensor([torch.randn(n, 4) for n in lengths], layout=torch.jagged)
        ours, eager = (torch.nested.nested_tensor_from_jagged(given.values().clone().requires_grad_(), given.offsets()) for _ in "ab")
        same(step(ours).values(), function(eager).values())
        parameters = [*linear.parameters(), *norm.parameters()]
        same(*(torch.autograd.grad(each.values().square().sum(), parameters) for each in (step(ours), function(eager))))


def test_heads_that_share_keys_and_values():
    def function(q, k, v, mask):
        shared = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return shared.sum() + (F.scaled_dot_product_attention(q, q, q, attn_mask=mask) ** 2).sum()

    given = [torch.randn(2, heads, 6, 8) for heads in (4, 2, 2)]
    mask = torch.randn(6, 6)
    gradients = []
    for call in (compiled(function), function):
        leaves = [value.clone().requires_grad_() for value in given]
        call(*leaves, mask).backward()
        gradients.append([leaf.grad for leaf in leaves])
    same(*gradients)


def test_recurrent_layers():
    layer, x = torch.nn.GRU(5, 6, batch_first=True, bidirectional=True), torch.randn(2, 4, 5)
    gradients = []
    with torch._dynamo.config.patch(allow_rnn=True):
        for call in (compiled(layer, fullgraph=True), layer):
            layer.zero_grad()
            result, last = call(x)
            (result.sum() + last.square().sum()).backward()
            gradients.append([result, last, *(parameter.grad.clone() for parameter in layer.parameters())])
    same(*gradients)


@pytest.mark.parametrize("ends", [[1, 1, 3, 3], [1, 1, 3, 12], [0, 37, 143, 297], [150, 150], [1, 40, 170, 171, 200]])
@pytest.mark.parametrize("behind", [0, 1, 40])
def test_mixtures_of_experts(ends, behind):
    """Each takes its matrix, all take all of them, or blocks: that end with the group or within it, that reach over the last row, none."""
    pytest.importorskip("transformers.integrations.moe", reason="it registers the op")
    rows, ends = ends[-1] + behind, torch.tensor(ends, dtype=torch.int32)
    given = [torch.randn(rows, 8), torch.randn(len(ends), 8, 5)]
    gradients = []
    for call in (compiled(torch.ops.transformers.grouped_mm_fallback), torch.ops.transformers.grouped_mm_fallback):
        leaves = [value.clone().requires_grad_() for value in given]
        result = call(*leaves, ends)
        (result**2).sum().backward()
        gradients.append([result, *(leaf.grad for leaf in leaves)])
    same(*gradients)


def test_experts_that_lie_transposed():
    pytest.importorskip("transformers.integrations.moe", reason="it registers the op")
    ends, given, gradients = torch.tensor([0, 37, 143, 297], dtype=torch.int32), [torch.randn(297, 8), torch.randn(4, 5, 8)], []

    def product(x, weights):
        return torch.ops.transformers.grouped_mm_fallback(x, weights.transpose(1, 2), ends)

    for call in (compiled(product), product):
        leaves = [value.clone().requires_grad_() for value in given]
        result = call(*leaves)
        (result**2).sum().backward()
        gradients.append([result, *(leaf.grad for leaf in leaves)])
    same(*gradients)


@pytest.mark.parametrize("rows", [16, 304])
@pytest.mark.parametrize("form", ["rows", "columns", "sums"])
def test_grouped_products(form, rows):
    shapes = {"rows": [(rows, 24), (3, 24, 40)], "columns": [(3, 40, 24), (24, rows)], "sums": [(24, rows), (rows, 40)]}[form]
    x, y = (torch.randint(-4, 5, shape).to(torch.bfloat16) for shape in shapes)
    ends = torch.tensor([8, 8, rows], dtype=torch.int32)
    same(compiled(F.grouped_mm)(x, y, offs=ends), F.grouped_mm(x, y, offs=ends))


def test_what_no_expert_has_is_not_read():
    x, y = torch.randn(8, 304).bfloat16(), torch.randn(304, 8).bfloat16()
    x[:, 260:] = y[260:] = torch.nan
    y[100:150] = torch.inf
    found = compiled(F.grouped_mm)(x, y, offs=torch.tensor([100, 150, 230, 260], dtype=torch.int32))
    assert found.isfinite().flatten(1).all(1).tolist() == [True, False, True, True]


@pytest.mark.parametrize(("options", "match"), [({"mode": "fastest"}, "mode"), ({"options": {"speed": 1}}, "speed")])
def test_options_that_there_are_not(options, match):
    with pytest.raises(Exception, match=match):
        compiled(lambda x: x + 1, **options)(torch.ones(2))


def test_modes(monkeypatch):
    """Torch's names for modes; what draws random numbers is not measured."""
    from hloom.compiler.tuning import session

    measured = []
    monkeypatch.setattr(session, "tuned", lambda program, *_, **__: measured.append(program) or session.Tuned(session.Policy(), ""))
    x = torch.randn(8, 8)
    for mode in ("default", "reduce-overhead"):
        same(compiled(lambda x: x @ x, mode=mode)(x), x @ x)
    assert not measured
    same(compiled(lambda x: x @ x.T, mode="max-autotune")(x), x @ x.T)
    compiled(lambda x: F.dropout(x, 0.5), mode="max-autotune")(x)
    assert len(measured) == 1


def test_tuning_of_graphs(monkeypatch):
    """A layer with bound weights, and with gradients, in two seconds; what was found is kept."""
    from hloom.compiler.tuning import tuner

    layer, x = nn.Linear(24, 12), torch.randn(6, 24)
    for gradients in (False, True):
        with torch.set_grad_enabled(gradients):
            same(compiled(layer, options={"tune": 2})(x), layer(x))
    monkeypatch.setattr(tuner.Tuner, "run", lambda self: pytest.fail("it measures"))
    torch._dynamo.reset()
    with torch.no_grad():
        same(compiled(layer, options={"tune": 2})(x), layer(x))


def test_options():
    x = torch.randn(8, 8)
    same(compiled(lambda x: x @ x, options={"target": "cpu-avx2", "policy": {}, "bind": False})(x), x @ x)
