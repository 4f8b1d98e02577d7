"""What became of a PyTorch program, and one that fails cut down."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory

import torch

from ..children import Child, Crash
from ..judge import SLOW, Verdict
from .builder import Line, environment
from .programs import TorchProgram, copied
from .worker import Request, torch_child

KEPT = 150
"""Programs after which the process is a new one: dynamo keeps some of each."""


class TorchJudge:
    def __init__(self) -> None:
        self._cache, self._asked = TemporaryDirectory(), 0
        self.child = Child(partial(torch_child, self._cache.name))

    def stop(self) -> None:
        self.child.stop()
        self._cache.cleanup()

    def __call__(self, program: TorchProgram, target: str = "cpu") -> Verdict:
        self._asked += 1
        if self._asked % KEPT == 0:
            self.child.stop()
        try:
            ended = self.child.ask(Request(program.text(), program.data(), program.road, target))
        except Crash as crash:
            return Verdict("crashed", str(crash))
        if ended.kind == "right" and ended.seconds > 2 * SLOW:
            return Verdict("slow", f"it takes {ended.seconds:.1f} s of processor time", ended.seconds)
        return Verdict(ended.kind, ended.why, ended.seconds, ended.wrong)


def sign(verdict: Verdict) -> str:
    """What stays the same when the program is cut down: the kind of fault, and what the error is about."""
    first = verdict.why.splitlines()[0] if verdict.why else ""
    if verdict.kind == "failed":
        return " ".join(["failed", first.split(":")[0], *re.findall(r"HL\d+", first)])
    return f"{verdict.kind} {'layout' if first.startswith('layout') else ''}"


def cut_down(program: TorchProgram, verdict: Verdict, judge: TorchJudge, target: str, seconds: float) -> TorchProgram:
    """The program of fewer results, lines and inputs that fails in the same way."""
    end, wanted = time.monotonic() + seconds, sign(verdict)
    found: TorchProgram | None = program
    while found is not None:
        program = found
        less = (c for c in smaller(program) if time.monotonic() < end and weight(c) < weight(program))
        found = next((c for c in less if sign(judge(c, target)) == wanted), None)
    return program


def weight(program: TorchProgram) -> tuple[int, ...]:
    inputs = program.inputs[0]
    scattered = sum(not x.is_contiguous() for x in inputs)
    return len(program.lines), len(program.results), len(program.inputs), len(inputs), program.road != "compile", scattered


def smaller(program: TorchProgram) -> Iterator[TorchProgram]:
    if len(program.results) > 1:
        yield from (without_dead(replace(program, results=(result,))) for result in program.results[::-1])
        yield from (without_dead(replace(program, results=tuple(r for r in program.results if r != each))) for each in program.results)
    names = [name for line in program.lines for name in line.made]
    yield from (without_dead(replace(program, results=(name,))) for name in names if name not in program.results)
    for place, line in enumerate(program.lines):
        if line.made:
            yield from _given(program, place)
        else:
            yield without_dead(replace(program, lines=program.lines[:place] + program.lines[place + 1 :]))
    if len(program.inputs) > 1:
        yield from (replace(program, inputs=tuple(x for x in program.inputs if x is not each)) for each in program.inputs)
    if program.road in ("train", "dynamic", "export"):
        yield replace(program, road="compile", inputs=program.inputs[:1])
    for n in range(len(program.inputs[0])):
        if not program.inputs[0][n].is_contiguous():
            yield replace(program, inputs=tuple((*each[:n], each[n].contiguous(), *each[n + 1 :]) for each in program.inputs))


def without_dead(program: TorchProgram) -> TorchProgram:
    """Without the lines that make what nothing reads. What is written stays: another name may stand for the same memory."""
    lines = list(program.lines)
    for line in program.lines[::-1]:
        read = {*program.results, *(word for other in lines if other is not line for word in re.findall(r"\b[av]\d+\b", used(other)))}
        if line.made and not read & set(line.made):
            lines.remove(line)
    return _without_inputs(replace(program, lines=tuple(lines)))


def used(line: Line) -> str:
    return line.text.split(" = ", 1)[1] if line.made else line.text


def _without_inputs(program: TorchProgram) -> TorchProgram:
    """Without those that nothing reads; the modules likewise."""
    text = " ".join([*(used(line) for line in program.lines), *program.results])
    words = set(re.findall(r"\b[avm]\d+\b", text))
    kept = [n for n in range(len(program.inputs[0])) if f"a{n}" in words] or [0]
    names = {f"a{old}": f"a{new}" for new, old in enumerate(kept)}
    renamed = lambda text: re.sub(r"\ba\d+\b", lambda m: names.get(m[0], m[0]), text)  # noqa: E731
    return replace(
        program,
        inputs=tuple(tuple(each[n] for n in kept) for each in program.inputs),
        lines=tuple(replace(line, text=renamed(line.text)) for line in program.lines),
        results=tuple(map(renamed, program.results)),
        modules=tuple(m for m in program.modules if m.split(" = ")[0] in words),
    )


def _given(program: TorchProgram, place: int) -> Iterator[TorchProgram]:
    """Inputs in place of what a line makes, as it has been computed until there."""
    line = program.lines[place]
    known = []
    for inputs in program.inputs:
        try:
            space = environment([copied(x) for x in inputs])
            torch.manual_seed(0)
            for module in program.modules:
                exec(f"self.{module}", space)
            with torch.no_grad():
                for each in program.lines[: place + 1]:
                    exec(each.text, space)
            known.append(tuple(copied(space[name].resolve_conj().resolve_neg()) for name in line.made))
        except Exception:  # what is no program
            return
    count = len(program.inputs[0])
    names = {name: f"a{count + n}" for n, name in enumerate(line.made)}
    renamed = lambda text: re.sub(r"\bv\d+\b", lambda m: names.get(m[0], m[0]), text)  # noqa: E731
    others = program.lines[:place] + program.lines[place + 1 :]
    made = replace(
        program,
        inputs=tuple((*each, *values) for each, values in zip(program.inputs, known)),
        lines=tuple(replace(each, text=renamed(each.text)) for each in others),
        results=tuple(map(renamed, program.results)),
    )
    if made.lines:
        yield without_dead(made)
