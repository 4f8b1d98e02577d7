"""A block of the host program as numbers: what each op reads and makes, and the bytes that are live while ops run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size

from ...common.rewriting import captured_values, ops_in

_CONSTANT = "stablehlo.constant"


@dataclass(frozen=True)
class HostBlock:
    """Ops are numbered in their order, the terminator is the last one; `reads[op]` and `makes[op]` are values of this block, `users[op]`
    the ops that read what one makes. `size`: the bytes of a value; none of constants, which lie in the program, and of what the
    terminator hands on, which has memory of its own."""

    ops: list[ir.Operation]
    reads: list[list[int]]
    makes: list[range]
    users: list[list[int]]
    size: list[int]

    @classmethod
    def of(cls, block: ir.Block) -> HostBlock:
        ops = ops_in(block)
        numbers: dict[ir.Value, int] = {}
        size: list[int] = []
        reads, makes = [], []
        for op in ops:
            read = dict.fromkeys([*op.operands, *captured_values(op)])
            reads.append([numbers[value] for value in read if value in numbers])
            makes.append(range(len(size), len(size) + len(op.results)))
            numbers.update(zip(op.results, makes[-1]))
            size += [0 if op.name == _CONSTANT else byte_size(value.type) for value in op.results]
        for value in reads[-1]:
            size[value] = 0
        maker = [place for place, made in enumerate(makes) for _ in made]
        users: list[list[int]] = [[] for _ in ops]
        for place, values in enumerate(reads):
            for before in sorted({maker[value] for value in values}):
                users[before].append(place)
        return cls(ops, reads, makes, users, size)

    def live(self) -> Live:
        return Live(self)


class Live:
    """What the results of a block's ops take while these run, in steps: the ops of one step run at once."""

    def __init__(self, block: HostBlock):
        self.block = block
        self.readers = Counter(value for values in block.reads for value in values)
        self.now = self.peak = 0

    def with_step(self, step: Sequence[int]) -> int:
        """The bytes that are live while the step runs."""
        return self.now + sum(self.block.size[value] for op in step for value in self.block.makes[op])

    def run(self, step: Sequence[int]) -> None:
        self.now = self.with_step(step)
        self.peak = max(self.peak, self.now)
        for op in step:
            self.readers.subtract(self.block.reads[op])
            done = [value for value in (*self.block.reads[op], *self.block.makes[op]) if not self.readers[value]]
            self.now -= sum(self.block.size[value] for value in done)


def peak_of(block: HostBlock, steps: Sequence[Sequence[int]]) -> int:
    """The most bytes that are live when the steps run one after the other."""
    live = block.live()
    for step in steps:
        live.run(step)
    return live.peak
