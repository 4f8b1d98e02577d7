"""Every kind of kernel gives the same bits on any number of threads, more than the machine has among them."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hloom

_RANDOM = np.random.default_rng(0)


def _array(*shape):
    return _RANDOM.standard_normal(shape).astype(np.float32)


def _conv(x, w, stride=1, groups=1):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=numbers, feature_group_count=groups)


def _pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


IMAGE = _array(1, 29, 31, 64)
FUNCTIONS = {
    "dot": (lambda a, b: jnp.tanh(a @ b), _array(301, 257), _array(257, 203)),
    "matrix times vector": (lambda a, b: a @ b, _array(2053, 1031), _array(1031)),
    "convolution": (_conv, IMAGE, _array(3, 3, 64, 96)),
    "of stride 2": (lambda x, w: _conv(x, w, 2), IMAGE, _array(5, 5, 64, 40)),
    "depthwise": (lambda x, w: _conv(x, w, groups=64), IMAGE, _array(7, 7, 1, 64)),
    "pool": (lambda x: _pool(x) * 2, _array(2, 61, 59, 48)),
    "softmax": (lambda x: jax.nn.softmax(x, axis=1), _array(37, 1009, 5)),
    "norm": (lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True), _array(517, 389)),
    "scan": (lambda x: jnp.cumsum(x, axis=1), _array(91, 2111)),
    "sort": (lambda x: jnp.sort(x), _array(67, 1511)),
    "gather": (lambda x: x[jnp.argsort(x[:, 0])], _array(1999, 97)),
    "transposition": (lambda x: jnp.transpose(x, (2, 1, 0)) + 1, _array(133, 7, 459)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits(name):
    function, *inputs = FUNCTIONS[name]
    exe = hloom.compile(function, *inputs)
    assert any(group.get("grain") for group in exe.report.data["groups"]), "no kernel is shared among threads"
    before, found = hloom.get_threads(), []
    try:
        for threads in (1, 2, 7, 64):
            hloom.set_threads(threads)
            found.append(np.asarray(exe(*inputs)).tobytes())
    finally:
        hloom.set_threads(before)
    assert len(set(found)) == 1


def test_bound_weights_of_a_winograd_convolution():
    """Kernels that pack and transform what is bound run on as many threads."""
    x, w = IMAGE, _array(3, 3, 64, 64)
    before, found = hloom.get_threads(), []
    try:
        for threads in (1, 64):
            hloom.set_threads(threads)
            found.append(np.asarray(hloom.compile(lambda x: _conv(x, w), x)(x)).tobytes())
    finally:
        hloom.set_threads(before)
    assert len(set(found)) == 1


def test_more_threads_than_processors() -> None:
    """Threads that wait for a processor begin late, and what follows runs on the calling thread for a while: the same bits."""
    program = """
import os, sys
import numpy as np
import jax.numpy as jnp
import hloom
x, w = (np.random.default_rng(0).standard_normal(shape, np.float32) for shape in ((120, 300), (300, 500)))
run = hloom.compile(lambda x, w: jnp.tanh(x @ w), x, w)
hloom.set_threads(1)
expected = run(x, w)
hloom.set_threads(3)
run(x, w)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
sys.exit(not all(np.array_equal(run(x, w), expected) for _ in range(50)))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 0
