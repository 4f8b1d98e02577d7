"""The tile sizes of contractions on a CPU.

    C[m, n] = sum over k of A[m, k] * B[k, n]        rows m of the left operand, columns n of the right one; batch axes move both

Batch axes are cut one by one, but where each has a few products (matrices of 3 × 3 by vectors). Columns are cut into panels whose part of
B stays in L2, outside the rows. Where L2 holds all panels of B beside a tile's rows, and A or C is large, rows go outside: A is then read
from memory once.

A product of few rows has no reuse: its columns are cut into wide runs, one a core, so that each row of B is read in long contiguous pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.axes import Axes, TileOp, even_size
from ...common.contraction import (
    PANEL_STEPS,
    SHALLOW,
    block_columns,
    block_registers,
    block_rows,
    input_loops,
    integer_product,
    multiplies_bf16,
    rows_on_tiles,
    sums_in_parts,
)
from ...common.nibbles import nibble_product
from ...common.rewriting import element_of
from .cutting import LOOP_TILE_POINTS, cut, innermost, panels

_TILE_COLUMNS, _TILE_ROWS, _MOST_ROWS = 64, 96, 144
_LEAST_COLUMNS = 32
_LEAST_LINES = 8
_FEW = 8
"""Fewer rows (columns) than this reuse too little of B (A) for tiles of both."""
_FEW_PRODUCTS = 12
"""Of a batch: a tile has many batches."""
_RUN_COLUMNS = 1024
"""Columns of a tile of few rows, at least."""
_SPLIT_ROWS = 24
"""Rows of a tile, at least, of a product whose weights are split in registers: with fewer the weights are read too often."""
_SHALLOW_ROWS = 6
"""Rows of a block of registers, where sums have few steps."""
_TILE_BYTES = 64
"""Of depth in an AMX tile."""
SUM_BYTES = 4
"""Of a sum of what AMX multiplies."""
_TILES_A_CORE = 4
_MOST_PANELS = 4


@dataclass(frozen=True)
class _Product:
    """A contraction as a product of matrices: the result's axes `output`, in order, are those that move the left operand alone (`rows`),
    the right one alone (`columns`), and others (`batch`). `packed`: the panel width of axes along which an operand is packed."""

    hero: TileOp
    axes: Axes
    output: list[int]
    rows: list[int]
    columns: list[int]
    batch: list[int]
    packed: dict[int, int]

    @classmethod
    def of(cls, hero: TileOp, axes: Axes) -> _Product:
        output = [hero.axes[p] for p in map(dim_position, hero.output_maps[0].results) if p is not None]
        loop = {axis: loop for loop, axis in enumerate(hero.axes)}
        left, right, *_ = input_loops(hero)
        rows = [a for a in output if loop[a] in left and loop[a] not in right]
        columns = [a for a in output if loop[a] in right and loop[a] not in left]
        batch = [a for a in output if a not in rows and a not in columns]
        return cls(hero, axes, output, rows, columns, batch, panels(hero))

    def count(self, some: list[int]) -> int:
        """The points of some axes."""
        return prod(self.axes.extent[a] for a in some)

    @property
    def depth(self) -> int:
        """The steps of each sum."""
        return prod(extent for extent, parallel in zip(self.hero.extents, self.hero.parallel) if not parallel)

    def bytes_of(self, value: ir.Value) -> int:
        """Bytes of an operand or of the result."""
        kind = ir.RankedTensorType(value.type)
        return prod(kind.shape) * element_bytes(kind.element_type)


def contraction_schedule(hero: TileOp, axes: Axes, target: TargetView) -> dict[int, int]:
    """The tile sizes of the axes that are cut, in the order of the tile loops."""
    product = _Product.of(hero, axes)
    rows, columns = product.count(product.rows), product.count(product.columns)
    beside = _panels_beside(hero, product.columns)
    sizes = {axis: 1 for axis in product.batch if axis in axes.tileable}
    products = rows * columns * product.depth
    if product.batch and products <= _FEW_PRODUCTS and not product.packed:
        several: dict[int, int] = {}
        cut(several, axes, product.batch, LOOP_TILE_POINTS // products)
        return several
    if rows < _FEW and not product.packed and not beside and not _in_lanes(hero):
        cut(sizes, axes, product.columns, _columns_of_few_rows(product, target))
    elif columns < _FEW:
        cut(sizes, axes, product.rows, _lines(rows, target))
    elif product.depth <= SHALLOW and not product.packed:
        last = product.output[-1]
        inside, outside = (product.rows, product.columns) if last in product.rows else (product.columns, product.rows)
        wide, high = _shallow_tile(axes.extent[last] if last in product.rows else columns)
        cut(sizes, axes, inside, wide)
        cut(sizes, axes, outside, high)
    else:
        return _tiles_of_both(product, beside, sizes, target)
    return sizes


def _columns_of_few_rows(product: _Product, target: TargetView) -> int:
    rows, columns = product.count(product.rows), product.count(product.columns)
    if innermost(product.hero, 1) not in product.columns:
        return _lines(columns, target)
    a_core = ceil(columns / (64 * target.cores)) * 64
    return max(_RUN_COLUMNS, min(16 * _RUN_COLUMNS // rows, a_core))


def _tiles_of_both(product: _Product, beside: bool, sizes: dict[int, int], target: TargetView) -> dict[int, int]:
    """The sizes with those of tiles of several rows and columns; `beside`: of `_panels_beside`."""
    hero, axes, packed, rows, columns = product.hero, product.axes, product.packed, product.rows, product.columns
    rows_first = _rows_first(product, target)
    wide, high = _block(hero, target, packed, product.count(rows), product.count(columns), rows_first)
    if beside or (len(columns) > 1 and _in_lanes(hero)):
        wide = max(wide, axes.extent[columns[-1]])  # a panel, which lies in one piece
    sizes |= _whole_panels(product, wide, target)
    cut(sizes, axes, [a for a in columns if a not in packed], wide)
    if rows and not amx_bytes(hero, target):
        high = _even_rows(hero, axes.extent[rows[-1]], high, target, lanes=rows[-1] == product.output[-1])
    cut(sizes, axes, rows, high)
    sizes = sizes or _a_piece_a_core(product, target)
    if rows_first or _is_split(hero, target) or amx_bytes(hero, target):
        order = [axis for axis in sizes if axis not in rows and axis not in columns] + rows + columns
        return {axis: sizes[axis] for axis in order if axis in sizes}
    return sizes


def _rows_first(product: _Product, target: TargetView) -> bool:
    """Whether rows go outside: L2 holds all panels of the right operand beside a tile's rows, and the last cache does not hold the left
    operand beside much else, or the result is large and wide."""
    hero, columns = product.hero, product.columns
    width, (left, right), result = product.count(columns), hero.inputs[:2], hero.inits[0]
    in_panels = bool(product.packed) or (len(columns) > 1 and _moves_first(hero, columns[0]))
    is_far = product.bytes_of(left) > target.llc_bytes // 4
    is_spread = product.bytes_of(result) > target.l2_bytes and width > _TILE_COLUMNS
    fits = product.depth * width * element_bytes(element_of(right)) <= target.l2_bytes // 2
    return (is_far or is_spread) and in_panels and amx_bytes(hero, target) == 0 and fits


def _moves_first(hero: TileOp, axis: int) -> bool:
    """Whether the right operand's first dimension goes along the axis."""
    place = dim_position(hero.maps[1].results[0])
    return place is not None and hero.axes[place] == axis


