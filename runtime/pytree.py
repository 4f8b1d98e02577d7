"""Pytrees: nested tuples, lists and dictionaries of arrays, and the plain-data description of their structure that a file can hold.

A structure is `"*"` for a leaf, `None` for None, or a dictionary with one of

    {"tuple": [structure, …]}   {"list": [structure, …]}   {"dict": [[key, structure], …]}   {"struct": [name, [[field, structure], …]]}
    {"constant": [type, text]}

Leaves are numbered depth first, a dictionary's in the order of its entries here. A "struct" is a value of a class of its own (a named
tuple, a dataclass, an object): arguments match it by attribute, and it comes back as a named tuple with those fields, or as a dataclass
if one is private. A "constant" is an int, float,
bool or str that the program was compiled for: an argument must be that value, a result is it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import make_dataclass
from keyword import iskeyword
from typing import Any

from .errors import ArityError, InputError

Structure = Any

LEAF = "*"
KEYS = (str, int, bool, float)
"""The types of a dictionary's keys that a file tells."""


_CONSTANTS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "bool": "True".__eq__, "str": str}
"""The types of constants, and how each is read from its text."""


def constant(value: int | float | bool | str) -> Structure:
    """The structure of a value that the program was compiled for. Raises TypeError for one of another type."""
    for kind in (bool, int, float, str):  # a bool is an int
        if isinstance(value, kind):
            return {"constant": [kind.__name__, str(kind(value))]}
    raise TypeError(f"a constant of type {type(value).__name__}")


def constant_value(structure: Structure) -> Any:
    kind, text = structure["constant"]
    return _CONSTANTS[kind](text)


def flat(leaves: int) -> Structure:
    """The structure of so many positional arguments, each a leaf."""
    return {"tuple": [LEAF] * leaves}


def is_flat(structure: Structure) -> bool:
    return isinstance(structure, dict) and "tuple" in structure and all(child == LEAF for child in structure["tuple"])


def count(structure: Structure) -> int:
    """The number of leaves."""
    if structure == LEAF:
        return 1
    return sum(count(child) for _, child in _children(structure))


def check(structure: Structure) -> None:
    """Raises ValueError where plain data describes no structure."""
    if structure is None or structure == LEAF:
        return
    if not isinstance(structure, dict) or len(structure) != 1:
        raise ValueError("neither a leaf nor a dictionary of one kind")
    ((kind, body),) = structure.items()
    if kind in ("tuple", "list"):
        _check_list(body, kind)
        children = body
    elif kind == "dict":
        children = _checked_items(body)
    elif kind == "struct":
        _check_list(body, kind)
        if len(body) != 2 or not isinstance(body[0], str):
            raise ValueError("a struct without a name and fields")
        children = _checked_items(body[1])
        _struct_type(body[0], [key for key, _ in body[1]])
    elif kind == "constant":
        _check_list(body, kind)
        if len(body) != 2 or not all(isinstance(part, str) for part in body) or body[0] not in _CONSTANTS:
            raise ValueError("a constant without a type and a text")
        _CONSTANTS[body[0]](body[1])
        children = []
    else:
        raise ValueError(f"of kind {kind!r}")
    for child in children:
        check(child)


def _check_list(value: Any, kind: str) -> None:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"a {kind} that is not a list")


def _checked_items(items: Any) -> list[Structure]:
    """The children in a list of [key, structure] with keys that differ."""
    _check_list(items, "dict")
    if not all(isinstance(item, (list, tuple)) and len(item) == 2 and type(item[0]) in KEYS for item in items):
        raise ValueError("an entry that is not a key and structure")
    if len({key for key, _ in items}) != len(items):
        raise ValueError("a key twice")
    return [child for _, child in items]


def without(structure: Structure, dropped: Collection[int]) -> Structure:
    """Positional arguments without the leaves of those numbers: None stands in their place, an argument that held nothing else goes."""
    if not dropped:
        return structure
    numbers = iter(range(count(structure)))
    pairs = [(child, _pruned(child, numbers, dropped)) for child in structure["tuple"]]
    return {"tuple": [pruned for child, pruned in pairs if count(pruned) or not count(child)]}


def _pruned(part: Structure, numbers: Iterator[int], dropped: Collection[int]) -> Structure:
    """`numbers` counts the leaves."""
    if part == LEAF:
        return None if next(numbers) in dropped else LEAF
    if part is None:
        return None
    ((kind, body),) = part.items()
    if kind == "constant":
        return part
    if kind in ("tuple", "list"):
        return {kind: [_pruned(child, numbers, dropped) for child in body]}
    if kind == "dict":
        return {kind: [[key, _pruned(child, numbers, dropped)] for key, child in body]}
    return {kind: [body[0], [[key, _pruned(child, numbers, dropped)] for key, child in body[1]]]}


