"""The threads of a block: which element of a tile each register of a thread holds, and which threads hold copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.control_flow import if_then
from ...common.linear_index import LinearIndex
from ..support.emit import WARP
from ..support.layout import Factor, Key, Layout
from .extents import Extent
from .indices import Indices


class Threads:
    """Coordinates in a block of `warps` warps; `sizes` gives the index in the kernel that a tile's size is."""

    def __init__(self, indices: Indices, warps: int, thread: ir.Value, sizes: Callable[[ir.Value], LinearIndex]):
        self.indices, self.warps, self.sizes = indices, warps, sizes
        self.numbers = {
            "l": indices.op("remui", LinearIndex.of(thread), LinearIndex(constant=WARP)),
            "w": indices.op("divui", LinearIndex.of(thread), LinearIndex(constant=WARP)),
        }
        self.lane_step: dict[ir.Value, int] = {}
        """How far apart the indices of neighbouring lanes are, of each value that differs between them."""

    def part(self, factor: Factor) -> LinearIndex:
        """The coordinate of a w or l factor."""
        whole = {"l": WARP, "w": self.warps}[factor.kind]
        number = self.numbers[factor.kind]
        if factor.stride > 1:
            number = self.indices.op("divui", number, LinearIndex(constant=factor.stride))
        if factor.stride * factor.size < whole:
            number = self.indices.op("remui", number, LinearIndex(constant=factor.size))
        if factor.kind == "l" and factor.stride == 1:
            self.lane_step[next(iter(number.terms))] = 1
        return number

    def position(self, layout: Layout, dim: int, register: int, loops: dict[int, LinearIndex]) -> LinearIndex:
        """The index along `dim` of a register of this thread; beyond the extent in some threads, perhaps."""
        total, stride = LinearIndex(), 1
        for factor in reversed(layout.dims[dim]):
            if factor.kind == "v":
                total = total + LinearIndex(lanes=stride)
            elif factor.kind == "r":
                total = total + register * stride
            elif factor.kind == "s":
                total = total + loops[dim] * stride
            else:
                total = total + self.part(factor) * stride
            stride *= factor.size
        return total

    def index(self, layout: Layout, dim: int, extent: Extent, register: int, loops: dict[int, LinearIndex]) -> LinearIndex:
        """The same, clamped to the extent: threads that stand beyond it do what the last one does."""
        position = self.position(layout, dim, register, loops)
        if self.inside(layout, dim, extent, register):
            return position
        step = sum(c * self.lane_step.get(v, 0) for v, c in position.terms.items())
        clamped = self.indices.clamp(position, self._size(extent) - (layout.vector[1] if layout.vector[0] == dim else 1))
        self.lane_step[next(iter(clamped.terms))] = step
        return clamped

    def inside(self, layout: Layout, dim: int, extent: Extent, register: int) -> bool:
        """Whether the register is within the extent in every thread."""
        factors = layout.dims[dim]
        if any(f.kind == "s" for f in factors):
            return extent.size is None and extent.bound % prod(f.size for f in factors if f.kind != "s") == 0
        last, stride = 0, 1
        for factor in reversed(factors):
            last += (register if factor.kind == "r" else factor.size - 1) * stride
            stride *= factor.size
        return extent.size is None and last < extent.bound

    def mask(
        self, layout: Layout, extents: Sequence[Extent], key: Key, loops: dict[int, LinearIndex], dims: Sequence[int] | None = None
    ) -> ir.Value | None:
        """i1: whether the register is within the tile (along `dims`); None where it is in every thread."""
        found = None
        for dim, extent in enumerate(extents):
            if self.inside(layout, dim, extent, key[dim]) or (dims is not None and dim not in dims):
                continue
            position = self.position(layout, dim, key[dim], loops).uniform()
            found = self._both(found, self.compare(CmpIPredicate.slt, position, self._size(extent)))
        return found

    def owner(self, layout: Layout) -> ir.Value | None:
        """i1: true in exactly one of the threads that hold the same element; None where there is only one."""
        found = None
        for kind, whole in (("l", WARP), ("w", self.warps)):
            for factor in _free(layout.of_kind(kind), kind, whole):
                found = self._both(found, self.compare(CmpIPredicate.eq, self.part(factor), LinearIndex()))
        return found

    def both(self, a: ir.Value | None, b: ir.Value | None) -> ir.Value | None:
        """i1: whether both conditions hold; None is one that always holds."""
        return b if a is None else a if b is None else self._both(a, b)

    def _both(self, a: ir.Value | None, b: ir.Value) -> ir.Value:
        return b if a is None else self.indices.memo.once(("and", a, b), lambda: arith.andi(a, b))

    @contextmanager
    def where(self, condition: ir.Value | None) -> Iterator[None]:
        """What is emitted inside is done by the threads for which `condition` holds; None is all."""
        if condition is None:
            yield
            return
        with if_then(condition), self.indices.memo.scope():
            yield

    def compare(self, predicate: CmpIPredicate, a: LinearIndex, b: LinearIndex) -> ir.Value:
        """i1: whether `predicate` holds of the indices a and b."""
        key = ("compare", a, b, predicate)
        return self.indices.memo.once(key, lambda: arith.cmpi(predicate, self.indices.value(a), self.indices.value(b)))

    def _size(self, extent: Extent) -> LinearIndex:
        if extent.size is None:
            return LinearIndex(constant=extent.bound)
        return self.sizes(extent.size)


def _free(factors: list[Factor], kind: str, whole: int) -> list[Factor]:
    """The parts of the lane's (warp's) number that no factor uses."""
    free, at = [], 1
    for factor in [*sorted(factors, key=lambda f: f.stride), Factor(kind, 1, whole)]:
        if factor.stride > at:
            free.append(Factor(kind, factor.stride // at, at))
        at = factor.stride * factor.size
    return free
