"""AMX tiles, and the step that all products by them are made of: each of some tiles of rows is multiplied with each of some of columns.

    a0, a1 = tile_load A[m…, k];  b0, b1 = tile_load B[k/2, n…, 2];  cij = tile_mulf (tile_muli) ai, bj, cij

A tile of the left operand is 16 rows × 32 bf16 of depth, a tile of the right one 16 pairs of depth × 16 columns of 2 bf16; of bytes they
are 16 rows × 64, and 16 quads × 16 columns of 4. Two tiles of each make a block of 32 × 32 sums, four registers. What does not fill the
last block is covered by tiles that end where the rows (columns) end: they compute anew what they share with those before them, to the same
bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from torch_mlir import ir
from torch_mlir.dialects import memref

from ...common.control_flow import LoopBound
from ...common.linear_index import LinearIndex
from ...common.rewriting import DYNAMIC, create, value_of
from ...common.storage import Storage
from ...common.tiled_function import size_bound

SIDE, BLOCK = 16, 32
"""Rows and columns of a tile, and of a block of tiles."""


def tiles_of(block: LoopBound) -> list[LinearIndex]:
    """Where the tiles of a block of so many rows (columns) begin, up to 32: the last ends with it."""
    first = LinearIndex()
    return [first] if size_bound(block) <= SIDE else [first, LinearIndex.of(block) - SIDE]


@dataclass(frozen=True)
class Format:
    """What tiles hold: elements of a type, so many side by side in 32 bits, and sums of their products; the op that makes these."""

    element: str
    group: int
    sums: str
    product: str
    unsigned: tuple[str, ...] = ()
    """Attributes of the op `product`: which operands have no sign."""

    @property
    def depth(self) -> int:
        """Elements of depth that a tile holds."""
        return 16 * self.group

    def multiply(self, left: Sequence[ir.Value], right: Sequence[ir.Value], sums: Sequence[ir.Value]) -> list[ir.Value]:
        """`sums`, row by row, and the products of each left tile with each right one."""
        unsigned = dict.fromkeys(self.unsigned, ir.UnitAttr.get())
        return [value_of(self.product, c.type, [a, b, c], **unsigned) for (a, b), c in zip(product(left, right), sums, strict=True)]

    def zero(self, rows: int = SIDE) -> ir.Value:
        """A tile of sums."""
        return value_of("x86.amx.tile_zero", self.tile_of_sums(rows))

    def tile_of_sums(self, rows: int = SIDE) -> ir.Type:
        """The type of a tile of so many rows × 16 sums."""
        return ir.Type.parse(f"!x86.amx.tile<{rows}x16x{self.sums}>")


BF16 = Format("bf16", 2, "f32", "x86.amx.tile_mulf")


def bytes_format(left_signed: bool, right_signed: bool) -> Format:
    """Products of bytes, each operand with its sign or without."""
    unsigned = tuple(name for name, signed in (("isZextLhs", left_signed), ("isZextRhs", right_signed)) if not signed)
    return Format("i8", 4, "i32", "x86.amx.tile_muli", unsigned)


@dataclass(frozen=True)
class Operand:
    """How an operand lies in memory: element (i, k, reduced…) is at `offset + i * across + k * along + …`.

    `pairs` > 0: k is split in two, pairs (of bytes: quads) lie side by side and are that far apart; `along` is then 1 within a pair.
    """

    storage: Storage
    offset: LinearIndex
    across: int
    along: int
    reduced: dict[int, int] = field(default_factory=dict)
    pairs: int = 0
    group: int = 2

    def at(self, i: LinearIndex, k: LinearIndex, reduced: dict[int, LinearIndex]) -> LinearIndex:
        """The address of an element; k must be even where the operand is stored in pairs (a multiple of 4, in quads)."""
        total = self.offset + i * self.across + k * (self.pairs // self.group if self.pairs else self.along)
        for dim, index in reduced.items():
            total = total + index * self.reduced[dim]
        return total

    def moved(self, i: LinearIndex | int, k: LinearIndex | None = None, reduced: dict[int, LinearIndex] | None = None) -> Operand:
        """The operand from an element on."""
        return replace(self, offset=self.at(LinearIndex.of(i), k or LinearIndex(), reduced or {}))

    def tile(self, k: LinearIndex, form: Format, rows: int = SIDE) -> ir.Value:
        """Loads its first tile of `rows` × depth, from `k` on: rows are `across` apart, or `pairs` for a right operand."""
        kind = ir.Type.parse(f"!x86.amx.tile<{rows}x{form.depth}x{form.element}>")
        return _load(kind, _window(self.storage, self.at(LinearIndex(), k, {}), (rows, form.depth), self.pairs or self.across))


def load_sums(storage: Storage, address: LinearIndex, row: int, form: Format, rows: int = SIDE) -> ir.Value:
    """The tile of sums at `address`, with rows that are `row` apart."""
    return _load(form.tile_of_sums(rows), _window(storage, address, (rows, 16), row))


def store_tile(tile: ir.Value, storage: Storage, address: LinearIndex, row: int, rows: int = SIDE) -> None:
    """Stores a tile of `rows` × 16 sums with rows that are `row` apart."""
    window, zero = _window(storage, address, (rows, 16), row), LinearIndex().value()
    create("x86.amx.tile_store", [], [window, zero, zero, tile], operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 2, 1, 0]))


def _load(kind: ir.Type, window: ir.Value) -> ir.Value:
    zero = LinearIndex().value()
    return value_of("x86.amx.tile_load", kind, [window, zero, zero], operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 2, 0]))


def _window(storage: Storage, address: LinearIndex, shape: tuple[int, int], row: int) -> ir.Value:
    kind = ir.MemRefType.get(shape, storage.element, ir.StridedLayoutAttr.get(DYNAMIC, [row, 1]))
    return memref.reinterpret_cast(kind, storage.base, [address.value()], [], [], [DYNAMIC], list(shape), [row, 1])
