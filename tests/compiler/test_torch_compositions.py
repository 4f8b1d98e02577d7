"""Torch ops that hloom writes in simpler ones, beside eager."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.nn import functional
from torch_functions import Function

import hloom


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.nn.functional.group_norm(x[None], 3, x[:, 0], x[:, 1]),
        lambda x: x.t().contiguous().as_strided((2, 3), (1, 5), 2),
        lambda x: x.as_strided((5, 6), (6, 1)),
        lambda x: x.view(torch.int32),
        lambda x: torch.view_copy(x, torch.uint8),
        lambda x: x[:, :4].contiguous().view(torch.float64),
        lambda x: torch.view_copy(x.half(), torch.bfloat16),
        lambda x: torch.cummax(x, 0),
        lambda x: torch.cumprod(x, -1),
        lambda x: torch.nn.functional.pad(x[None], (2, 1), "circular"),
        lambda x: torch.hypot(x, x.flip(0)),
        lambda x: x[:, [1, -1]],
        lambda x: x[[[-6], [2]], [-1, 0]],
        lambda x: x[None, [-1, 0], :, None][:, :, [-5]],
        lambda x: x.take(torch.arange(-30, 30, 7)),
        lambda x: x.roll((-13, 12), (0, 1)),
        lambda x: torch.nn.functional.multilabel_margin_loss(x[:2], torch.arange(10).reshape(2, 5) % 3 - 1),
    ],
)
def test_as_eager(function):
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(hloom.compile(Function(function), x)(x), function(x))


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (torch.nn.ConvTranspose2d(5, 7, (5, 4), stride=(3, 2), padding=(1, 2), output_padding=(2, 1)), (2, 5, 9, 11)),
        (torch.nn.ConvTranspose2d(6, 4, 3, stride=(3, 2), output_padding=(2, 0), bias=False, dilation=(1, 2), groups=2), (6, 4, 5)),
        (torch.nn.ConvTranspose3d(3, 4, 3, stride=2, padding=1, output_padding=(1, 0, 1)), (1, 3, 3, 4, 5)),
    ],
)
def test_output_paddings_that_differ(module, shape):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(hloom.compile(module.eval(), x)(x), module(x), rtol=1e-4, atol=1e-5)


def test_gradients_where_output_paddings_differ():
    """torch.compile gives convolutions, and no modules."""
    x = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    module = torch.nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=(1, 0))

    def gradients(function):
        return torch.autograd.grad(function(x).square().sum(), [x, *module.parameters()])

    compiled = torch.compile(module, backend="hloom", fullgraph=True)
    torch.testing.assert_close(gradients(compiled), gradients(module), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["module", "torch.compile"])
def test_tracked_moments(kind):
    x = torch.randn(2, 5, 7, 6, generator=torch.Generator().manual_seed(0))
    norm = torch.nn.InstanceNorm2d(5, affine=True, track_running_stats=True)
    norm.running_mean = torch.linspace(-1, 1, 5)
    eager = copy.deepcopy(norm)
    compiled = hloom.compile(norm, x) if kind == "module" else torch.compile(norm, backend="hloom", fullgraph=True)
    for _ in range(2):
        torch.testing.assert_close(compiled(x), eager(x))
        torch.testing.assert_close(dict(norm.named_buffers()), dict(eager.named_buffers()))
    torch.testing.assert_close(hloom.compile(norm.eval(), x)(x), eager.eval()(x))


def test_an_export_does_not_tell_of_moments_that_change():
    x, norm = torch.randn(2, 5, 7, 6), torch.nn.InstanceNorm2d(5, track_running_stats=True)
    with pytest.raises(hloom.UnsupportedOpError, match="running moments"):
        hloom.compile(torch.export.export(norm, (x,), strict=False))


@pytest.mark.parametrize("norm_type", [1.0, 2.0])
def test_embeddings_of_bounded_length(norm_type):
    places = torch.tensor([[3, 0, 3], [7, 7, 1]])
    table = torch.nn.Embedding(9, 5, max_norm=1.5, norm_type=norm_type, padding_idx=0)
    eager = copy.deepcopy(table)
    compiled = torch.compile(table, backend="hloom", fullgraph=True)
    for each in (compiled, eager):
        each(places).square().sum().backward()
    torch.testing.assert_close(table.weight.grad, eager.weight.grad)
    torch.testing.assert_close(table.weight, eager.weight)


def test_an_instance_norm_in_a_program_that_changes_its_input():
    """torch decomposes such a program whole."""

    def changing(x, weight):
        x[1:] += 1
        return torch.nn.functional.instance_norm(x), torch.nn.functional.instance_norm(x, weight=weight, bias=weight)

    x = torch.randn(2, 5, 7, 6, generator=torch.Generator().manual_seed(0))
    weight = torch.linspace(0.5, 1.5, 5)
    torch.testing.assert_close(hloom.compile(Function(changing), x, weight)(x.clone(), weight), changing(x.clone(), weight))


@pytest.mark.parametrize("kind", [torch.nn.BatchNorm1d, torch.nn.BatchNorm2d])
@pytest.mark.parametrize(
    ("dtype", "affine", "mixed"),
    [(torch.float32, True, False), (torch.float64, False, False), (torch.bfloat16, True, False), (torch.bfloat16, True, True)],
)
def test_batch_norms_by_tracked_moments(kind, dtype, affine, mixed):
    """`mixed`: of half-precision floats, with moments and weights of f32."""
    generator, norm = torch.Generator().manual_seed(0), kind(5, affine=affine).eval()
    for value in norm.state_dict().values():
        if value.is_floating_point():
            value.uniform_(0.5, 1.5, generator=generator)
    norm = norm if mixed else norm.to(dtype)
    x = torch.randn(4, 5, *[3, 2] * (kind is torch.nn.BatchNorm2d), generator=generator).to(dtype)
    torch.testing.assert_close(hloom.compile(norm, x)(x), norm(x))


HALVES = {
    "mean": lambda x: x.mean(1),
    "mean of all": lambda x: x.mean(),
    "mean given in halves": lambda x: x.float().mean(1, dtype=torch.float16),
    "norm": lambda x: x.norm(dim=1),
    "norm of the order 3": lambda x: (x / 16).norm(p=3, dim=1),
    "frobenius norm": lambda x: torch.linalg.matrix_norm(x / 4),
    "normalized": lambda x: functional.normalize(x),
    "cosine similarity": lambda x: torch.cosine_similarity(x, x.flip(0)),
    "distance": lambda x: functional.pairwise_distance(x, -x),
    "instance norm": lambda x: functional.instance_norm(x[None], weight=x[:, 0], bias=x[:, 1]),
    "instance norm by what was tracked": lambda x: functional.instance_norm(x[None], x[:, 0], x[:, 1] ** 2, use_input_stats=False),
}


@pytest.mark.parametrize("name", HALVES)
def test_sums_of_halves_that_no_half_holds(name):
    function, x = HALVES[name], (torch.rand(8, 1200, generator=torch.Generator().manual_seed(0)) * 100 + 50).half()
    exact = function(x if name == "mean given in halves" else x.double()).double()
    torch._dynamo.reset()
    for compiled in (hloom.compile(Function(function), x), torch.compile(function, backend="hloom")):
        torch.testing.assert_close(compiled(x).double(), exact, rtol=2e-3, atol=2e-3)
