"""Decides which values share a buffer, so that moves cost nothing and groups work in place.

Each value starts in a class of its own. Pairs that would like to share (source and target of a move, input and output of a group that may
work in place) are tried in the order of what a copy would cost; two classes are joined if they are never live at the same time, but for
the one position where the value is handed over. Arguments and constants are read-only and join nothing, but for an argument whose memory
takes a result: they are one class from the start. A result's class is the result's own memory.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from hloom.dialects.storage import storage_type

from .inplace import InPlace
from .liveness import Liveness
from .program import Call, Entry, Loop, Move, Node, Value, walk

Interval = tuple[int, int]


@dataclass(eq=False)
class SharedBuffer:
    """The memory of one class of values. `live` is sorted and disjoint."""

    values: list[Value]
    live: list[Interval]
    result: Value | None = None
    offset: int | None = field(default=None)

    @property
    def bytes(self) -> int:
        return self.values[0].bytes

    @property
    def span(self) -> Interval:
        return self.live[0][0], self.live[-1][1]


Places = dict[Value, list[tuple[Call | Move, int]]]
"""The nodes that read (write) a value, and as which of their inputs (outputs)."""


class Coalescing:
    """Finds the storage of every value of a program."""

    def __init__(self, program: Entry, liveness: Liveness, inplace: InPlace):
        self.liveness = liveness
        self.inplace = inplace
        self.of: dict[Value, SharedBuffer] = {}
        self._places: dict[int, tuple[Places, Places]] = {}
        for value, life in liveness.values.items():
            self.of[value] = SharedBuffer([value], _merged(life.intervals()), value if value.result is not None else None)
        for argument in program.arguments:
            if argument.updated_by is not None:
                self._join(self.of[argument], self.of[argument.updated_by])
        for loop in [node for node in walk(program.body) if isinstance(node, Loop)]:
            for carry, result in zip(loop.carries, loop.results):
                self._join(self.of[carry], self.of[result])
        for first, second in self._wishes(program.body):
            self._try(first, second)

    def _wishes(self, nodes: list[Node]) -> list[tuple[Value, Value]]:
        """Pairs of values, those first whose copies would be dearest: deep in loops, then moves before groups, then large."""
        wishes: list[tuple[int, bool, int, int, Value, Value]] = []
        for node in [node for node in walk(nodes) if isinstance(node, Call | Move)]:
            moves = isinstance(node, Move)
            pairs = zip(node.sources, node.targets) if isinstance(node, Move) else self._candidates(node)
            for source, target in pairs:
                if source.bytes and not source.readonly and not target.readonly:
                    wishes.append((-self.liveness.depth[node.position], not moves, -source.bytes, len(wishes), source, target))
        return [(source, target) for *_, source, target in sorted(wishes, key=lambda wish: wish[:4])]

    def _candidates(self, call: Call) -> Iterator[tuple[Value, Value]]:
        for value in dict.fromkeys(call.inputs):
            if value.readonly or self.liveness.values[value].end != call.position + 1:
                continue
            positions = tuple(i for i, given in enumerate(call.inputs) if given is value)
            for j, output in enumerate(call.outputs):
                if self.inplace.allowed(call.callee, positions, j):
                    yield value, output

    def _try(self, source: Value, target: Value) -> None:
        a, b = self.of[source], self.of[target]
        if a is b or (a.result and b.result) or not _alike(source, target):
            return
        if all(end - start == 1 and self._handed_over(start, a, b) for start, end in _overlaps(a.live, b.live)):
            self._join(a, b)

    def _handed_over(self, position: int, a: SharedBuffer, b: SharedBuffer) -> bool:
        """Whether the node there reads one class for the last time and writes its value, or what it computes in place, to the other; of
        the calls of a launch one does, and no other reads or writes either."""
        read, written = self._touched(position)
        outputs = [(value, *place) for value in self._among(written, a, b) for place in written[value]]
        if len(outputs) != 1:
            return False
        made, node, j = outputs[0]
        storage = self.of[made]
        given = self._among(read, a, b)
        if any(reader is not node for value in given for reader, _ in read[value]) or any(self.of[value] is storage for value in given):
            return False
        if isinstance(node, Move):
            return given == [node.sources[j]]
        if len(given) != 1 or self.liveness.values[given[0]].end != position + 1:
            return False
        return self.inplace.allowed(node.callee, tuple(i for _, i in read[given[0]]), j)

    def _touched(self, position: int) -> tuple[Places, Places]:
        """The values that the nodes there read, and those that they write."""
        if position not in self._places:
            read: Places = {}
            written: Places = {}
            self._places[position] = read, written
            for node in self.liveness.at.get(position, []):
                for places, values in ((read, _read(node)), (written, _written(node))):
                    for number, value in enumerate(values):
                        places.setdefault(value, []).append((node, number))
        return self._places[position]

    def _among(self, places: Places, a: SharedBuffer, b: SharedBuffer) -> list[Value]:
        """Those of the values that are of either class."""
        if len(places) <= len(a.values) + len(b.values):
            return [value for value in places if self.of[value] in (a, b)]
        return [value for value in (*a.values, *b.values) if value in places]

    def _join(self, a: SharedBuffer, b: SharedBuffer) -> None:
        large, small = (a, b) if len(a.values) >= len(b.values) else (b, a)
        for value in small.values:
            self.of[value] = large
        large.values.extend(small.values)
        large.result = a.result or b.result
        for interval in small.live:
            _insert(large.live, interval)


def _alike(source: Value, target: Value) -> bool:
    """Whether two values have as many elements of one type."""
    one, other = storage_type(source.type), storage_type(target.type)
    return source.bytes == target.bytes and one.element_type == other.element_type


def _read(node: Call | Move) -> list[Value]:
    return node.inputs if isinstance(node, Call) else node.sources


def _written(node: Call | Move) -> list[Value]:
    return node.outputs if isinstance(node, Call) else node.targets


def _merged(intervals: list[Interval]) -> list[Interval]:
    live: list[Interval] = []
    for interval in intervals:
        _insert(live, interval)
    return live


def _insert(live: list[Interval], interval: Interval) -> None:
    """Adds an interval to a sorted disjoint list, joined with those it overlaps; adjacent ones stay apart: one may be a hand-over."""
    start, end = interval
    first = bisect_left(live, (start, start))
    if first and live[first - 1][1] > start:
        first -= 1
    last = first
    while last < len(live) and live[last][0] < end:
        start, end = min(start, live[last][0]), max(end, live[last][1])
        last += 1
    if first == last:
        insort(live, interval)
    else:
        live[first:last] = [(start, end)]


def _overlaps(a: list[Interval], b: list[Interval]) -> Iterator[Interval]:
    """The stretches that two sorted disjoint lists have in common."""
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    for start, end in short:
        i = bisect_left(long, (start, start))
        i -= bool(i and long[i - 1][1] > start)
        while i < len(long) and long[i][0] < end:
            yield max(start, long[i][0]), min(end, long[i][1])
            i += 1
