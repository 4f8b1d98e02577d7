"""How far gradients are from those of the same steps in f64, and when that is too far.

A gradient's error is the norm of its difference from the f64 gradient. Two are compared: of all parameters of a step together, and of each
parameter. A peer is right where neither is more than a small factor above that of the reference, which computes in f32 too. A rounding of f32
of the gradient is never too much, for a parameter may be lucky in the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..suite import Results

STEPS = 3
_TOGETHER, _EACH = 2.0, 4.0
"""Times the reference's error: of all parameters of a step, and of one."""
_ROUNDING = 2.0**-24


def errors(found: Sequence[Sequence[np.ndarray]], exact: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """By step and parameter: the errors, and the norms of the f64 gradients."""
    apart = [[np.linalg.norm((a.astype(np.float64) - b).ravel()) for a, b in zip(*step)] for step in zip(found, exact, strict=True)]
    return [np.array(apart), np.array([[np.linalg.norm(gradient.ravel()) for gradient in step] for step in exact])]


def difference(row: Any, found: Results, expected: Results) -> str:
    """What is wrong with a peer's gradients beside the reference's, both as `errors` gives them; empty where nothing is."""
    if found.shapes != expected.shapes:
        return f"{found.shapes[0]} gradients for {expected.shapes[0]}"
    ours, theirs, norms = (array.reshape(expected.shapes[0]) for array in (found.arrays[0], *expected.arrays))
    together = _whole(ours) / np.maximum(_whole(theirs), _ROUNDING * _whole(norms))
    each = ours / np.maximum(theirs, _ROUNDING * np.maximum(norms, _whole(norms)[:, None] * 1e-3))
    if not (together <= _TOGETHER).all():
        return f"gradients are {together.max():.2g} times as far from f64 as the reference's"
    if not (each <= _EACH).all():
        step, place = np.unravel_index(np.argmax(each), each.shape)
        return f"step {step + 1}: the gradient of parameter {place} is {each.max():.2g} times as far from f64 as the reference's"
    return ""


def _whole(parts: np.ndarray) -> np.ndarray:
    return np.sqrt((parts**2).sum(axis=1))
