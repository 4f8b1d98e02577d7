"""torch's ops on complex numbers: what torch-mlir lacks, or computes from the real parts alone."""

from __future__ import annotations

import pytest

import hloom

torch = pytest.importorskip("torch")


def elementwise(z, w):
    return z * w, z + 2 * w, torch.add(z, w, alpha=0.5j), z - w, z / w, 1 / z, 2j * z, z**3, z**w, -z


def functions(z, w):
    names = ("abs", "angle", "cos", "exp", "expm1", "log", "log1p", "rsqrt", "sgn", "sigmoid", "sin", "sqrt", "tan", "tanh")
    return tuple(getattr(torch, name)(z) for name in names)


def parts(z, w):
    return z.real * w.imag, torch.complex(z.imag, z.real), z.conj() @ w.mT, torch.view_as_complex(torch.view_as_real(z) * 2)


@pytest.mark.parametrize("module", [elementwise, functions, parts])
def test_as_torch_computes_it(module):
    torch.manual_seed(0)
    z, w = (torch.randn(4, 5, dtype=torch.complex64) for _ in "zw")
    for found, expected in zip(hloom.compile(module, z, w)(z, w), module(z, w), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
