"""How far gradients are from those in f64 at the same parameters, and when that is too far.

A gradient's error is the norm of its difference from the f64 gradient. A rounding flips a ReLU now and then, which moves a gradient a
thousand times as far as rounding the sums does. So a reference tells what roundings do by some tries more of each step, of inputs that are
a rounding apart, and its largest error counts. The error of all parameters of a step together may be twice that. The error of any one, as a
part of its own gradient, may be four times the reference's, or four times what all the reference's together are at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..suite import Results

STEPS = 3
TRIES = 6
_TOGETHER, _EACH = 2.0, 4.0
"""Times the reference's largest error: of all parameters of a step, and of one."""
_ROUNDING = 2.0**-24


def errors(found: Sequence[Sequence[np.ndarray]], exact: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """By step and parameter: the errors, and the norms of the f64 gradients."""
    apart = [[np.linalg.norm((a.astype(np.float64) - b).ravel()) for a, b in zip(*step, strict=True)] for step in zip(found, exact)]
    return [np.array(apart), np.array([[np.linalg.norm(gradient.ravel()) for gradient in step] for step in exact])]


def relative(apart: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Of each step: the error of all parameters together, as a part of their gradient."""
    return np.linalg.norm(apart, axis=1) / np.linalg.norm(norms, axis=1)


def difference(row: Any, found: Results, expected: Results) -> str:
    """What is wrong with a peer's gradients beside the reference's, both as `errors` gives them; empty where nothing is."""
    if found.shapes[0][1] != expected.shapes[0][1]:
        return f"{found.shapes[0][1]} gradients for {expected.shapes[0][1]}"
    (ours, _), (theirs, norms) = _arrays(found), _arrays(expected)
    allowed = max(relative(theirs, norms).max(), _ROUNDING)
    together = relative(*_arrays(found)).max() / allowed
    if not together <= _TOGETHER:
        return f"gradients are {together:.2g} times as far from f64 as the reference's"
    each = ours.max(axis=0) / np.maximum(theirs.max(axis=0), allowed * norms.max(axis=0))
    if not (each <= _EACH).all():
        return f"the gradient of parameter {np.argmax(each)} is {each.max():.2g} times as far from f64 as the reference's"
    return ""


def _arrays(results: Results) -> list[np.ndarray]:
    return [array.reshape(shape) for array, shape in zip(results.arrays, results.shapes)]
