"""Where the stages of both operands' tiles lie in a block's shared memory: a ring for each, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ..support.launch import shared_bytes, shared_view
from .cp_async import TileShape


class Rings:
    """Of so many stages each."""

    def __init__(self, stages: int, shapes: Sequence[TileShape]):
        self._rings = [([stages, shape.lines, shape.length], shape.element) for shape in shapes]
        sizes = [shared_bytes(*ring) for ring in self._rings]
        self.nbytes = sum(sizes)
        self.places = [sum(sizes[:number]) for number in range(len(sizes))]
        """The byte offset of each."""

    def views(self, arena: ir.Value) -> list[ir.Value]:
        return [shared_view(arena, at, *ring) for at, ring in zip(self.places, self._rings)]
