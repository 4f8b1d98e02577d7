"""A training step of PyTorch, forward, backward and the update of the parameters, traced by make_fx: one program."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.func import functional_call, grad_and_value  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

import hloom  # noqa: E402


class Net(nn.Module):
    """A level of a U-Net with a norm, and depthwise, strided and 1 × 1 layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.strided = nn.Conv2d(16, 32, 1, stride=2)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        up = self.up(self.strided(self.depthwise(nn.functional.max_pool2d(x, 2))))
        joined = torch.cat([nn.functional.avg_pool2d(x, 2), up], 1)
        return self.head(joined.mean((2, 3)))


def test_a_step_of_training() -> None:
    torch.manual_seed(0)
    net, x, wanted = Net(), torch.randn(4, 3, 16, 16), torch.randint(5, (4,))
    parameters = {name: value.detach().clone() for name, value in net.named_parameters()}
    buffers = {name: value.clone() for name, value in net.named_buffers()}

    def step(parameters, x, wanted):
        def loss(parameters):
            state = {name: value.clone() for name, value in buffers.items()}
            return nn.functional.cross_entropy(functional_call(net, (parameters, state), (x,)), wanted)

        gradients, value = grad_and_value(loss)(parameters)
        return {name: parameters[name] - 0.1 * gradients[name] for name in parameters}, value

    exe = hloom.compile(make_fx(step)(parameters, x, wanted), parameters, x, wanted)
    torch.testing.assert_close(exe(parameters, x, wanted), step(parameters, x, wanted), atol=1e-5, rtol=1e-4)
