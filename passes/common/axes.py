"""The axes of a group: which loops of its linalg ops are the same loop, and which of them may be tiled.

Every linalg op has loops; every intermediate value ties the loops of its producer to those of its consumers, position by position. The
classes of tied loops are the group's axes. An axis may be tiled iff in each op that has it, it is one parallel loop; every op has it that
is not cheap enough to be repeated by tiles; every result has it; and no intermediate is read along it other than at the loop's own index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from .affine import dim_position, loop_of, read_maps
from .edge import RESHAPES
from .rewriting import defining_op, shape_of, walk

CHEAP_POINTS = 4096
"""An op of fewer points, none of its results returned, may be recomputed by every tile."""
CHEAP_SHARE = 8
"""So may one whose work, done anew along all that it lacks, is no more than this part of the dearest op's: the mask that all heads of an
attention share."""


@dataclass
class TileOp:
    """One linalg op of a group: its loops, its maps (inputs, then outputs), and the axis of each loop."""

    op: ir.Operation
    maps: list[ir.AffineMap]
    inputs: list[ir.Value]
    inits: list[ir.Value]
    parallel: list[bool]
    extents: list[int]
    axes: list[int] = field(default_factory=list)

    @property
    def points(self) -> int:
        """The product of the loops' extents."""
        return prod(self.extents)

    @property
    def work(self) -> int:
        """How many ops it carries out: those of its body at every point."""
        return self.points * sum(len(block.operations) for block in self.op.regions[0].blocks)

    @property
    def output_maps(self) -> list[ir.AffineMap]:
        """The map of each result."""
        return self.maps[len(self.inputs) :]


def read_tile_op(op: ir.Operation) -> TileOp:
    """Reads a linalg.generic or linalg.fill on tensors of static shape."""
    if op.name == "linalg.fill":
        shape = shape_of(op.results[0])
        scalar, identity = ir.AffineMap.get(len(shape), 0, []), ir.AffineMap.get_identity(len(shape))
        return TileOp(op, [scalar, identity], [op.operands[0]], [op.operands[1]], [True] * len(shape), shape)
    maps = read_maps(op)
    iterators = [str(i) for i in ir.ArrayAttr(op.attributes["iterator_types"])]
    inits = len(op.results)
    operands = list(op.operands)
    inputs, outputs = operands[: len(operands) - inits], operands[len(operands) - inits :]
    parallel = ["parallel" in i for i in iterators]
    return TileOp(op, maps, inputs, outputs, parallel, _extents(maps, operands, len(iterators)))


def _extents(maps: list[ir.AffineMap], operands: list[ir.Value], loops: int) -> list[int]:
    extents = [-1] * loops
    for m, value in zip(maps, operands):
        if not isinstance(value.type, ir.RankedTensorType):
            continue
        for expr, size in zip(m.results, ir.RankedTensorType(value.type).shape):
            if isinstance(expr, ir.AffineDimExpr) and extents[ir.AffineDimExpr(expr).position] < 0:
                extents[ir.AffineDimExpr(expr).position] = size
    return extents


