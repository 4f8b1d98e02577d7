"""What torch.func makes of functions and modules where torch.export takes none of it: gradients through products, Jacobians in a vmap."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev  # noqa: E402

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
