"""torch's ops on complex numbers: what torch-mlir lacks, or computes from the real parts alone."""

from __future__ import annotations

import pytest

import hloom

torch = pytest.importorskip("torch")


def elementwise(z, w):
    return z * w, z + 2 * w, torch.add(z, w, alpha=0.5j), z - w, z / w, 1 / z, 2j * z, z**3, z**w, -z


def functions(z, w):
    names = ("abs", "angle", "cos", "exp", "expm1", "log", "log1p", "rsqrt", "sgn", "sigmoid", "sin", "sqrt", "tan", "tanh")
    inverses = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "exp2")
    return (*(getattr(torch, name)(z) for name in names + inverses), torch.ldexp(z, w), torch.isinf(z / 0))


def spreads(z, w):
    """Real numbers, of the sizes of complex ones."""
    yield from (*torch.var_mean(z, 1), *torch.std_mean(w), torch.nn.functional.pairwise_distance(z, w), z.var(0, correction=0))
    yield from (torch.ops.aten.norm.Scalar(z, 1), torch.ops.aten.norm.ScalarOpt_dim(z, None, [1], True))


def writes(z, w):
    places = torch.arange(4).flip(0)
    return z.index_add(0, places, w, alpha=2j), z.scatter(0, places[:1, None], 1 - 2j), torch.ops.aten.sub.Scalar(z, 1j, 2)


def parts(z, w):
    return z.real * w.imag, torch.complex(z.imag, z.real), z.conj() @ w.mT, torch.view_as_complex(torch.view_as_real(z) * 2)


def reductions(z, w):
    yield from (
        z.sum(),
        z.sum((0, -1)),
        z.sum(1, True),
        w.mean(0),
        w.mean(),
        z.prod(1),
        z.prod(),
        z.cumsum(1),
        w.cumsum(-2),
        z.sum(0, dtype=torch.complex128),
    )
    yield from (
        torch.mv(z, w[0]),
        torch.dot(z[0], w[1]),
        torch.vdot(z[:, 0], w[:, 1]),
        torch.einsum("ij,kj,jl->il", z, w, w.mT),
        z[:, :4].trace(),
    )


def comparisons(z, w):
    yield from (z == w, z != z.conj(), z.real == z, z == 0, torch.isnan(z / (z - z)), z.sinh(), z.cosh(), z.to(torch.complex128))
    yield from (torch.zeros(5, dtype=torch.complex64) + z[0], torch.ones(5, dtype=torch.complex64) * z, torch.full((5,), 1 + 2j) - z)


@pytest.mark.parametrize("module", [elementwise, functions, spreads, writes, parts, reductions, comparisons])
def test_as_torch_computes_it(module):
    torch.manual_seed(0)
    z, w = (torch.randn(4, 5, dtype=torch.complex64) for _ in "zw")

    def every(z, w):
        return tuple(module(z, w))

    for found, expected in zip(hloom.compile(every, z, w)(z, w), every(z, w), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_determinants_of_nothing():
    z = torch.zeros(0, 0, dtype=torch.complex64)
    assert torch.equal(hloom.compile(torch.linalg.det, z)(z), torch.linalg.det(z))


def test_gradients_conjugate_numbers():
    """Autograd asks for aten._conj of 2j itself."""
    z = torch.randn(4, dtype=torch.complex64, generator=torch.Generator().manual_seed(0), requires_grad=True)

    def gradient(function):
        return torch.autograd.grad(function(z).real.sum(), z)[0]

    def turned(z):
        return z * z * 2j

    torch.testing.assert_close(gradient(torch.compile(turned, backend="hloom", fullgraph=True)), gradient(turned))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (40, 40)])
def test_constants(shape):
    """Small ones are part of the program."""
    weight = torch.randn(shape, dtype=torch.complex64)

    def function(x):
        return weight * x, weight.conj() - x

    x = torch.randn(shape)
    torch.testing.assert_close(hloom.compile(function, x)(x), function(x))


def test_imaginary_parts_of_conjugates() -> None:
    """AOTAutograd has a view of its own for them."""
    z = torch.randn(4, 3, dtype=torch.complex64)

    def function(z):
        return torch.cat([z, z.mT.reshape(4, 3)]).conj().imag, z.conj().imag * 2

    for result, wanted in zip(torch.compile(function, backend="hloom", fullgraph=True)(z), function(z), strict=True):
        torch.testing.assert_close(result, wanted)
