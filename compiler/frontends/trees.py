"""Structures (runtime/pytree.py) of what the frameworks' own pytrees unflatten to, with the leaves' numbers in place of the leaves.

A `Constant` stands for a value that is no array and is the program's, not the call's. So is what an object of a class of its own holds
beside its leaves: of a dataclass, numbers and texts are constants; what else there is (functions, types, sizes) is not told.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from hloom.passes.errors import InvalidProgramError
from hloom.runtime import pytree


@dataclasses.dataclass(frozen=True)
class Constant:
    """A number or a text among the leaves."""

    value: int | float | bool | str


class Leaf(int):
    """The number of a leaf, in its place."""


def described(value: Any, leaves: int, is_node: Callable[[Any], bool], *, keyword: bool = False) -> Any:
    """The structure of `value`, in which a `Leaf` stands for each of so many leaves; with `keyword`, those of (args, kwargs) apart.
    `is_node` tells the objects that may hold leaves.

    Raises InvalidProgramError for what no file could describe: leaves that are no attributes, or whose order is not the structure's.
    """
    found = _Description(is_node)
    if keyword:
        args, kwargs = value
        structures = found.structure(tuple(args)), found.structure(dict(kwargs))
    else:
        structures = found.structure(value)
    if len(found.seen) != leaves:
        raise InvalidProgramError(
            "an argument or result holds an object whose arrays are no attributes of it",
            remedy="use tuples, lists, dictionaries or dataclasses",
        )
    if found.seen != sorted(found.seen):
        raise InvalidProgramError(
            "the leaves of the program's arguments are in an order of their own", remedy="use tuples, lists and dictionaries"
        )
    return structures


class _Description:
    """`seen` are the leaves in the structure's order."""

    def __init__(self, is_node: Callable[[Any], bool]):
        self.is_node, self.seen = is_node, list[int]()

    def structure(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, Constant):
            return pytree.constant(value.value)
        if isinstance(value, Leaf):
            self.seen.append(value)
            return pytree.LEAF
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return {"struct": [type(value).__name__, [[name, self.structure(getattr(value, name))] for name in value._fields]]}
        if isinstance(value, (tuple, list)):
            return {pytree.type_name(value): [self.structure(item) for item in value]}
        if isinstance(value, Mapping):
            if other := [key for key in value if type(key) not in pytree.KEYS]:
                raise InvalidProgramError(
                    f"a dictionary among the arguments or results has the key {other[0]!r}",
                    remedy="use texts or numbers as keys; hloom.jit takes any",
                )
            return {"dict": [[key, self.structure(value[key])] for key in self._by_leaf(value)]}
        fields = self._fields(value)
        return {"struct": [type(value).__name__, [[name, self.structure(fields[name])] for name in self._by_leaf(fields)]]}

    def _fields(self, value: Any) -> dict[str, Any]:
        """What an object in its place must have as well."""
        held = _attributes(value)
        if dataclasses.is_dataclass(value):
            held = {name: Constant(each) if type(each) in (bool, int, float, str) else each for name, each in held.items()}
        return {name: each for name, each in held.items() if each is None or isinstance(each, Constant) or self._least_leaf(each) >= 0}

    def _by_leaf(self, value: Mapping) -> list[Any]:
        """The keys in the order of the leaves: frameworks order dictionaries differently, the numbers tell. What has none stays there."""
        numbers, last = {}, -1
        for key in value:
            least = self._least_leaf(value[key])
            last = numbers[key] = last if least < 0 else least
        return sorted(value, key=numbers.__getitem__)

    def _least_leaf(self, value: Any) -> int:
        """The number of the first leaf, -1 if there is none."""
        if isinstance(value, Leaf):
            return value
        if isinstance(value, Mapping):
            children = list(value.values())
        elif isinstance(value, (tuple, list)):
            children = list(value)
        else:
            children = list(_attributes(value).values()) if value is not None and self.is_node(value) else []
        return min((leaf for leaf in map(self._least_leaf, children) if leaf >= 0), default=-1)


def _attributes(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, functools.partial):
        return {"args": value.args, "keywords": value.keywords}
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
    return {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
