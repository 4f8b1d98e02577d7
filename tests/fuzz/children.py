"""hloom, the reference interpreter and XLA, each in a process of its own: what crashes or hangs ends that process alone."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

Arrays = Sequence[np.ndarray]
HANGS = 120
"""Seconds of processor time after which a process is taken to hang; it may wait five times as long."""


class Crash(Exception):
    """The process ended, or did not answer."""


class Child:
    """A process that serves `function(*request)`, started when it is first asked, and again after a crash."""

    def __init__(self, start: Callable[[], Callable[..., Any]]):
        self._start, self._process = start, None

    def ask(self, *request: Any) -> Any:
        """Raises Crash."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._start), daemon=True)
            self._process.start()
            theirs.close()
        try:
            self._pipe.send(request)
            if self._answers():
                return self._pipe.recv()
            self.stop()
            raise Crash(f"no answer in {HANGS} s")
        except (EOFError, OSError):
            self._process.join()
            status = self._process.exitcode
            self.stop()
            raise Crash(f"the process ended with status {status}") from None

    def _answers(self) -> bool:
        began, ended = _spent_by(self._process.pid), time.monotonic() + 5 * HANGS
        while not self._pipe.poll(5):
            if time.monotonic() > ended or _spent_by(self._process.pid) > began + HANGS:
                return False
        return True

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _spent_by(process: int) -> float:
    """Its seconds of processor time: what else the machine does counts nothing."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _serve(pipe: Connection, start: Callable[[], Callable[..., Any]]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    function = start()
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        pipe.send(function(*request))


def hloom_child(cache: str) -> Callable[..., Any]:
    """(text, inputs, target) → what became of it, its results or what was said, the compile's seconds of processor time."""
    import hloom

    def run(text: str, inputs: Arrays, target: str) -> tuple[str, Any, float]:
        started = spent()
        try:
            executable = hloom.compile(text, target=target)
            seconds = spent() - started
            return "ran", [np.array(x) for x in executable.flat(inputs)], seconds
        except hloom.UnsupportedOpError as error:
            return "refused", str(error), spent() - started
        except Exception as error:  # what is no error of hloom's is found here
            return "failed", f"{type(error).__name__}: {error}", spent() - started

    os.environ["HLOOM_CACHE_DIR"] = cache  # so that what fails today is not what was compiled yesterday
    run(WARMING, [np.zeros(1, np.float32)], "cpu")
    return run


def spent() -> float:
    """Seconds of processor time, of its children too."""
    return sum(os.times()[:4])


WARMING = "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n%0 = stablehlo.abs %x : tensor<1xf32>\nreturn %0 : tensor<1xf32>\n}"


def interpreter_child() -> Callable[..., Any]:
    """(text, inputs) → its results, or what was said."""
    from hloom.compiler.interpreter import Interpreter, InterpreterError

    interpreter = Interpreter()

    def run(text: str, inputs: Arrays) -> list[np.ndarray] | str:
        try:
            return interpreter.run(text, inputs).results
        except InterpreterError as error:
            return str(error)

    return run


def xla_child() -> Callable[..., Any]:
    """(text, inputs) → its results, or what was said, by XLA for CPUs through JAX's bindings."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    from jaxlib import _jax, xla_client
    from jaxlib.cpu import _lapack

    _lapack.initialize()
    jax.config.update("jax_enable_x64", True)
    devices = jax.devices("cpu")[:1]

    def run(text: str, inputs: Arrays) -> list[np.ndarray] | str:
        try:
            executable = devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(devices)), xla_client.CompileOptions())
            results = executable.execute_sharded([jax.device_put(x, devices[0]) for x in inputs])
            return [np.asarray(x[0]) for x in results.disassemble_into_single_device_arrays()]
        except Exception as error:  # XLA's own
            return f"{type(error).__name__}: {error}"

    return run
