"""What torch.func makes of functions and modules where torch.export takes none of it: gradients through products, Jacobians in a vmap."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev  # noqa: E402

import hloom  # noqa: E402


def _net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3))


def _parameters(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.detach() for name, value in module.named_parameters()}


def test_a_step_is_a_plain_function() -> None:
    net, x = _net(), torch.randn(5, 8)

    def step(parameters, x):
        gradients, loss = grad_and_value(lambda p: (functional_call(net, p, (x,)) ** 2).mean())(parameters)
        return {name: value - 0.1 * gradients[name] for name, value in parameters.items()}, loss

    parameters = _parameters(net)
    exe = hloom.compile(step, parameters, x)
    torch.testing.assert_close(exe(parameters, x), step(parameters, x))


def test_gradients_of_each_sample() -> None:
    net, x, wanted = _net(), torch.randn(5, 8), torch.randint(3, (5,))

    def loss(parameters, x, wanted):
        return nn.functional.cross_entropy(functional_call(net, parameters, (x[None],)), wanted[None])

    each, parameters = torch.vmap(grad(loss), in_dims=(None, 0, 0)), _parameters(net)
    torch.testing.assert_close(hloom.compile(each, parameters, x, wanted)(parameters, x, wanted), each(parameters, x, wanted))


def test_a_step_of_a_recurrent_net() -> None:
    torch.manual_seed(0)
    net, x = nn.LSTM(4, 6, batch_first=True), torch.randn(2, 5, 4)

    def step(parameters, x):
        gradients = grad(lambda p: functional_call(net, p, (x,))[0].square().mean())(parameters)
        return {name: value - 0.1 * gradients[name] for name, value in parameters.items()}

    parameters = _parameters(net)
    torch.testing.assert_close(hloom.compile(step, parameters, x)(parameters, x), step(parameters, x))


class _Derivatives(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = _net()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        x = self.norm(x)
        return torch.vmap(jacrev(self.net))(x), torch.vmap(hessian(lambda row: self.net(row).square().sum()))(x)


def test_derivatives_in_a_module_keep_its_names_and_its_buffers() -> None:
    module, x = _Derivatives().eval(), torch.randn(5, 8)
    expected, mean = module(x), module.norm.running_mean.clone()
    exe = hloom.compile(module, x)
    torch.testing.assert_close(exe(x), expected)
    assert "net.0.weight: 6x8xf32" in repr(exe)
    torch.testing.assert_close(module.norm.running_mean, mean)


def _bags(table: torch.Tensor, **options: object) -> torch.Tensor:
    where, begins = torch.tensor([1, 1, 4, 0, 2, 7, 3]), torch.tensor([0, 3, 3])
    return nn.functional.embedding_bag(where, table, begins, **options).sin()


def _put(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return x.index_put((torch.tensor([1, 1, 2]),), values, accumulate=True)


_PLACES = torch.rand(2, 5, 6, 2) * 2.4 - 1.2
_DERIVED = {
    "bilinear": (partial(nn.functional.grid_sample, align_corners=False), torch.randn(2, 3, 8, 7), _PLACES),
    "nearest": (partial(nn.functional.grid_sample, mode="nearest", align_corners=True), torch.randn(2, 9, 8, 7), _PLACES),
    "bicubic": (
        partial(nn.functional.grid_sample, mode="bicubic", padding_mode="reflection", align_corners=False),
        torch.randn(2, 9, 8, 7),
        _PLACES,
    ),
    "volume": (partial(nn.functional.grid_sample, align_corners=False), torch.randn(1, 2, 4, 5, 6), torch.rand(1, 3, 3, 3, 3) * 2 - 1),
    "distances": (partial(torch.cdist, p=3.0), torch.randn(2, 5, 4), torch.randn(2, 6, 4)),
    "pairs": (nn.functional.pdist, torch.randn(5, 4)),
    "bags": (_bags, torch.randn(8, 4)),
    "means of bags": (partial(_bags, mode="mean", padding_idx=1), torch.randn(8, 4)),
    "largest of bags": (partial(_bags, mode="max", padding_idx=1), torch.randn(8, 4)),
    "segments": (lambda x: torch.segment_reduce(x, "mean", lengths=torch.tensor([3, 0, 4]), initial=0.0), torch.randn(7, 3)),
    "places": (_put, torch.randn(5, 4), torch.randn(3, 4)),
    "a mask": (lambda x: x.index_put((x > 0,), x.sum()), torch.randn(4, 5)),
}


def _by_backend(function: Callable[..., Any], *_: torch.Tensor) -> Callable[..., Any]:
    return torch.compile(function, backend="hloom")


@pytest.mark.parametrize(
    ("name", "compiled"), [*((name, hloom.compile) for name in _DERIVED), ("bilinear", _by_backend), ("bags", _by_backend)]
)
def test_gradients_of_ops_whose_own_gradient_is_one_op(name: str, compiled: Callable[..., Any]) -> None:
    """Within torch.func.grad autograd differentiates what such ops are made of."""
    function, *inputs = _DERIVED[name]
    gradients = grad(lambda *x: function(*x).sin().sum(), tuple(range(len(inputs))))
    torch.testing.assert_close(compiled(gradients, *inputs)(*inputs), gradients(*inputs), rtol=1e-4, atol=1e-5)


def test_ops_keep_their_gradients_once_a_transform_is_traced() -> None:
    function, x, places = _DERIVED["bilinear"]
    gradients = grad(lambda x: function(x, places).sum())
    before = torch.library.get_kernel("aten::grid_sampler_2d", "AutogradCPU")
    hloom.compile(gradients, x)
    assert repr(torch.library.get_kernel("aten::grid_sampler_2d", "AutogradCPU")) == repr(before)


_JACOBIANS = {
    "forward": jacfwd,
    "back": jacrev,
    "forward of back": lambda f: jacfwd(jacrev(f)),
    "back of back": lambda f: jacrev(jacrev(f)),
    "forward of forward": lambda f: jacfwd(jacfwd(f)),
    "hessian": lambda f: hessian(lambda x: f(x).square().sum()),
}


@pytest.mark.parametrize(("name", "compiled"), [*((name, hloom.compile) for name in _JACOBIANS), ("forward of back", _by_backend)])
def test_jacobians_of_a_function(name: str, compiled: Callable[..., Any]) -> None:
    """Their basis is a diagonal of zeros that is filled in place."""
    function, x = _JACOBIANS[name](lambda x: x.sin() * x.sum()), torch.randn(3)
    torch.testing.assert_close(compiled(function, x)(x), function(x))


def test_linear_algebra_in_a_vmap() -> None:
    """Torch keeps what looks for singular matrices as an effect of the program."""
    torch.manual_seed(0)
    a, b = torch.randn(4, 5, 5) + 5 * torch.eye(5), torch.randn(4, 5)

    def function(a, b):
        return torch.vmap(torch.linalg.solve)(a, b), torch.vmap(torch.linalg.inv)(a), torch.vmap(torch.linalg.cholesky)(a @ a.mT)

    torch.testing.assert_close(hloom.compile(function, a, b)(a, b), function(a, b))


def test_a_newton_step() -> None:
    x, target = torch.randn(40, 6), torch.rand(40)

    def loss(w, x, target):
        return nn.functional.binary_cross_entropy_with_logits(x @ w, target) + 0.1 * w.square().sum()

    def step(w, x, target):
        return w - torch.linalg.solve(hessian(loss)(w, x, target), grad(loss)(w, x, target))

    inputs = torch.zeros(6), x, target
    torch.testing.assert_close(hloom.compile(step, *inputs)(*inputs), step(*inputs))
