"""The table of JAX programs: each traces, and some are as they should be under hloom.jit."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import hloom  # noqa: E402
from benchmarks.jit.suite import ROWS  # noqa: E402


@pytest.mark.parametrize("name", ROWS)
def test_programs_trace(name):
    row = ROWS[name]
    if not all(map(importlib.util.find_spec, row.needs)):
        pytest.skip(f"needs {', '.join(row.needs)}")
    function, inputs = row.made(jax.jit)
    results = jax.tree.leaves(jax.eval_shape(function, *inputs))
    assert results and all(result.size for result in results)


@pytest.mark.parametrize("name", ["kalman_1000", "newton_256x4", "scan_of_jit", "edit_distance_128"])
def test_results_are_those_of_jax(name):
    function, inputs = ROWS[name].made(hloom.jit)
    expected, _ = ROWS[name].made(jax.jit)
    for found, wanted in zip(jax.tree.leaves(function(*inputs)), jax.tree.leaves(expected(*inputs)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)
