"""Batch norms of training, against NumPy in f64: the interpreter has none, and XLA's variance cancels."""

from __future__ import annotations

import numpy as np
import pytest
from programs import Program, element_name

EPSILON = float(np.float32(1e-3))
ATTRIBUTES = "epsilon = 1.0e-3 : f32, feature_index = {} : i64"


def statistics(x: np.ndarray, feature: int) -> tuple[np.ndarray, np.ndarray]:
    others = tuple(d for d in range(x.ndim) if d != feature)
    wide = x.astype(np.float64)
    return wide.mean(others), wide.var(others)


def spread(values: np.ndarray, rank: int, feature: int) -> np.ndarray:
    return values.reshape([-1 if d == feature else 1 for d in range(rank)])


@pytest.fixture
def random():
    return np.random.default_rng(0)


def inputs(random, shape, feature, dtype, offset=0.0):
    count = shape[feature]
    x = (random.standard_normal(shape) + offset).astype(dtype)
    return x, *(random.uniform(0.5, 2, count).astype(dtype) for _ in "so")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_training(random, interpreter, dtype):
    p = Program()
    precise = float(np.finfo(dtype).eps)
    for shape, feature in (((4, 3, 5), 1), ((6, 2), 0), ((7,), 0), ((2, 3, 3, 4), 3)):
        x, scale, offset = inputs(random, shape, feature, dtype)
        mean, variance = statistics(x, feature)
        wide = [spread(v.astype(np.float64), x.ndim, feature) for v in (mean, variance, scale, offset)]
        wanted = (x - wide[0]) / np.sqrt(wide[1] + EPSILON) * wide[2] + wide[3]
        kinds = [(shape, name := element_name(x)), *[((shape[feature],), name)] * 2]
        results = p.ops("batch_norm_training", [p.input(v) for v in (x, scale, offset)], kinds, ATTRIBUTES.format(feature))
        for label, value, want in zip(("normalised", "mean", "variance"), results, (wanted, mean, variance)):
            p.check(f"{label} of {shape}", value, want.astype(dtype), ulps=8, absolute=32 * precise)
    p.verify(interpreter)


def test_a_variance_far_from_zero(random, interpreter):
    """Where E[x²] - E[x]² is negative."""
    p = Program()
    x, scale, offset = inputs(random, (64, 2), 1, np.float32, offset=1e4)
    results = p.ops(
        "batch_norm_training",
        [p.input(v) for v in (x, scale, offset)],
        [((64, 2), "f32"), ((2,), "f32"), ((2,), "f32")],
        ATTRIBUTES.format(1),
    )
    p.check("variance", results[2], statistics(x, 1)[1].astype(np.float32), ulps=64)
    p.verify(interpreter)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_grad(random, interpreter, dtype):
    p = Program()
    for shape, feature in (((4, 3, 5), 1), ((6, 2), 0), ((2, 3, 3, 4), 3)):
        x, scale, _ = inputs(random, shape, feature, dtype)
        gradient = random.standard_normal(shape).astype(dtype)
        mean, variance = (v.astype(dtype) for v in statistics(x, feature))
        wanted = gradients(x, scale, mean, variance, gradient, feature)
        kinds = [(shape, name := element_name(x)), *[((shape[feature],), name)] * 2]
        given = [p.input(v) for v in (x, scale, mean, variance, gradient)]
        results = p.ops("batch_norm_grad", given, kinds, ATTRIBUTES.format(feature))
        for label, value, want in zip(("operand", "scale", "offset"), results, wanted):
            p.check(f"{label} of {shape}", value, want.astype(dtype), ulps=16, absolute=64 * float(np.finfo(dtype).eps))
    p.verify(interpreter)


def gradients(x, scale, mean, variance, gradient, feature):
    """By the chain rule through the mean and the variance."""
    others = tuple(d for d in range(x.ndim) if d != feature)
    x, gradient = x.astype(np.float64), gradient.astype(np.float64)
    scale, mean, variance = (spread(v.astype(np.float64), x.ndim, feature) for v in (scale, mean, variance))
    count = x.size / scale.size
    inverse = 1 / np.sqrt(variance + EPSILON)
    normal = (x - mean) * inverse
    of_normal = gradient * scale
    total, moment = (v.sum(others, keepdims=True) for v in (of_normal, of_normal * normal))
    of_x = inverse * (of_normal - total / count - normal * moment / count)
    return of_x, (gradient * normal).sum(others), gradient.sum(others)
