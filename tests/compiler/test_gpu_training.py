"""Steps of training for a GPU, as the assembler sees them: nothing spills, and what moves megabytes has blocks for all multiprocessors."""

from __future__ import annotations

import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = jax.numpy
pytest.importorskip("cuda.core")

_MOVED, _BLOCKS = 1 << 22, 66
"""Bytes of a kernel that wants so many blocks: half of an H100's multiprocessors."""


def _normed(x, scale, bias, axes):
    mean = x.mean(axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def _images(parameters, x):
    """A convolution, a batch norm and a linear layer, the channels first."""
    y = jax.lax.conv_general_dilated(x, parameters["filter"], (1, 1), "SAME")
    y = _normed(y.astype(jnp.float32), parameters["scale"][:, None, None], parameters["bias"][:, None, None], (0, 2, 3))
    return (jax.nn.relu(y).astype(x.dtype).mean((2, 3)) @ parameters["head"]).astype(jnp.float32)


def _tokens(parameters, x):
    """A layer norm and two linear layers."""
    y = _normed(x.astype(jnp.float32), parameters["scale"], parameters["bias"], -1).astype(x.dtype)
    return (jax.nn.gelu(y @ parameters["in"]) @ parameters["out"]).astype(jnp.float32)


def _shapes(**shapes: tuple[int, ...]):
    return {name: jax.ShapeDtypeStruct(shape, jnp.bfloat16) for name, shape in shapes.items()}


STEPS = {
    "images": (_images, _shapes(filter=(64, 64, 3, 3), scale=(64,), bias=(64,), head=(64, 10)), (32, 64, 56, 56)),
    "tokens": (_tokens, _shapes(scale=(768,), bias=(768,), **{"in": (768, 3072), "out": (3072, 768)}), (4096, 768)),
}


@pytest.mark.parametrize("name", STEPS)
def test_nothing_spills_and_large_kernels_are_spread(name):
    forward, parameters, shape = STEPS[name]

    def step(parameters, x):
        gradients = jax.grad(lambda p: (forward(p, x) ** 2).mean())(parameters)
        return {key: value - 0.1 * gradients[key] for key, value in parameters.items()}

    x = jax.ShapeDtypeStruct(shape, jnp.bfloat16)
    report = hloom.compile(jax.jit(step), parameters, x, target="sm_90a").report.data
    assert [kernel["name"] for kernel in report["kernels"] if kernel["spills"]] == []
    few = [kernel for kernel in report["kernels"] if kernel["moved"] > _MOVED and kernel["grid"][0] < _BLOCKS]
    assert [(kernel["name"], kernel["grid"], kernel["moved"]) for kernel in few] == []
    windows = [call["call"] for call in report["libraries"] if call["call"].startswith("conv") and "3x3" not in call["call"]]
    assert windows == []
