"""The workloads: what goes into each and how its numbers are judged. What each computes is in jax_programs, torch_programs and c/."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from hloom.runtime.dtypes import numpy_dtype

Arrays = list[np.ndarray]


@dataclass(frozen=True)
class Row:
    """One workload. `inputs` are given at each call, `weights` are known before it."""

    name: str
    title: str
    program: str
    """The function of that name in jax_programs, torch_programs and c_programs."""
    inputs: Callable[[], Arrays]
    weights: Callable[[], Arrays] = list
    torch_source: bool = False
    """hloom compiles what torch exports, not what JAX does."""
    gflop: float = 0.0
    """Of a call; such a row is reported in GFLOP/s too."""
    elements: int = 0
    tolerance: float = 1e-4
    """Largest difference from JAX's results, as a fraction of the largest result."""
    chaotic: bool = False
    """Rounding decides single elements: a fraction of them must agree, by `tolerance` each."""
    policy: str = ""
    """That hloom compiles by, in TOML."""


def random(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape, np.float32) * np.float32(scale)).astype(np.float32)


def _matrix(rows: int, columns: int) -> Arrays:
    return [random(0, rows, columns)]


def _complex(rows: int, columns: int) -> Arrays:
    return [(random(0, rows, columns) + 1j * random(1, rows, columns)).astype(np.complex64)]


def _chain() -> Arrays:
    return [random(0, 4096, 1024), random(1, 1024)]


def _norm(rows: int, columns: int) -> Arrays:
    return [random(0, rows, columns), random(1, columns), random(2, columns)]


def cast(arrays: Callable[[], Arrays], dtype: np.dtype) -> Arrays:
    return [rounded(array, dtype) for array in arrays()]


