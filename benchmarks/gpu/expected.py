"""Expected results, kept small: arrays up to a size whole, of larger ones a sample of elements and the sums of short runs of elements.

The sample holds single elements to the tolerance; the sums cover every element, so that a part that is plainly wrong cannot hide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hloom.runtime.dtypes import numpy_dtype

WHOLE = 1 << 16
"""Elements up to which an array is kept whole, and elements of a sample."""
RUN = 64
"""Elements of a sum, or more where there would be more sums than WHOLE."""
_AGREE = 0.95
_APART = 1e-3

Kept = dict[str, np.ndarray]


def keep(results: Sequence[np.ndarray]) -> Kept:
    """What is stored of the results, by name."""
    kept: Kept = {}
    for index, result in enumerate(results):
        array = _plain(result)
        kept[f"out{index}.shape"] = np.array(result.shape, np.int64)
        if array.size <= WHOLE:
            kept[f"out{index}"] = array
        else:
            kept[f"out{index}"] = _sample(array)
            kept[f"out{index}.sums"] = _sums(array)
    return kept


def difference(results: Sequence[np.ndarray], kept: Mapping[str, np.ndarray], tolerance: float, chaotic: bool = False) -> str:
    """How the results differ from what was kept, empty where they agree.

    Floats may differ by `tolerance` of the largest expected value, other types not at all. Where rounding decides single elements
    (`chaotic`), nearly all of the elements must agree instead.
    """
    count = sum(name.endswith(".shape") for name in kept)
    if len(results) != count:
        return f"{len(results)} results, expected {count}"
    found = (_one(f"out{index}", result, kept, tolerance, chaotic) for index, result in enumerate(results))
    return "; ".join(text for text in found if text)


def _one(name: str, result: np.ndarray, kept: Mapping[str, np.ndarray], tolerance: float, chaotic: bool) -> str:
    shape = tuple(kept[f"{name}.shape"].tolist())
    if result.shape != shape:
        return f"{name} has shape {result.shape}, expected {shape}"
    array, expected = _plain(result), kept[name]
    if array.size == 0:
        return ""
    single = _sample(array) if array.size > WHOLE else array
    if chaotic:
        agree = float(np.mean(np.isclose(single, expected, atol=_APART)))
        return "" if agree > _AGREE else f"{name}: only {agree:.1%} of the elements agree"
    if not np.issubdtype(expected.dtype, np.inexact):
        wrong = int(np.count_nonzero(single != expected))
        sums_wrong = array.size > WHOLE and bool(np.any(_sums(array) != kept[f"{name}.sums"]))
        return f"{name}: {wrong} of {single.size} elements differ" if wrong or sums_wrong else ""
    finite = expected[np.isfinite(expected)]
    scale = float(np.max(np.abs(_wide(finite)))) if finite.size else 0.0
    apart = _apart(single, expected)
    if apart > tolerance * scale:
        return f"{name} differs by {apart / (scale or 1):.2g} of the largest"
    if array.size > WHOLE and (far := _apart(_sums(array), kept[f"{name}.sums"])) > _run(array) * tolerance * scale:
        return f"{name}: sums of {_run(array)} elements differ by {far / (scale or 1):.2g} of the largest"
    return ""


def _apart(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference; infinite where one is infinite or no number and the other is not the same."""
    a, b = _wide(found), _wide(expected)
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return float(np.max(np.nan_to_num(apart, nan=np.inf, posinf=np.inf), initial=0.0))


def _plain(array: np.ndarray) -> np.ndarray:
    """Flat, in a type that NumPy's files know."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype != numpy_dtype("bf16"):
        return flat
    return (flat.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _sample(array: np.ndarray) -> np.ndarray:
    return array[np.random.default_rng(array.size).integers(0, array.size, WHOLE)]


def _sums(array: np.ndarray) -> np.ndarray:
    return np.add.reduceat(_wide(array), np.arange(0, array.size, _run(array)))


def _run(array: np.ndarray) -> int:
    return RUN * max(1, -(-array.size // (RUN * WHOLE)))


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype({"f": np.float64, "c": np.complex128}.get(array.dtype.kind, np.int64))
