"""A region: the steps of its thunks, one after the other; and thunk.sequence, which is nothing but a region."""

from __future__ import annotations

import importlib
from collections.abc import Sequence as Thunks
from typing import Any

from ..thunks import Thunk
from .step import Context, Memory, Needs, Step

_STEPS = {
    "kernel": ("kernel", "KernelStep"),
    "gemm": ("gemm", "GemmStep"),
    "conv": ("conv", "ConvStep"),
    "fft": ("fft", "FftStep"),
    "cholesky": ("solve", "CholeskyStep"),
    "triangular_solve": ("solve", "TriangularSolveStep"),
    "copy": ("copy", "CopyStep"),
    "fill": ("fill", "FillStep"),
    "while": ("while_", "WhileStep"),
    "for": ("for_", "ForStep"),
    "case": ("case", "CaseStep"),
    "sequence": ("sequence", "SequenceStep"),
    "profile_begin": ("profile", "ProfileBeginStep"),
    "profile_end": ("profile", "ProfileEndStep"),
}


def make_step(thunk: Thunk) -> Step:
    module, name = _STEPS[thunk.kind]
    return getattr(importlib.import_module(f".{module}", __package__), name)(thunk)


class Sequence:
    """The steps of a region."""

    def __init__(self, thunks: Thunks[Thunk]):
        self.steps = [make_step(thunk) for thunk in thunks]

    def prepare(self, needs: Needs) -> None:
        for step in self.steps:
            step.prepare(needs)

    def initialise(self, context: Context) -> None:
        for step in self.steps:
            step.initialise(context)

    def execute(self, recorder: Any, memory: Memory) -> None:
        for step in self.steps:
            step.execute(recorder, memory)


class SequenceStep(Sequence):
    def __init__(self, thunk: Thunk):
        super().__init__(thunk.regions["body"])
