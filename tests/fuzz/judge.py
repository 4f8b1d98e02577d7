"""What became of a program: right, wrong, refused, crashed, slow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from comparison import agree

from .children import Child, Crash, hloom_child, interpreter_child, xla_child
from .program import Program

SLOW = 10
"""Seconds of processor time that a compile may take."""
XLA_ULPS = 4
"""XLA's own functions are further off: so many times as many ulps where it is the only oracle."""
FAULTS = ("wrong", "failed", "crashed", "slow")


@dataclass(frozen=True)
class Verdict:
    kind: str
    """right, refused, unknown (no oracle computes it), or one of `FAULTS`."""
    why: str = ""
    seconds: float = 0
    wrong: tuple[int, ...] = ()
    """The results that differ."""

    @property
    def bad(self) -> bool:
        return self.kind in FAULTS

    @property
    def sign(self) -> str:
        """What stays the same when the program is cut down: the kind of fault, and where hloom says it is."""
        lines = [line.strip() for line in self.why.splitlines()]
        stages = [line for line in lines if line.startswith("stage:")]
        return " ".join([self.kind, *(stages if self.kind == "failed" else []), lines[0].split(":")[0] if self.kind == "failed" else ""])


def answer_of(child: Child, *request: Any) -> Any:
    """An oracle's results; as text, why it has none."""
    try:
        return child.ask(*request)
    except Crash as crash:
        return str(crash)


class Judge:
    def __init__(self) -> None:
        self._cache = TemporaryDirectory()
        self.hloom = Child(partial(hloom_child, self._cache.name))
        self.reference, self.xla = Child(interpreter_child), Child(xla_child)

    def stop(self) -> None:
        for child in (self.hloom, self.reference, self.xla):
            child.stop()
        self._cache.cleanup()

    def __call__(self, program: Program, target: str = "cpu") -> Verdict:
        text = program.text()
        try:
            kind, told, seconds = self.hloom.ask(text, program.inputs, target)
        except Crash as crash:
            return Verdict("crashed", str(crash))
        if kind != "ran":
            return Verdict(kind, told, seconds)
        if seconds > SLOW:
            return Verdict("slow", f"its compile takes {seconds:.1f} s of processor time", seconds)
        return self._compared(program, text, told, seconds)

    def _compared(self, program: Program, text: str, got: Sequence[np.ndarray], seconds: float) -> Verdict:
        """The second oracle is asked where the first cannot tell, or says something else than hloom. A result is right if one says so:
        both are known to be wrong of some ops and types."""
        wrongs, said = [], []
        oracles = (("the interpreter", self.reference), ("XLA", self.xla))
        for name, child in oracles[::-1] if program.by_xla else oracles:
            wanted = answer_of(child, text, program.inputs)
            if isinstance(wanted, str):
                said.append(f"{name}: {wanted}")
                continue
            looser = XLA_ULPS if name == "XLA" and not wrongs else 1
            wrong, why = differences(program, got, wanted, looser)
            wrong = tuple(number for number in wrong if not wrongs or number in wrongs[0][0])
            if not wrong:
                return Verdict("right" if not wrongs else "disputed", wrongs[0][1] if wrongs else "", seconds)
            wrongs.append((wrong, f"{name} has {why}"))
        if not wrongs:
            return Verdict("unknown", "\n".join(said), seconds)
        return Verdict("wrong", "\n".join([why for _, why in wrongs] + said), seconds, wrongs[-1][0])


def differences(
    program: Program, got: Sequence[np.ndarray], wanted: Sequence[np.ndarray], looser: float = 1
) -> tuple[tuple[int, ...], str]:
    """The results that differ by more than is allowed, and the first of them in words."""
    wrong, why = [], ""
    for number, (value, mine, theirs) in enumerate(zip(program.returned, got, wanted, strict=True)):
        ulps, absolute = program.tolerances.get(value, (0, 0))
        if theirs.dtype.name.startswith("uint") and mine.dtype.itemsize == theirs.dtype.itemsize:
            theirs = theirs.view(mine.dtype)  # XLA says so of the bits that a generator made
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            wrong.append(number)
            why = why or f"{theirs.dtype}{list(theirs.shape)} for {mine.dtype}{list(mine.shape)}"
            continue
        same = close(mine, theirs, looser * ulps, absolute)
        if not same.all():
            place = tuple(int(i) for i in np.argwhere(~same)[0])
            wrong.append(number)
            found = f"{theirs[place]!r} for {mine[place]!r}, ulps {ulps}, absolute {absolute:.2g}"
            why = why or f"result {number}, {value.type}, at {list(place)} (of {np.sum(~same)}): {found}"
    return tuple(wrong), why


def close(got: np.ndarray, wanted: np.ndarray, ulps: float, absolute: float) -> np.ndarray:
    """Element by element; complex numbers are as close as the larger part's ulps say."""
    if got.dtype.kind != "c":
        if not (ulps or absolute):
            return _same(got, wanted)
        return agree(got, wanted, ulps, absolute)
    with np.errstate(all="ignore"):
        tolerance = absolute + ulps * np.finfo(got.dtype).eps * np.abs(wanted)
        near = np.abs(got - wanted) <= tolerance
    return near | (_same(got.real.copy(), wanted.real.copy()) & _same(got.imag.copy(), wanted.imag.copy()))


def _same(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The same bits, or both NaN."""
    got, wanted = np.ascontiguousarray(got), np.ascontiguousarray(wanted)
    if got.dtype.kind in "iub" or got.dtype.name.startswith(("int", "uint")):  # ml_dtypes' integers have unused bits
        return got == wanted
    bits = f"u{got.dtype.itemsize}"
    with np.errstate(invalid="ignore"):
        return (got.view(bits) == wanted.view(bits)).reshape(got.shape) | (np.isnan(got) & np.isnan(wanted))
