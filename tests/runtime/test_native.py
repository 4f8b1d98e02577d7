"""The native library: parallel-for covers every tile once, contractions agree with NumPy."""

from __future__ import annotations

import ctypes
import time

import numpy as np
import pytest

from hloom.runtime import library
from hloom.runtime.errors import ExecutionError

TILE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@pytest.fixture
def threads():
    yield library.set_threads
    library.set_threads(0)


CASES = [(10, 1, 1, 1), (10, 1, 3, 3), (10, 8, 3, 1), (7, 3, 4, 2), (1, 1, 4, 1), (0, 1, 4, 1)]


@pytest.mark.parametrize(("tiles", "grain", "limit", "chunks"), CASES)
def test_parallel_for_covers_every_tile_once(threads, tiles, grain, limit, chunks):
    """A thread of the region before may have begun late, on a busy machine: all is one chunk for a while then."""
    threads(limit)
    seen: list[tuple[int, int]] = []
    body = TILE(lambda lo, hi, buffers: seen.append((lo, hi)))
    parallel_for = ctypes.CFUNCTYPE(None, TILE, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(library.symbols()["hloom_parallel_for"])
    end = time.monotonic() + 20
    while len(seen) != chunks and time.monotonic() < end:
        seen.clear()
        parallel_for(body, tiles, grain, None)
        assert len(seen) in (1, chunks)
        assert sorted(i for lo, hi in seen for i in range(lo, hi)) == list(range(tiles))
        time.sleep(0.01)
    assert len(seen) == chunks


def test_threads_are_set_and_reset(threads):
    default = library.get_threads()
    threads(3)
    assert library.get_threads() == 3
    threads(0)
    assert library.get_threads() == default
    for wrong in (-1, 1.5, "2", True):
        with pytest.raises(ExecutionError, match="number of threads"):
            threads(wrong)


@pytest.mark.parametrize("with_blas", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("ta", "tb"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize(("batch", "m", "n", "k"), [(1, 5, 7, 3), (3, 4, 2, 6), (2, 1, 1, 1), (1, 3, 4, 0), (1, 0, 4, 2)])
def test_gemm_agrees_with_numpy(with_blas, dtype, ta, tb, batch, m, n, k):
    if with_blas and library.blas() is None:
        pytest.skip("scipy-openblas32 is not installed")
    if not with_blas:
        library.native().hloom_set_blas(None, None)
    rng = np.random.default_rng(0)
    a = rng.standard_normal((batch, k, m) if ta else (batch, m, k)).astype(dtype)
    b = rng.standard_normal((batch, n, k) if tb else (batch, k, n)).astype(dtype)
    c = np.full((batch, m, n), np.nan, dtype)
    name = "hloom_gemm_f32" if dtype == np.float32 else "hloom_gemm_f64"
    gemm = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 6, *[ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64] * 3)(library.symbols()[name])
    arrays = [(x.ctypes.data, max(1, x.shape[2]), x.shape[1] * x.shape[2]) for x in (a, b, c)]
    gemm(ta, tb, batch, m, n, k, *arrays[0], *arrays[1], *arrays[2])
    library.blas.cache_clear()
    expected = (a.transpose(0, 2, 1) if ta else a) @ (b.transpose(0, 2, 1) if tb else b)
    np.testing.assert_allclose(c, expected, rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-6)


def test_profile_events_nest_and_are_read_once():
    library.profile_events()
    call = {name: ctypes.CFUNCTYPE(None, ctypes.c_int64)(library.symbols()[f"hloom_profile_{name}"]) for name in ("begin", "end")}
    for _ in range(5000):
        call["begin"](1)
        call["begin"](2)
        call["end"](2)
        call["end"](1)
    call["end"](3)  # never begun
    events = library.profile_events()
    assert [id_ for id_, _, _ in events] == [2, 1] * 5000
    assert all(outer[1] <= inner[1] <= inner[2] <= outer[2] for inner, outer in zip(events[::2], events[1::2]))
    assert library.profile_events() == []
