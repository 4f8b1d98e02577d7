"""Expected results, kept in part, find what is wrong."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from benchmarks.gpu.expected import RUN, WHOLE, difference, keep

RNG = np.random.default_rng(0)
SMALL = RNG.standard_normal((20, 30), np.float32)
LARGE = RNG.standard_normal((4 * WHOLE // 100 + 7, 100), np.float32)


@pytest.mark.parametrize("array", [SMALL, LARGE, LARGE.astype(ml_dtypes.bfloat16), np.arange(5 * WHOLE), np.float32(2.0)[None].reshape(())])
def test_the_same_agrees(array):
    assert difference([array], keep([array]), 0.0) == ""


def test_what_is_kept_of_large_results_is_small():
    assert sum(array.nbytes for array in keep([LARGE]).values()) < LARGE.nbytes / 2


def test_rounding_agrees_and_more_does_not():
    kept = keep([SMALL])
    assert difference([SMALL * np.float32(1 + 1e-6)], kept, 1e-4) == ""
    assert "out0 differs by" in difference([SMALL * np.float32(1.001)], kept, 1e-4)


def test_one_element_that_is_not_in_the_sample_is_found():
    kept, wrong = keep([LARGE]), LARGE.copy()
    sampled = set(np.random.default_rng(LARGE.size).integers(0, LARGE.size, WHOLE).tolist())
    place = next(number for number in range(LARGE.size) if number not in sampled)
    wrong.flat[place] += 100
    assert f"sums of {RUN}" in difference([wrong], kept, 1e-4)


def test_shapes_numbers_and_integers():
    kept = keep([SMALL, np.arange(9)])
    assert difference([SMALL], kept, 1.0) == "1 results, expected 2"
    assert "has shape (30, 20)" in difference([SMALL.T, np.arange(9)], kept, 1.0)
    assert "1 of 9 elements" in difference([SMALL, np.array([*range(8), 9])], kept, 1.0)


def test_no_number_and_infinity_must_stand_where_they_are_expected():
    special = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    kept = keep([special])
    assert difference([special], kept, 1e-4) == ""
    for at, value in ((0, 0.0), (1, -np.inf), (3, np.nan)):
        other = special.copy()
        other[at] = value
        assert difference([other], kept, 1e-4)


def test_chaotic_results_agree_in_most_elements():
    kept, other = keep([SMALL]), SMALL.copy()
    other[0, :10] += 1
    assert difference([other], kept, 1e-4) and not difference([other], kept, 1e-4, chaotic=True)
    assert "of the elements agree" in difference([SMALL + 1], kept, 1e-4, chaotic=True)
