"""The schedule of convolutions with the channels last: lines of pixels stay whole, output channels go by blocks.

A line is the innermost loop of pixels. Zeros around it are known while its code is emitted, so the kernel jams its pixels
(passes/vector/nests/windows.py). A tile has so many lines that it has some work, and one block of the weights, which stays in a near cache
while the tiles of all lines read it: blocks are outside.
"""

from __future__ import annotations

from ...common.affine import dim_position, used_dims
from ...common.axes import Axes, TileOp
from ...common.contraction import input_loops
from .cutting import cut, panels

_BLOCK = 64
"""Output channels of a tile where the weights are not packed."""
_CHANNELS = 128
"""Channels of a tile of a convolution that is one for each channel."""
_PIXELS = 96


def has_windows(hero: TileOp) -> bool:
    """Whether the first input of a contraction is read at sums of loops, as the pixels of a convolution are."""
    return any(len(used_dims(expr)) > 1 for expr in hero.maps[0].results)


def convolution_schedule(hero: TileOp, axes: Axes) -> dict[int, int]:
    """The tile size of each tiled axis, outermost first."""
    output = [hero.axes[p] for p in map(dim_position, hero.output_maps[0].results) if p is not None]
    pixels, weights, *_ = input_loops(hero)
    of = {axis: loop for loop, axis in enumerate(hero.axes)}
    lines = [a for a in output if of[a] in pixels and of[a] not in weights]
    columns = [a for a in output if of[a] in weights and of[a] not in pixels]
    groups = [a for a in output if of[a] in pixels and of[a] in weights]
    sizes = {axis: 1 for axis in groups if axis in axes.tileable}
    if output[-1] in sizes:
        del sizes[output[-1]]
        cut(sizes, axes, [output[-1]], _CHANNELS)
    widths = panels(hero)
    sizes |= {axis: widths[axis] for axis in columns if axis in widths and axis in axes.tileable}
    cut(sizes, axes, [a for a in columns if a not in sizes], _BLOCK)
    line = axes.extent[lines[-1]] if lines else 1
    cut(sizes, axes, lines[:-1], max(1, _PIXELS // line))
    return sizes
