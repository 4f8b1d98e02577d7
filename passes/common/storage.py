"""Where the values of a tile live: a slice of an argument or a result, or a buffer on the stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from hloom.dialects.storage import is_i1, storage_element

from ..errors import PassFailure
from .linear_index import LinearIndex, total
from .vectors import is_vector


@dataclass(frozen=True)
class Transform:
    """What is in memory of a filter: [groups?, blocks, outputs + 2, outputs + 2, depth × channels, block], for outputs × outputs."""

    outputs: int
    block: int


@dataclass(frozen=True)
class Panels:
    """How the last dim of a packed operand lies: `width` elements side by side, the next `width` so many elements (`step`) behind."""

    width: int
    step: int

    def jump(self, index: LinearIndex) -> LinearIndex:
        """How much further an element lies than in one piece. The variables of `index` stand for multiples of the width, and no two
        lanes are in different panels."""
        terms = {v: c * (self.step // self.width - 1) for v, c in index.terms.items()}
        return LinearIndex(terms, index.constant // self.width * (self.step - self.width))


MOST_PLACES = 1024
"""Constants of integers of no more elements are known where code is emitted."""

Bounds: TypeAlias = "tuple[LinearIndex, LinearIndex]"


@dataclass(frozen=True)
class Storage:
    """A strided view of the one-dimensional memref `base`.

    `element` is the type of the tensor's elements; i1 is stored as one byte. `root` is the number of the kernel's result that
    the storage is part of, or None. Sizes are ints, or values where a tile is cut at an edge. `ahead` is the prefetch distance in
    elements, 0 for none: of contiguous loads where the storage is read-only, of contiguous stores where it is writable.

    `bounds` has, for each dim, the first index that exists and the one behind the last; None for all of them. Elsewhere the elements are
    zeros that are nowhere in memory: who reads such a storage leaves them out. `transformed` is of a filter that is in memory as Winograd's
    transform alone: it begins where the storage does. `panels` tells where the last dim does not lie in one piece.
    """

    base: ir.Value
    element: ir.Type
    offset: LinearIndex
    strides: tuple[int, ...]
    sizes: tuple[int | ir.Value, ...]
    writable: bool = False
    root: int | None = None
    ahead: int = 0
    bounds: tuple[Bounds | None, ...] = ()
    transformed: Transform | None = None
    panels: Panels | None = None
    table: tuple[int, ...] = field(default=(), compare=False)
    """What the base holds, of a short constant of integers."""

    @staticmethod
    def whole(base: ir.Value, tensor: ir.Type, writable: bool = False) -> Storage:
        """All of the buffer `base` that holds a tensor of static shape."""
        shape = tuple(ir.RankedTensorType(tensor).shape)
        return Storage(base, ir.RankedTensorType(tensor).element_type, LinearIndex(), row_major(shape), shape, writable)

    def slice(self, offsets: list[LinearIndex], sizes: tuple[int | ir.Value, ...]) -> Storage:
        """The part of these sizes that begins at `offsets`."""
        bounds = tuple(pair and (pair[0] - start, pair[1] - start) for pair, start in zip(self.bounds, offsets))
        return replace(self, offset=self.address(offsets), sizes=sizes, bounds=bounds)

    def surrounded(self, low: Sequence[int], high: Sequence[int]) -> Storage:
        """The same elements with so many zeros before and after them along each dim."""
        sizes = [size for size in self.sizes if isinstance(size, int)]
        starts = [LinearIndex(constant=-before) for before in low]
        bounds = [
            (LinearIndex(constant=before), LinearIndex(constant=before + size)) if before or after else None
            for before, size, after in zip(low, sizes, high, strict=True)
        ]
        whole = tuple(before + size + after for before, size, after in zip(low, sizes, high))
        return replace(self, offset=self.address(starts), sizes=whole, bounds=tuple(bounds))

    def as_filter(self, shape: tuple[int, ...]) -> Storage:
        """The filter of this shape [depth…, 3, 3, channels, groups?, features] of which this is the transform; slices begin at whole blocks
        of features."""
        *groups, _, side, _, channels, block = (size for size in self.sizes if isinstance(size, int))
        strides = (*[0] * (len(shape) - 1 - len(groups)), *self.strides[: len(groups)], side * side * channels)
        return replace(self, strides=strides, sizes=shape, transformed=Transform(side - 2, block))

    def reshaped(self, shape: tuple[int, ...]) -> Storage:
        """The same elements under another shape. Raises PassFailure where dims become one that do not lie in one piece."""
        if any(self.bounds):
            return self._around(shape)
        if self.strides == row_major(tuple(size for size in self.sizes if isinstance(size, int))):
            return replace(self, strides=row_major(shape), sizes=shape)
        strides = strides_of_view(shape, self.sizes, self.strides)
        if strides is None:
            raise PassFailure(f"a view of shape {shape} of {self.sizes} elements that lie {self.strides} apart")
        return replace(self, strides=strides, sizes=shape)

    def _around(self, shape: tuple[int, ...]) -> Storage:
        """The same elements under another shape, in which the dims that are surrounded stay what they are."""
        strides = strides_of_view(shape, self.sizes, self.strides)
        if strides is None or not all(isinstance(size, int) for size in self.sizes):
            raise PassFailure(f"a view of shape {shape} of {self.sizes} elements with zeros around them")
        begins = {prod(shape[d:]): d for d in range(len(shape)) if shape[d] != 1}
        bounds: list[Bounds | None] = [None] * len(shape)
        for d, (size, pair) in enumerate(zip(self.sizes, self.bounds)):
            if pair is None or size == 1:
                continue
            stays = begins.get(prod(self.sizes[d:]))
            if stays is None or shape[stays] != size:
                raise PassFailure(f"a view of shape {shape} of {self.sizes} elements, of which zeros surround dimension {d}")
            bounds[stays] = pair
        return replace(self, strides=strides, sizes=shape, bounds=tuple(bounds))

    def address(self, indices: list[LinearIndex]) -> LinearIndex:
        """The index into the base of the element at `indices`."""
        address = total(self.offset, zip(indices, self.strides))
        return address if self.panels is None else address + self.panels.jump(indices[-1])


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a dense array, in elements."""
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def buffer_type(tensor: ir.Type) -> ir.MemRefType:
    """The one-dimensional memref in which a kernel finds a tensor of static shape."""
    kind = ir.RankedTensorType(tensor)
    return ir.MemRefType.get([prod(kind.shape)], storage_element(kind.element_type))