def rounded(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Finite f32 in another type; in bf16 without ml_dtypes too, which the machine with the GPU may lack."""
    if dtype != numpy_dtype("bf16"):
        return array.astype(dtype)
    bits = np.asarray(array, np.float32, order="C").view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).view(dtype)


def layers(*widths: int) -> Arrays:
    """Weights as [in, out] and biases of the linear layers between these widths."""
    arrays = []
    for seed, (n_in, n_out) in enumerate(itertools.pairwise(widths)):
        arrays += [random(10 + seed, n_in, n_out, scale=n_in**-0.5), random(30 + seed, n_out, scale=0.1)]
    return arrays


def _simplemodel() -> Arrays:
    """Weights of four 3×3 convolutions (OIHW) and five linear layers ([out, in]), each followed by its bias."""
    shapes = [(16, 3, 3, 3), *[(16, 16, 3, 3)] * 3, (4096, 16384), (4096, 4096), (1024, 4096), (1024, 1024), (10, 1024)]
    arrays = []
    for seed, shape in enumerate(shapes):
        fan_in = int(np.prod(shape[1:]))
        arrays += [random(10 + seed, *shape, scale=(2 / fan_in) ** 0.5), random(30 + seed, shape[0], scale=0.1)]
    return arrays


def _encoder() -> Arrays:
    """in_proj, out_proj ([out, in], each followed by its bias), norm1, linear1, linear2, norm2."""
    arrays = []
    for seed, shape in enumerate([(1536, 512), (512, 512), None, (2048, 512), (512, 2048), None]):
        if shape:
            arrays += [random(10 + seed, *shape, scale=shape[1] ** -0.5), random(30 + seed, shape[0], scale=0.1)]
        else:
            arrays += [1 + random(10 + seed, 512, scale=0.1), random(30 + seed, 512, scale=0.1)]
    return arrays


def _uniform_state(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.05, 0.05, (4, 2048)).astype(np.float32)


def _cartpole() -> Arrays:
    """The first state (position, velocity, angle, angular velocity), the random number behind each action, the state after a reset."""
    return [_uniform_state(0), np.random.default_rng(1).random((1000, 2048), np.float32), _uniform_state(2)]


def _cartpole_rng() -> Arrays:
    return [_uniform_state(0), np.array([0, 42], np.uint32)]


def _picture() -> Arrays:
    return [random(0, 1, 3, 32, 32)]


def _sentence() -> Arrays:
    return [random(0, 8, 128, 512)]


def _row(count: int) -> Arrays:
    return [random(0, count)]


def _ascending(count: int) -> Arrays:
    return [np.sort(random(0, count))]


def _few(count: int) -> Arrays:
    """Ten distinct numbers."""
    return [np.random.default_rng(0).integers(0, 10, count).astype(np.float32)]


def _indexed(rows: int, places: int, width: int) -> Arrays:
    """Places in a table, and a row for each."""
    return [np.random.default_rng(0).integers(0, places, rows).astype(np.int32), random(1, rows, width)]


def _gflop(rows: int, *widths: int) -> float:
    return 2e-9 * rows * sum(a * b for a, b in itertools.pairwise(widths))


_MLP = (1024, 1024, 1024, 1024)
_SIZES = ((4096, 1024), (1000, 1021))
_BF16, _F16 = numpy_dtype("bf16"), np.dtype(np.float16)

ROWS = {
    row.name: row
    for row in [
        Row("chain", "exp(tanh(x + b)), 4096×1024 f32", "chain", _chain),
        *[
            Row(f"softmax{suffix}", f"softmax, {m}×{n} f32", "softmax", partial(_matrix, m, n), elements=m * n)
            for suffix, (m, n) in zip(("", "_odd"), _SIZES)
        ],
        *[
            Row(f"layernorm{suffix}", f"layernorm, {m}×{n} f32", "layernorm", partial(_norm, m, n), elements=m * n)
            for suffix, (m, n) in zip(("", "_odd"), _SIZES)
        ],
        Row(
            "mlp",
            "MLP 256×(3×1024), bias, relu, f32",
            "mlp",
            partial(_matrix, 256, 1024),
            partial(layers, *_MLP),
            gflop=_gflop(256, *_MLP),
        ),
        Row(
            "mlp_bf16",
            "MLP 256×(3×1024), bias, relu, bf16",
            "mlp",
            partial(cast, partial(_matrix, 256, 1024), _BF16),
            partial(cast, partial(layers, *_MLP), _BF16),
            gflop=_gflop(256, *_MLP),
            tolerance=0.05,
        ),
        Row(
            "linear",
            "MLP layer 256×1024×1024 f32",
            "mlp",
            partial(_matrix, 256, 1024),
            partial(layers, 1024, 1024),
            gflop=_gflop(256, 1024, 1024),
        ),
        Row(
            "linear_odd",
            "MLP layer 250×1000×1016 f32",
            "mlp",
            partial(_matrix, 250, 1016),
            partial(layers, 1016, 1000),
            gflop=_gflop(250, 1016, 1000),
        ),
        Row("simplemodel", "SimpleModel (4 conv, 5 linear), batch 1, f32", "simplemodel", _picture, _simplemodel, torch_source=True),
        Row(
            "simplemodel_f16",
            "SimpleModel (4 conv, 5 linear), batch 1, f16",
            "simplemodel",
            partial(cast, _picture, _F16),
            partial(cast, _simplemodel, _F16),
            torch_source=True,
            tolerance=0.02,
        ),
        Row("encoder", "encoder layer, d = 512, 8 heads, 8×128 tokens, f32", "encoder", _sentence, _encoder),
        Row("cartpole", "cartpole, 2048 environments × 1000 steps, random numbers given", "cartpole", _cartpole, chaotic=True),
        Row("cartpole_split", "cartpole, the same with the state as four arrays", "cartpole_split", _cartpole, chaotic=True),
        Row("cartpole_rng", "cartpole, threefry in the loop", "cartpole_rng", _cartpole_rng, chaotic=True),
        Row("sort", "sort, 1,000,000 f32", "sort", partial(_row, 1_000_000)),
        Row("sort_rows", "sort, 4096 rows of 256 f32", "sort", partial(_matrix, 4096, 256)),
        Row("sort_matrix", "sort, 1000 rows of 1000 f32", "sort", partial(_matrix, 1000, 1000)),
        Row("sort_ascending", "sort, 1,000,000 f32 that ascend", "sort", partial(_ascending, 1_000_000)),
        Row("sort_few", "sort, 1,000,000 f32, ten distinct", "sort", partial(_few, 1_000_000)),
        Row("argsort", "stable argsort, 1,000,000 f32", "argsort", partial(_row, 1_000_000)),
        Row("top_k", "top 40 of 16×50,000 f32, with indices", "top_k", partial(_matrix, 16, 50_000)),
        Row(
            "embedding_gradient",
            "gradient of an embedding, 100,000×64 f32, 32,000 indices",
            "embedding_gradient",
            partial(_indexed, 32_000, 100_000, 64),
        ),
        Row("fft", "fft, 64 rows of 1024 c64", "fft", partial(_complex, 64, 1024)),
        Row("fft_odd", "fft, 64 rows of 1000 c64", "fft", partial(_complex, 64, 1000)),
        Row("fft_prime", "fft, 64 rows of 1009 c64", "fft", partial(_complex, 64, 1009)),
        Row("fft_long", "fft, 1,048,576 c64", "fft", partial(_complex, 1, 1 << 20)),
        Row("rfft", "rfft, 1024 rows of 1024 f32", "rfft", partial(_matrix, 1024, 1024)),
        Row("segment_sum", "segment sum, 100,000×32 f32 into 1000", "segment_sum", partial(_indexed, 100_000, 1000, 32)),
    ]
}
