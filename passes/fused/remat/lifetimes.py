"""When each value of the host program is in memory, op by op, and how much is there at each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import byte_size

from ...common.rewriting import callee_of
from ...lhlo.assignment.inplace import InPlace
from ..chains.chain import Groups
from ..launches.host_block import HostBlock


class Lifetimes:
    """Of a block's values, by number: the op that makes it (`start`), those that read it (`uses`), and the last at which it is in memory
    (`end`): the one before the last reader where that writes its result over it. `live[op]`: the bytes there are while an op runs."""

    def __init__(self, block: ir.Block, groups: Groups, inplace: InPlace):
        self.known = known = HostBlock.of(block)
        self.values = [value for op in known.ops for value in op.results]
        self.numbers = {value: number for number, value in enumerate(self.values)}
        self.size = known.size
        self.start = [place for place, made in enumerate(known.makes) for _ in made]
        self.uses: list[list[int]] = [[] for _ in self.values]
        for place, read in enumerate(known.reads):
            for value in read:
                self.uses[value].append(place)
        self.end = [uses[-1] if uses else start for uses, start in zip(self.uses, self.start)]
        for place, op in enumerate(known.ops):
            if op.name == "func.call" and callee_of(op) in groups:
                self._share(place, op, inplace)
        self.live = np.array(known.inside, np.int64)
        for size, start, end in zip(self.size, self.start, self.end):
            self.live[start : end + 1] += size

    @property
    def peak(self) -> int:
        return int(self.live.max(initial=0))

    def across(self, place: int) -> Iterator[tuple[int, int]]:
        """The values that are there while an op runs which does not read them, each with its next use."""
        for value, uses in enumerate(self.uses):
            if self.size[value] and self.start[value] < place <= self.end[value] and place not in uses:
                yield value, next(use for use in uses if use > place)

    def _share(self, place: int, op: ir.Operation, inplace: InPlace) -> None:
        """What dies where an op writes over it is gone before."""
        written: set[int] = set()
        for value in self.known.reads[place]:
            if self.end[value] != place or self.start[value] >= place or not self.size[value]:
                continue
            given = tuple(i for i, operand in enumerate(op.operands) if operand == self.values[value])
            for j, result in enumerate(op.results):
                if j not in written and byte_size(result.type) == self.size[value] and inplace.allowed(callee_of(op), given, j):
                    written.add(j)
                    self.end[value] = place - 1
                    break
