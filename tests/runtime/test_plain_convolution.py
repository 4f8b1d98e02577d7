"""Convolutions for which cuDNN has no plan: the plain kernel's text, run by the simulator of PTX, and assembled."""

from __future__ import annotations

import numpy as np
import pytest
from fake_cudnn import convolution, gradient_by_filter, gradient_by_input

from hloom.compiler.simulator.ptx import Module, launch
from hloom.runtime.cuda import plain_convolution
from hloom.runtime.dtypes import numpy_dtype

TOLERANCE = {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-5, "f64": 1e-12}
CASES = [
    # element, x, w, window strides, padding low and high, dilations, groups, bias, residual, relu, channels last
    ("f16", [2, 8, 7, 6], [16, 8, 3, 3], [1, 1], [1, 1], [0, 0], [1, 1], 1, 1, 1, 1, True),
    ("bf16", [1, 6, 9], [4, 3, 3], [2], [2], [1], [2], 2, 1, 0, 1, False),
    ("f32", [2, 4, 5, 6, 3], [4, 1, 2, 3, 1], [1, 2, 1], [0, 1, 0], [1, 2, 0], [1, 1, 1], 4, 0, 1, 0, True),
    ("f64", [1, 3, 5, 5], [2, 3, 5, 5], [1, 1], [2, 2], [2, 2], [1, 1], 1, 0, 0, 1, False),
    ("f32", [1, 2, 4, 4], [3, 2, 1, 1], [3, 3], [0, 0], [0, 0], [1, 1], 1, 0, 0, 0, True),
]


class Everything:
    def check(self, address: int, nbytes: int, write: bool) -> None:
        """All of this process's memory."""


def strides(sizes, channels_last):
    order = [0, *range(2, len(sizes)), 1] if channels_last else [*range(len(sizes))]
    found, step = [0] * len(sizes), 1
    for axis in reversed(order):
        found[axis], step = step, step * sizes[axis]
    return found


def seen(flat, sizes, steps):
    return np.lib.stride_tricks.as_strided(flat, sizes, [step * flat.itemsize for step in steps])


def grouped(x, w, groups, *window):
    parts = zip(np.split(x, groups, axis=1), np.split(w, groups, axis=0))
    return np.concatenate([convolution(one, other, *window) for one, other in parts], axis=1)


