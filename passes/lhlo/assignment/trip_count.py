"""Counted loops: finds the trip count of a loop whose condition compares a counter with a constant.

Recognised: a scalar integer carry that starts at a constant, has a constant added or subtracted in the body, and is compared with a
constant in the condition. Condition and body are calls to groups, so the expressions are followed through the group functions. Declined:
everything else, and counters that would wrap around.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from ...common.rewriting import defining_op, keyword
from ...common.trip_count import FLIPPED, integer_range, trip_count
from .program import Call, Loop, Move, Node, Value


@dataclass(frozen=True)
class _Counter:
    """carry + offset; a constant if there is no carry."""

    carry: Value | None
    offset: int


class TripCounts:
    def __init__(self, functions: dict[str, ir.Operation]):
        self.functions = functions

    def mark(self, nodes: list[Node]) -> None:
        """Sets `trip_count` of every counted loop among `nodes` and inside of them, and drops the conditions that nobody needs then."""
        entry: Move | None = None
        for node in nodes:
            if isinstance(node, Loop):
                self.mark(node.cond)
                self.mark(node.body)
                if entry is not None and (count := self.of(node, entry)) is not None:
                    node.trip_count, node.pred, node.cond = count, None, []
            elif not isinstance(node, Call | Move):
                for branch in node.branches:
                    self.mark(branch)
            entry = node if isinstance(node, Move) else None

    def of(self, loop: Loop, entry: Move) -> int | None:
        """The trip count of `loop`, whose carries `entry` sets; None if it is not known."""
        compared = self._comparison(loop)
        if compared is None:
            return None
        direction, counter, limit = compared
        if counter.carry not in loop.carries:
            return None
        position = loop.carries.index(counter.carry)
        init = _integer(entry.sources[position].constant)
        back = loop.body[-1]
        assert isinstance(back, Move)
        after = _Follower(self.functions, loop.body).counter(back.sources[position])
        if init is None or after is None or after.carry is not counter.carry:
            return None
        low, high = integer_range(ir.ShapedType(counter.carry.type).element_type)
        return trip_count(init + counter.offset, after.offset, direction, limit, low + counter.offset, high + counter.offset)

    def _comparison(self, loop: Loop) -> tuple[str, _Counter, int] | None:
        """The loop's condition as (direction, counter, constant)."""
        if loop.pred is None:
            return None
        follower = _Follower(self.functions, loop.cond)
        found = follower.compare(loop.pred)
        if found is None:
            return None
        direction, left, right = found
        if left is None or right is None or (left.carry is None) == (right.carry is None):
            return None
        if left.carry is not None:
            return direction, left, right.offset
        return FLIPPED[direction], right, left.offset


class _Follower:
    """Follows scalar expressions from the values of one region into the groups that compute them."""

    def __init__(self, functions: dict[str, ir.Operation], nodes: list[Node]):
        self.functions = functions
        self.producers = {output: (call, i) for call in nodes if isinstance(call, Call) for i, output in enumerate(call.outputs)}

    def enter(self, value: Value) -> tuple[ir.Value, Call] | None:
        """The value that a group function returns as `value`, and the call."""
        if value not in self.producers:
            return None
        call, i = self.producers[value]
        function = self.functions.get(call.callee)
        if function is None or not function.regions[0].blocks:
            return None
        terminator = list(function.regions[0].blocks[0].operations)[-1].operation
        return terminator.operands[i], call

    def counter(self, value: Value) -> _Counter | None:
        if (constant := _integer(value.constant)) is not None:
            return _Counter(None, constant)
        inside = self.enter(value)
        return self.inner(*inside) if inside else _Counter(value, 0)

    def inner(self, value: ir.Value, call: Call) -> _Counter | None:
        op = defining_op(value)
        if op is None:
            return self.counter(call.inputs[ir.BlockArgument(value).arg_number])
        if op.name == "stablehlo.constant":
            constant = _integer(op.attributes["value"])
            return None if constant is None else _Counter(None, constant)
        if op.name == "stablehlo.reshape":
            return self.inner(op.operands[0], call)
        if op.name not in ("stablehlo.add", "stablehlo.subtract"):
            return None
        left, right = self.inner(op.operands[0], call), self.inner(op.operands[1], call)
        if left is None or right is None:
            return None
        if op.name == "stablehlo.subtract":
            return _Counter(left.carry, left.offset - right.offset) if right.carry is None else None
        if left.carry is not None and right.carry is not None:
            return None
        return _Counter(left.carry or right.carry, left.offset + right.offset)

    def compare(self, value: Value) -> tuple[str, _Counter | None, _Counter | None] | None:
        inside = self.enter(value)
        op = defining_op(inside[0]) if inside else None
        if inside is None or op is None or op.name != "stablehlo.compare":
            return None
        direction = keyword(op, "comparison_direction")
        return direction, self.inner(op.operands[0], inside[1]), self.inner(op.operands[1], inside[1])


def _integer(constant: ir.Attribute | None) -> int | None:
    """The integer that a scalar constant holds."""
    if constant is None or not isinstance(constant, ir.DenseIntElementsAttr):
        return None
    shaped = ir.ShapedType(constant.type)
    if shaped.rank or ir.IntegerType(shaped.element_type).width not in (8, 16, 32, 64):
        return None
    return int(np.array(constant))
