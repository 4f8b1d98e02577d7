"""Turns a parallel move, in which all sources are read before any target is written, into copies one after the other."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def sequentialise(pairs: list[tuple[T, T]]) -> list[tuple[T | None, T | None]]:
    """Copies (source, target) in an order that has the effect of all at once. Targets are distinct.

    Where targets and sources form a cycle (a ← b, b ← a), one target is saved first: None stands for the temporary, as a target and later
    as a source.
    """
    waiting = {target: source for source, target in pairs if source != target}
    readers: dict[T, int] = {}
    for source in waiting.values():
        readers[source] = readers.get(source, 0) + 1
    copies: list[tuple[T | None, T | None]] = []
    ready = [target for target in waiting if not readers.get(target)]
    while waiting:
        while ready:
            target = ready.pop()
            source = waiting.pop(target)
            copies.append((source, target))
            readers[source] -= 1
            if not readers[source] and source in waiting:
                ready.append(source)
        if waiting:
            cycle = _rotate(waiting, next(iter(waiting)))
            copies += cycle
    return copies


def _rotate(waiting: dict[T, T], first: T) -> list[tuple[T | None, T | None]]:
    """The copies of the one cycle through `first`, whose targets are each read by one other target only."""
    copies: list[tuple[T | None, T | None]] = [(first, None)]
    target = first
    while waiting[target] != first:
        source = waiting.pop(target)
        copies.append((source, target))
        target = source
    waiting.pop(target)
    copies.append((None, target))
    return copies
