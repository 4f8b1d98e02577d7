"""The line of pixels that a sum of products is vectorised along: the result's innermost loop, and how the pixels lie."""

from __future__ import annotations

from dataclasses import dataclass

from ...common.affine import used_dims
from ...common.contraction import summed_product
from ...common.linear_index import LinearIndex, linear_results
from ...common.lines import FARTHEST
from ...common.storage import Storage
from .work import Work, stride_along

_READ = {"f32", "bf16", "f16"}
"""What is multiplied, and summed in f32."""


@dataclass(frozen=True)
class Line:
    """The loop along the lanes, and its taps.

    Input number `pixels` is read at `loop * step + tap * dilation` of its dim `dim`, where it has elements from `low` to before `high`.
    """

    loop: int
    tap: int
    pixels: int
    dim: int
    step: int
    dilation: int
    low: int
    high: int

    @property
    def weights(self) -> int:
        """The number of the other input."""
        return 1 - self.pixels


def line_of(work: Work) -> Line | None:
    """The line of a sum of products of f32 over windows along the result's innermost loop; None of other works.

    Further inputs may lend their extents.
    """
    storages = [s for s in (*work.inputs[:2], *work.outputs) if isinstance(s, Storage)]
    lent = all(source is None for source in work.inputs[2:])
    if work.block is None or len(storages) != 3 or not lent or not summed_product(work.block):
        return None
    if str(storages[2].element) != "f32" or any(str(s.element) not in _READ for s in storages):
        return None
    output = work.outputs[0]
    assert output is not None
    loop = next((d for d, n in enumerate(work.extents) if n != 1 and stride_along(work.output_maps[0], output, d) == 1), None)
    moving = [n for n, (m, s) in enumerate(zip(work.maps, storages[:2])) if loop is not None and stride_along(m, s, loop) != 0]
    if loop is None or not work.parallel[loop] or len(moving) != 1 or not isinstance(work.extents[loop], int):
        return None
    (number,) = moving
    storage, m = storages[number], work.maps[number]
    if any(linear_results(m, [LinearIndex({d: 1}) for d in range(m.n_dims)]) is None for m in work.maps):
        return None
    dim = next(d for d, e in enumerate(m.results) if loop in used_dims(e))
    taps = [d for d in used_dims(m.results[dim]) if not work.parallel[d]]
    if len(taps) != 1 or storage.strides[dim] != 1:
        return None
    step, dilation = (stride_along(m, storage, d) or 0 for d in (loop, taps[0]))
    bounds = storage.bounds[dim] if storage.bounds else None
    low, high = bounds or (LinearIndex(), LinearIndex.of(storage.sizes[dim]))
    if not 1 <= step <= FARTHEST or dilation < 1 or not low.is_constant or not high.is_constant:
        return None
    if bounds is None and work.extents[loop] < work.extents[taps[0]]:
        return None
    return Line(loop, taps[0], number, dim, step, dilation, low.constant, high.constant)
