"""Tracing by torch, which one thread at a time may do: torch.export's modes are of the whole process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def traces(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function`, of which one call runs at a time.

    The lock is torch.compile's own: with another, a thread that compiles a graph of torch.compile's and one that compiles a module could
    wait for each other.
    """

    @functools.wraps(function)
    def locked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from torch._dynamo.convert_frame import compile_lock  # a second of imports, which torch.export makes too

        with compile_lock:
            return function(*args, **kwargs)

    return locked
