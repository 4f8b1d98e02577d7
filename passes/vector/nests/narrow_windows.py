"""Windows whose channels are no whole lanes: their taps and channels are one loop of the depth, so that lanes hold neighbours of both.

    x[oh * 2 + kh, ow * 2 + kw, c] of 3 channels, w[kh, kw, c, f], 7 taps: a lane of two halves would hold channels 0 and 1, then 2 alone

    x[oh * 2 + kh, ow * 6 + j], w[kh, j, f] for j = 3 * kw + c < 21        eleven lanes in place of fourteen

Neighbouring windows share elements, but not where lanes begin: the panel has each window as a row of its own (narrow_panels.py), zeros
where it reaches into padding, which an infinite weight makes NaN as XLA does.
"""

from __future__ import annotations

from dataclasses import replace

from torch_mlir import ir

from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Storage
from .work import Work

_LEAST_GAIN = 1.1
"""Lanes before, over lanes after."""


def with_joined_depth(work: Work, count: int) -> Work:
    """The work with such a loop where lanes of `count` elements are then better filled; the loop over the taps is one step."""
    summed = [d for d, parallel in enumerate(work.parallel) if not parallel and isinstance(work.extents[d], int)]
    for channel in summed:
        for tap in summed:
            channels, taps = work.extents[channel], work.extents[tap]
            assert isinstance(channels, int) and isinstance(taps, int)
            together, apart = -(-channels * taps // count), -(-channels // count) * taps
            joined = _joined(work, tap, channel, channels, taps) if channel != tap and apart >= _LEAST_GAIN * together else None
            if joined is not None:
                return joined
    return work


def _joined(work: Work, tap: int, channel: int, channels: int, taps: int) -> Work | None:
    reads = work.inputs_in_memory()
    if len(reads) != len(work.inputs):
        return None
    found = [_in_one_piece(m, s, tap, channel, channels) for m, s in reads]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    extents = list(work.extents)
    extents[channel], extents[tap] = channels * taps, 1
    return replace(work, maps=[*(m for m, _ in known), *work.output_maps], inputs=[s for _, s in known], extents=extents)


def _in_one_piece(m: ir.AffineMap, storage: Storage, tap: int, channel: int, channels: int) -> tuple[ir.AffineMap, Storage] | None:
    """Map and storage of an operand whose channels of a tap are followed by those of the next one: the dims of both are one."""
    results = linear_results(m, [LinearIndex({loop: 1}) for loop in range(m.n_dims)])
    if results is None or storage.panels is not None or storage.transformed is not None:
        return None
    at = [[d for d, index in enumerate(results) if index.coefficient(loop)] for loop in (tap, channel)]
    if [len(dims) for dims in at] != [1, 1] or at[0] == at[1]:
        return None
    (outer,), (inner,) = at
    bounds = storage.bounds or (None,) * len(results)
    stride, size = storage.strides[inner], storage.sizes[outer]
    factor = storage.strides[outer] // stride if stride else 0
    alone = results[inner] == LinearIndex({channel: 1}) and bounds[inner] is None
    follows = factor * stride == storage.strides[outer] and factor * results[outer].coefficient(tap) == channels
    if not alone or not follows or not isinstance(size, int):
        return None
    indices, between = list(results), list(bounds)
    indices[outer] = results[outer].without(tap) * factor + LinearIndex({channel: 1})
    between[outer] = None if (pair := bounds[outer]) is None else (pair[0] * factor, pair[1] * factor)
    strides, sizes = list(storage.strides), list(storage.sizes)
    strides[outer], sizes[outer] = stride, size * factor
    for dims in (indices, between, strides, sizes):
        del dims[inner]
    view = replace(storage, strides=tuple(strides), sizes=tuple(sizes), bounds=tuple(between) if any(between) else ())
    return ir.AffineMap.get(m.n_dims, 0, [_expression(index) for index in indices]), view


def _expression(index: LinearIndex) -> ir.AffineExpr:
    """The expression of an index whose variables are loops."""
    constant = ir.AffineConstantExpr.get(index.constant)
    return sum((ir.AffineDimExpr.get(loop) * step for loop, step in index.terms.items()), constant)
