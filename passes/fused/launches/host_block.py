"""A block of the host program as numbers: what each op reads and makes, and the bytes that are live while ops run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size

from ...common.nibbles import sees_nibbles
from ...common.rewriting import captured_values, ops_in

HOLDERS = ("stablehlo.while", "stablehlo.case", "stablehlo.if")
"""What runs blocks of the host program."""
_CONSTANT = "stablehlo.constant"


@dataclass(frozen=True)
class HostBlock:
    """Ops are numbered in their order, the terminator is the last one; `reads[op]` and `makes[op]` are values of this block, `users[op]`
    the ops that read what one makes. `size`: the bytes of a value; none of constants, which lie in the program, and of what the
    terminator hands on, which has memory of its own. `inside`: the bytes that are live within an op, a loop or a branch, at most."""

    ops: list[ir.Operation]
    reads: list[list[int]]
    makes: list[range]
    users: list[list[int]]
    size: list[int]
    inside: list[int]

    @classmethod
    def of(cls, block: ir.Block, free: Collection[str] = (_CONSTANT,)) -> HostBlock:
        """`free`: the ops whose results take no memory: who reads them reads what they read."""
        ops = ops_in(block)
        numbers: dict[ir.Value, int] = {}
        behind: dict[ir.Value, list[int]] = {}
        size: list[int] = []
        reads, makes = [], []
        for op in ops:
            read = dict.fromkeys([*op.operands, *captured_values(op)])
            through = [number for value in read for number in behind.get(value, [numbers[value]] if value in numbers else [])]
            reads.append(list(dict.fromkeys(through)))
            makes.append(range(len(size), len(size) + len(op.results)))
            numbers.update(zip(op.results, makes[-1]))
            nowhere = op.name == _CONSTANT or sees_nibbles(op) or (op.name in free and not _begins_loop(op))
            if nowhere:
                behind.update(dict.fromkeys(op.results, reads[-1]))
            size += [0 if nowhere else byte_size(value.type) for value in op.results]
        for value in ops[-1].operands:
            if value in numbers:
                size[numbers[value]] = 0
        maker = [place for place, made in enumerate(makes) for _ in made]
        users: list[list[int]] = [[] for _ in ops]
        for place, values in enumerate(reads):
            for before in sorted({maker[value] for value in values}):
                users[before].append(place)
        return cls(ops, reads, makes, users, size, [_inside(op, free) for op in ops])

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
        return self.now + sum(self._makes(op) + self.block.inside[op] for op in step)

    def _makes(self, op: int) -> int:
        return sum(self.block.size[value] for value in self.block.makes[op])

    def run(self, step: Sequence[int]) -> None:
        self.peak = max(self.peak, self.with_step(step))
        self.now += sum(map(self._makes, step))
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


def peak_in_order(block: ir.Block, free: Collection[str] = (_CONSTANT,)) -> int:
    """The most bytes that are live when the ops of a block run as they stand."""
    known = HostBlock.of(block, free)
    return peak_of(known, [[op] for op in range(len(known.ops))])


def _begins_loop(op: ir.Operation) -> bool:
    """Whether a loop or a branch of the host program needs what the op makes in memory."""
    return any(use.owner.operation.name in HOLDERS for result in op.results for use in result.uses)


def _inside(op: ir.Operation, free: Collection[str]) -> int:
    """Of an op that runs blocks of the host program; a reduction's body is no such."""
    if op.name not in HOLDERS:
        return 0
    return max((peak_in_order(block, free) for region in op.regions for block in region.blocks), default=0)
