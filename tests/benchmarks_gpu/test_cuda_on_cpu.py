"""What the hand-written kernels compute: compiled by g++ against a stand-in for CUDA, on small inputs, against NumPy and JAX."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gpu.cuda_programs import FUNCTIONS, SOURCES, bind

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")

LAUNCH = re.compile(r"(\w+(?:<[^;<]*>)?)<<<([^;]*?), (\w+), 0, stream>>>\(([^;]*)\);")
STAND_IN = Path(__file__).parent / "cuda_on_cpu"
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def launch(tmp_path_factory):
    """launch(file, function, arrays, sizes): runs it to the end."""
    folder, libraries = tmp_path_factory.mktemp("cuda"), {}

    def library(file: str) -> ctypes.CDLL:
        if file not in libraries:
            text, launches = LAUNCH.subn(r"emulate(\2, \3, [&] { \1(\4); });", (SOURCES / file).read_text())
            assert launches and "<<<" not in text
            source, target = folder / f"{file}.cpp", folder / f"{file}.so"
            source.write_text(text)
            command = ["g++", "-std=c++20", "-O1", "-pthread", "-shared", "-fPIC", f"-I{STAND_IN}", f"-I{SOURCES}"]
            subprocess.run([*command, str(source), "-o", str(target)], check=True, timeout=60)
            libraries[file] = ctypes.CDLL(str(target))
        return libraries[file]

    def run(file: str, function: str, arrays: list[np.ndarray], sizes: tuple[int, ...]) -> None:
        bind(getattr(library(file), function), [array.ctypes.data for array in arrays], sizes)(0)

    return run


def _aligned(array: np.ndarray) -> np.ndarray:
    """At a multiple of 16 bytes, as memory of a GPU is."""
    raw = np.empty(array.nbytes + 16, np.uint8)
    start = -raw.ctypes.data % 16
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _normal(*shape: int) -> np.ndarray:
    return _aligned(RNG.standard_normal(shape, np.float32))


@pytest.mark.parametrize("columns", [1024, 1021, 5])
def test_softmax(launch, columns):
    x, out = _normal(6, columns), _normal(6, columns)
    launch(*FUNCTIONS["softmax"], [x, out], x.shape)
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, powers / powers.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("columns", [1024, 1021])
def test_layernorm(launch, columns):
    x, out, scale, shift = _normal(5, columns), _normal(5, columns), _normal(columns), _normal(columns)
    launch(*FUNCTIONS["layernorm"], [x, scale, shift, out], x.shape)
    centred = x - x.mean(1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * scale + shift
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_rows_that_are_too_long_are_refused(launch):
    x = _normal(1, 1025)
    with pytest.raises(RuntimeError, match="status -1"):
        launch(*FUNCTIONS["softmax"], [x, x], x.shape)


@pytest.mark.parametrize("shape", [(3, 1024), (7, 36)])
def test_elementwise(launch, shape):
    x, b, out = _normal(*shape), _normal(shape[1]), _normal(*shape)
    launch(*FUNCTIONS["chain"], [x, b, out], shape)
    np.testing.assert_allclose(out, np.exp(np.tanh(x + b)), rtol=1e-5)


@pytest.mark.parametrize("function", ["copy", "memcpy_async"])
def test_copy(launch, function):
    source, target = _normal(1300), _normal(1300)
    launch("copy.cu", function, [source, target], (source.nbytes,))
    np.testing.assert_array_equal(target, source)


@pytest.mark.parametrize("steps", [1, 47])
def test_cartpole(launch, steps):
    programs = pytest.importorskip("benchmarks.jax_programs")
    count = 45
    state, reset = ((0.1 * RNG.random((4, count), np.float32) - 0.05) for _ in range(2))
    random = RNG.random((steps, count), np.float32)
    after, ended = np.zeros_like(state), np.zeros(count, np.float32)
    launch(*FUNCTIONS["cartpole"], [state, random, reset, after, ended], (steps, count))
    expected, expected_ended = programs.cartpole(state, random, reset)
    np.testing.assert_allclose(after, expected, atol=1e-3)
    np.testing.assert_array_equal(ended, expected_ended)
    assert steps == 1 or ended.sum() > 0


def test_cartpole_with_threefry(launch, monkeypatch):
    programs, steps, count = pytest.importorskip("benchmarks.jax_programs"), 40, 45
    scan = programs.lax.scan
    monkeypatch.setattr(programs.lax, "scan", lambda body, carry, xs, length: scan(body, carry, xs, length=steps))
    state, key = (0.1 * RNG.random((4, count), np.float32) - 0.05), np.array([0, 42], np.uint32)
    after, ended = np.zeros_like(state), np.zeros(count, np.float32)
    launch(*FUNCTIONS["cartpole_rng"], [state, key, after, ended], (steps, count))
    expected, expected_ended = programs.cartpole_rng(state, key)
    np.testing.assert_allclose(after, expected, atol=1e-3)
    np.testing.assert_array_equal(ended, expected_ended)
    assert ended.sum() > 0