def _whole_panels(product: _Product, wide: int, target: TargetView) -> dict[int, int]:
    """The sizes of packed columns: whole panels, of the result's last axis several where a tile is wider."""
    block = block_columns(target, element_of(product.hero.inits[0]))
    sizes = {}
    for axis in product.columns:
        if axis not in product.packed or axis not in product.axes.tileable:
            continue
        width = product.packed[axis]
        several = axis == product.output[-1] and width == block and not _in_lanes(product.hero)
        size = width * (max(1, wide // block) if several else 1)
        if size < product.axes.extent[axis]:
            sizes[axis] = size
    return sizes


def _lines(count: int, target: TargetView) -> int:
    """Lines of a matrix in a tile, where each line gives few sums: enough lines that what is computed of the sums fills registers, and few
    enough that all cores get some tiles."""
    most = _TILE_COLUMNS
    while most > _LEAST_LINES and ceil(count / most) < _TILES_A_CORE * target.cores:
        most //= 2
    return most


def _shallow_tile(columns: int) -> tuple[int, int]:
    """Columns and rows of a tile of sums with few steps, whose results are stored about as often as operands are loaded. It has whole rows,
    since memory is written best in long runs, or panels of them that begin at cache lines; and whole blocks of rows. What the result lies
    along are its columns here, be it the pixels of features or the features of pixels."""
    most = LOOP_TILE_POINTS // _SHALLOW_ROWS // _TILE_COLUMNS
    wide = columns if columns <= most * _TILE_COLUMNS else _TILE_COLUMNS * even_size(ceil(columns / _TILE_COLUMNS), most)
    return wide, LOOP_TILE_POINTS // wide // _SHALLOW_ROWS * _SHALLOW_ROWS


def _a_piece_a_core(product: _Product, target: TargetView) -> dict[int, int]:
    """The last axis in one piece of whole registers for each core, where the results are more than a tile should have and no other axis may
    be cut: what follows the product needs all of these, as heads that are merged with rows do."""
    axes, last = product.axes, product.output[-1]
    lanes = target.lanes(8 * element_bytes(element_of(product.hero.inits[0])))
    size = ceil(axes.extent[last] / max(1, target.cores) / lanes) * lanes
    many = product.count(product.output) > 2 * _TILE_COLUMNS * _MOST_ROWS
    return {last: size} if many and last in axes.tileable and size < axes.extent[last] else {}


def _panels_beside(hero: TileOp, columns: list[int]) -> bool:
    """Whether the right operand is packed in panels, `w[panel, step, column]`, and the panels are an axis of the result."""
    places = [dim_position(expr) for expr in hero.maps[1].results]
    if len(columns) < 2 or len(places) != 3 or places[1] is None:
        return False
    outside, inside = (None if place is None else hero.axes[place] for place in (places[0], places[2]))
    return not hero.parallel[places[1]] and outside == columns[0] and inside == columns[-1]


def _in_lanes(hero: TileOp) -> bool:
    """Whether the right operand is packed in lanes of 32 bits, with a loop over the elements of a lane: a panel is contiguous."""
    nibbles = nibble_product(hero.op.regions[0].blocks[0])
    if nibbles is not None:
        return nibbles.word == 1
    last = dim_position(hero.maps[1].results[-1]) if len(hero.maps[1].results) > 2 else None
    size = element_bytes(element_of(hero.inputs[1]))
    return last is not None and not hero.parallel[last] and size < 4 and hero.extents[last] * size == 4


def _is_split(hero: TileOp, target: TargetView) -> bool:
    """Whether the right operand has pairs of bf16 that no instruction multiplies. Rows are then widened to f32 once for all columns, and
    stay in L2."""
    return _in_lanes(hero) and multiplies_bf16(hero.op.regions[0].blocks[0]) and target.widens("bf16")


def _block(hero: TileOp, target: TargetView, packed: dict[int, int], rows: int, columns: int, rows_first: bool) -> tuple[int, int]:
    """Columns and rows of a tile. AMX takes panels of 32 columns and as many rows as L2 holds beside two panels; two panels and half as
    many rows where L2 does not hold the results, of which each row is then two cache lines at a time. Where it must pack an operand first,
    enough of the other to be worth it."""
    size = amx_bytes(hero, target)
    depth = prod(extent for extent, parallel in zip(hero.extents, hero.parallel) if not parallel)
    if size == 0:
        return _register_tile(hero, target, rows, columns, depth, rows_first)
    is_direct = _left_lies_along_sum(hero) and depth * size % _TILE_BYTES == 0
    if is_direct:
        parts = 2 if SUM_BYTES * rows * columns > 2 * target.l2_bytes else 1
        return 32 * parts, _even_blocks(rows, rows_on_tiles(parts * depth, size, target), 32)
    return (32 if packed else 256), _even_blocks(rows, min(256, max(1, target.l2_bytes // 8 // (size * depth) // 32) * 32), 32)


def _register_tile(hero: TileOp, target: TargetView, rows: int, columns: int, depth: int, rows_first: bool) -> tuple[int, int]:
    """Columns and rows of a tile that is computed in blocks of registers. Tiles are larger where all cores still get some: they have all
    rows, if these are few or half of L2 holds what is read of them, and several panels of columns. A sum that is packed part by part is
    packed once for the rows of a tile: these are as many as half of L2 holds. Where rows are read part by part (deep_sums.py), L2 holds
    a part of them, and the results of all columns."""
    kinds = {element_of(value) for value in [*hero.inputs[:2], *hero.inits]}
    size = element_bytes(kinds.pop()) if len(kinds) == 1 else 0
    if _is_split(hero, target):
        return _TILE_COLUMNS, max(_SPLIT_ROWS, target.l2_bytes // 2 // (4 * depth))
    if size < 4:
        return _narrow_tile(hero, target, depth)
    panels, least = ceil(columns / _TILE_COLUMNS), _TILES_A_CORE * target.cores
    if _left_lies_along_sum(hero) and sums_in_parts(rows, depth, size, target):
        most = max(_TILE_ROWS, target.l2_bytes // 8 // (size * PANEL_STEPS))
        high = _even_blocks(rows, most, block_rows(target, block_registers(target)))
        several = min(ceil(rows / high) * panels // (least // 2), target.l2_bytes // 4 // (size * high * _TILE_COLUMNS))
        return _TILE_COLUMNS * max(1, several), high
    in_parts = depth * _TILE_COLUMNS * size > target.tile_bytes
    most = max(_MOST_ROWS, target.l2_bytes // 2 // (size * (PANEL_STEPS if in_parts else depth)))
    whole = rows <= most and panels >= least and not rows_first
    high = rows if whole else most if in_parts and ceil(rows / most) * panels >= least else _TILE_ROWS
    several = ceil(rows / high) * panels // least
    return _TILE_COLUMNS * max(1, min(_MOST_PANELS, several)), high


def _narrow_tile(hero: TileOp, target: TargetView, depth: int) -> tuple[int, int]:
    """Columns and rows of a tile whose operands are packed in pairs or fours of a lane: as many as a panel of all steps fits the cache for.
    A left operand that lies along the sum is read where it is."""
    room = target.tile_bytes // (depth * element_bytes(element_of(hero.inputs[1])))
    is_packed = not _left_lies_along_sum(hero)
    columns = _TILE_COLUMNS
    while columns > _LEAST_COLUMNS and columns * (2 if is_packed else 1) > room:
        columns //= 2
    if columns * (2 if is_packed else 1) > room:
        return _TILE_COLUMNS, _TILE_ROWS
    return columns, min(_TILE_ROWS, room - columns) if is_packed else _TILE_ROWS


def _left_lies_along_sum(hero: TileOp) -> bool:
    along = innermost(hero, 0)
    return along is not None and not hero.parallel[hero.axes.index(along)]


def _even_rows(hero: TileOp, extent: int, most: int, target: TargetView, *, lanes: bool) -> int:
    """Rows of tiles that cut `extent` as evenly as whole blocks of registers can: of 196 three times 66, not 96, 96 and 4. Rows that are
    `lanes` of the result go by blocks of columns, a part of which takes as long as all of it: of 3,136 128, not 96."""
    unit = block_rows(target, block_registers(target))
    elements = [element_of(value) for value in (hero.inputs[0], hero.inits[0])]
    if lanes and elements[0] == elements[1]:
        unit = block_columns(target, elements[1])
        most = ceil(most / unit) * unit
    return most if extent <= most else _even_blocks(extent, most, unit)


def _even_blocks(extent: int, most: int, unit: int) -> int:
    """The size of tiles of at most `most` that cut `extent` as evenly as whole blocks of `unit` can; `extent` where it is no more."""
    return extent if extent <= most else min(most, ceil(even_size(extent, most) / unit) * unit)


def amx_bytes(hero: TileOp, target: TargetView) -> int:
    """Bytes of the elements that AMX multiplies here, 0 where it multiplies none."""
    if not (target.amx_bf16 or target.amx_int8) or hero.op.name != "linalg.generic":
        return 0
    block = hero.op.regions[0].blocks[0]
    if target.amx_bf16 and multiplies_bf16(block):
        return 2
    product = integer_product(block) if target.amx_int8 else None
    return 1 if product is not None and product.bits == 8 else 0
