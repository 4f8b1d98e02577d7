"""Chains: calls that follow each other, of which later ones need what earlier ones make, and the one call that they become."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.dialects.lhlo import referenced
from hloom.dialects.storage import byte_size

from ...common.launches import JoinedCall
from ...common.rewriting import segments
from ...fused.launches.packing import MEMBERS, PARAMETER_BYTES
from .members import Kernel


@dataclass(frozen=True)
class _Bytes:
    """Where a buffer lies: in what, from which byte on, how many; and as what a kernel sees it."""

    root: ir.Value
    start: int
    size: int
    kind: ir.Type

    @classmethod
    def of(cls, ref: ir.Value, kind: ir.Type) -> _Bytes:
        buffer, start = referenced(ref), 0
        size = byte_size(buffer.type)
        while not isinstance(buffer.owner, ir.Block) and buffer.owner.operation.name == "memref.view":
            view = buffer.owner.operation
            start += ir.IntegerAttr(view.operands[1].owner.operation.attributes["value"]).value
            buffer = view.operands[0]
        return cls(buffer, start, size, kind)

    def meets(self, other: _Bytes) -> bool:
        return self.root == other.root and self.start < other.start + other.size and other.start < self.start + self.size


@dataclass(eq=False)
class _Buffer:
    """A parameter of the chain's kernel, with the numbers of the calls that read it and of those that write it."""

    ref: ir.Value
    bytes: _Bytes
    readers: set[int] = field(default_factory=set)
    writers: set[int] = field(default_factory=set)


class Chain:
    """Calls, and the buffers of their kernels. An output is what some kernel writes; others that read it later read that parameter."""

    def __init__(self) -> None:
        self.calls: list[ir.Operation] = []
        self.kernels: list[Kernel] = []
        self.waits: set[int] = set()
        """The numbers of the calls before which all blocks must have come: they touch what others wrote since the last such."""
        self._inputs: list[_Buffer] = []
        self._outputs: list[_Buffer] = []
        self._last: list[_Buffer] = []
        """The outputs as they were written, the last one at the end."""
        self._places: list[tuple[list[_Buffer], list[_Buffer]]] = []

    def add(self, call: ir.Operation, kernel: Kernel) -> bool:
        """Makes the call the last one, if what it reads is seen there as it was written, and the parameters are not too many."""
        read, written = segments(call)
        kinds = [argument.type for argument in kernel.op.regions[0].blocks[0].arguments]
        mine = [self._read(ref, _Bytes.of(ref, kind)) for ref, kind in zip(read, kinds)]
        theirs = [self._written(ref, _Bytes.of(ref, kind)) for ref, kind in zip(written, kinds[len(read) :])]
        found = [each for each in mine if each]
        count = len({*self._inputs, *self._outputs, *found, *theirs})
        if len(found) < len(mine) or len(self.calls) == MEMBERS or 8 * count > PARAMETER_BYTES:
            return False
        if self._needs_others(found, theirs):
            self.waits.add(len(self.calls))
        self._take(call, kernel, found, theirs)
        return True

    def _needs_others(self, mine: list[_Buffer], theirs: list[_Buffer]) -> bool:
        since = self._places[max(self.waits, default=0) :]
        read, written = ([each.bytes for part in since for each in part[side]] for side in (0, 1))
        late = any(each.bytes.meets(other) for each in mine for other in written)
        return late or any(each.bytes.meets(other) for each in theirs for other in (*read, *written))

    def _read(self, ref: ir.Value, place: _Bytes) -> _Buffer | None:
        """What a kernel that reads there reads: what was written last, if that is the same buffer."""
        last = next((each for each in reversed(self._last) if each.bytes.meets(place)), None)
        if last is not None:
            return last if last.bytes == place else None
        return next((each for each in self._inputs if each.bytes == place), None) or _Buffer(ref, place)

    def _written(self, ref: ir.Value, place: _Bytes) -> _Buffer:
        return next((each for each in self._outputs if each.bytes == place), None) or _Buffer(ref, place)

    def _take(self, call: ir.Operation, kernel: Kernel, mine: list[_Buffer], theirs: list[_Buffer]) -> None:
        number = len(self.calls)
        self.calls.append(call)
        self.kernels.append(kernel)
        for each in mine:
            each.readers.add(number)
            if each not in self._inputs and each not in self._outputs:
                self._inputs.append(each)
        for each in theirs:
            each.writers.add(number)
            if each not in self._outputs:
                self._outputs.append(each)
            self._last.append(each)
        self._places.append((mine, theirs))

    def call(self) -> JoinedCall:
        """Buffers may lie on each other, since kernels take turns."""
        numbers = {each: number for number, each in enumerate((*self._inputs, *self._outputs))}
        return JoinedCall(
            tuple(self.calls),
            [each.ref for each in self._inputs],
            [each.ref for each in self._outputs],
            tuple(tuple(numbers[each] for each in (*mine, *theirs)) for mine, theirs in self._places),
            (),
            frozenset(number for each, number in numbers.items() if self._is_exchanged(each)),
        )

    def _is_exchanged(self, buffer: _Buffer) -> bool:
        """Whether another kernel than the one that writes them accesses bytes of the buffer."""
        others = [each for each in (*self._inputs, *self._outputs) if each is not buffer and each.bytes.meets(buffer.bytes)]
        mine = bool(buffer.writers) and len(buffer.writers | buffer.readers) > 1
        return mine or any(each.writers or buffer.writers for each in others)
