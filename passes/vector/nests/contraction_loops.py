"""Which loops of a contraction are vectorised, jammed, and taken part by part."""

from __future__ import annotations

from math import prod

from hloom.dialects.target import TargetView

from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .channel_chunks import reads_again
from .deep_sums import steps_inside
from .packing import packable, panel_steps
from .windows import windows_of
from .work import Work, stride_along

_LEAST_ROWS = 4
"""Of several loops that would serve alike, the innermost one with this many rows is jammed: its rows are neighbours in memory."""


def contraction_loop(work: Work, target: TargetView) -> int | None:
    """The loop of a product of matrices to vectorise whatever its operands' layout: the result's innermost, if packing makes it so."""
    if len(work.inputs) < 2 or len(work.outputs) != 1:
        return None
    one = work.lanes(target)
    output, windows = work.outputs[0], windows_of(work)
    assert output is not None
    for dim, extent in enumerate(work.extents):
        moves = any(window.step(dim) for window in windows)
        if work.parallel[dim] and not moves and size_bound(extent) >= one and stride_along(work.output_maps[0], output, dim) == 1:
            if any(step not in (-1, 1) for _, step in work.looked_up(dim)):
                return None  # rows that an index tells: no product, and each is read along itself
            jam = jam_loop(work, dim)
            inputs = [(n, stride_along(work.maps[n], s, dim)) for n, s in enumerate(work.inputs) if isinstance(s, Storage)]
            strided = [n for n, along in inputs if along is None or along not in (0, 1)]
            return dim if all(packable(work, n, dim, jam, target) for n in strided) else None
    return None


def loop_of_windows(work: Work, target: TargetView) -> int | None:
    """The same of windows that reach into padding, of channels that fill no register too, where all operands lie along these."""
    found = contraction_loop(work, target)
    if found is not None or len(work.outputs) != 1:
        return found
    last = len(work.extents) - 1
    along = next((dim for dim in range(last, -1, -1) if work.parallel[dim] and work.extents[dim] != 1), None)
    if along is None or any(window.step(along) for window in windows_of(work)):
        return None
    together = all(stride_along(m, s, along) in (0, 1) for m, s in work.operands())
    output = work.outputs[0]
    return along if together and output is not None and stride_along(work.output_maps[0], output, along) == 1 else None


def part_of_panels(work: Work, vector: int, jam: int | None, target: TargetView) -> dict[int, int] | None:
    """Steps of the first reduced loops for which panels of inputs are packed, where no panel of all steps fits the cache."""
    found = [panel_steps(work, number, vector, jam, target) for number in range(len(work.inputs))]
    extents = {d: extent for d, extent in enumerate(work.extents) if isinstance(extent, int) and not work.parallel[d]}
    parts = [steps for steps in found if steps is not None and any(count < extents.get(d, 0) for d, count in steps.items())]
    return min(parts, key=lambda steps: prod((extents | steps).values()), default=None)


def goes_over_images(work: Work, vector: int, jam: int | None, target: TargetView) -> bool:
    """Whether all results are summed of one image before the next: each tap reads it again, as it lies."""
    packed = any(packable(work, number, vector, jam, target) for number in range(len(work.inputs)))
    return steps_inside(work, jam, target) == 1 and not packed and reads_again(work, vector, jam)


def jam_loop(work: Work, vector: int | None) -> int | None:
    """The parallel loop along which the fewest operands move: whatever does not move is loaded once for all jammed rows.

    Declined: loops whose rows reach into padding in a way that is known only at run time.
    """
    unknown = {d for window in windows_of(work) for d in window.steps if not window.is_known(d)}
    best: tuple[int, bool, int] | None = None
    for dim, extent in enumerate(work.extents):
        if dim in (vector, *unknown) or not work.parallel[dim] or extent == 1:
            continue
        inputs = work.inputs_in_memory()
        still = sum(stride_along(m, s, dim) == 0 and (vector is None or stride_along(m, s, vector) != 0) for m, s in inputs)
        found = still, size_bound(extent) >= _LEAST_ROWS, dim
        best = max(best or found, found)
    return best[2] if best and best[0] else None


def falling_sizes(most: int) -> list[int]:
    """The sizes of blocks of rows, from large to small, where the number of rows is known only at run time; each covers what larger ones
    leave."""
    sizes = [most]
    while sizes[-1] > 1:
        sizes.append(max(1, sizes[-1] // 3))
    return sizes
