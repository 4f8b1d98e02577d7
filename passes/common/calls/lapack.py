"""LAPACK's routines as JAX calls them on a CPU: `lapack_<letter><routine>_ffi`; runtime/lapack_routines.py has a row for each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch_mlir import ir

from hloom.runtime.lapack_routines import CUDA_FORMS, REAL, ROUTINES, elements, routine

from .config import config_of
from .routine import HostCall, Place, host_call

_TARGET = re.compile(r"lapack_([sdcz])([a-z0-9]+)_ffi")
COMPLEX_NAMES = {"ungqr": "orgqr", "unmqr": "ormqr", "heevd": "syevd", "hetrd": "sytrd"}
"""LAPACK's names of the routines on complex matrices, where they are others."""
_THEIRS = {ours: name for name, ours in COMPLEX_NAMES.items()}


def routine_of(target: str) -> tuple[str, str] | None:
    """The letter of the type and the routine that a target names; None if it names none."""
    found = _TARGET.fullmatch(target)
    if found is None:
        return None
    letter, name = found.groups()
    if letter in "cz" and name not in COMPLEX_NAMES.values():
        name = COMPLEX_NAMES.get(name, name)
    return (letter, name) if name in ROUTINES else None


def target_name(letter: str, name: str) -> str:
    """The target that names a routine."""
    return f"lapack_{letter}{_THEIRS.get(name, name) if letter in 'cz' else name}_ffi"


def is_lapack(target: str) -> bool:
    """Whether a target names a routine that LAPACK itself has."""
    known = routine_of(target)
    return known is not None and known[1] not in CUDA_FORMS


def targets() -> list[str]:
    """All of these."""
    return [target_name(letter, name) for name in ROUTINES if name not in CUDA_FORMS for letter in REAL]


def lapack_call(place: Place, operands: Sequence[ir.Type], results: Sequence[ir.Type]) -> HostCall:
    """What a call becomes on operands, then results, of these types, as they lie row-major. Raises InvalidProgramError."""
    known = routine_of(place.target)
    assert known is not None
    return host_call(routine(*known), place, elements(known[0]), config_of(place.op), operands, results)
