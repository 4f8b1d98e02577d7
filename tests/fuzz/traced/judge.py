"""What became of a JAX program."""

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
from ..shares import difference, is_far
from .programs import JaxProgram
from .trial import jax_child

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
