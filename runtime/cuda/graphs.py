"""Executable graphs by the addresses that they were recorded with, the most recently used kept.

Addresses of a call's inputs and results are part of a graph. A call whose addresses were seen before launches the graph of then. Else the
program is recorded again, and, once the cache is full, the graph that was not used for the longest time is updated to what was recorded:
that is cheaper than making another.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

Addresses = tuple[int, ...]
CAPACITY = 8


class GraphCache:
    """`begin` gives a recorder."""

    def __init__(self, begin: Callable[[], Any], capacity: int = CAPACITY):
        self._begin, self._capacity = begin, capacity
        self._graphs: OrderedDict[Addresses, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._graphs)

    def kept(self, addresses: Addresses) -> Any:
        """The graph for these addresses, or None."""
        graph = self._graphs.get(addresses)
        if graph is not None:
            self._graphs.move_to_end(addresses)
        return graph

    def clear(self) -> None:
        """Lets all go: where the context is theirs, for cuda.core destroys them in whichever the thread has."""
        self._graphs.clear()

    def get(self, addresses: Addresses, record: Callable[[Any, Addresses], None]) -> Any:
        """The graph for these addresses; where it is not there, `record` records the program with the recorder that it is given."""
        graph = self.kept(addresses)
        if graph is None:
            graph = self._graphs[addresses] = self._make(addresses, record)
        return graph

    def _make(self, addresses: Addresses, record: Callable[[Any, Addresses], None]) -> Any:
        with recording(self._begin) as recorder:
            record(recorder, addresses)
            if len(self._graphs) < self._capacity:
                return recorder.finish()
            _, oldest = self._graphs.popitem(last=False)
            return oldest if recorder.update(oldest) else recorder.finish()


@contextlib.contextmanager
def recording(begin: Callable[[], Any]) -> Iterator[Any]:
    """A recorder, which is given up where something fails."""
    recorder = begin()
    try:
        yield recorder
    except BaseException:
        recorder.abandon()
        raise
