"""HLOOM_DEBUG=bounds catches kernels that leave their buffers by an element, and says who, where and how far; right ones run as before."""

from __future__ import annotations

import numpy as np
import pytest
from faults import FAULTS, TILE_FAULT, negated

import hloom
from hloom.compiler.target import host, load_target
from hloom.runtime.errors import OutOfBoundsError

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])


@pytest.fixture(autouse=True)
def _checked(monkeypatch):
    monkeypatch.setenv("HLOOM_DEBUG", "bounds")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FAULTS)
def test_an_access_outside_is_reported_by_name(name, target):
    fault = FAULTS[name]
    fault.sound(target)(*fault.inputs)
    with pytest.raises(OutOfBoundsError, match=f"HL216. {fault.what} out of bounds: .* {fault.memory}, which has {fault.extent}") as raised:
        fault.executable(target)(*fault.inputs)
    error = raised.value
    assert (error.kernel, error.op, error.extent) == ("fusion_0", fault.op, fault.extent)
    assert (error.index < 0 or error.index + 64 >= fault.extent) and '"-":' in error.loc


@pytest.mark.skipif(not host().amx_bf16, reason="this processor has no AMX")
def test_a_tile_too_far_is_reported():
    TILE_FAULT.sound("cpu")(*TILE_FAULT.inputs)
    with pytest.raises(OutOfBoundsError, match="load out of bounds: indices .* of input 0, which has 5120") as raised:
        TILE_FAULT.executable("cpu")(*TILE_FAULT.inputs)
    assert raised.value.op == "x86.amx.tile_load"


def test_the_report_is_taken_once_and_the_next_program_runs():
    fault = FAULTS["vectors read too far"]
    broken = fault.executable("cpu-avx2")
    for _ in range(2):
        with pytest.raises(OutOfBoundsError):
            broken(*fault.inputs)
    np.testing.assert_array_equal(fault.sound("cpu-avx2")(*fault.inputs), -fault.inputs[0])


def test_a_saved_program_keeps_its_checks(tmp_path):
    fault = FAULTS["a mask too wide, read"]
    fault.executable("cpu-avx2").save(tmp_path / "broken.hloom")
    with pytest.raises(OutOfBoundsError):
        hloom.load(tmp_path / "broken.hloom")(*fault.inputs)


def test_without_the_mode_nothing_is_checked(monkeypatch, tmp_path):
    monkeypatch.setenv("HLOOM_DEBUG", f"dump={tmp_path}")
    hloom.compile(negated("1003xf32"), target="cpu-avx2")
    assert "out_of_bounds" not in next(tmp_path.glob("*-llvm.mlir")).read_text()
