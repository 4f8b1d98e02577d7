"""Buffer assignment of one entry function: which values share memory, where it lies, and which copies remain."""

from __future__ import annotations

from collections.abc import Iterator

from torch_mlir import ir

from ...common.dense_constants import is_splat
from .arena import Reservation, aligned, live_bytes, place
from .coalesce import Coalescing, SharedBuffer
from .inplace import InPlace
from .liveness import Liveness
from .moves import sequentialise
from .program import Call, Case, Entry, Move, Value, walk
from .prune import prune
from .trip_count import TripCounts


class Assignment:
    """The storage of every value of `program`, whose counted loops are marked and whose dead parts are dropped on the way."""

    def __init__(self, program: Entry, functions: dict[str, ir.Operation]):
        TripCounts(functions).mark(program.body)
        prune(program)
        self.program = program
        self.inplace = InPlace(functions)
        self.storages = Coalescing(program, Liveness(program), self.inplace).of
        self.copies = {node: self._ordered(node) for node in walk(program.body) if isinstance(node, Move)}
        self.used = list(dict.fromkeys(self._used()))
        arena = [storage for storage in self.used if storage.bytes and storage.result is None and not storage.values[0].readonly]
        blocks = [Reservation(aligned(storage.bytes), *storage.span) for storage in arena]
        offsets, self.arena_bytes = place(blocks)
        self.live_bytes = live_bytes(blocks)
        for storage, offset in zip(arena, offsets):
            storage.offset = offset

    def inplace_pairs(self, call: Call) -> tuple[tuple[int, int], ...]:
        """The (input, output) pairs of a call that are one buffer."""
        inputs, outputs = [self.storages[v] for v in call.inputs], [self.storages[v] for v in call.outputs]
        return tuple((i, j) for i, a in enumerate(inputs) for j, b in enumerate(outputs) if a is b and a.bytes)

    def _ordered(self, move: Move) -> list[tuple[SharedBuffer, SharedBuffer]]:
        pairs = [(self.storages[s], self.storages[t]) for s, t in zip(move.sources, move.targets) if t.bytes]
        copies: list[tuple[SharedBuffer, SharedBuffer]] = []
        temporary: SharedBuffer | None = None
        for source, target in sequentialise(pairs):
            if target is None:
                assert source is not None
                like = source.values[0]
                temporary = target = SharedBuffer([Value(like.type, like.bytes)], [(move.position, move.position + 1)])
            if source is None:
                assert temporary is not None
                source = temporary
            copies.append((source, target))
        return copies

    def _used(self) -> Iterator[SharedBuffer]:
        for node in walk(self.program.body):
            if isinstance(node, Call):
                yield from (self.storages[value] for value in (*node.inputs, *node.outputs))
            elif isinstance(node, Move):
                yield from (storage for pair in self.copies[node] for storage in pair if not is_splat(storage.values[0].constant))
            elif isinstance(node, Case):
                yield self.storages[node.index]
            elif node.pred:
                yield self.storages[node.pred]
