"""Where programs come from, who judges them, and how they are cut down: StableHLO's ops at random, JAX or PyTorch programs."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

import numpy as np

from .children import Crash
from .grow import LARGE, Limits
from .judge import Judge, Verdict
from .known import all_types, compiles
from .minimize import minimized
from .program import Program
from .programs import random_program


class Front:
    """Of random StableHLO programs."""

    suffix, mark = "mlir", "//"
    """Of files that hold programs, and before comments in them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    def judge(self) -> Judge:
        return Judge()

    def program(self, number: int) -> Any:
        """None if there is none of that number."""
        options = self.options
        types = tuple(options.types.split(",")) if options.types else all_types()
        only = options.ops.split(",") if options.ops else ()
        limits = Limits(types, ranks=(1, 2, 2, 2, 3, 3, 4), extents=LARGE, most=60_000) if options.large else Limits(types)
        grown = random_program([options.seed, number], limits, compiles(options.target), options.size, only)
        return grown if grown.returned else None

    def cut_down(self, program: Any, verdict: Verdict, judge: Judge) -> Any:
        def evaluate(whole: Program) -> list[np.ndarray] | None:
            try:
                found = (judge.xla if whole.by_xla else judge.reference).ask(whole.text(), whole.inputs)
            except Crash:
                return None
            return None if isinstance(found, str) else found

        first = program.only([program.returned[verdict.wrong[0]]]) if verdict.wrong else program
        fails = lambda candidate: judge(candidate, self.options.target).sign == verdict.sign  # noqa: E731
        return minimized(first if fails(first) else program, fails, evaluate, self.options.cut)


class Traced(Front):
    """Of random programs of a framework, which is imported here alone: the other fronts do without."""

    package: str
    """Of this one: its `judge` and `programs`."""
    judges: str

    def _module(self, name: str) -> Any:
        return import_module(f".{self.package}.{name}", __package__)

    def judge(self) -> Any:
        return getattr(self._module("judge"), self.judges)()

    def program(self, number: int) -> Any:
        options = self.options
        only = options.ops.split(",") if options.ops else ()
        return self._module("programs").program(options.seed, number, only, options.size, options.large)

    def cut_down(self, program: Any, verdict: Verdict, judge: Any) -> Any:
        return self._module("judge").cut_down(program, verdict, judge, self.options.target, self.options.cut)


class JaxFront(Traced):
    package, judges = "traced", "JaxJudge"


class TorchFront(Traced):
    suffix, mark = "py", "#"
    package, judges = "torched", "TorchJudge"


FRONTS = {"stablehlo": Front, "jax": JaxFront, "torch": TorchFront}
