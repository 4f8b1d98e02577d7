"""A trial in a forked child, before input from outside is read in this process.

Bytecode with flipped bytes can make the reader segfault or never end, and text with huge dimension numbers can make StableHLO's verifier abort:
neither can be caught. A fork costs about 10 ms and shares the parent's memory layout, so what the child survives the parent survives.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import warnings
from collections.abc import Callable
from pathlib import Path

from torch_mlir import ir

from hloom.passes.errors import CompileError, ParseError

MEMORY = 4 << 30
SECONDS = 10
SECONDS_PER_MB = 1


def try_in_child(read: Callable[[], object], size: int) -> None:
    """Raises ParseError if reading ends a process, takes too much memory or does not end; other failures are left to the real reading."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: the child runs nothing but the parser
        pid = os.fork()
    if pid == 0:
        _child(read, writer)
    os.close(writer)
    try:
        seconds = SECONDS + SECONDS_PER_MB * (size >> 20)
        ready, _, _ = select.select([reader], [], [], seconds)
        finished = bool(ready) and os.read(reader, 1) == b"k"
        if not ready:
            os.kill(pid, signal.SIGKILL)
    finally:
        os.close(reader)
        _, status = os.waitpid(pid, 0)
    if not finished:
        why = (
            f"does not end in {seconds} s"
            if not ready
            else f"ends with signal {os.WTERMSIG(status)}"
            if os.WIFSIGNALED(status)
            else "fails"
        )
        raise ParseError(f"malformed: reading it {why}", remedy="correct the program, or write it again")


def _child(read: Callable[[], object], writer: int) -> None:
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            read()
        except (CompileError, ir.MLIRError, ValueError):
            pass
        os.write(writer, b"k")
    finally:
        os._exit(0)
