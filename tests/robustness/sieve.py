"""Which programs the parser refuses, thousands a minute: parsed one after the other in a forked child that keeps its context.

The compiler forks for each program (compiler/frontends/trial.py), which is most of the time that a refused one takes.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from hloom.compiler.parsing import parse_module
from hloom.dialects.context import make_context
from hloom.passes.errors import ParseError

SECONDS = 10


def refused(programs: Sequence[str | bytes]) -> list[bool]:
    """For each whether it is refused by a plain error; one that ends the child, or does not end, is not."""
    found: list[bool] = []
    while len(found) < len(programs):
        told = _in_child(programs[len(found) :])
        found += [answer == ord("r") for answer in told]
        if len(found) < len(programs):
            found.append(False)
    return found


def _in_child(programs: Sequence[str | bytes]) -> bytes:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _parse_all(programs, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        told = file.read()
    os.waitpid(pid, 0)
    return told


def _parse_all(programs: Sequence[str | bytes], writer: int) -> None:
    context = make_context()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for program in programs:
        signal.alarm(SECONDS)
        try:
            parse_module(program, context)
            answer = b"t"
        except ParseError:
            answer = b"r"
        os.write(writer, answer)
