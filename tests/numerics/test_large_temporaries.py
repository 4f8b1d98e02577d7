"""Random programs of moves, windows, reductions and contractions over computed values, on a target whose caches are small: what a tile
cannot hold must not lie on its stack, whatever stands around it. JAX computes what is expected.

HLOOM_TEMPORARIES is the number of programs (8 by default), HLOOM_TEMPORARIES_SEED the first seed.
"""

import os
import random

import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import resolve

jax = pytest.importorskip("jax")
lax = jax.lax

CASES, FIRST = int(os.environ.get("HLOOM_TEMPORARIES", 8)), int(os.environ.get("HLOOM_TEMPORARIES_SEED", 0))
SMALL = {"l2_bytes": 16 << 10, "llc_bytes": 16 << 10}
ELEMENTS = 48_000
"""Of a program's largest values, about: 12 tiles of the small target."""


def shape_of(rng: random.Random) -> tuple[int, ...]:
    rank = rng.choice([2, 3, 4])
    small = [rng.choice([1, 2, 3, 5, 8]) for _ in range(rank - 2)]
    side = max(4, int((ELEMENTS / np.prod(small, initial=1)) ** 0.5))
    rows = rng.choice([side, side // 3 + 2, side * 2])
    return (*small, rows, max(3, int(ELEMENTS / np.prod(small, initial=1)) // rows))


def program(seed: int):
    """A function of one array, and the array's shape."""
    rng = random.Random(seed)
    shape = shape_of(rng)
    steps = [(rng.choice(STEPS), rng.random()) for _ in range(rng.randint(2, 6))]
    both = rng.random() < 0.3

    def run(x):
        values = [x]
        for step, own in steps:
            local = random.Random(own)
            value = values[-1] if local.random() < 0.8 else local.choice(values)
            made = step(local, value)
            if made.size and made.ndim and made.size < 8 * ELEMENTS:
                values.append(made)
        return (values[-1], values[len(values) // 2]) if both else values[-1]

    return run, shape


def compute(rng, x):
    return rng.choice([lambda v: v * 0.5 + 1.0, lambda v: jax.numpy.exp(-v * v), jax.numpy.tanh, lambda v: v + jax.numpy.abs(v)])(x)


def join(rng, x):
    axis = rng.randrange(x.ndim)
    return lax.concatenate([x, compute(rng, x), x][: rng.choice([2, 2, 3])], axis)


def pad(rng, x):
    return lax.pad(
        x, np.float32(rng.choice([0.0, 0.25])), [(rng.randint(-1, 2), rng.randint(0, 2), rng.choice([0, 0, 1])) for _ in x.shape]
    )


def cut(rng, x):
    starts = [rng.randint(0, n // 4) for n in x.shape]
    ends = [rng.randint(max(s + 1, n - n // 4), n) for s, n in zip(starts, x.shape)]
    return lax.slice(x, starts, ends, [rng.choice([1, 1, 2]) for _ in x.shape])


def reverse(rng, x):
    return lax.rev(x, [rng.randrange(x.ndim)])


def transpose(rng, x):
    return lax.transpose(x, rng.sample(range(x.ndim), x.ndim))


def reshape(rng, x):
    return x.reshape(-1, *x.shape[2:]) if x.ndim > 2 and rng.random() < 0.5 else x.reshape(*x.shape[:-1], 1, x.shape[-1])


def gather(rng, x):
    axis = rng.randrange(x.ndim)
    return jax.numpy.take(
        x, np.array([rng.randrange(x.shape[axis]) for _ in range(rng.choice([3, x.shape[axis]]))], np.int32), axis, mode="clip"
    )


def gather_computed(rng, x):
    """At indices that are computed from the value itself."""
    rows = jax.numpy.abs(x.reshape(x.shape[0], -1).sum(1) * 7).astype(np.int32) % x.shape[0]
    return jax.numpy.take(x, rows, 0, mode="clip")


def window_at(rng, x):
    starts = [jax.numpy.int32(rng.randint(-2, n)) for n in x.shape]
    return lax.dynamic_slice(x, starts, [rng.randint(max(1, n // 2), n) for n in x.shape])


def pool(rng, x):
    op, init = rng.choice([(lax.max, -np.inf), (lax.add, 0.0), (lax.min, np.inf)])
    window = [min(n, rng.choice([1, 2, 3])) for n in x.shape]
    padding = [(rng.randint(0, w - 1), rng.randint(0, w - 1)) for w in window]
    base = [rng.choice([1, 1, 1, 2]) for _ in window] if op is not lax.min else [1] * x.ndim
    strides = [rng.choice([1, 2]) for _ in window]
    return lax.reduce_window(x, np.float32(init), op, window, strides, padding, base, [rng.choice([1, 1, 2]) for _ in window]) * 0.5


def reduce(rng, x):
    axis = rng.randrange(x.ndim)
    kept = rng.choice([jax.numpy.max, jax.numpy.mean])(x, axis, keepdims=True)
    return x - kept if rng.random() < 0.7 else jax.numpy.broadcast_to(kept, x.shape) * compute(rng, x)


def softmax(rng, x):
    return jax.nn.softmax(x, rng.randrange(x.ndim))


def contract(rng, x):
    weights = np.sin(np.arange(x.shape[-1] * 24, dtype=np.float32)).reshape(x.shape[-1], 24) / x.shape[-1] ** 0.5
    return x @ weights


def convolve(rng, x):
    image = x.reshape(1, -1, *x.shape[-2:]) if x.ndim > 2 else x.reshape(1, 1, *x.shape)
    kernel = np.cos(np.arange(4 * image.shape[1] * 9, dtype=np.float32)).reshape(4, image.shape[1], 3, 3) / (9 * image.shape[1]) ** 0.5
    return lax.conv_general_dilated(image, kernel, rng.choice([(1, 1), (2, 1)]), "SAME")


STEPS = [compute, compute, join, join, pad, pad, cut, reverse, transpose, reshape, gather, gather_computed, window_at]
STEPS += [pool, pool, pool, reduce, reduce, softmax, contract, convolve]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_random_program(seed):
    function, shape = program(seed)
    x = np.random.default_rng(seed).standard_normal(shape, np.float32)
    exe = hloom.compile(function, x, target=resolve("cpu").with_entries(SMALL))
    for found, wanted in zip(jax.tree.leaves(exe(x)), jax.tree.leaves(jax.jit(function)(x)), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + CASES))
def test_random_program_on_a_gpu(seed):
    """Up to the kernels: none keeps an array in memory of its own."""
    function, shape = program(seed)
    Compilation(load_program(function, (np.zeros(shape, np.float32),)), "sm_90a").to("gpu")
