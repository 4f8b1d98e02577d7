"""lerp, addcmul and addcdiv, which stay one op on the way to StableHLO: about as near to f64 as eager, in every type, with gradients."""

from __future__ import annotations

import pytest
import torch

OPS = {
    "lerp near the start": lambda x, y, z: torch.lerp(x, y, 0.1),
    "lerp near the end": lambda x, y, z: torch.lerp(x, y, 0.9),
    "lerp by a tensor": torch.lerp,
    "addcmul": torch.addcmul,
    "addcmul by a number": lambda x, y, z: torch.addcmul(x, y, z, value=0.37),
    "addcdiv": torch.addcdiv,
    "addcdiv by a number": lambda x, y, z: torch.addcdiv(x, y, z, value=-2),
}
TYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.complex64]


def _off(made: torch.Tensor, exact: torch.Tensor) -> float:
    return (made.to(exact.dtype) - exact).abs().max().item()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", OPS)
def test_near_to_f64(name: str, dtype: torch.dtype):
    torch.manual_seed(0)
    torch._dynamo.reset()
    wide = torch.complex128 if dtype.is_complex else torch.float64
    given = [torch.randn(shape, dtype=dtype) for shape in ((5, 7), (1, 7), (5, 1))]
    made = torch.compile(OPS[name], backend="hloom", fullgraph=True)(*given)
    wanted, exact = OPS[name](*given), OPS[name](*(x.to(wide) for x in given))
    assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
    assert _off(made, exact) <= 4 * _off(wanted, exact) + 1e-15


def test_integers():
    x = torch.arange(-3, 3)
    made = torch.compile(lambda x: torch.addcmul(x, x, x, value=3), backend="hloom", fullgraph=True)(x)
    assert torch.equal(made, torch.addcmul(x, x, x, value=3))


def test_gradients():
    def loss(x):
        return torch.lerp(x, x * 2, 0.7).sum() + torch.addcdiv(x, x, x + 3, value=0.5).sum() + torch.addcmul(x, x, x).sum()

    x = torch.rand(3, 3, requires_grad=True)
    made = torch.autograd.grad(torch.compile(loss, backend="hloom", fullgraph=True)(x), x)
    torch.testing.assert_close(made, torch.autograd.grad(loss(x), x))
