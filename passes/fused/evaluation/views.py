"""Where the elements of a tensor lie in a buffer, through reshapes, transposes, broadcasts and slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import prod


class Declined(Exception):
    """No program does what a group does; the message tells why."""


@dataclass(frozen=True)
class View:
    """Elements of a buffer: offset and strides in bytes; `term` is the stride of the sum."""

    buffer: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    term: int = 0

    @staticmethod
    def whole(buffer: int, shape: Sequence[int], width: int) -> View:
        """All of a row-major buffer of elements of `width` bytes."""
        strides = list(accumulate(reversed(shape[1:]), lambda stride, extent: stride * extent, initial=width))
        return View(buffer, 0, tuple(shape), tuple(reversed(strides)) if shape else ())

    def transposed(self, permutation: Sequence[int]) -> View:
        return replace(self, shape=tuple(self.shape[d] for d in permutation), strides=tuple(self.strides[d] for d in permutation))

    def as_operand_of_transpose(self, permutation: Sequence[int]) -> View:
        """The view of a transpose's operand of which this is the result's."""
        inverse = sorted(range(len(permutation)), key=permutation.__getitem__)
        return self.transposed(inverse)

    def broadcast(self, dims: Sequence[int], shape: Sequence[int]) -> View:
        strides = [0] * len(shape)
        for own, d in enumerate(dims):
            strides[d] = self.strides[own] if self.shape[own] != 1 else 0
        return replace(self, shape=tuple(shape), strides=tuple(strides))

    def sliced(self, starts: Sequence[int], steps: Sequence[int], shape: Sequence[int]) -> View:
        offset = self.offset + sum(start * stride for start, stride in zip(starts, self.strides))
        return replace(self, offset=offset, shape=tuple(shape), strides=tuple(a * b for a, b in zip(self.strides, steps)))

    def reversed(self, dims: Sequence[int]) -> View:
        offset = self.offset + sum((self.shape[d] - 1) * self.strides[d] for d in dims)
        return replace(self, offset=offset, strides=tuple(-s if d in dims else s for d, s in enumerate(self.strides)))

    def reshaped(self, shape: Sequence[int]) -> View:
        """Raises Declined where no strides reach the elements in that shape."""
        left = [(extent, stride) for extent, stride in zip(self.shape, self.strides) if extent != 1]
        strides = [0] * len(shape)
        wanted = [d for d, extent in enumerate(shape) if extent != 1]
        while wanted:
            new, old = [wanted.pop(0)], [left.pop(0)]
            while (size := prod(shape[d] for d in new)) != (own := prod(extent for extent, _ in old)):
                if size < own:
                    new.append(wanted.pop(0))
                else:
                    old.append(left.pop(0))
            if any(outer != inner * extent for (_, outer), (extent, inner) in pairwise(old)):
                raise Declined("a reshape joins dimensions that lie apart")
            stride = old[-1][1]
            for d in reversed(new):
                strides[d] = stride
                stride *= shape[d]
        return replace(self, shape=tuple(shape), strides=tuple(strides))
