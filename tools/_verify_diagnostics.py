"""`--verify-diagnostics`: compares what was diagnosed with what comments in the program expect, as mlir-opt does.

    // expected-error@+1 {{part of the message}}
    %0 = "stablehlo.nonsense"() : () -> ()

`@+N`, `@-N` count lines from the comment, `@above` and `@below` mean the next line that is no such comment, `@unknown` any location, and
no suffix means the comment's own line. `expected-error-re` takes regular expressions between double braces inside the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from hloom.passes.errors import CompileError

_EXPECT = re.compile(
    r"expected-(?P<kind>error|warning|remark|note)(?P<re>-re)?\s*(?:@(?P<at>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>(?:\{\{.*?\}\}|(?!\}\}).)*)\}\}"
)
_LINE = re.compile(r'"[^"]*":(\d+):\d+')


@dataclass(frozen=True)
class Expected:
    """A comment: a diagnostic of `kind` whose message contains `text` (or matches it, if `pattern`) at `line` (None: anywhere)."""

    kind: str
    line: int | None
    text: str
    pattern: bool
    written_at: int

    def matches(self, seen: Seen) -> bool:
        if self.kind != seen.kind or (self.line is not None and self.line != seen.line):
            return False
        if not self.pattern:
            return self.text in seen.message
        parts = re.split(r"\{\{(.*?)\}\}", self.text)
        return bool(re.search("".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts)), seen.message))


@dataclass(frozen=True)
class Seen:
    """A diagnostic that was emitted; `line` is None where the location has none, and 0 where it is the file's as a whole."""

    kind: str
    line: int | None
    message: str


def expectations(source: str) -> list[Expected]:
    lines = source.splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        for match in _EXPECT.finditer(line):
            target = _target(match["at"], number, lines)
            found.append(Expected(match["kind"], target, match["text"], match["re"] is not None, number))
    return found


def _target(at: str | None, number: int, lines: Sequence[str]) -> int | None:
    if at is None:
        return number
    if at == "unknown":
        return None
    if at in ("above", "below"):
        step = 1 if at == "below" else -1
        number += step
        while 1 <= number <= len(lines) and _EXPECT.search(lines[number - 1]):
            number += step
        return number
    return number + int(at)


@contextmanager
def collect(context: ir.Context) -> Iterator[list[Seen]]:
    """The diagnostics that the context emits meanwhile, also those of passes that emit an error and then succeed."""
    seen: list[Seen] = []

    def handler(diagnostic: Any) -> bool:
        seen.extend(_flatten(diagnostic))
        return True

    attached = context.attach_diagnostic_handler(handler)
    context.emit_error_diagnostics = True  # else errors go into the exception that ends a pass run, or nowhere
    try:
        yield seen
    finally:
        context.emit_error_diagnostics = False
        attached.detach()


def of_error(error: CompileError) -> list[Seen]:
    """What a CompileError stands for beside the diagnostics it was made from, which were collected: itself, if there were none."""
    return [] if hasattr(error, "diagnostics") else [Seen("error", _line_of(error.loc or ""), str(error))]


def check(expected: Sequence[Expected], seen: Sequence[Seen], path: str, *, others: bool = True) -> None:
    """Raises CompileError unless every expectation was met and, with `others`, every diagnostic expected (notes may go unexpected)."""
    open_ones, faults = list(expected), []
    for one in seen:
        match = next((e for e in open_ones if e.matches(one)), None)
        if match:
            open_ones.remove(match)
        elif others and one.kind != "note":
            faults.append(f"{path}:{one.line or '?'}: unexpected {one.kind}: {one.message}")
    faults += [f'{path}:{e.written_at}: expected {e.kind} "{e.text}" was not produced' for e in open_ones]
    if faults:
        raise CompileError("diagnostics differ from the expected ones\n" + "\n".join(faults))


def _flatten(diagnostic: Any) -> Iterator[Seen]:
    kind = str(diagnostic.severity).rpartition(".")[2].lower()
    yield Seen(kind, _line_of(str(diagnostic.location)), diagnostic.message)
    for note in diagnostic.notes:
        yield from _flatten(note)


def _line_of(location: str) -> int | None:
    match = _LINE.search(location)
    return int(match[1]) if match else None
