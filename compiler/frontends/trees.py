"""Structures (runtime/pytree.py) of what the frameworks' own pytrees unflatten to, with the leaves' numbers in place of the leaves.

A `Constant` stands for a value that is no array and is the program's, not the call's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from hloom.passes.errors import InvalidProgramError
from hloom.runtime import pytree


@dataclasses.dataclass(frozen=True)
class Constant:
    """A number or a text among the leaves."""

    value: int | float | bool | str


def described(value: Any, *, keyword: bool = False) -> Any:
    """The structure of `value`, in which integers stand for leaves; with `keyword`, those of (args, kwargs) apart.

    Raises InvalidProgramError for a class that no file could describe, or whose leaves are not in the order that the structure gives them.
    """
    seen: list[int] = []
    if not keyword:
        structure = _structure(value, seen)
        _check_order(seen)
        return structure
    args, kwargs = value
    structures = _structure(tuple(args), seen), _structure(dict(kwargs), seen)
    _check_order(seen)
    return structures


def _check_order(seen: list[int]) -> None:
    if seen != sorted(seen):
        raise InvalidProgramError(
            "the leaves of the program's arguments are in an order of their own", remedy="use tuples, lists and dictionaries"
        )


def _structure(value: Any, seen: list[int]) -> Any:
    if value is None:
        return None
    if isinstance(value, Constant):
        return pytree.constant(value.value)
    if isinstance(value, int) and not isinstance(value, bool):
        seen.append(value)
        return pytree.LEAF
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"struct": [type(value).__name__, [[name, _structure(getattr(value, name), seen)] for name in value._fields]]}
    if isinstance(value, (tuple, list)):
        return {pytree.type_name(value): [_structure(item, seen) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": [[key, _structure(value[key], seen)] for key in _by_leaf(value)]}
    if dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value)]
        return {"struct": [type(value).__name__, [[name, _structure(getattr(value, name), seen)] for name in names]]}
    why = f"an argument or result holds a {type(value).__name__}, which is not a tuple, list, dictionary, named tuple or dataclass"
    raise InvalidProgramError(why, remedy="take and return plain containers of arrays")


def _by_leaf(value: Mapping) -> list[Any]:
    """The keys in the order of the leaves: frameworks order dictionaries differently, the numbers tell. What has none stays where it is."""
    numbers, last = {}, -1
    for key in value:
        least = _least_leaf(value[key])
        last = numbers[key] = last if least < 0 else least
    return sorted(value, key=numbers.__getitem__)


def _least_leaf(value: Any) -> int:
    """The number of the first leaf, -1 if there is none."""
    if isinstance(value, int):
        return value
    if value is None or isinstance(value, Constant):
        return -1
    children = value.values() if isinstance(value, Mapping) else value if isinstance(value, (tuple, list)) else vars(value).values()
    return min((leaf for leaf in map(_least_leaf, children) if leaf >= 0), default=-1)
