"""The schedule of convolutions with the channels last: lines of pixels stay whole, output channels go by blocks.

A line is the innermost loop of pixels. Zeros around it are known while its code is emitted, so the kernel jams its pixels
(passes/vector/nests/windows.py). A tile has so many lines that it has some work, and one block of the weights. Weights that a near cache
holds are read again for each tile of lines, all blocks of them while its pixels are there. Others are read block by block, each by the
tiles of all lines; of one image, where reading the weights for each costs less than reading the images for each block.
"""

from __future__ import annotations

from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position, used_dims
from ...common.axes import Axes, TileOp, even_size
from ...common.contraction import input_loops
from ...common.linear_index import LinearIndex, linear_form, linear_results
from ...common.rewriting import defining_op, element_of
from ...common.strips import strip_of
from ...common.winograd import FilterLoops, is_transformed, outputs_of, room_beside, tiles_along, tiles_kept, tiles_together
from .cutting import cut, panels

_BLOCK = 64
"""Output channels of a tile where the weights are not packed."""
_CHANNELS = 128
"""Channels of a tile of a convolution that is one for each channel, where a tile has not all of them."""
_LINES, _LEAST_LINES = 8, 2
"""Of a tile that has all channels: more share little more of the pixels."""
_STRIP_LINES = 4
"""Of a tile that goes over its pixels in strips, at least: nobody has asked for what its first line reads."""
_ENOUGH, _MOST_READ = 1.25, 2
"""Pixels that a tile reads, for each that the one before it has not read: fewer lines of few taps come from memory sooner."""
_NEAR = 5 / 8
"""Of L2 for the pixels of a tile and of the next."""
_PIXELS = 96
_LEAST_ROWS = 16
"""Channels of a tile of a gradient by weights."""
_POINTS = 4096
"""Results of a tile of whole pictures."""
_LANES = 128
"""Pixels of a tile that lie along the lanes, where no window joins them: its panel stays in the first cache."""
_LEAST_TILES = 16
"""Winograd tiles of a tile, at least, which the threads share."""
_TILES_A_CORE = 4
"""Where they are large enough."""


def has_windows(hero: TileOp) -> bool:
    """Whether the first input of a contraction is read at sums of loops, as the pixels of a convolution are."""
    return any(len(used_dims(expr)) > 1 for expr in hero.maps[0].results)


def has_groups_in_lanes(hero: TileOp) -> bool:
    """Whether the innermost dim of the result is that of its first two inputs: what is summed for one of them shares nothing with the next,
    as the patches of a convolution that is one for each channel."""
    loops = [dim_position(m.results[-1]) if m.results else None for m in (*hero.maps[:2], hero.output_maps[0])]
    return loops[0] is not None and set(loops) == {loops[0]}


def roles(hero: TileOp) -> tuple[list[int], list[int], list[int], list[int]]:
    """The axes of the result, and of these those of pixels, of features, and of both."""
    output = [hero.axes[p] for p in map(dim_position, hero.output_maps[0].results) if p is not None]
    pixels, weights, *_ = input_loops(hero)
    of = {axis: loop for loop, axis in enumerate(hero.axes)}
    lines = [a for a in output if of[a] in pixels and of[a] not in weights]
    columns = [a for a in output if of[a] in weights and of[a] not in pixels]
    return output, lines, columns, [a for a in output if of[a] in pixels and of[a] in weights]


def shares_registers(hero: TileOp, axes: Axes, target: TargetView) -> bool:
    """Whether a register of sums is several groups, of as many channels as features each (passes/vector/nests/lane_groups.py)."""
    output, _, columns, groups = roles(hero)
    width, lanes = axes.extent[output[-1]], target.lanes(8 * element_bytes(element_of(hero.inits[0])))
    if not groups or output[-1] not in columns or not 1 < width < lanes or lanes % width:
        return False
    group = hero.axes.index(groups[-1])
    return any(len(index.terms) == 2 and index.terms.get(group) == width for index in linear_form(hero.maps[0]) or ())


