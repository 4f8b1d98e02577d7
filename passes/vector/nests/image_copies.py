"""Images of a group's channels, copied to a buffer on the stack where other groups lie between their pixels.

    x[n, h, w, g * 16 + c]      →      P[h, w, c]      for each image n, whose sums are added up before the next one's (deep_sums.py)

A gradient by weights reads an image again for each tap, and each block of its rows. Of pixels that lie far apart lines share a few sets of
the caches: all but the first reading would come from L2 or beyond, a cache line at a time, and no prefetcher follows.

Must hold: a register of channels lies in one piece, and only windows move through lines and pixels. Declined: channels that are half of a
pixel or more, images that L2 does not hold beside each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.control_flow import for_each
from ...common.linear_index import LinearIndex, least
from ...common.storage import Bounds, Storage, row_major
from ...common.tiled_function import size_bound
from .lanes import Lanes
from .nests import chunks
from .packing import Scratch
from .work import Work, stride_along

_APART = 2
"""Pixels so many times as far apart as their channels are wide are worth a copy."""


def copied_images(work: Work, images: int, target: TargetView) -> list[int]:
    """The inputs whose images, of which the loop `images` tells the number, are worth a copy."""
    found = [
        number for number, storage in enumerate(work.inputs) if isinstance(storage, Storage) and _has_gaps(work, number, images, target)
    ]
    room = sum(_image_bytes(storage) for storage in (work.inputs[number] for number in found) if isinstance(storage, Storage))
    return found if room <= target.tile_bytes else []


def _has_gaps(work: Work, number: int, images: int, target: TargetView) -> bool:
    storage, m = work.inputs[number], work.maps[number]
    if not isinstance(storage, Storage) or len(storage.sizes) < 3 or storage.panels is not None or storage.transformed is not None:
        return False
    *pixels, channels = storage.sizes
    if not isinstance(channels, int) or channels < work.lanes(target) or storage.strides[-1] != 1 or dim_position(m.results[0]) != images:
        return False
    alone = stride_along(m, storage, images) == storage.strides[0]
    ends = storage.bounds[:1] + storage.bounds[-1:]
    inner = next((step for step, size in reversed(list(zip(storage.strides[:-1], pixels))) if size != 1), 0)
    return alone and not any(ends) and inner >= _APART * channels


def _image_bytes(storage: Storage) -> int:
    return prod(map(size_bound, storage.sizes[1:])) * element_bytes(storage.element)


def room_for_images(work: Work, images: int, target: TargetView, scratch: Scratch) -> dict[int, Storage]:
    """Room for one image of each input whose images are worth a copy."""
    return {number: _room(work, number, scratch) for number in copied_images(work, images, target)}


def _room(work: Work, number: int, scratch: Scratch) -> Storage:
    """Room for one image of an input, seen as each of its images."""
    storage = work.inputs[number]
    assert isinstance(storage, Storage)
    sizes = tuple(map(size_bound, storage.sizes[1:]))
    return replace(scratch(sizes, storage.element), strides=(0, *row_major(sizes)), sizes=storage.sizes, bounds=storage.bounds)


def copy_image(work: Work, copies: Mapping[int, Storage], image: LinearIndex, lanes: int) -> Work:
    """Emits the copies of one image, but for the zeros around it; the work that reads these."""
    for number, copy in copies.items():
        work = _copied(work, number, image, copy, lanes)
    return work


def _copied(work: Work, number: int, image: LinearIndex, copy: Storage, lanes: int) -> Work:
    storage = work.inputs[number]
    assert isinstance(storage, Storage)
    source = replace(storage, ahead=0)
    bounds = storage.bounds or (None,) * len(storage.sizes)

    def channels(place: Sequence[LinearIndex]) -> None:
        first, to = (each.address([image, *place, LinearIndex()]) for each in (source, copy))

        def chunk(start: LinearIndex, wide: Lanes) -> None:
            wide.store(wide.load(source, first + start.along_lanes()), copy, to + start.along_lanes())

        chunks(storage.sizes[-1], 4 * lanes, lanes, chunk)

    def over(dims: Sequence[int], place: tuple[LinearIndex, ...]) -> None:
        if not dims:
            channels(place)
            return
        first, *inside = dims
        begin, end = _existing(storage.sizes[first], bounds[first])
        length = (end - begin).value() if not (begin.is_constant and end.is_constant) else end.constant - begin.constant
        for_each(0, length, 1, lambda index: over(inside, (*place, begin + index)))

    over(range(1, len(storage.sizes) - 1), ())
    inputs = list(work.inputs)
    inputs[number] = copy
    return replace(work, inputs=inputs)


def _existing(size: int | ir.Value, bounds: Bounds | None) -> tuple[LinearIndex, LinearIndex]:
    """The first index of a dim that is in memory, and the one behind the last."""
    if bounds is None:
        return LinearIndex(), LinearIndex.of(size)
    low, high = bounds
    begin = (
        LinearIndex(constant=max(0, low.constant)) if low.is_constant else LinearIndex.of(arith.maxsi(low.value(), LinearIndex().value()))
    )
    return begin, least(high, LinearIndex.of(size))
