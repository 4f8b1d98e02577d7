"""Reading what comes from outside, first in a forked child.

Bytecode with flipped bytes can make the reader segfault, never end, or spoil its heap, and text with huge dimension numbers can make
StableHLO's verifier abort: none of them can be caught. A fork costs about 10 ms. The child hands back bytes that it wrote itself, so that
the parent reads nothing else, or the error that it met.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import select
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from torch_mlir import ir

from hloom.passes.errors import CompileError, ParseError
from hloom.runtime.forking import process_lock
from hloom.runtime.interrupts import uninterrupted

from ..parsing import UNNAMED, bytecode_of, is_bytecode, parse_module

MEMORY = 4 << 30
SECONDS = 10
SECONDS_PER_MB = 1
_PATIENCE = 0.02
"""Seconds after which a child that says nothing is looked after."""
_DONE, _REFUSED = b"k", b"e"
_NOWHERE = f'loc("{UNNAMED}":0:0)'
"""What MLIR says of bytecode that is damaged."""
_PARTS = ("message", "op", "loc", "stage", "remedy")
"""The parts of a CompileError, by the names that its constructor takes."""


def try_in_child(read: Callable[[], bytes | None], size: int) -> bytes:
    """What `read` returns in a child. Raises ParseError if it raises one, ends the process, takes too much memory or does not end."""
    seconds = SECONDS + SECONDS_PER_MB * (size >> 20)
    with contextlib.ExitStack() as stack:
        reader, writer = os.pipe()
        answer = os.memfd_create("answer")
        for descriptor in (reader, writer, answer):
            stack.callback(os.close, descriptor)
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # of the child too, which is never interrupted
        stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, unblocked)
        with uninterrupted():  # blocked or not, another thread of this process may take the signal and have it raised here
            pid = _fork()
            if pid == 0:
                _child(read, writer, answer)
            ended = _wait(pid, reader, seconds)
            status = _end(pid, ended)
        with open(answer, "rb", closefd=False) as file:
            file.seek(0)
            word, data = file.read(1), file.read()
    if word == _DONE:
        return data
    if word == _REFUSED:
        raise ParseError(**json.loads(data))
    why = f"does not end in {seconds} s" if not ended else f"ends with signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "fails"
    raise ParseError(f"malformed: reading it {why}", remedy="correct the program, or write it again")


def _fork() -> int:
    with process_lock, warnings.catch_warnings():  # which changes filters of the whole process
        warnings.simplefilter("ignore")  # of threads: the child runs nothing but the parser
        return os.fork()


def _wait(pid: int, reader: int, seconds: float) -> bool:
    """Whether the child says that it is ready, or ends, in that time."""
    until = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):  # the process ignores SIGCHLD, or another thread waits for every child
        while time.monotonic() < until:
            # the pipe's other end is here and perhaps in processes that were forked meanwhile: a dead child does not close it
            if select.select([reader], [], [], _PATIENCE)[0] or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return True
        return False
    return True


def _end(pid: int, ended: bool) -> int:
    """The status of the child, which is gone then."""
    with contextlib.suppress(ChildProcessError, ProcessLookupError):
        if not ended:
            os.kill(pid, signal.SIGKILL)
        return os.waitpid(pid, 0)[1]
    return 0


def parse_tried(source: str | bytes, context: ir.Context, read: Callable[..., ir.Module] = parse_module, name: str = UNNAMED) -> ir.Module:
    """`read(source, context)`, after a trial; the source is of the file `name`. Raises ParseError."""
    if is_bytecode(source):
        try:
            return parse_module(try_in_child(lambda: bytecode_of(read(source, context)), len(source)), context)
        except ParseError as error:
            if name == UNNAMED or error.loc not in (None, _NOWHERE):
                raise
            raise ParseError(**{part: getattr(error, part) for part in _PARTS} | {"loc": f'loc("{name}")'}) from None
    try_in_child(lambda: _tried(source, context), len(source))
    return parse_module(source, context, name)


def _tried(source: str | bytes, context: ir.Context) -> None:
    with contextlib.suppress(ParseError):  # this process meets it again, with the text's diagnostics
        parse_module(source, context)


def _child(read: Callable[[], bytes | None], writer: int, answer: int) -> None:
    try:
        faulthandler.disable()  # where the process turned it on: the parent tells how the child ended
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        word = _DONE
        try:
            data = read() or b""
        except CompileError as error:
            word, data = _REFUSED, json.dumps({name: getattr(error, name) for name in _PARTS}).encode()
        with open(answer, "wb", closefd=False) as file:
            file.write(word + data)
        os.write(writer, word)
    finally:
        os._exit(0)
