"""Programs that run as the PTX which LLVM emits for them, and faults in that PTX."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import hloom
from hloom.compiler.simulator import SimulationError
from hloom.compiler.simulator.ptx import Module

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("softmax", "residual_layernorm", "mlp_layer_bf16", "jax_random_walk", "newton_loop", "convolution")


def inputs_of(exe, seed: int = 5) -> list:
    rng = np.random.default_rng(seed)
    kinds = [(spec.shape, spec.numpy_dtype) for spec in exe.signature.inputs]
    return [(rng.standard_normal(s) * 0.1 if d.kind not in "iub" else rng.integers(0, 2, s)).astype(d) for s, d in kinds]


def listed(results) -> list:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def agree(found, expected) -> None:
    for one, other in zip(listed(found), listed(expected), strict=True):
        tolerance = {2: 1e-2, 4: 2e-6, 8: 1e-12}[np.asarray(other).itemsize] if np.asarray(other).dtype.kind not in "iub" else 0
        one, other = np.asarray(one).astype(np.float64), np.asarray(other).astype(np.float64)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.abs(other).max(initial=1e-30))


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_the_cpu_and_counts_as_the_dialect_does(name, target):
    path = EXAMPLES / f"{name}.mlir"
    exe = hloom.compile(path)
    inputs = inputs_of(exe)
    low, high = (hloom.compile(path, target=f"sim:{target}{suffix}") for suffix in ("+ptx", ""))
    agree(low(*inputs), exe(*inputs))
    high(*inputs)
    for counted in ("global_written_bytes", "shared_written_bytes", "shuffles", "barriers", "atomics", "mma", "ldmatrix", "launches"):
        assert getattr(low.device.last.counters, counted) == getattr(high.device.last.counters, counted), counted
    # LLVM may leave out a load of what is read twice
    assert low.device.last.counters.global_read_bytes <= high.device.last.counters.global_read_bytes


def changed(monkeypatch, *changes: tuple[str, str]) -> None:
    """The PTX of what runs next, with the first match of each pattern replaced."""
    from hloom.compiler.cuda import ptx as backend

    emit = backend.emit_ptx

    def broken(*given):
        text = emit(*given)
        for pattern, replacement in changes:
            text, count = re.subn(pattern, replacement, text, count=1, flags=re.S)
            assert count == 1, pattern
        return text

    monkeypatch.setattr(backend, "emit_ptx", broken)


LOAD, STORE = r"ld\.global\.nc\.v\d\.b32\s+\{[^}]*\}, \[%rd\d+", r"st\.global\.v\d\.b32\s+\[%rd\d+"  # of any width

FAULTS = {
    "a barrier removed": ("softmax", r"bar\.sync\s+0;", "", "race: reads what another thread of the block wrote"),
    "a load too far": ("softmax", rf"({LOAD})\]", r"\1+4194304]", "load from global memory out"),
    "a store too far": ("softmax", rf"({STORE})\]", r"\1+4194304]", "store to global memory out of"),
    "a store at another's place": ("softmax", rf"({STORE})\]", r"\1+16]", "race: |store to global memory out"),
    "a store removed": ("softmax", rf"{STORE}\][^;]*;", "", r"nobody wrote \d+ of 256000 bytes of argument 1"),
    "a load at an odd address": ("softmax", r"(ld\.shared\.v4\.b32\s+\{[^}]*\}, \[__wg_fusion_0_0)\]", r"\1+4]", "misaligned: 16 bytes"),
    "a shuffle in part of a warp": ("softmax", r"(shfl\.sync)", r"@%p1 \1", "a shuffle from a lane that is not active"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named(name, monkeypatch):
    example, pattern, replacement, message = FAULTS[name]
    if "shuffle" in name:
        pattern = r"(setp\.ne\.b64\s+%p1[^;]*;.*?)(shfl\.sync)"
        replacement = r"\1@%p1 \2"
    exe = hloom.compile(EXAMPLES / f"{example}.mlir", target="sim:sm_90a+ptx")
    changed(monkeypatch, (pattern, replacement))
    with pytest.raises(SimulationError, match=message):
        exe(*inputs_of(exe))


WRONG = {
    "an offset": ("softmax", r"(.*shfl\.sync\.bfly\.b32\s+%r\d+, %r\d+), 8,", r"\1, 4,"),
    "operands of mma exchanged": ("mlp_layer_bf16", r"(mma\.sync[^;]*?\{[^}]*\},\s*)\{(%r\d+), (%r\d+),", r"\1{\3, \2,"),
    "operands of a subtraction exchanged": ("softmax", r"sub\.rn\.f32(\s+%r\d+), (%r\d+), (%r\d+);", r"sub.rn.f32\1, \3, \2;"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_shows_in_the_result(name, monkeypatch):
    example, pattern, replacement = WRONG[name]
    path = EXAMPLES / f"{example}.mlir"
    right = hloom.compile(path)
    exe = hloom.compile(path, target="sim:sm_80+ptx")
    changed(monkeypatch, (pattern, replacement))
    with pytest.raises(AssertionError):
        agree(exe(*inputs_of(exe)), right(*inputs_of(exe)))


PIPELINE_FAULTS = {
    "no wait for a copy": ("sim:sm_80+ptx", r"cp\.async\.wait_group\s+\d+;", "", "an asynchronous copy is still writing"),
    "no wait for the products": ("sim:sm_90a+ptx", r"wgmma\.wait_group\.sync\.aligned\s+0;", "", "read while wgmma works on them"),
    "no fence before wgmma": ("sim:sm_90a+ptx", r"wgmma\.fence\.sync\.aligned;", "", "wgmma before wgmma.fence"),
    "fewer bytes than come": ("sim:sm_90a+ptx", r"mov\.b32(\s+%r\d+), 4096;", r"mov.b32\1, 2048;", "waits for ever: mbarrier"),
    "no wait for a box": ("sim:sm_90a+ptx", r"\{\s*\.reg \.pred\s+P1;.*?DONE:\s*\}", "", "an asynchronous copy is still writing"),
}  # fmt: skip


@pytest.mark.parametrize("name", PIPELINE_FAULTS)
def test_a_fault_of_a_pipeline_is_named(name, monkeypatch):
    target, pattern, replacement, message = PIPELINE_FAULTS[name]
    exe = hloom.compile(EXAMPLES / "mlp_layer_bf16.mlir", target=target)
    changed(monkeypatch, (pattern, replacement))
    with pytest.raises(SimulationError, match=message):
        exe(*inputs_of(exe))


def test_needs_no_mlir():
    import subprocess
    import sys

    code = "import hloom.compiler.simulator.ptx, sys; sys.exit(any('mlir' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_function_from_outside():
    from hloom.compiler.simulator.ptx import launch
    from hloom.runtime.cuda.conditions import PTX

    flag, set_ = np.array([3], np.uint8), []
    params = (77).to_bytes(8, "little") + flag.ctypes.data.to_bytes(8, "little")
    one = (1, 1, 1)
    launch(Module(PTX), "hloom_while", one, one, 0, params, externals={"cudaGraphSetConditional": lambda *given: set_.append(given)})
    assert set_ == [(77, 3)]


def test_nothing_asks_for_the_host(monkeypatch):
    """PTX depends on the target alone: the same on whatever machine compiles it."""
    import llvmlite.binding as llvm

    from hloom.compiler import target

    def asked(*_):
        raise AssertionError("the host's processor was asked for")

    monkeypatch.setattr(target, "host", asked)
    monkeypatch.setattr(llvm, "get_host_cpu_features", asked)
    monkeypatch.setattr(llvm, "get_host_cpu_name", asked)
    exe = hloom.compile(EXAMPLES / "softmax.mlir", target="sim:sm_90a+ptx")
    exe(*inputs_of(exe))
