"""StableHLO's reference interpreter as an oracle, in a process of its own: on some programs it aborts.

    interpret(text, [x, y]) → [array, …]

The program is prepared first for what the interpreter does not take or takes wrongly: chlo ops are legalised, constants of `arith` and of
resources become dense ones, upstream's passes make integers of quantized types (signed ones), and half-precision contractions accumulate in
f32 as hloom's do (it would round every partial sum). It is slow, about 0.4 µs an element of an elementwise op and 0.6 µs a multiply-add:
contractions outside of loops that are larger than `HEAVY` are computed by NumPy in f64.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hloom.passes.errors import CompileError

HEAVY = 50_000_000
"""Multiply-adds beyond which a contraction is left to NumPy: half a minute of the interpreter."""


class InterpreterError(CompileError):
    """The reference interpreter does not run this program."""

    code = "HL108"


@dataclass
class Outcome:
    """Results of a run, and how it came by them."""

    results: list[np.ndarray]
    seconds: float
    by_numpy: int
    """Contractions computed by NumPy."""


class Interpreter:
    """A process that runs programs one after the other; started again when a program ends it. It ends with its parent, and when it is
    closed, even amid a program that does not end.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._stderr: Any = None

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def run(self, source: str | bytes, inputs: Sequence[np.ndarray], function: str = "main") -> Outcome:
        """Runs the program (MLIR text or bytecode). Raises InterpreterError."""
        child = self._child or self._start()
        started = time.perf_counter()
        assert child.stdin is not None and child.stdout is not None
        try:
            pickle.dump((source, function, [np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in inputs]), child.stdin)
            child.stdin.flush()
            answer = pickle.load(child.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            status = child.wait()
            message = self._last_words()
            self.close()
            raise InterpreterError(f"the interpreter ended with status {status}: {message}") from None
        if isinstance(answer, str):
            raise InterpreterError(answer)
        from hloom.runtime.dtypes import numpy_dtype

        results, by_numpy = answer
        arrays = [raw.view(numpy_dtype(dtype)).reshape(shape) for dtype, shape, raw in results]
        return Outcome(arrays, time.perf_counter() - started, by_numpy)

    def _start(self) -> subprocess.Popen[bytes]:
        self._stderr = tempfile.TemporaryFile()
        lifeline, self._lifeline = os.pipe()
        command = [sys.executable, "-m", "hloom.compiler.interpreter_process", str(lifeline)]
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._stderr, pass_fds=[lifeline])
        os.close(lifeline)
        return self._child

    def _last_words(self) -> str:
        self._stderr.seek(0)
        lines = [line for line in self._stderr.read().decode(errors="replace").splitlines() if line.strip()]
        return next((line for line in lines if "error" in line.lower() or "assert" in line.lower()), lines[-1] if lines else "no message")

    def close(self) -> None:
        if self._child is None:
            return
        assert self._child.stdin is not None and self._child.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._child.stdin.close()
        self._child.stdout.close()
        os.close(self._lifeline)
        self._child.wait()
        self._stderr.close()
        self._child = None


def interpret(source: str | bytes, inputs: Sequence[np.ndarray], function: str = "main") -> list[np.ndarray]:
    """The results of one program. Raises InterpreterError."""
    with Interpreter() as interpreter:
        return interpreter.run(source, inputs, function).results
