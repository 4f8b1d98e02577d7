"""Gradients of resizes and of pads, which read where autograd scatters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

import hloom  # noqa: E402

aten = torch.ops.aten
KERNELS = {
    "upsample_nearest1d": 1, "upsample_nearest2d": 2, "upsample_nearest3d": 3, "_upsample_nearest_exact2d": 2, "upsample_linear1d": 1,
    "upsample_bilinear2d": 2, "upsample_trilinear3d": 3, "upsample_bicubic2d": 2, "_upsample_bilinear2d_aa": 2, "_upsample_bicubic2d_aa": 2,
}  # fmt: skip


def check(function, *inputs, **tolerance) -> None:
    torch.testing.assert_close(hloom.compile(function, *inputs)(*inputs), function(*inputs), **tolerance)


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(data=st.data())
def test_resizes(name, data) -> None:
    """Whole factors, others, factors that are told and do not fit the sizes, aligned corners."""
    least = 4 if "_aa" in name else 1  # of columns of one element eager's antialiased resizes repeat the first
    extents = data.draw(st.lists(st.integers(least, 9), min_size=KERNELS[name], max_size=KERNELS[name]))
    counts = [data.draw(st.sampled_from([n, 2 * n, 3 * n, n + 1, max(n // 2, 1), 7])) for n in extents]
    corners = [] if "nearest" in name else [data.draw(st.booleans())]
    exact = "nearest" in name or "_aa" in name  # by other factors eager's gradient of these is not that of its own resize,
    others = [[] if exact or n == m else [1.01] for n, m in zip(extents, counts)]  # nor of any of an unchanged size
    factors = [data.draw(st.sampled_from([None, m / n, *(m / n * each for each in more)])) for n, m, more in zip(extents, counts, others)]
    backward = getattr(aten, f"{name}_backward").default
    resize = getattr(aten, name).default
    generator = torch.Generator().manual_seed(1)
    x, gradient = torch.randn(2, 3, *extents, generator=generator), torch.randn(2, 3, *counts, generator=generator)

    def function(x, gradient):
        return resize(x, counts, *corners, *factors), backward(gradient, counts, [2, 3, *extents], *corners, *factors)

    check(function, x, gradient, atol=2e-6, rtol=2e-5)


def test_long_rows() -> None:
    """Places and weights are as many as there are reads, not as pairs of elements."""
    gradient = torch.randn(1, 1, 150_000, dtype=torch.float64)
    check(lambda g: aten.upsample_linear1d_backward(g, [150_000], [1, 1, 100_000], False, None), gradient)


def test_halves_are_summed_in_f32() -> None:
    gradient = torch.randn(1, 2, 24, 24)
    told = [24, 24], [1, 2, 6, 6], False, None, None
    got = hloom.compile(lambda g: aten.upsample_bicubic2d_backward(g, *told), gradient.bfloat16())(gradient.bfloat16())
    wanted = aten.upsample_bicubic2d_backward(gradient.bfloat16().float(), *told).bfloat16()
    torch.testing.assert_close(got, wanted, atol=0, rtol=2**-7)


@pytest.mark.parametrize("kind", ["reflection", "replication"])
@pytest.mark.parametrize(
    ("shape", "padding"),
    [
        ((2, 6), (2, 3)),
        ((2, 3, 6), (5, 0)),
        ((2, 3, 5, 6), (1, 2, 3, 4)),
        ((2, 5, 6), (0, -2, 1, 0)),
        ((2, 5, 6), (-1, 2, -2, 1)),
        ((1, 2, 4, 5, 6), (1, 2, 3, 1, 0, 2)),
    ],
)
def test_pads(kind, shape, padding) -> None:
    name = f"{kind}_pad{len(padding) // 2}d"
    x = torch.randn(shape)
    gradient = torch.randn_like(getattr(aten, name)(x, padding))
    check(lambda g, x: getattr(aten, f"{name}_backward")(g, x, padding), gradient, x)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
def test_training_reads_too(mode, recwarn) -> None:
    """Autograd would differentiate what torch traces in an op's stead: indices that are read, and added to."""

    def function(x):
        return F.interpolate(F.pad(x, (1, 2, 0, 1), mode="reflect"), size=(7, 11), mode=mode)

    torch._dynamo.reset()
    x = torch.randn(2, 3, 8, 6, requires_grad=True)
    gradients = [
        torch.autograd.grad(each(x).square().sum(), x) for each in (torch.compile(function, backend="hloom", fullgraph=True), function)
    ]
    torch.testing.assert_close(*gradients, atol=1e-5, rtol=1e-5)
    assert not [each for each in recwarn if "leaves" in str(each.message)]
    assert "scatter" not in str(hloom.programs()[-1].report)