def thunk_of(element, sizes, steps, low, high, dilations, groups, bias, residual, relu, last):
    window = {"window_strides": steps, "padding_low": low, "padding_high": high, "dilations": dilations}
    laid = {f"{name}_strides": strides(each, last) for name, each in sizes.items()}
    return {
        "element": element,
        "groups": groups,
        "bias": bias,
        "residual": residual,
        "relu": relu,
        "makes": "output",
        **window,
        **sizes,
        **laid,
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{len(case[1]) - 2}d-{case[7]}")
def test_it_computes_the_convolution(case):
    element, x_sizes, w_sizes, steps, low, high, dilations, groups, bias, residual, relu, last = case
    made = [(a + n + b - (t - 1) * d - 1) // s + 1 for n, t, s, a, b, d in zip(x_sizes[2:], w_sizes[2:], steps, low, high, dilations)]
    sizes = {"input": x_sizes, "filter": w_sizes, "output": [x_sizes[0], w_sizes[0], *made]}
    thunk = thunk_of(element, sizes, steps, low, high, dilations, groups, bias, residual, relu, last)
    rng, dtype = np.random.default_rng(0), numpy_dtype(element)
    x, w, z = (rng.standard_normal(int(np.prod(each))).astype(dtype) for each in sizes.values())
    b, y = rng.standard_normal(w_sizes[0]).astype(dtype), np.zeros_like(z)
    given = [x, w, *[b] * bias, *[z] * residual, y]
    params = b"".join(array.ctypes.data.to_bytes(8, "little") for array in given)
    block, module = (plain_convolution.THREADS, 1, 1), Module(plain_convolution.text_of(thunk))
    launch(module, plain_convolution.NAME, plain_convolution.grid_of(thunk), block, 0, params, Everything())
    wide = [seen(flat, sizes[name], thunk[f"{name}_strides"]).astype(np.float64) for flat, name in zip((x, w, z), sizes)]
    expected = grouped(*wide[:2], groups, low, high, steps, dilations)
    expected = expected + wide[2] * residual + b.astype(np.float64).reshape(-1, *[1] * len(made)) * bias
    expected = np.maximum(expected, 0) if relu else expected
    found = seen(y, sizes["output"], thunk["output_strides"]).astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE[element], atol=TOLERANCE[element] * np.abs(expected).max())


GRADIENTS = [
    # element, x, w, window strides, padding, dilations, groups, channels last
    ("f16", [2, 4, 5, 4], [6, 4, 3, 3], [1, 1], [1, 1], [1, 1], 1, True),
    ("f32", [1, 4, 7, 6], [6, 2, 3, 2], [2, 3], [1, 0], [1, 2], 2, False),
    ("f64", [2, 3, 9], [3, 1, 3], [2], [3], [2], 3, True),
    ("bf16", [1, 2, 4, 3, 5], [3, 2, 2, 1, 3], [1, 2, 2], [0, 0, 1], [1, 1, 1], 1, True),
]


@pytest.mark.parametrize("makes", ["filter", "input"])
@pytest.mark.parametrize("case", GRADIENTS, ids=lambda case: f"{case[0]}-{len(case[1]) - 2}d-{case[6]}")
def test_it_computes_gradients(case, makes):
    element, x_sizes, w_sizes, steps, padding, dilations, groups, last = case
    made = [(n + 2 * a - (t - 1) * d - 1) // s + 1 for n, t, s, a, d in zip(x_sizes[2:], w_sizes[2:], steps, padding, dilations)]
    sizes = {"input": x_sizes, "filter": w_sizes, "output": [x_sizes[0], w_sizes[0], *made]}
    thunk = thunk_of(element, sizes, steps, padding, padding, dilations, groups, 0, 0, 0, last) | {"makes": makes}
    rng, dtype = np.random.default_rng(0), numpy_dtype(element)
    flat = {name: rng.standard_normal(int(np.prod(each))).astype(dtype) for name, each in sizes.items()}
    names = {"filter": ("input", "output", "filter"), "input": ("output", "filter", "input")}[makes]
    block, module = (plain_convolution.THREADS, 1, 1), Module(plain_convolution.text_of(thunk))
    result, window = np.full_like(flat[makes], np.nan), (padding, padding, steps, dilations)
    given = [flat[names[0]], flat[names[1]], result]
    for offsets in plain_convolution.offsets_of(thunk):
        params = b"".join((array.ctypes.data + offset).to_bytes(8, "little") for array, offset in zip(given, offsets))
        launch(module, plain_convolution.NAME, plain_convolution.grid_of(thunk), block, 0, params, Everything())
    wide = {name: seen(flat[name], each, thunk[f"{name}_strides"]).astype(np.float64) for name, each in sizes.items()}
    function = {"filter": gradient_by_filter, "input": gradient_by_input}[makes]
    expected = function(*(wide[name] for name in names[:2]), *window, sizes[makes])
    found = seen(result, sizes[makes], thunk[f"{makes}_strides"]).astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE[element], atol=TOLERANCE[element] * np.abs(expected).max())


@pytest.mark.parametrize("element", TOLERANCE)
def test_the_assembler_takes_it(element):
    pytest.importorskip("cuda.core")
    from hloom.compiler.cuda.assemble import assembler

    sizes = {"input": [1, 2, 4, 4], "filter": [3, 2, 3, 3], "output": [1, 3, 2, 2]}
    text = plain_convolution.text_of(thunk_of(element, sizes, [1, 1], [0, 0], [0, 0], [1, 1], 1, 1, 1, 1, True))
    for architecture in ("sm_80", "sm_90a", "sm_100a"):
        assert assembler().run(text, architecture)[0].startswith(b"\x7fELF")
