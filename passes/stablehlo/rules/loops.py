"""Reading and rebuilding `stablehlo.while`: counters and trip counts, carries replaced by others."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from ...common.rewriting import create, defining_op, is_block_argument, keyword, ops_in, walk
from ...common.trip_count import FLIPPED, integer_range, trip_count
from ..support import build, constants

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}


def direction(compare: ir.Operation) -> str:
    return keyword(compare, "comparison_direction")


def holds(compare: ir.Operation, left: int, right: int) -> bool:
    """What an integer comparison says of two numbers."""
    return _COMPARISONS[direction(compare)](left, right)


def while_ops(module: ir.Operation) -> list[ir.Operation]:
    """The while ops of a module, inner ones before the loops that hold them.

    A pass may go through the list while it rebuilds or inlines the loop at hand: those inside it came before.
    """
    return walk(module, "stablehlo.while")


def condition_block(loop: ir.Operation) -> ir.Block:
    return loop.regions[0].blocks[0]


def body_block(loop: ir.Operation) -> ir.Block:
    return loop.regions[1].blocks[0]


def terminator(block: ir.Block) -> ir.Operation:
    return ops_in(block)[-1]


def yielded(loop: ir.Operation) -> list[ir.Value]:
    return list(terminator(body_block(loop)).operands)


@dataclass(frozen=True)
class Counter:
    """A carry that starts at the constant `start`, grows by the constant `step` and ends the loop after `trips` turns."""

    index: int
    start: int
    step: int
    trips: int

    @property
    def low(self) -> int:
        """The least value it has in the body (if the body runs at all)."""
        return min(self.start, self.start + (self.trips - 1) * self.step)

    @property
    def high(self) -> int:
        return max(self.start, self.start + (self.trips - 1) * self.step)


def step_of(loop: ir.Operation, index: int) -> tuple[int, int] | None:
    """(start, step) of a carry that starts at a constant and grows by one."""
    start = constants.constant_index(loop.operands[index])
    update = defining_op(yielded(loop)[index])
    argument = body_block(loop).arguments[index]
    if start is None or update is None or update.name not in ("stablehlo.add", "stablehlo.subtract"):
        return None
    if build.shape_of(argument):
        return None
    left, right = update.operands
    if left != argument:
        if right != argument or update.name == "stablehlo.subtract":
            return None
        left, right = right, left
    step = constants.constant_index(right)
    if step is None:
        return None
    return start, step if update.name == "stablehlo.add" else -step


def find_counter(loop: ir.Operation) -> Counter | None:
    """The counter of a loop whose condition is one comparison of a counting carry with a constant."""
    block = condition_block(loop)
    compare = defining_op(terminator(block).operands[0])
    if compare is None or compare.name != "stablehlo.compare" or not isinstance(build.element_of(compare.operands[0]), ir.IntegerType):
        return None
    left, right = compare.operands
    way = direction(compare)
    if not _is_argument_of(left, block):
        left, right, way = right, left, FLIPPED[way]
    bound = constants.constant_index(right)
    if bound is None or not _is_argument_of(left, block):
        return None
    index = ir.BlockArgument(left).arg_number
    found = step_of(loop, index)
    if found is None:
        return None
    start, step = found
    trips = trip_count(start, step, way, bound, *integer_range(build.element_of(left)))
    return None if trips is None else Counter(index, start, step, trips)


def _is_argument_of(value: ir.Value, block: ir.Block) -> bool:
    return is_block_argument(value) and value.owner == block


def rebuild(loop: ir.Operation, inits: Sequence[ir.Value], fill: Callable[[ir.Block, ir.Block], Sequence[ir.Value]]) -> ir.Operation:
    """A while op over the carries `inits` before `loop`, whose blocks' ops it takes over.

    `fill(condition, body)` is called when the new blocks hold the old ops: it replaces the uses of the old blocks' arguments and returns
    the values that the new body yields. Replacing the results of the old loop and erasing it is left to the caller.
    """
    types = [v.type for v in inits]
    with loop.location, ir.InsertionPoint(loop):
        new = create("stablehlo.while", types, list(inits), regions=2)
    blocks = []
    for region, old in zip(new.regions, (condition_block(loop), body_block(loop))):
        block = region.blocks.append(*types, arg_locs=[loop.location] * len(types))
        with loop.location, ir.InsertionPoint(block):
            end = create("stablehlo.return")
        for op in ops_in(old):
            op.move_before(end)
        end.erase()
        blocks.append(block)
    values = fill(*blocks)
    old_end = terminator(blocks[1])
    with old_end.location, ir.InsertionPoint(old_end):
        create("stablehlo.return", [], values)
    old_end.erase()
    return new


def keep_carries(loop: ir.Operation, kept: Sequence[int], replacements: dict[int, ir.Value]) -> ir.Operation:
    """Rebuilds the loop with the carries `kept` alone; `replacements` says what stands for others, inside the loop and after it.

    A carry that is neither must have no use but its own update.
    """
    inits = list(loop.operands)
    old = (condition_block(loop), body_block(loop))

    def fill(*blocks: ir.Block) -> list[ir.Value]:
        for before, after in zip(old, blocks):
            for index, init in enumerate(inits):
                value = after.arguments[kept.index(index)] if index in kept else replacements.get(index, init)
                before.arguments[index].replace_all_uses_with(value)
        values = list(terminator(blocks[1]).operands)
        return [values[index] for index in kept]

    new = rebuild(loop, [inits[i] for i in kept], fill)
    for position, index in enumerate(kept):
        loop.results[index].replace_all_uses_with(new.results[position])
    for index, value in replacements.items():
        loop.results[index].replace_all_uses_with(value)
    loop.erase()
    return new
