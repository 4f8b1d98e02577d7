"""Which gradients count as near enough to f64, beside those of a reference."""

from __future__ import annotations

import numpy as np

from benchmarks.suite import Results
from benchmarks.training.gradients import difference, errors

_EXACT = [[np.array([3.0, 4.0]), np.array([0.01])]] * 3


def _results(*apart: tuple[float, float]) -> Results:
    """Of steps whose two gradients are so far from exact."""
    found = [[_EXACT[0][0] + [one, 0], _EXACT[0][1] + other] for one, other in apart]
    arrays = errors(found, _EXACT)
    return Results([list(array.shape) for array in arrays], [array.ravel() for array in arrays])


def test_as_near_as_the_reference():
    reference = _results((1e-6, 1e-9), (1e-6, 1e-9), (2e-6, 1e-9))
    assert difference(None, _results((3.9e-6, 1e-9), (0, 0), (0, 0)), reference) == ""
    assert "2.1 times" in difference(None, _results((0, 0), (4.2e-6, 0), (0, 0)), reference)


def test_one_parameter_is_far():
    """What is far as a part of its own gradient is seen, though it is little of all."""
    reference = _results((1e-6, 1e-9), (1e-6, 1e-9), (1e-6, 1e-9))
    assert "parameter 1 is 10 times" in difference(None, _results((1e-6, 2e-8), (1e-6, 0), (1e-6, 0)), reference)
    assert "nan" in difference(None, _results((1e-6, np.nan), (1e-6, 0), (1e-6, 0)), reference)


def test_every_parameter_has_a_gradient():
    reference = _results((0, 0), (0, 0), (0, 0))
    assert "1 gradients for 2" in difference(None, Results([[3, 1], [3, 1]], [np.zeros(3), np.zeros(3)]), reference)
