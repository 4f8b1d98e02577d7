"""What became of a JAX program. Floats may differ by a share of the largest element, and by what a rounding of the inputs moves."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..children import Child
from ..judge import Judge, Verdict, answer_of
from .programs import JaxProgram
from .trial import jax_child

SHARES = {"float32": 2e-4, "bfloat16": 4e-2, "float16": 5e-3, "float64": 1e-9, "complex64": 2e-4, "complex128": 1e-9}
NOISE = 20
"""The results of moved inputs are taken to be off where they are so many times less apart than is allowed."""
XLA_FLAGS = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true --xla_allow_excess_precision=false"


class JaxJudge(Judge):
    def __init__(self) -> None:
        os.environ.setdefault("XLA_FLAGS", XLA_FLAGS)  # XLA's process inherits it: it compiles faster, and rounds as the program says
        super().__init__()
        self.hloom = Child(partial(jax_child, self._cache.name))

    def _run(self, program: JaxProgram, target: str) -> tuple[str, Any, float]:  # type: ignore[override]
        return self.hloom.ask(program.text(), program.inputs, target, program.donated)

    def _compared(self, program: JaxProgram, got: Sequence[np.ndarray], seconds: float) -> Verdict:  # type: ignore[override]
        """A result is right where an oracle has it, or where the oracle's own moves as far. XLA is known to be wrong of slices of slices
        out of range, and of int8 that overflows in x - max(x): there the interpreter decides."""
        left, told, known = list(range(len(got))), [], set()
        for name, child in (("XLA", self.xla), ("the interpreter", self.reference)):
            wanted = answer_of(child, program.text(), program.inputs)
            if isinstance(wanted, str):
                told.append(f"{name}: {wanted}")
                continue
            known.update(left)
            found = {n: difference(got[n], wanted[n]) for n in left}
            if any(why.startswith("differs") for why in found.values()):
                moved = answer_of(child, program.moved().text(), program.moved().inputs)
                if not isinstance(moved, str):
                    found |= {n: "" for n in left if found[n].startswith("differs") and is_far(moved[n], wanted[n])}
            left = [n for n in left if found[n]]
            if not left:
                return Verdict("disputed" if told else "right", "\n".join(told), seconds)
            told += [f"{name}, of result {n}: {found[n]}" for n in left]
        return Verdict("wrong" if known else "unknown", "\n".join(told), seconds, tuple(left))


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


def cut_down(program: JaxProgram, verdict: Verdict, judge: JaxJudge, target: str, seconds: float) -> JaxProgram:
    """The program of fewer results and steps that fails in the same way."""
    end = time.monotonic() + seconds

    def fails(candidate: JaxProgram) -> bool:
        try:
            return time.monotonic() < end and bool(candidate.steps) and judge(candidate, target).sign == verdict.sign
        except Exception:  # what is no program
            return False

    single = (replace(program, only=(n,)) for n in verdict.wrong or range(program.text().count("jax.result_info")))
    fewer = [replace(program, donates=False), *single] if program.donated else single
    program = next((candidate for candidate in fewer if fails(candidate)), program)
    smaller: JaxProgram | None = program
    while smaller is not None:
        program, smaller = smaller, next((each for each in _with_a_step_less(smaller) if fails(each)), None)
    return program


def _with_a_step_less(program: JaxProgram) -> Iterator[JaxProgram]:
    for path, _ in reversed(program.steps):
        yield replace(program, skip=program.skip | {path})