def stack_buffer(shape: tuple[int, ...], sizes: tuple[int | ir.Value, ...], element: ir.Type) -> Storage:
    """A buffer on the stack for a tile of at most `shape`; emitted at the current insertion point."""
    base = memref.alloca(buffer_type(ir.RankedTensorType.get(shape, element)), [], [], alignment=64)
    return Storage(base, element, LinearIndex(), row_major(shape), sizes, writable=True)


def loaded(value: ir.Value, element: ir.Type) -> ir.Value:
    """An element, or a vector of them, read from a buffer that holds a tensor of `element`s: a byte becomes i1."""
    if not is_i1(element):
        return value
    return arith.trunci(ir.VectorType.get(value.type.shape, element) if is_vector(value) else element, value)


def stored(value: ir.Value, element: ir.Type) -> ir.Value:
    """The same on the way to the buffer: i1 becomes a byte."""
    if not is_i1(element):
        return value
    byte = storage_element(element)
    return arith.extui(ir.VectorType.get(value.type.shape, byte) if is_vector(value) else byte, value)


def strides_of_view(shape: Sequence[int], sizes: Sequence[int | ir.Value], strides: Sequence[int]) -> tuple[int, ...] | None:
    """The strides of such elements under another shape; None where dims that become one do not lie in one piece."""
    wide = [(size, stride) for size, stride in zip(sizes, strides) if size != 1]
    found = [0] * len(shape)
    inside = 1  # elements of the last dim of `wide` that dims of `shape` have taken
    for dim in reversed(range(len(shape))):
        rest = shape[dim]
        if rest == 1 or not wide:
            continue
        found[dim] = wide[-1][1] * inside
        while rest > 1:
            size, stride = wide[-1]
            if not isinstance(size, int) or stride * inside != found[dim] * (shape[dim] // rest):
                return None
            step = gcd(rest, size // inside)
            if step == 1:
                return None
            rest, inside = rest // step, inside * step
            if inside == size:
                wide.pop()
                inside = 1
    return tuple(found)
