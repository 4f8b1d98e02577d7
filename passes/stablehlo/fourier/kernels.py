"""Short transforms as calls that become kernels of the CPU's own (passes/vector/fourier_kernels.py)."""

from __future__ import annotations

from dataclasses import replace

from hloom.dialects.target import TargetView

from ...common.folding import dtype_of
from ...common.fourier_plan import FourierPlan, halves, is_smooth, radices_of, smooth_from
from ...common.rewriting import create
from ..support import build, constants
from .planar import Planar

COLUMN = 2048
"""The longest column that is transformed at once, on the stack: two blocks of it, of two vectors, are a tile's share of the cache."""
SHORT = 64
"""Rows up to this length are better columns of the transpose."""


class Kernels:
    """Rows and columns with small prime factors."""

    library = False

    def __init__(self, target: TargetView):
        self.target = target
        self.longest = min(COLUMN, target.tile_bytes * 8 // (4 * target.vector_bits))

    def takes(self, z: Planar) -> bool:
        _, length, inner = z.shape
        return is_smooth(length) and (length <= self.longest or (inner == 1 and self._row(z) is not None))

    def short(self, z: Planar, factor: float = 1.0, extended: bool = False) -> Planar:
        outer, length, inner = z.shape
        row = self._row(z) if inner == 1 else None
        if row is not None and (length > SHORT or outer < row.lanes):
            made = _call(z.reshaped([outer, length]), replace(row, factor=factor, extended=extended))
            return made.reshaped([outer, length + extended, 1])
        if inner == 1 and outer > 1:
            columns = z.reshaped([outer, length]).transposed([1, 0]).reshaped([1, length, outer])
            made = self.short(columns, factor, extended).reshaped([length + extended, outer])
            return made.transposed([1, 0]).reshaped([outer, length + extended, 1])
        lanes = self._lanes(z)
        while lanes > inner:
            lanes //= 2
        return _call(z, FourierPlan((self._radices(length),), lanes, factor, extended))

    def split(self, length: int) -> tuple[int, int] | None:
        if not is_smooth(length):
            return None
        first, second = halves(length, 1) or (1, length)
        return (second, first) if first > second else (first, second)

    def longer(self, least: int) -> int:
        return smooth_from(least)

    def _row(self, z: Planar) -> FourierPlan | None:
        """The plan of a row that stays in the second-level cache."""
        length = z.shape[1]
        if length * 8 * z.element.width // 8 > self.target.l2_bytes * 2:
            return None
        lanes = self._lanes(z)
        while lanes > 1 and halves(length, lanes) is None:
            lanes //= 2
        pair = halves(length, lanes)
        if lanes == 1 or pair is None or max(pair) > self.longest:
            return None
        return FourierPlan(tuple(self._radices(n) for n in pair), lanes)

    def _lanes(self, z: Planar) -> int:
        return self.target.lanes(z.element.width)

    def _radices(self, length: int) -> tuple[int, ...]:
        return radices_of(length, self.target.vector_registers)


def _call(z: Planar, plan: FourierPlan) -> Planar:
    """The call of a kernel, on arrays of rows or of (outer, length, inner)."""
    shape = z.shape
    shape[1] += plan.extended
    kind, table = build.tensor(shape, z.element), plan.table(z.element.width).astype(dtype_of(z.element))
    tables = [constants.write(table, build.tensor(table.shape, z.element))] if table.size else []
    return Planar(*create("stablehlo.custom_call", [kind, kind], [z.re, z.im, *tables], **plan.attributes()).results)
