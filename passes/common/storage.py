"""Where the values of a tile live: a slice of an argument or a result, or a buffer on the stack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, prod

from torch_mlir import ir

from .linear_index import LinearIndex
from .rewriting import value_of


@dataclass(frozen=True)
class Storage:
    """A strided view of the one-dimensional memref `base`.

    `element` is the type of the tensor's elements; i1 is stored as one byte. `root` is the number of the kernel's result that
    the storage is part of, or None. Sizes are ints, or values where a tile is cut at an edge. Contiguous reads,
    of what is writable the stores instead, prefetch what lies `ahead` elements further, 0 for nothing.
    """

    base: ir.Value
    element: ir.Type
    offset: LinearIndex
    strides: tuple[int, ...]
    sizes: tuple[int | ir.Value, ...]
    writable: bool = False
    root: int | None = None
    ahead: int = 0

    def slice(self, offsets: list[LinearIndex], sizes: tuple[int | ir.Value, ...]) -> Storage:
        offset = self.offset
        for start, stride in zip(offsets, self.strides):
            offset = offset + start * stride
        return replace(self, offset=offset, sizes=sizes)

    def reshaped(self, shape: tuple[int, ...]) -> Storage:
        """The same elements under another shape. Raises ValueError where dims become one that do not lie in one piece."""
        if self.strides == row_major(tuple(size for size in self.sizes if isinstance(size, int))):
            return replace(self, strides=row_major(shape), sizes=shape)
        wide = [(size, stride) for size, stride in zip(self.sizes, self.strides) if size != 1]
        strides = [0] * len(shape)
        inside = 1  # elements of the last dim of `wide` that dims of `shape` have taken
        for dim in reversed(range(len(shape))):
            rest = shape[dim]
            if rest == 1 or not wide:
                continue
            strides[dim] = wide[-1][1] * inside
            while rest > 1:
                size, stride = wide[-1]
                if not isinstance(size, int) or stride * inside != strides[dim] * (shape[dim] // rest):
                    raise ValueError(f"a view of shape {shape} of {self.sizes} elements that lie {self.strides} apart")
                step = gcd(rest, size // inside)
                rest, inside = rest // step, inside * step
                if step == 1:
                    raise ValueError(f"a view of shape {shape} of {self.sizes} elements")
                if inside == size:
                    wide.pop()
                    inside = 1
        return replace(self, strides=tuple(strides), sizes=shape)

    def address(self, indices: list[LinearIndex]) -> LinearIndex:
        total = self.offset
        for index, stride in zip(indices, self.strides):
            total = total + index * stride
        return total


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def memory_type(element: ir.Type) -> ir.Type:
    """How an element is stored: i1 as i8."""
    if isinstance(element, ir.IntegerType) and ir.IntegerType(element).width == 1:
        return ir.IntegerType.get_signless(8)
    return element


def buffer_type(shape: tuple[int, ...], element: ir.Type) -> ir.MemRefType:
    return ir.MemRefType.get([prod(shape)], memory_type(element))


def stack_buffer(shape: tuple[int, ...], sizes: tuple[int | ir.Value, ...], element: ir.Type) -> Storage:
    """A buffer on the stack for a tile of at most `shape`; emitted at the current insertion point."""
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64)
    base = value_of("memref.alloca", buffer_type(shape, element), operandSegmentSizes=ir.DenseI32ArrayAttr.get([0, 0]), alignment=alignment)
    return Storage(base, element, LinearIndex(), row_major(shape), sizes, writable=True)


def is_i1(element: ir.Type) -> bool:
    return isinstance(element, ir.IntegerType) and ir.IntegerType(element).width == 1


def bit_width(element: ir.Type) -> int:
    if isinstance(element, ir.IndexType):
        return 64
    return max(8, element.width)
