"""How elements become lanes of 32 bits: one half that is widened, two of 16 bits, or four bytes side by side."""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.storage import element_bytes

from ...common.vectors import is_vector, splat, vector_of


@dataclass(frozen=True)
class Grouping:
    """How elements of an operand become lanes: `count` of them, each `bits` wide after it is extended, with its sign or not (a float of so
    many bits is its bits); `flips` moves them by half of their range, which exchanges signed and unsigned ones."""

    count: int
    bits: int
    signed: bool
    lanes: int
    """Lanes of a register."""
    flips: bool = False

    def lane(self, element: ir.Type) -> ir.Type:
        """What a lane of such elements is: f32 of a float that fills it alone, else bits."""
        return ir.F32Type.get() if self.count == 1 and isinstance(element, ir.FloatType) else ir.IntegerType.get_signless(32)

    def keeps(self, element: ir.Type) -> bool:
        """Whether lanes of such elements are what is in memory."""
        return self.bits == 8 * element_bytes(element) and not self.flips

    def grouped(self, value: ir.Value) -> ir.Value:
        """Vectors of elements (or one) as lanes; the elements of a lane are neighbours."""
        if not is_vector(value):
            value = vector.from_elements(vector_of(1, value.type), [value])
        kind = ir.VectorType(value.type)
        if isinstance(lane := self.lane(kind.element_type), ir.FloatType):
            return value if lane == kind.element_type else arith.extf(vector_of(kind.shape[0], lane), value)
        wide = vector_of(kind.shape[0], ir.IntegerType.get_signless(self.bits))
        if isinstance(kind.element_type, ir.FloatType):
            value = vector.bitcast(wide, value)
        elif wide != kind:
            value = (arith.extsi if self.signed else arith.extui)(wide, value)
        if self.flips:
            value = arith.xori(value, splat(wide, -1 << self.bits - 1))
        return vector.bitcast(vector_of(kind.shape[0] // self.count, lane), value)

    def joined(self, values: list[ir.Value]) -> ir.Value:
        """The lanes of `count` vectors (or scalars), one element of each a lane; missing ones are zeros."""
        zeros = splat(values[0].type, 0)
        values = values + [zeros] * (self.count - len(values))
        if not is_vector(values[0]):
            return self.grouped(vector.from_elements(vector_of(self.count, values[0].type), values))
        while len(values) > 1:
            half = len(values) // 2
            values = [vector.interleave(a, b) for a, b in zip(values[:half], values[half:])]
        return self.grouped(values[0])

    def zeros(self, kind: ir.Type) -> ir.Value:
        """Lanes of nothing but zeros, moved where elements are: they are bytes then."""
        return splat(kind, -0x7F7F7F80 if self.flips else 0)