def _viewed(value: ir.Value) -> tuple[ir.Value, tuple[int, ...]] | None:
    """The array that a value is a view of, and the view's shape; None of what is no tensor."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    shape = tuple(ir.RankedTensorType(value.type).shape)
    while (op := defining_op(value)) is not None and op.name in RESHAPES:
        value = op.operands[0]
    return value, shape


def repeated_by_tiles(op: TileOp, axes: Axes) -> bool:
    """Whether an op lacks an axis along which tiles may be cut, so that all tiles along it compute the same."""
    return not axes.tileable <= set(op.axes)


def loop_index(value: ir.Value) -> int | None:
    """The loop whose index `value` is in a body, or None if it is computed."""
    op = defining_op(value)
    return int(ir.IntegerAttr(op.attributes["dim"]).value) if op is not None and op.name == "linalg.index" else None


KEPT_COLUMNS = 64
"""A tile of columns that are reduced and used again has as many of each row, at least: memory takes longer runs best."""


def kept_bytes(target: TargetView) -> int:
    """What such a tile may hold of L2."""
    return target.l2_bytes // 8


def even_size(extent: int, most: int) -> int:
    """The size of the fewest, most equal pieces of `extent` that are at most `most`."""
    return ceil(extent / ceil(extent / most))


class Axes:
    """The axes of a list of ops. `extent[a]`, `tileable` (set of axes), and each op's `axes` are filled in."""

    def __init__(self, ops: list[TileOp], results: list[ir.Value]):
        self.ops = ops
        self.results = results
        self.parent: list[int] = []
        self._offsets: list[int] = []
        for op in ops:
            self._offsets.append(len(self.parent))
            self.parent.extend(range(len(self.parent), len(self.parent) + len(op.extents)))
        self._number = {op.op.results[0].owner: i for i, op in enumerate(ops)}
        self.whole: set[int] = set()
        """Axes along which some op reads a value elsewhere than at its own index."""
        self._tie_through_values()
        self._tie_components()
        self._name()
        self.tileable = self._find_tileable()

    def producer(self, value: ir.Value) -> tuple[int, int] | None:
        """(op number, result number) of the op in the group that makes `value`."""
        op = defining_op(value)
        number = self._number.get(op) if op is not None else None
        return None if number is None else (number, ir.OpResult(value).result_number)

    @staticmethod
    def reads(op: TileOp) -> list[ir.Value]:
        """All tensors that an op reads: its operands, and those that its body looks elements up in."""
        return [*op.inputs, *op.inits, *(extract.operands[0] for extract in walk(op.op, "tensor.extract"))]

    def returns(self, *axes: int) -> bool:
        """Whether some result has all of the axes as dimensions."""
        return any({*axes} <= self._shown(*made) for made in map(self.producer, self.results) if made is not None)

    def _shown(self, number: int, result: int) -> set[int]:
        """The axes that are dimensions of a value."""
        op = self.ops[number]
        return {op.axes[p] for p in map(dim_position, op.output_maps[result].results) if p is not None}

    def find(self, loop: int) -> int:
        while self.parent[loop] != loop:
            self.parent[loop] = self.parent[self.parent[loop]]
            loop = self.parent[loop]
        return loop

    def _union(self, a: int, b: int) -> None:
        a, b = sorted((self.find(a), self.find(b)))
        self.parent[b] = a

    def _tie_through_values(self) -> None:
        for number, op in enumerate(self.ops):
            base = self._offsets[number]
            for m, value in zip(op.maps, op.inputs + op.inits):
                made = self.producer(value)
                if made is None:
                    continue
                out = self.ops[made[0]].output_maps[made[1]]
                for mine, theirs in zip(m.results, out.results):
                    position = dim_position(theirs)
                    if position is None:
                        continue
                    loop = self._offsets[made[0]] + position
                    reader = dim_position(mine)
                    if reader is not None:
                        self._union(base + reader, loop)
                    elif self.ops[made[0]].extents[position] != 1:
                        self.whole.add(loop)
            for extract in walk(op.op, "tensor.extract"):
                made = self.producer(extract.operands[0])
                if made is not None:
                    self._tie_extract(base, list(extract.operands)[1:], *made)

    def _tie_extract(self, base: int, indices: list[ir.Value], number: int, result: int) -> None:
        """Ties the loops of a producer to those at whose own index a body extracts its value; the value is whole along the others."""
        out = self.ops[number].output_maps[result]
        for index, expr in zip(indices, out.results):
            loop, reader = self._offsets[number] + loop_of(expr), loop_index(index)
            if reader is not None:
                self._union(base + reader, loop)
            elif self.ops[number].extents[loop_of(expr)] != 1:
                self.whole.add(loop)

    def _tie_components(self) -> None:
        """Results that share no intermediate are tied where they, or what they are made of, read the largest array that they share; where
        they share none, position by position where their shapes agree."""
        first: tuple[int, list[int], list[int]] | None = None
        for value in self.results:
            made = self.producer(value)
            if made is None:
                continue
            out = self.ops[made[0]].output_maps[made[1]]
            loops = [self._offsets[made[0]] + p for p in map(dim_position, out.results) if p is not None]
            sizes = shape_of(value)
            if first is None:
                first = made[0], loops, sizes
            elif not {self.find(a) for a in loops} & {self.find(a) for a in first[1]}:
                alike = [(a, b) for a, b, m, n in zip(loops, first[1], sizes, first[2]) if m == n]
                for a, b in self._read_alike(made[0], first[0]) or alike:
                    self._union(a, b)

    def _read_alike(self, one: int, other: int) -> list[tuple[int, int]]:
        """The loops by which two ops, or those whose results they read, read the largest array that both read."""
        reads = [[(_viewed(v), self._offsets[n], m) for n in self._upstream(op) for v, m in self._given(n)] for op in (one, other)]
        pairs = [(a, x, m, y, n) for a, x, m in reads[0] for b, y, n in reads[1] if a is not None and a == b]
        if not pairs:
            return []
        _, x, m, y, n = max(pairs, key=lambda pair: prod(pair[0][1]))
        places = [(dim_position(mine), dim_position(theirs)) for mine, theirs in zip(m.results, n.results)]
        return [(x + a, y + b) for a, b in places if a is not None and b is not None]

    def _upstream(self, number: int) -> list[int]:
        """The op of that number, and all that it reads from, directly or not."""
        found = [number]
        for each in found:
            made = {maker[0] for maker in map(self.producer, self.reads(self.ops[each])) if maker is not None}
            found += sorted(made - {*found})
        return found

    def _given(self, number: int) -> list[tuple[ir.Value, ir.AffineMap]]:
        """The inputs of an op that none of the ops makes, and how it reads them."""
        op = self.ops[number]
        return [(value, m) for value, m in zip(op.inputs, op.maps) if self.producer(value) is None]

    def _name(self) -> None:
        self.extent: dict[int, int] = {}
        for number, op in enumerate(self.ops):
            op.axes = [self.find(self._offsets[number] + d) for d in range(len(op.extents))]
            for axis, extent in zip(op.axes, op.extents):
                self.extent[axis] = extent
        self.whole = {self.find(loop) for loop in self.whole}

    def _find_tileable(self) -> set[int]:
        returned = {made for made in map(self.producer, self.results) if made is not None}
        returned_ops = {number for number, _ in returned}
        tileable = {axis for axis, extent in self.extent.items() if extent > 1} - self.whole
        for op in self.ops:
            for axis, parallel in zip(op.axes, op.parallel):
                if not parallel or op.axes.count(axis) > 1:
                    tileable.discard(axis)
        most = max((op.work for op in self.ops), default=0) // CHEAP_SHARE
        for number, op in enumerate(self.ops):
            anew = op.work * prod(self.extent[axis] for axis in tileable - set(op.axes))
            if number in returned_ops or (op.points > CHEAP_POINTS and anew > most):
                tileable &= set(op.axes)
        for number, result in returned:
            tileable &= self._shown(number, result)
        return tileable
