"""Plain data from a file, checked against a description of what it should be.

A schema is a function that takes a value and raises `Mismatch` where it is something else; schemas of lists and dictionaries are made of
those of their parts, and say where in the data the mismatch is.

    TENSOR = record({"name": text, "shape": each(integer(0))})
    TENSOR({"name": "x", "shape": [3, "4"]})        # Mismatch: shape[1] should be an integer from 0 to 9223372036854775807, is '4'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Schema = Callable[[Any], None]

_SHOWN = 60
"""Characters of a wrong value in a message."""


class Mismatch(Exception):
    """`path` leads to the value that is not what it should be, innermost key first."""

    def __init__(self, expected: str, value: Any, path: tuple[Any, ...] = ()):
        super().__init__(expected)
        self.expected, self.value, self.path = expected, value, list(path)

    def __str__(self) -> str:
        where = ""
        for key in reversed(self.path):
            where += f"[{key}]" if isinstance(key, int) else f".{key}" if where else str(key)
        shown = repr(self.value)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        return f"{where or 'it'} should be {self.expected}, is {shown}"


def integer(least: int = -(1 << 63), most: int = (1 << 63) - 1) -> Schema:
    def check(value: Any) -> None:
        if type(value) is not int or not least <= value <= most:
            raise Mismatch(f"an integer from {least} to {most}", value)

    return check


def number(value: Any) -> None:
    if type(value) not in (int, float) or value != value or abs(value) > 1e300:
        raise Mismatch("a finite number", value)


def flag(value: Any) -> None:
    if type(value) is not bool:
        raise Mismatch("true or false", value)


def maybe(item: Schema) -> Schema:
    """The item, or null."""

    def check(value: Any) -> None:
        if value is not None:
            item(value)

    return check


def text(value: Any) -> None:
    if not isinstance(value, str):
        raise Mismatch("a text", value)


def matching(pattern: str, expected: str) -> Schema:
    """A text that the regular expression describes wholly."""
    compiled = re.compile(pattern)

    def check(value: Any) -> None:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise Mismatch(expected, value)

    return check


def one_of(*choices: Any) -> Schema:
    kinds = {type(choice) for choice in choices}

    def check(value: Any) -> None:
        if type(value) not in kinds or value not in choices:
            raise Mismatch(" or ".join(map(repr, choices)), value)

    return check


def each(item: Schema, *, least: int = 0, most: int | None = None) -> Schema:
    """A list of items, at least and at most so many."""

    def check(value: Any) -> None:
        if not isinstance(value, (list, tuple)) or len(value) < least or (most is not None and len(value) > most):
            raise Mismatch(f"a list of {least} to {'any number' if most is None else most}", value)
        for index, part in enumerate(value):
            _part(item, part, index)

    return check


def row(*items: Schema) -> Schema:
    """A list of exactly these."""

    def check(value: Any) -> None:
        if not isinstance(value, (list, tuple)) or len(value) != len(items):
            raise Mismatch(f"a list of {len(items)}", value)
        for index, (item, part) in enumerate(zip(items, value)):
            _part(item, part, index)

    return check


def table(item: Schema) -> Schema:
    """A dictionary from texts to items."""

    def check(value: Any) -> None:
        _dictionary(value)
        for key, part in value.items():
            _part(item, part, key)

    return check


def record(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, *, more: bool = False) -> Schema:
    """A dictionary of these keys. `more` allows others, of whatever value."""
    optional = optional or {}

    def check(value: Any) -> None:
        _dictionary(value)
        for key, schema in required.items():
            if key not in value:
                raise Mismatch("there", "missing", (key,))
            _part(schema, value[key], key)
        for key, part in value.items():
            if key in optional:
                _part(optional[key], part, key)
            elif key not in required and not more:
                raise Mismatch("absent", part, (key,))

    return check


def _dictionary(value: Any) -> None:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise Mismatch("a dictionary", value)


def _part(schema: Schema, value: Any, key: Any) -> None:
    try:
        schema(value)
    except Mismatch as wrong:
        wrong.path.append(key)
        raise
