"""Results that go past the caches by whole lines: bit for bit what is written otherwise, wherever they lie."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import host, resolve

jax = pytest.importorskip("jax")
lax, jnp = jax.lax, jax.numpy

pytestmark = [pytest.mark.host_cpu, pytest.mark.skipif(host().vector_bits < 512, reason="registers of this processor are no cache lines")]


def convolution(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NCH", "OIH", "NCH"))


PROGRAMS = {
    "elementwise": (lambda x: jnp.tanh(x) * 2, [(70, 131)]),
    "rows of whole lines": (lambda x: x + 1, [(64, 160)]),
    "transposition": (lambda x: x.T, [(128, 97)]),
    "softmax": (lambda x: jax.nn.softmax(x), [(50, 208)]),
    "product": (lambda x, y: jax.nn.relu(x @ y), [(100, 40), (40, 128)]),
    "convolution": (convolution, [(2, 16, 160), (32, 16, 3)]),
    "halves": (lambda x: (x * 3).astype(jnp.bfloat16), [(70, 160)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_results_are_the_same(name, threads):
    function, shapes = PROGRAMS[name]
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(shape, np.float32) for shape in shapes]
    small = resolve("cpu").with_entries({"llc_bytes": 16 << 10})
    assert _streams(function, inputs, small)
    before = hloom.get_threads()
    hloom.set_threads(threads)
    try:
        (expected,) = hloom.compile(function, *inputs, target=resolve("cpu")).flat(inputs)
        exe = hloom.compile(function, *inputs, target=small)
        np.testing.assert_array_equal(exe.flat(inputs)[0], expected)
        for offset in (0, 4, 16, 32, 60):
            place = np.zeros(expected.nbytes + 128, np.uint8)
            start = -place.ctypes.data % 64 + offset
            out = place[start : start + expected.nbytes].view(expected.dtype).reshape(expected.shape)
            exe.flat(inputs, [out])
            np.testing.assert_array_equal(out, expected)
            assert not place[:start].any() and not place[start + expected.nbytes :].any()
    finally:
        hloom.set_threads(before)


def _streams(function, inputs, target) -> bool:
    """Whether a kernel writes past the caches."""
    return "nontemporal" in Compilation(load_program(function, inputs), target=target).text("llvm")
