"""LAPACK's routines as JAX calls them on a CPU: `lapack_<letter><routine>_ffi`, a row each; runtime/native/lapack.cpp runs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from torch_mlir import ir

from .config import config_of
from .routine import Extents, HostCall, Place, Routine

_TARGET = re.compile(r"lapack_([sdcz])([a-z0-9]+)_ffi")
_REAL = {"s": "f32", "d": "f64", "c": "f32", "z": "f64"}
_MATRIX = ("T m n",)
_SQUARE = ("T n n",)
_TRIANGLE = {"uplo": "LU"}
_VECTORS = {"mode": "VN"}


def _factors(extents: Extents) -> bool:
    """Whether U and VT have the extents of the mode."""
    m, n, u, v, least = (extents[name] for name in ("m", "n", "u", "v", "q"))
    return {"A": (u, v) == (m, n), "S": (u, v) == (least, least), "N": (u, v) in ((m, n), (least, least))}[chr(extents["mode"])]


def _reflectors(extents: Extents) -> bool:
    rows = extents["m"] if extents["left"] else extents["n"]
    return extents["k"] <= extents["a"] == rows


_SINGULAR = Routine(_MATRIX, ("T m n", "R q", "T m u", "T v n", "i"), {"mode": "ASN"}, rule=_factors)
ROUTINES: dict[str, Routine] = {
    "potrf": Routine(_SQUARE, ("T n n", "i"), _TRIANGLE),
    "trsm": Routine(
        ("T a a", "T m n"), ("T m n",), {"side": "LR", "uplo": "LU", "trans_x": "NTC", "diag": "NU"}, aliases=((1, 0),),
        rule=lambda extents: extents["a"] == extents["m" if extents["side"] == ord("L") else "n"],
    ),
    "getrf": Routine(_MATRIX, ("T m n", "i q", "i")),
    "geqrf": Routine(_MATRIX, ("T m n", "T q")),
    "orgqr": Routine(("T m n", "T k"), ("T m n",), rule=lambda extents: extents["k"] <= extents["n"] <= extents["m"]),
    "ormqr": Routine(("T a k", "T k", "T m n"), ("T m n",), {"left": "", "transpose": ""}, aliases=((2, 0),), rule=_reflectors),
    "geqp3": Routine(("T m n", "i n"), ("T m n", "i n", "T q"), aliases=((0, 0), (1, 1))),
    "gesdd": _SINGULAR,
    "gesvd": _SINGULAR,
    "syevd": Routine(_SQUARE, ("T n n", "R n", "i"), {**_VECTORS, **_TRIANGLE}),
    "geev": Routine(_SQUARE, ("R n", "R n", "C n n", "C n n", "i"), {"compute_left": "VN", "compute_right": "VN"}, aliases=()),
    "gees": Routine(_SQUARE, ("T n n", "T n n", "R n", "R n", "i", "i"), {**_VECTORS, "sort": "N"}),
    "gehrd": Routine(
        _SQUARE, ("T n n", "T o", "i"), {"low": "", "high": ""}, rule=lambda e: 1 <= e["low"] <= max(1, e["n"]) and e["high"] == e["n"]
    ),
    "sytrd": Routine(_SQUARE, ("T n n", "R n", "R o", "T o", "i"), _TRIANGLE),
    "gtsv": Routine(
        ("T n", "T n", "T n", "T n r"), ("T n", "T n", "T n", "T n r", "i"), aliases=tuple((i, i) for i in range(4))
    ),
}  # fmt: skip
COMPLEX_NAMES = {"ungqr": "orgqr", "unmqr": "ormqr", "heevd": "syevd", "hetrd": "sytrd"}
"""LAPACK's names of the routines on complex matrices, where they are others."""


def routine_of(target: str) -> tuple[str, str] | None:
    """The letter of the type and the routine that a target names; None if it names none."""
    found = _TARGET.fullmatch(target)
    if found is None:
        return None
    letter, name = found.groups()
    if letter in "cz" and name not in COMPLEX_NAMES.values():
        name = COMPLEX_NAMES.get(name, name)
    return (letter, name) if name in ROUTINES else None


def targets() -> list[str]:
    """All targets that name a routine."""
    theirs = {ours: name for name, ours in COMPLEX_NAMES.items()}
    return [f"lapack_{letter}{theirs.get(name, name) if letter in 'cz' else name}_ffi" for name in ROUTINES for letter in _REAL]


def lapack_call(place: Place, operands: Sequence[ir.Type], results: Sequence[ir.Type]) -> HostCall:
    """What a call becomes on operands, then results, of these types, as they lie row-major. Raises InvalidProgramError."""
    known = routine_of(place.target)
    assert known is not None
    letter, name = known
    routine, real = ROUTINES[name], _REAL[letter]
    if letter in "cz" and name in ("geev", "gees"):
        routine = replace(routine, results=_with_complex_eigenvalues(routine.results))
    number = f"complex<{real}>"
    elements = {"T": number if letter in "cz" else real, "R": real, "C": number, "i": "i32"}
    return routine.call(place, elements, config_of(place.op), operands, results)


def _with_complex_eigenvalues(results: Sequence[str]) -> tuple[str, ...]:
    """One vector of complex eigenvalues where a real matrix has two, of their real and imaginary parts."""
    place = results.index("R n")
    return (*results[:place], "C n", *results[place + 2 :])
