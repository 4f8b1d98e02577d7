"""What attributes mean, read once in each context: the bindings read one by text, or entry by entry, in some microseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from torch_mlir import ir

T = TypeVar("T")


class ReadOnce(Generic[T]):
    """A function of an attribute that remembers its results.

    By the attribute's hash, which is that of its address: attributes are unique in their context, and live as long as it does. An
    attribute itself would keep its context.
    """

    def __init__(self, read: Callable[[ir.Attribute], T]):
        self._read = read
        self._known: WeakKeyDictionary[ir.Context, dict[int, T]] = WeakKeyDictionary()

    def __call__(self, attribute: ir.Attribute) -> T:
        known = self._known.setdefault(attribute.context, {})
        key = hash(attribute)
        if key not in known:
            known[key] = self._read(attribute)
        return known[key]
