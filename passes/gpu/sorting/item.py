"""What a sort compares of an element: its key and where it stood, in as few words as they need; or all that the comparator reads.

    key of 16 bits or fewer      one word:    key, and behind it where the element stood
    key of 32 bits               two words, compared as one number
    key of 64 bits               two numbers
    no key                       the elements that the comparator reads, and where they stood

Where the comparator tells no difference, the one that stood first comes first. Places without an element come last.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.rewriting import ops_in
from .group import SortKernel
from .network import Item

_ORDER_BITS = 16
"""Of where an element stood in its run, at most."""


def items_of(kernel: SortKernel) -> Items:
    """How the elements of a sort are compared."""
    if kernel.key is None:
        return _Elements(kernel)
    return _Numbers(kernel) if kernel.key.bits > 32 else _Words(kernel)


class Items:
    """`kinds` are the types of what a place holds; `strict`: of two, one always comes before the other."""

    kinds: list[ir.Type]
    strict = True

    def __init__(self, kernel: SortKernel):
        self.kernel, self.scalars = kernel, kernel.scalars

    def made(self, elements: Sequence[ir.Value], order: ir.Value, there: ir.Value | None) -> Item:
        """Of the elements of a place, and where they stood; where `there` does not hold, of a place without any."""
        raise NotImplementedError

    def before(self, left: Item, right: Item) -> ir.Value:
        """Whether one comes before another."""
        raise NotImplementedError

    def order(self, item: Item) -> ir.Value:
        """Where its elements stood."""
        raise NotImplementedError


def _integer(bits: int) -> ir.Type:
    return ir.IntegerType.get_signless(bits)


class _Words(Items):
    def __init__(self, kernel: SortKernel):
        super().__init__(kernel)
        assert kernel.key is not None
        wide = kernel.key.bits > _ORDER_BITS
        self.kinds, self.shift = [_integer(64 if wide else 32)], 32 if wide else _ORDER_BITS

    def made(self, elements: Sequence[ir.Value], order: ir.Value, there: ir.Value | None) -> Item:
        (kind,), scalars = self.kinds, self.scalars
        assert self.kernel.key is not None
        key = arith.extui(kind, self.kernel.key.of(scalars, elements))
        key = key if there is None else arith.select(there, key, scalars.constant(kind, (1 << self.shift) - 1))
        place = order if kind == order.type else arith.extui(kind, order)
        return [arith.ori(arith.shli(key, scalars.constant(kind, self.shift)), place)]

    def before(self, left: Item, right: Item) -> ir.Value:
        return self.scalars.cmpi("ult", left[0], right[0])

    def order(self, item: Item) -> ir.Value:
        (kind,) = self.kinds
        low = arith.andi(item[0], self.scalars.constant(kind, (1 << _ORDER_BITS) - 1))
        return low if kind == _integer(32) else arith.trunci(_integer(32), low)


class _Numbers(Items):
    def __init__(self, kernel: SortKernel):
        super().__init__(kernel)
        assert kernel.key is not None
        self.kinds = [_integer(kernel.key.bits), _integer(32)]

    def made(self, elements: Sequence[ir.Value], order: ir.Value, there: ir.Value | None) -> Item:
        assert self.kernel.key is not None
        key = self.kernel.key.of(self.scalars, elements)
        return [key if there is None else arith.select(there, key, self.scalars.constant(key.type, -1)), order]

    def before(self, left: Item, right: Item) -> ir.Value:
        scalars = self.scalars
        earlier = arith.andi(scalars.cmpi("eq", left[0], right[0]), scalars.cmpi("ult", left[1], right[1]))
        return arith.ori(scalars.cmpi("ult", left[0], right[0]), earlier)

    def order(self, item: Item) -> ir.Value:
        return item[1]


class _Elements(Items):
    """Elements as they are, and where they stood: of a place without any, as far behind as no element stands."""

    strict = False
    _NOWHERE = 1 << _ORDER_BITS

    def __init__(self, kernel: SortKernel):
        super().__init__(kernel)
        region = kernel.comparator.block
        read = {ir.BlockArgument(op.operands[0]).arg_number // 2 for op in ops_in(region) if op.name == "tensor.extract"}
        self.read = sorted(n for n in read if not kernel.inputs[n].constant)
        self.kinds = [*(kernel.inputs[n].element for n in self.read), _integer(32)]

    def made(self, elements: Sequence[ir.Value], order: ir.Value, there: ir.Value | None) -> Item:
        place = order if there is None else arith.select(there, order, self.scalars.constant(order.type, self._NOWHERE))
        return [*(elements[n] for n in self.read), place]

    def _elements(self, item: Item) -> list[ir.Value]:
        held = dict(zip(self.read, item))
        return [
            array.base if array.constant else held.get(n, item[-1]) for n, array in enumerate(self.kernel.inputs)
        ]  # what is not read is anything

    def before(self, left: Item, right: Item) -> ir.Value:
        scalars, flag = self.scalars, _integer(1)
        less, greater = (self.kernel.comparator.less(*map(self._elements, pair)) for pair in ((left, right), (right, left)))
        earlier = arith.andi(scalars.op("arith.xori", greater, scalars.constant(flag, 1)), scalars.cmpi("ult", left[-1], right[-1]))
        nowhere = scalars.constant(right[-1].type, self._NOWHERE)
        is_left, no_right = scalars.cmpi("ne", left[-1], nowhere), scalars.cmpi("eq", right[-1], nowhere)
        return arith.andi(is_left, arith.ori(no_right, arith.ori(less, earlier)))

    def order(self, item: Item) -> ir.Value:
        return item[-1]
