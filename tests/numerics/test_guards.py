"""Guard pages (tests/guards.py) end kernels that leave their buffers by an element, and let right ones run, at every alignment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from faults import negated
from guards import SIDES, guarded

import hloom
from hloom.compiler.target import host, load_target

WIDE = host().vector_bits >= load_target("cpu-avx512").vector_bits
SCRIPT = Path(__file__).with_name("guarded_faults.py")
TOO_EARLY = {"vectors read too early"}


@pytest.mark.parametrize("target", ["cpu-avx2", *(["cpu-avx512"] if WIDE else []), *(["cpu"] if host().amx_bf16 else [])])
@pytest.mark.parametrize("side", SIDES)
def test_a_broken_kernel_hits_the_guard(target, side):
    environment = {**os.environ, "HLOOM_DEBUG": "", "HLOOM_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, SCRIPT, target, side], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout)
    assert ended.keys() >= TOO_EARLY
    for name, (sound, broken) in ended.items():
        assert sound == 0, name
        assert broken == (signal.SIGSEGV if (name in TOO_EARLY) == (side == "start") else 0), name


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", ["i8", "f32"])
def test_right_kernels_run_at_every_alignment(dtype, side):
    """64 sizes in a row: with buffers that end at a page, their starts lie at every place in a cache line."""
    numpy_dtype = {"i8": np.int8, "f32": np.float32}[dtype]
    sizes = range(130, 130 + 64 // np.dtype(numpy_dtype).itemsize)
    results = ", ".join(f"tensor<{n}x{dtype}>" for n in sizes)
    arguments = ", ".join(f"%x{n}: tensor<{n}x{dtype}>" for n in sizes)
    body = "\n".join(f"%r{n} = stablehlo.negate %x{n} : tensor<{n}x{dtype}>" for n in sizes)
    returned = ", ".join(f"%r{n}" for n in sizes)
    text = f"func.func @main({arguments}) -> ({results}) {{\n{body}\nreturn {returned} : {results}\n}}"
    inputs = [np.arange(n).astype(numpy_dtype) for n in sizes]
    with guarded(side):
        for given, result in zip(inputs, hloom.compile(text)(*inputs)):
            np.testing.assert_array_equal(result, -given)


def test_buffers_end_at_the_guard_to_the_byte():
    with guarded("end"):
        (result,) = [hloom.compile(negated("1003xi8"))(np.zeros(1003, np.int8))]
        assert (result.ctypes.data + result.nbytes) % os.sysconf("SC_PAGE_SIZE") == 0
    with guarded("start"):
        (result,) = [hloom.compile(negated("1003xi8"))(np.zeros(1003, np.int8))]
        assert result.ctypes.data % os.sysconf("SC_PAGE_SIZE") == 0
