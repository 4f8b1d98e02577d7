"""Buffer assignment of one entry function: which values share memory, where it lies, and which copies remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch_mlir import ir

from ...common.dense_constants import is_splat
from .arena import Reservation, aligned, live_bytes, place
from .coalesce import Coalescing, SharedBuffer
from .inplace import InPlace
from .liveness import Liveness
from .moves import sequentialise
from .program import Call, Case, Entry, Move, Node, Value, loops_in, walk
from .prune import prune
from .trip_count import TripCounts


class Assignment:
    """The storage of every value of `program`, whose counted loops are marked and whose dead parts are dropped on the way; `rewrite` then
    changes it."""

    def __init__(self, program: Entry, functions: dict[str, ir.Operation], rewrite: Callable[[Entry], None] = lambda program: None):
        TripCounts(functions).mark(program.body)
        prune(program)
        rewrite(program)
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
        inputs, outputs = self.operands(call)
        return tuple((i, j) for i, a in enumerate(inputs) for j, b in enumerate(outputs) if a is b and a.bytes)

    def operands(self, call: Call) -> tuple[list[SharedBuffer], list[SharedBuffer]]:
        """The buffers that a call reads and writes. A scatter reads what it updates in its output's buffer."""
        inputs, outputs = ([self.storages[v] for v in values] for values in (call.inputs, call.outputs))
        for given, output in self.inplace.updates(call.callee):
            if self.inplace.only_updated(call.callee, given):
                inputs[given] = outputs[output]
        return inputs, outputs

    def copies_before(self, call: Call) -> list[tuple[SharedBuffer, SharedBuffer]]:
        """What a scatter updates and does not find in its output's buffer."""
        updates = self.inplace.updates(call.callee)
        pairs = [(self.storages[call.inputs[given]], self.storages[call.outputs[output]]) for given, output in updates]
        return [(source, target) for source, target in pairs if source is not target and target.bytes]

    def carried_bytes(self) -> list[int]:
        """What the turns of each loop copy, loops in them counted once; of those that nobody counts, one turn."""
        return [sum(map(self._copied, walk(loop.body))) * (loop.trip_count or 1) for loop in loops_in(self.program)]

    def _copied(self, node: Node) -> int:
        pairs = self.copies[node] if isinstance(node, Move) else self.copies_before(node) if isinstance(node, Call) else []
        return sum(target.bytes for _, target in pairs)

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
                yield from _from_memory(self.copies_before(node))
                yield from (storage for storages in self.operands(node) for storage in storages)
            elif isinstance(node, Move):
                yield from _from_memory(self.copies[node])
            elif isinstance(node, Case):
                yield self.storages[node.index]
            elif node.pred:
                yield self.storages[node.pred]


def _from_memory(copies: list[tuple[SharedBuffer, SharedBuffer]]) -> Iterator[SharedBuffer]:
    """The buffers of copies; a splat is filled in instead."""
    yield from (storage for pair in copies for storage in pair if not is_splat(storage.values[0].constant))
