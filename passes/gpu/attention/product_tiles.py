"""The tiles that a kernel of a group of products has in shared memory.

what contractions at points have of the block's rows        once
what they have of a step's columns                           a ring
what contractions over columns multiply, of these columns    a ring, unless it is one of the tiles above (k in S = Q K and dQ = dS K)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from torch_mlir import ir

from ...common.attention import BLOCK_ROWS
from ..contraction.contraction import ContractionGroup, LoopGroup, Operand
from ..contraction.cp_async import TileShape, tile_shape
from ..support.launch import shared_bytes, shared_view
from ..support.layout import power_above
from .products_group import ProductsGroup

NARROW = 64
"""Of rows up to this width a step has 64 columns."""


@dataclass(frozen=True)
class Tile:
    """An operand's tile in shared memory: whose it is, and how it lies."""

    contraction: ContractionGroup
    operand: Operand
    shape: TileShape


@dataclass(frozen=True)
class ProductTiles:
    """Of each contraction at points the tiles of its rows and columns, and of each over columns where its right operand is."""

    lefts: tuple[Tile, ...]
    rights: tuple[Tile, ...]
    """Of the contractions at points, and behind them what those over columns have alone."""
    values: tuple[tuple[int, TileShape], ...]
    """Which of `rights` a contraction over columns multiplies, with the tile as it reads it."""

    @property
    def all(self) -> tuple[Tile, ...]:
        return (*self.lefts, *self.rights)

    def _rings(self, stages: int) -> list[list[int]]:
        """The shapes of all tiles in shared memory: of what a step has of the columns there are so many."""
        counts = [1] * len(self.lefts) + [stages] * len(self.rights)
        return [[count, tile.shape.lines, tile.shape.length] for count, tile in zip(counts, self.all)]

    def places(self, stages: int) -> list[int]:
        """Where each tile's ring begins in shared memory, in bytes, and where the last one ends."""
        sizes = [shared_bytes(ring, tile.shape.element) for ring, tile in zip(self._rings(stages), self.all)]
        return [0, *accumulate(sizes)]

    def views(self, stages: int, arena: ir.Value) -> list[ir.Value]:
        """The rings in the arena."""
        rings = zip(self.places(stages), self._rings(stages), self.all)
        return [shared_view(arena, place, ring, tile.shape.element) for place, ring, tile in rings]

    @staticmethod
    def of(group: ProductsGroup, columns: int, threads: int, longest: int = 0) -> ProductTiles:
        """With `columns` a step, and lines of at most `longest` elements (0: as long as they are)."""

        def tile(contraction: ContractionGroup, operand: Operand, groups: tuple[LoopGroup, LoopGroup], size: tuple[int, int]) -> Tile:
            free, depth = (max(16, power_above(extent)) for extent in size)
            return Tile(contraction, operand, tile_shape(operand, groups, free, depth, threads, longest=longest))

        lefts = [tile(each, each.left, (each.rows, each.inner), (BLOCK_ROWS, each.inner.extent)) for each in group.scores]
        rights = [tile(each, each.right, (each.cols, each.inner), (columns, each.inner.extent)) for each in group.scores]
        values = []
        for each in group.products:
            new = tile(each, each.right, (each.cols, each.inner), (each.cols.extent, columns))
            at = _place_of(new, rights[: len(group.scores)])
            values.append((len(rights) if at is None else at, new.shape))
            rights += [new] if at is None else []
        return ProductTiles(tuple(lefts), tuple(rights), tuple(values))


def _place_of(new: Tile, tiles: Sequence[Tile]) -> int | None:
    return next((n for n, tile in enumerate(tiles) if _is_same(tile, new)), None)


def _is_same(tile: Tile, other: Tile) -> bool:
    """Whether the tile that a contraction has of the columns has the elements, in the same places, that a product reads there."""
    score, product, shape = tile.contraction, other.contraction, other.shape
    (own, extent), (inner, depth) = product.cols.loops[0], score.inner.loops[0]
    if tile.operand.is_computed or other.operand.is_computed or extent != depth:
        return False
    if (tile.shape.lines, tile.shape.length, tile.shape.along_inner) != (shape.lines, shape.length, not shape.along_inner):
        return False
    one, two = tile.operand.access, other.operand.access
    terms = {own if variable == inner else variable: factor for variable, factor in one.index.terms.items()}
    same = terms == dict(two.index.terms) and one.index.constant == two.index.constant
    return same and one.buffer == two.buffer and not one.edges and not two.edges
