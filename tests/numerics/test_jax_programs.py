"""The programs of jax_programs/, compiled and equal to jax.jit.

Those of a family go into one program.
"""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
from numerics.jax_programs import FAMILIES, Case, family  # noqa: E402


def joined(cases: list[Case]):
    def every(arguments):
        return [case.function(*given) for case, given in zip(cases, arguments, strict=True)]

    return every


def check(cases: list[Case]) -> None:
    arguments = [case.arguments for case in cases]
    expected = jax.jit(joined(cases))(arguments)
    found = hloom.compile(joined(cases), arguments)(arguments)
    faults = [f"{case.name}: {fault}" for case, *pair in zip(cases, found, expected) if (fault := differs(*pair, case.tolerance))]
    assert not faults, "\n".join(faults)


def differs(found, expected, tolerance: float) -> str:
    """Floats may differ by `tolerance` of the largest of them, and what is no float must not."""
    for got, wanted in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        got, wanted = np.asarray(got), np.asarray(wanted)
        if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
            return f"{got.dtype}{list(got.shape)} for {wanted.dtype}{list(wanted.shape)}"
        if got.dtype.kind in "iub":
            if not np.array_equal(got, wanted):
                return f"{got.ravel()[:8]} for {wanted.ravel()[:8]}"
            continue
        largest = np.max(np.abs(wanted), initial=0, where=np.isfinite(wanted))
        if not np.allclose(got, wanted, rtol=tolerance, atol=tolerance * largest, equal_nan=True):
            return f"off by {np.nanmax(np.abs(got - wanted)):.3g} of {largest:.3g}"
    return ""


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name):
    check(family(name))
