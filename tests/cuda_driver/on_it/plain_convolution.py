"""A convolution for which cuDNN has no plan, through the whole of runtime/cuda: its kernel is assembled when the program is loaded."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_driver.ptx import Ptx
from cuda_programs import loaded
from fake_cudnn import Cudnn, convolution
from fake_libraries import fake_libraries
from test_cuda_libraries import conv

from hloom.runtime.cuda import plain_convolution
from hloom.runtime.cuda.driver import Driver


@pytest.fixture(scope="module")
def driver():
    return Driver(0)


def test_it_is_computed(gpu, driver, monkeypatch):
    def load(self, code):
        made = given(self, code)
        if isinstance(code, str) and plain_convolution.NAME in code:
            gpu.executor.images[bytes(made.code)] = Ptx(code)
        return made

    given = Driver.load
    monkeypatch.setattr(Driver, "load", load)
    library = Cudnn()
    library.has_no_plans = True
    program, _ = conv(2, 1, 1, 1, channels_last=False, element="f32")
    with pytest.warns(RuntimeWarning, match="a slow kernel computes it"):
        exe, _ = loaded(program, driver, fake_libraries(cudnn=library))
    (thunk,) = program.manifest["programs"]["main"]["body"]
    rng = np.random.default_rng(0)
    x, w, b, z = (rng.standard_normal(size).astype(np.float32) for size in (thunk["input"], thunk["filter"], 16, thunk["output"]))
    window = (thunk[name] for name in ("padding_low", "padding_high", "window_strides", "dilations"))
    expected = np.maximum(convolution(x.astype(np.float64), w.astype(np.float64), *window) + b.reshape(-1, 1, 1) + z, 0)
    for _ in range(2):
        np.testing.assert_allclose(exe(x, w, b, z).reshape(thunk["output"]), expected, rtol=1e-5, atol=1e-5)
    assert gpu.refusals == []