def structure_of(value: Any) -> Structure:
    """The structure of a value made of tuples, lists, dictionaries and None; anything else is a leaf. Dictionaries are sorted by key."""
    if value is None:
        return None
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"struct": [type(value).__name__, [[name, structure_of(getattr(value, name))] for name in value._fields]]}
    if isinstance(value, (tuple, list)):
        return {type_name(value): [structure_of(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[key, structure_of(value[key])] for key in sorted(value)]}
    return LEAF


def type_name(value: tuple | list) -> str:
    return "tuple" if isinstance(value, tuple) else "list"


def flatten(structure: Structure, value: Any, where: str = "inputs") -> list[Any]:
    """The leaves of `value`, which must have that structure. Raises ArityError that names the place where it differs."""
    leaves: list[Any] = []
    _flatten(structure, value, where, leaves)
    return leaves


def flatten_call(positional: Structure, by_name: Structure, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
    """The leaves of a call's arguments, which must have the structures of those by position and of those by name."""
    if keywords and not by_name["dict"]:
        raise ArityError(f"the program takes all arguments by position, got {', '.join(keywords)} by name")
    return flatten(positional, tuple(inputs)) + flatten(by_name, dict(keywords), "keywords")


def _flatten(structure: Structure, value: Any, where: str, leaves: list[Any]) -> None:
    if structure == LEAF:
        leaves.append(value)
    elif structure is None:
        if value is not None:
            raise ArityError(f"{where} should be None, got {type(value).__name__}")
    elif "constant" in structure:
        _check_constant(structure, value, where)
    else:
        for child, part, place in _parts(structure, value, where):
            _flatten(child, part, place, leaves)


def _parts(structure: Structure, value: Any, where: str) -> Iterator[tuple[Structure, Any, str]]:
    """(structure, value, place) of each child."""
    ((kind, body),) = structure.items()
    if kind in ("tuple", "list"):
        if not isinstance(value, (tuple, list)) or len(value) != len(body):
            got = f"{len(value)}" if isinstance(value, (tuple, list)) else f"a {type(value).__name__}"
            raise ArityError(f"{where} should be a {kind} of {len(body)}, got {got}")
        yield from ((child, part, f"{where}[{index}]") for index, (child, part) in enumerate(zip(body, value)))
    elif kind == "dict":
        keys = [key for key, _ in body]
        if not isinstance(value, Mapping) or set(value) != set(keys):
            got = f"keys {sorted(map(str, value))}" if isinstance(value, Mapping) else f"a {type(value).__name__}"
            raise ArityError(f"{where} should be a dictionary with keys {keys}, got {got}")
        yield from ((child, value[key], f"{where}[{key!r}]") for key, child in body)
    else:
        name, fields = body
        for field, child in fields:
            if not hasattr(value, field):
                raise ArityError(f"{where} should be a {name} with a field {field!r}, got a {type(value).__name__}")
            yield child, getattr(value, field), f"{where}.{field}"


def _check_constant(structure: Structure, value: Any, where: str) -> None:
    expected = constant_value(structure)
    same = isinstance(value, type(expected)) and isinstance(value, bool) == isinstance(expected, bool)
    if not same or (value != expected and not (value != value and expected != expected)):  # NaN is compiled in as well
        got = repr(value) if isinstance(value, (int, float, str)) else f"a {type(value).__name__}"
        raise InputError(f"{where} was compiled in as {expected!r}, got {got}", remedy="compile for that value, or with an array there")


def builder(structure: Structure) -> Callable[[list[Any]], Any]:
    """A function from a list of leaves to the value of that structure."""
    if structure == LEAF:
        return lambda leaves: leaves[0]
    if is_flat(structure):
        return tuple
    make = _maker(structure)
    return lambda leaves: make(iter(leaves))


def _maker(structure: Structure) -> Callable[[Iterator[Any]], Any]:
    if structure == LEAF:
        return next
    if structure is None:
        return lambda leaves: None
    ((kind, _),) = structure.items()
    if kind == "constant":
        value = constant_value(structure)
        return lambda leaves: value
    makers = [(key, _maker(child)) for key, child in _children(structure)]
    if kind == "dict":
        return lambda leaves: {key: make(leaves) for key, make in makers}
    if kind == "struct":
        type_ = _struct_type(structure["struct"][0], [key for key, _ in makers])
        return lambda leaves: type_(*[make(leaves) for _, make in makers])
    type_of = tuple if kind == "tuple" else list
    return lambda leaves: type_of(make(leaves) for _, make in makers)


def _struct_type(name: str, fields: list[str]) -> type:
    """A named tuple, which has no private fields: what has some is a dataclass. Raises ValueError where these are no names."""
    try:
        return namedtuple(name, fields)  # type: ignore[misc]
    except ValueError:
        if not all(str(each).isidentifier() and not iskeyword(each) for each in (name, *fields)):
            raise
        return make_dataclass(name, fields)


def _children(structure: Structure) -> list[tuple[Any, Structure]]:
    if structure is None:
        return []
    ((kind, body),) = structure.items()
    if kind == "constant":
        return []
    if kind in ("tuple", "list"):
        return list(enumerate(body))
    return [(key, child) for key, child in (body if kind == "dict" else body[1])]