def convolution_schedule(hero: TileOp, axes: Axes, target: TargetView) -> dict[int, int]:
    """The tile size of each tiled axis, outermost first."""
    output, lines, columns, groups = roles(hero)
    of = {axis: loop for loop, axis in enumerate(hero.axes)}
    if is_transformed(hero.inputs[1]):
        return _winograd_schedule(hero, axes, lines, columns, groups, target)
    if groups and output[-1] in lines:
        sizes = _pictures_schedule(axes, groups[0], output)
        if _is_bare(hero, of[output[-1]]):
            cut(sizes, axes, [output[-1]], _LANES)
        return sizes
    lanes = target.vector_bits // (8 * element_bytes(kinds(hero)[0].element_type))
    narrow = bool(groups) and output[-1] in columns and axes.extent[output[-1]] < lanes  # several share a register
    sizes = {axis: 1 for axis in groups if axis in axes.tileable and not narrow}
    together = None
    if output[-1] in sizes:
        del sizes[output[-1]]
        together = _lines_of_all_channels(hero, axes, lines, target)
        if together is None:
            cut(sizes, axes, [output[-1]], _channels(axes.extent[output[-1]], hero, target))
    widths = panels(hero)
    sizes |= {axis: widths[axis] for axis in columns if axis in widths and axis in axes.tileable}
    cut(sizes, axes, [a for a in columns if a not in sizes], _BLOCK)
    rows = None if narrow else _rows_of_all_taps(hero, axes, lines, columns, groups, target)
    _cut_lines(sizes, hero, axes, lines, together, rows)
    cores = max(2, target.cores)
    if narrow and prod(ceil(axes.extent[axis] / size) for axis, size in sizes.items()) < cores:
        _cut_groups(sizes, axes, groups[-1], lanes // axes.extent[output[-1]], cores)
    return {axis: sizes[axis] for axis in order(hero, axes, sizes, lines, target)}


def _cut_lines(sizes: dict[int, int], hero: TileOp, axes: Axes, lines: list[int], together: int | None, rows: int | None) -> None:
    """`together`: lines of a tile of all channels; `rows`: channels of a tile of all taps; else None."""
    if rows is not None:
        return cut(sizes, axes, lines[-1:], rows)
    if len(lines) == 1 and _is_bare(hero, hero.axes.index(lines[0])):
        return cut(sizes, axes, lines, _PIXELS)
    line = axes.extent[lines[-1]] if lines else 1
    cut(sizes, axes, lines[:-1], together or max(1, _PIXELS // line))
    for axis in lines[:-1]:
        if axis in sizes and _is_bare(hero, hero.axes.index(axis)):  # of a gradient by weights, the rows of blocks
            sizes[axis] = _dividing(axes.extent[axis], sizes[axis])


def _rows_of_all_taps(hero: TileOp, axes: Axes, lines: list[int], columns: list[int], groups: list[int], target: TargetView) -> int | None:
    """Of a gradient by weights, whose lines are the taps and then the image's channels: so many channels that a tile has all taps. Where
    few taps of a weight lie beside each other, as in PyTorch, tiles of one tap would each read and write all cache lines of the result;
    of groups each would copy the images (passes/vector/nests/image_copies.py).

    None for another convolution; without groups where L2 holds the result, and where the taps of a weight fill two lines.
    """
    if len(lines) < 2 or hero.axes.index(lines[-1]) not in used_dims(hero.maps[0].results[-1]):
        return None
    *taps, channel = lines
    nbytes = element_bytes(kinds(hero)[0].element_type)
    windows, channels = prod(axes.extent[axis] for axis in taps), axes.extent[channel]
    blocks = ceil(prod(axes.extent[axis] for axis in columns) / _BLOCK)
    pieces = blocks * prod(axes.extent[axis] for axis in groups)
    fits = windows * channels * blocks * _BLOCK * nbytes <= target.l2_bytes
    if windows == 1 or (not groups and (fits or windows * nbytes > 2 * target.cache_line_bytes)):
        return None
    most = target.l2_bytes // (2 * windows * _BLOCK * nbytes)
    shared = channels * pieces // max(2, target.cores)
    return _dividing(channels, max(_LEAST_ROWS, min(_PIXELS, most, shared)))


def _cut_groups(sizes: dict[int, int], axes: Axes, group: int, register: int, cores: int) -> None:
    """Cuts groups of which so many share a `register`, into whole registers, for the cores: each piece reads lines of its own."""
    extent = axes.extent[group]
    pieces = [n for n in range(min(cores, extent // register), 1, -1) if extent % (n * register) == 0]
    if group in axes.tileable and pieces:
        sizes[group] = extent // pieces[0]


def _dividing(extent: int, size: int) -> int:
    """A number near `size` that divides the extent, if there is such: where the last tile has fewer rows, none of them is known to have how
    many, and blocks are small."""
    near = [n for n in range(4 * size // 3, 0, -1) if extent % n == 0 and 4 * n >= 3 * size]
    return near[0] if near else size


def _is_bare(hero: TileOp, loop: int) -> bool:
    """Whether the image is read at that loop of pixels alone, not at windows that move with it."""
    return loop in map(dim_position, hero.maps[0].results)


def _channels(count: int, hero: TileOp, target: TargetView) -> int:
    """Channels of a tile, at most: whole registers that divide all of them, if there is such a number. A gradient by weights goes over
    all images for each tile: it has one a core, and reads whole pixels on one."""
    lanes = target.vector_bits // (8 * element_bytes(kinds(hero)[0].element_type))
    if _sums_images(hero):
        return ceil(count / max(1, target.cores) / lanes) * lanes
    return next((n for n in range(_CHANNELS // lanes * lanes, lanes, -lanes) if count % n == 0), _CHANNELS)


def _lines_of_all_channels(hero: TileOp, axes: Axes, lines: list[int], target: TargetView) -> int | None:
    """Lines of a tile that has all channels of a convolution of one for each: its pixels are one piece of memory, of which the next tile's
    can be asked for (passes/vector/nests/next_tile.py). So few that most of what it reads no other tile reads; of a small picture all, as
    tiles of some channels have. As many as cores leave it, where it goes over its pixels in strips.

    None where L2 does not hold these beside the next tile's; where cores would have too few tiles; of windows over several planes; of a
    gradient by weights; and of pixels that are no whole cache lines, of which chunks of channels share some: a line of results leaves them
    in the first cache.
    """
    moves = linear_results(hero.maps[0], [LinearIndex({loop: 1}) for loop in range(len(hero.axes))])
    if len(lines) < 2 or moves is None or _sums_images(hero):
        return None
    line, alone = hero.axes.index(lines[-2]), [hero.axes.index(axis) for axis in lines[:-2]]
    pixels = _without_zeros(hero.inputs[0])
    shape, nbytes = pixels.shape, element_bytes(pixels.element_type)
    share = prod(axes.extent[axis] for axis in lines[:-1]) // (_TILES_A_CORE * max(2, target.cores))
    if share >= _STRIP_LINES and strip_of(hero.maps[0], hero.parallel, hero.extents, pixels, target) is not None:
        return min(share, hero.extents[line])
    if shape[-1] * nbytes % target.cache_line_bytes and prod(shape) * nbytes <= target.llc_bytes // 4:
        return None
    along = next(place for place, index in enumerate(moves) if line in index.terms)
    step = moves[along].terms[line]

    def lines_read(count: int) -> tuple[int, int, int]:
        """Planes and lines of each that so many lines of results read, and the bytes of these and of what the next tile reads beside."""
        inside = [1 if loop in alone else count if loop == line else extent for loop, extent in enumerate(hero.extents)]
        reach = [1 + sum(far * (inside[loop] - 1) for loop, far in index.terms.items()) for index in moves]
        read = list(map(min, reach, shape))
        return prod(read[:along]), read[along], prod(read) * nbytes * (read[along] + count * step) // read[along]

    least = hero.extents[line] if hero.extents[line] <= _LINES else _LEAST_LINES
    found = None
    for count in range(least, min(_LINES, share, hero.extents[line]) + 1):
        planes, read, room = lines_read(count)
        if planes == 1 and room <= _NEAR * target.l2_bytes and read <= _MOST_READ * count * step:
            found = count
            if read <= _ENOUGH * count * step:
                break
    return found


def _without_zeros(value: ir.Value) -> ir.RankedTensorType:
    """The type of what is in memory of a padded value."""
    made = defining_op(value)
    return ir.RankedTensorType((made.operands[0] if made is not None and made.name == "tensor.pad" else value).type)


def _sums_images(hero: TileOp) -> bool:
    """Whether it is a gradient by weights."""
    images = dim_position(hero.maps[0].results[0])
    return images is not None and not hero.parallel[images]


def order(hero: TileOp, axes: Axes, sizes: dict[int, int], lines: list[int], target: TargetView) -> list[int]:
    """The tiled axes, outermost first: images, lines and blocks of the weights, so that near caches hold what is read again."""
    alone = {hero.axes[p] for p in map(dim_position, hero.maps[0].results) if p is not None}
    images = [a for a in sizes if a in lines and a in alone]
    inner = [a for a in sizes if a in lines and a not in alone]
    blocks = [a for a in sizes if a not in lines]
    pixel_bytes, weight_bytes = (prod(kind.shape) * element_bytes(kind.element_type) for kind in kinds(hero))
    if weight_bytes <= target.l2_bytes // 2:
        return [*images, *inner, *blocks]
    times = prod(ceil(axes.extent[a] / sizes[a]) for a in blocks)
    if weight_bytes * prod(axes.extent[a] for a in images) <= pixel_bytes * times:
        return [*images, *blocks, *inner]
    return [*blocks, *images, *inner]


def kinds(hero: TileOp) -> list[ir.RankedTensorType]:
    """The types of the image and of the weights."""
    return [ir.RankedTensorType(value.type) for value in hero.inputs[:2]]


def _pictures_schedule(axes: Axes, group: int, output: list[int]) -> dict[int, int]:
    """Whole pictures of groups: a kernel of one for each channel knows which rows reach into padding; lines of all groups lie far apart."""
    outer = output[: output.index(group) + 1]
    sizes: dict[int, int] = {}
    cut(sizes, axes, outer, max(1, _POINTS // prod(axes.extent[axis] for axis in output[len(outer) :])))
    return {axis: sizes[axis] for axis in outer if axis in sizes}


def _winograd_schedule(
    hero: TileOp, axes: Axes, lines: list[int], columns: list[int], groups: list[int], target: TargetView
) -> dict[int, int]:
    """Lines of Winograd tiles with all channels, so that their inputs are transformed once; pieces of the output channels where there are
    fewer tiles than cores.

    The transformed weights are read for each tile. If they fit the second-level cache beside the values of a tile, tiles are as small as
    that and the threads take; if not, as large as its half, of several images where one is smaller; and where weights come from memory each
    time, as large as the stack lets them be. A tile of three dimensions also transforms the planes around its own: it has few lines of as
    many planes as there is room for. Of taps that are d apart a tile has lines for all d phases, one after the other; what there is room
    for is one phase. A tile is of one group, and groups are outermost.
    """
    outputs = outputs_of(hero.inputs[1])
    cores = max(2, target.cores)
    taps = FilterLoops.of(hero.maps[1], hero.parallel)
    shape = dict(zip(map(dim_position, hero.maps[1].results), ir.RankedTensorType(hero.inputs[1].type).shape))
    deep, channels, features = [shape[d] for d in taps.deep], shape[taps.channel], shape[taps.feature]
    *outer, high, wide = lines
    (column,) = columns
    apart, phases = taps.apart(hero.maps[0])
    row, rows = tiles_along(axes.extent[wide], phases, outputs), tiles_along(axes.extent[high], apart, outputs) // apart
    room = room_beside(outputs, channels, features, target)
    most = tiles_kept(outputs, channels, target) if deep else tiles_together(outputs, channels, features, target)
    tiles = prod(axes.extent[axis] for axis in outer) * rows * apart * row
    if not deep and room > 0:
        most = min(most, max(_LEAST_TILES, tiles // (_TILES_A_CORE * cores)))
    sizes = dict.fromkeys([*groups, *outer], 1)
    if deep and outer:
        planes, around = axes.extent[outer[-1]], deep[0] - 1
        sizes[outer[-1]] = even_size(planes, max(1, most // row - around))
        most //= planes if sizes[outer[-1]] == planes else sizes[outer[-1]] + around
    elif outer:
        images, share = axes.extent[outer[-1]], prod(axes.extent[axis] for axis in groups) * tiles // cores if room > 0 else most
        sizes[outer[-1]] = next(n for n in range(max(1, min(most, share) // (rows * row)), 0, -1) if images % n == 0)
    together = even_size(rows, max(1, most // row))
    pieces = prod(ceil(axes.extent[axis] / sizes[axis]) for axis in [*groups, *outer]) * ceil(rows / together)
    if pieces < cores and features >= 2 * _BLOCK:
        sizes[column] = ceil(features * pieces / cores / _BLOCK) * _BLOCK
    sizes[high] = together * outputs * apart
    return {axis: size for axis, size in sizes.items() if axis in axes.tileable and size < axes.extent[axis]}
