"""Keys that tell their elements: an element's bits as an integer that ascends as a comparator orders them, and back.

What a key is the program says (common/sorting/comparator.py): to JAX's -0 and 0 have one, and so have all NaNs. An element whose key is not
that of its bits is not told by it.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.scalars import Scalars, is_float
from ...common.sorting.comparator import Key, ascending
from ...common.sorting.rows import Array


class KeyBits:
    """The keys of one array, of as many bits as its elements."""

    def __init__(self, s: Scalars, key: Key):
        self.s, self.key = s, key
        self.integer = ir.IntegerType.get_signless(key.bits)
        self.sign = s.constant(self.integer, 1 << (key.bits - 1))

    @staticmethod
    def tell(key: Key, arrays: list[Array]) -> bool:
        """Whether a row is one array whose elements have as many bits as their keys, whole bytes: vectors of i1 are packed in memory."""
        (first, *more), bits = arrays, key.bits
        return not more and not first.constant and first.element.width == bits and bits >= 8

    def signed(self, element: ir.Value) -> ir.Value:
        """The key as a signed integer."""
        return arith.xori(self.key.of(self.s, [element]), self.sign)

    def of_bits(self, element: ir.Value) -> ir.Value:
        """The same from the element's bits alone: with zeros of two signs, and NaNs apart."""
        if is_float(element.type):
            element = ascending(self.s, arith.bitcast(self.integer, element))
        return self._turned(element)

    def element(self, key: ir.Value, kind: ir.Type) -> ir.Value:
        """The element of a signed key."""
        value = self._turned(key)
        return arith.bitcast(kind, ascending(self.s, value)) if is_float(kind) else value

    def _turned(self, value: ir.Value) -> ir.Value:
        """From an integer as the comparator takes it to a key, and back."""
        if not self.key.signed:
            value = arith.xori(value, self.sign)
        return arith.xori(value, self.s.constant(self.integer, -1)) if self.key.descending else value
