"""Where programs come from, who judges them, and how they are cut down: StableHLO's ops at random, JAX or PyTorch programs."""

from __future__ import annotations

import argparse
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


class JaxFront(Front):
    """Of random JAX programs. JAX is imported here alone: the other front does without."""

    def judge(self) -> Judge:
        from .traced.judge import JaxJudge

        return JaxJudge()

    def program(self, number: int) -> Any:
        from .traced.programs import program

        options = self.options
        return program(options.seed, number, options.ops.split(",") if options.ops else (), options.size, options.large)

    def cut_down(self, program: Any, verdict: Verdict, judge: Judge) -> Any:
        from .traced.judge import cut_down

        return cut_down(program, verdict, judge, self.options.target, self.options.cut)


class TorchFront(Front):
    """Of random PyTorch programs."""

    suffix, mark = "py", "#"

    def judge(self) -> Any:
        from .torched.judge import TorchJudge

        return TorchJudge()

    def program(self, number: int) -> Any:
        from .torched.programs import program

        options = self.options
        return program(options.seed, number, options.ops.split(",") if options.ops else (), options.size, options.large)

    def cut_down(self, program: Any, verdict: Verdict, judge: Any) -> Any:
        from .torched.judge import cut_down

        return cut_down(program, verdict, judge, self.options.target, self.options.cut)


FRONTS = {"stablehlo": Front, "jax": JaxFront, "torch": TorchFront}
