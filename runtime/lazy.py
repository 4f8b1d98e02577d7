"""Properties that are computed once an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class lazy(Generic[T]):  # as property, it is written like a function
    """A property that is computed when it is first asked for, and kept in the object's __dict__.

    functools.cached_property does the same, but until Python 3.12 under a lock that all objects of a class share: threads wait for each
    other there, and a child that is forked meanwhile waits forever. Here two threads may compute the same value.
    """

    def __init__(self, compute: Callable[[Any], T]):
        self.compute, self.__doc__ = compute, compute.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        made = instance.__dict__[self.compute.__name__] = self.compute(instance)
        return made
