"""PTX text as tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import SimulationError

_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)"
    r'|(?P<string>"[^"]*")'
    r"|(?P<number>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|\d+\.\d+|\d+U?)"
    r"|(?P<word>[%$_.A-Za-z][\w$]*(?:(?:::|\.)[\w$]+)*)"
    r"|(?P<sign>[{}\[\](),;:|@!=<>+-])",
    re.S,
)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    line: int
    begin: int
    end: int


class Tokens:
    """The tokens of a text, and where the reader is."""

    def __init__(self, text: str):
        self.text, self._at, self._list = text, 0, _split(text)

    @property
    def next(self) -> Token:
        if self._at >= len(self._list):
            raise SimulationError("the PTX ends too early")
        return self._list[self._at]

    @property
    def done(self) -> bool:
        return self._at >= len(self._list)

    def ahead(self, steps: int) -> str:
        at = self._at + steps
        return self._list[at].text if at < len(self._list) else ""

    def take(self) -> Token:
        token = self.next
        self._at += 1
        return token

    def accept(self, text: str) -> bool:
        """Whether it is next; then it is taken."""
        found = not self.done and self.next.text == text
        self._at += found
        return found

    def expect(self, text: str) -> Token:
        token = self.take()
        if token.text != text:
            raise self.fail(f"expected {text!r}, found {token.text!r}", token)
        return token

    def integer(self) -> int:
        negative = self.accept("-")
        token = self.take()
        if token.kind != "number":
            raise self.fail(f"expected a number, found {token.text!r}", token)
        value = int(token.text.rstrip("U"), 0)
        return -value if negative else value

    def skip_past(self, text: str) -> None:
        while self.take().text != text:
            pass

    def skip_braces(self) -> None:
        self.expect("{")
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.take().text, 0)

    def fail(self, message: str, token: Token | None = None) -> SimulationError:
        line = (token or self.next).line
        return SimulationError(f"PTX that cannot be read: {message}", loc=f"line {line} of the PTX")


def _split(text: str) -> list[Token]:
    found, at, line = [], 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SimulationError(f"PTX that cannot be read: {text[at : at + 20]!r}", loc=f"line {line} of the PTX")
        kind = match.lastgroup or ""
        if kind != "skip":
            found.append(Token(kind, match[0], line, at, match.end()))
        line += match[0].count("\n")
        at = match.end()
    return found
