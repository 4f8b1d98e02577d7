"""Values that find faults: every kind of float and integer, alone, in pairs and among random ones."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from hloom.runtime.dtypes import NARROW, numpy_dtype


def edges(element: str) -> np.ndarray:
    """Zeros, subnormals, the largest, infinities, NaN, ties, integers at the ends of their range."""
    dtype = numpy_dtype(element)
    if element == "i1":
        return np.array([False, True])
    if dtype.kind in "iu":
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        return np.array([low, low + 1, high, high - 1, high // 2, high // 2 + 1, 0, 1, 2, 3, 7, 100, *([-1, -2, -7] if low else [])], dtype)
    info = ml_dtypes.finfo(dtype)
    tiny, normal, largest, eps = (float(x) for x in (info.smallest_subnormal, info.smallest_normal, info.max, info.eps))
    positive = [0, tiny, 3 * tiny, normal - tiny, normal, 0.25, 0.49, 0.5, 1 - eps / 2, 1, 1 + eps]
    positive += [1.5, 2, 2.5, 3.5, 3.7, 10, 100, largest / 2, largest]
    return np.array([*positive, *(-x for x in positive), np.inf, -np.inf, np.nan], np.float64).astype(dtype)


def codes(element: str) -> np.ndarray:
    """Every value of a narrow type."""
    return np.arange(1 << int(element.lstrip("uif")[0]), dtype=np.uint8).view(numpy_dtype(element))


def spread(element: str, count: int, seed: int = 0) -> np.ndarray:
    """`count` values: the edges, then random ones, floats over all magnitudes."""
    rng = np.random.default_rng([seed, count])
    if element in NARROW:
        return rng.choice(codes(element), count)
    dtype, first = numpy_dtype(element), edges(element)
    if element == "i1":
        rest = rng.integers(0, 2, count).astype(bool)
    elif dtype.kind in "iu":
        rest = rng.integers(0, 256, count * dtype.itemsize, np.uint8).view(dtype)
    else:
        info = ml_dtypes.finfo(dtype)
        exponents = rng.uniform(np.log2(float(info.smallest_normal)), np.log2(float(info.max)), count)
        exponents = np.where(rng.random(count) < 0.7, exponents / 32, exponents)
        rest = (rng.choice([-1.0, 1.0], count) * 2.0**exponents).astype(dtype)
    return np.concatenate([first, rest])[:count]


def small(shape: tuple[int, ...], element: str, seed: int = 0) -> np.ndarray:
    """Small integers of any type, so that sums are exact."""
    rng = np.random.default_rng([seed, *shape])
    low = 0 if element in ("i1",) or element.startswith("u") else -4
    return rng.integers(low, 2 if element == "i1" else 5, shape).astype(numpy_dtype(element))


def normals(shape: tuple[int, ...], element: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(numpy_dtype(element))


def pairs(element: str) -> tuple[np.ndarray, np.ndarray]:
    """Every edge value with every other."""
    values = edges(element)
    left, right = np.meshgrid(values, values)
    return left.ravel(), right.ravel()
