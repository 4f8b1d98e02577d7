"""What became of a program: right, wrong, refused, crashed, slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from comparison import agree

from .children import Child, Crash, hloom_child, interpreter_child, xla_child
from .meaning import is_unknown, meaning
from .program import Program, Value

SLOW = 10
"""Seconds of processor time that a compile may take."""
XLA_ULPS = 4
"""XLA's own functions are further off: so many times as many ulps where it is the only oracle."""
FAULTS = ("wrong", "failed", "crashed", "slow")


@dataclass(frozen=True)
class Verdict:
    kind: str
    """right, disputed (right, but an oracle says something else), refused, unknown (no oracle computes it), or one of `FAULTS`."""
    why: str = ""
    """What was said instead, by hloom or an oracle."""
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
        try:
            kind, told, seconds = self._run(program, target)
        except Crash as crash:
            return Verdict("crashed", str(crash))
        if kind != "ran":
            return Verdict(kind, told, seconds)
        if seconds > SLOW:
            return Verdict("slow", f"its compile takes {seconds:.1f} s of processor time", seconds)
        return self._compared(program, told, seconds)

    def _run(self, program: Program, target: str) -> tuple[str, Any, float]:
        return self.hloom.ask(program.text(), program.inputs, target)

    def _compared(self, program: Program, got: Sequence[np.ndarray], seconds: float) -> Verdict:
        """An element is right where an oracle has it: each is known to be wrong of some ops and types. The next oracle is asked only for
        results that are not right yet."""
        wrong: dict[int, np.ndarray] = {}
        left, told, disputed = list(range(len(got))), [], False
        for name, child, asked in self._oracles(program):
            for number, wanted in answers(child, asked, left).items():
                if isinstance(wanted, str):
                    told.append(f"{name}: {wanted}")
                    continue
                looser = XLA_ULPS if child is self.xla and number not in wrong else 1
                value = asked.returned[number]
                mask, why = difference(value, asked.tolerances.get(value, (0, 0)), got[number], wanted, looser)
                wrong[number] = mask & wrong.get(number, True)
                if mask.any():
                    disputed = True
                    told.append(f"{name} has of result {number}, {why}")
            left = [number for number in left if number not in wrong or wrong[number].any()]
            if not left:
                return Verdict("disputed" if disputed else "right", "\n".join(told), seconds)
        faults = tuple(number for number in left if number in wrong)
        return Verdict("wrong" if faults else "unknown", "\n".join(told), seconds, faults)

    def _oracles(self, program: Program) -> Iterator[tuple[str, Child, Program]]:
        """Whom to ask what: the interpreter and XLA, each for the program and for what it means."""
        known, meant = not any(is_unknown(op) for op in program.ops), meaning(program)
        oracles = (("the interpreter", self.reference), ("XLA", self.xla))
        for name, child in oracles[::-1] if program.by_xla else oracles:
            if known:
                yield name, child, program
            if meant is not None:
                yield f"{name}, of what is meant,", child, meant


def answers(child: Child, program: Program, numbers: Sequence[int]) -> dict[int, np.ndarray | str]:
    """Those results of a program. An oracle that has none is asked for each alone: it may stop at an op beside it."""
    whole = answer_of(child, program.text(), program.inputs)
    if not isinstance(whole, str):
        return {number: whole[number] for number in numbers}
    if len(program.returned) == 1:
        return {0: whole}
    alone = {number: program.only([program.returned[number]]) for number in numbers}
    found = {number: answer_of(child, part.text(), part.inputs) for number, part in alone.items()}
    return {number: each if isinstance(each, str) else each[0] for number, each in found.items()}


def difference(
    value: Value, tolerance: tuple[float, float], mine: np.ndarray, theirs: np.ndarray, looser: float = 1
) -> tuple[np.ndarray, str]:
    """The elements that differ by more than is allowed, and the first of them in words."""
    ulps, absolute = looser * tolerance[0], tolerance[1]
    if theirs.dtype.name.startswith("uint") and mine.dtype.itemsize == theirs.dtype.itemsize:
        theirs = theirs.view(mine.dtype)  # XLA says so of the bits that a generator made
    if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
        return np.array(True), f"{theirs.dtype}{list(theirs.shape)} for {mine.dtype}{list(mine.shape)}"
    wrong = ~close(mine, theirs, ulps, absolute)
    if not wrong.any():
        return wrong, ""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    found = f"{theirs[place]!r} for {mine[place]!r}, ulps {ulps}, absolute {absolute:.2g}"
    return wrong, f"{value.type}, at {list(place)} (of {np.sum(wrong)}): {found}"


def close(got: np.ndarray, wanted: np.ndarray, ulps: float, absolute: float) -> np.ndarray:
    """Element by element; complex numbers are as close as the larger part's ulps say. One with an infinite part is an infinity, even if
    its other part is a NaN (C99, G.3): at a pole some have a NaN there, and some an angle."""
    if got.dtype.kind != "c":
        if not (ulps or absolute):
            return _same(got, wanted)
        return agree(got, wanted, ulps, absolute)
    with np.errstate(all="ignore"):
        tolerance = absolute + ulps * np.finfo(got.dtype).eps * np.abs(wanted)
        near = np.abs(got - wanted) <= tolerance
        near |= np.isinf(got) & np.isinf(wanted) & (np.isnan(got) | np.isnan(wanted))
    return near | (_same(got.real.copy(), wanted.real.copy()) & _same(got.imag.copy(), wanted.imag.copy()))


def _same(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The same bits, or both NaN."""
    shape = got.shape  # what is contiguous has a dimension at least
    got, wanted = np.ascontiguousarray(got), np.ascontiguousarray(wanted)
    if got.dtype.kind in "iub" or got.dtype.name.startswith(("int", "uint")):  # ml_dtypes' integers have unused bits
        return (got == wanted).reshape(shape)
    bits = f"u{got.dtype.itemsize}"
    with np.errstate(invalid="ignore"):
        return ((got.view(bits) == wanted.view(bits)).reshape(got.shape) | (np.isnan(got) & np.isnan(wanted))).reshape(shape)
