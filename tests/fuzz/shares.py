"""Floats of a traced program may differ by a share of the largest element, and by what a rounding of the inputs moves."""

from __future__ import annotations

import numpy as np

SHARES = {"float32": 2e-4, "bfloat16": 4e-2, "float16": 5e-3, "float64": 1e-9, "complex64": 2e-4, "complex128": 1e-9}
NOISE = 20
"""The results of moved inputs are taken to be off where they are so many times less apart than is allowed."""


def is_far(moved: np.ndarray, result: np.ndarray) -> bool:
    """Whether a rounding of the inputs moves a result so far that it says nothing."""
    return difference(moved, result, 1 / NOISE).startswith("differs")


def difference(mine: np.ndarray, theirs: np.ndarray, looser: float = 1) -> str:
    """What is wrong; it `differs …` where a tolerance is exceeded."""
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        return f"{mine.dtype}{list(mine.shape)} for {theirs.dtype}{list(theirs.shape)}"
    kind = f"{theirs.dtype}{list(theirs.shape)}"
    if theirs.dtype.name not in SHARES:
        wrong = mine != theirs
        return f"{kind}: {_quoted(wrong, mine, theirs)}" if wrong.any() else ""
    share = looser * SHARES[theirs.dtype.name]
    mine, theirs = ((np.stack([x.real, x.imag]) if x.dtype.kind == "c" else x).astype(np.float64) for x in (mine, theirs))
    finite = np.isfinite(theirs)
    if not np.array_equal(np.where(finite, 0, mine), np.where(finite, 0, theirs), equal_nan=True):
        return f"{kind}, infinities and NaN: {_quoted(~finite, mine, theirs)}"
    if not finite.any():
        return ""
    with np.errstate(invalid="ignore", over="ignore"):
        wrong = finite & ~(np.abs(mine - theirs) <= share * (1 + np.abs(theirs[finite]).max()))
    return f"differs, {kind}: {_quoted(wrong, mine, theirs)}" if wrong.any() else ""


def _quoted(wrong: np.ndarray, mine: np.ndarray, theirs: np.ndarray) -> str:
    return f"{wrong.sum()} elements, as {mine[wrong].reshape(-1)[:3].tolist()} for {theirs[wrong].reshape(-1)[:3].tolist()}"
