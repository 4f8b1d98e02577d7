"""What a loop writes turn by turn: a carry of which each turn writes one row, `ys[i] = …`, and that nothing in the loop reads.

The row is the counter's value, or counts down from the last. A stream is written in the kernel as its turns go by, so the turns are a
loop of the kernel's nest, and reads of `xs[i]` are plain reads along it.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from ...common.index_expression import ZERO, Expr
from ...common.rewriting import defining_op, has_one_use, shape_of
from ...common.scalars import is_unsigned
from ...stablehlo.rules import loops as counted
from ...stablehlo.support import constants
from .nodes import Carry, Computed, Known, Loop, Node


@dataclass(frozen=True)
class Stream:
    """`row` is what a turn writes; `dim` the dimension of the turns; `down`: from the last row to the first."""

    row: ir.Value
    dim: int
    down: bool


def stream_of(op: ir.Operation, number: int) -> Stream | None:
    """How the while `op` writes its carry `number` row by row; None where it does not."""
    counter = counted.find_counter(op)
    update = defining_op(counted.yielded(op)[number])
    argument = counted.body_block(op).arguments[number]
    if counter is None or counter.trips < 1 or update is None or update.name != "stablehlo.dynamic_update_slice":
        return None
    idle = not any(True for _ in counted.condition_block(op).arguments[number].uses)
    if update.operands[0] != argument or not has_one_use(argument) or not idle or not has_one_use(update.results[0]):
        return None
    row, starts = update.operands[1], list(update.operands)[2:]
    shape, rows = (shape_of(value) for value in (argument, row))
    body = counted.body_block(op)
    moving = [d for d, start in enumerate(starts) if constants.constant_index(start) != 0]
    if len(moving) != 1 or rows[moving[0]] != 1 or shape[moving[0]] != counter.trips:
        return None
    (dim,) = moving
    if any(rows[d] != shape[d] for d in range(len(shape)) if d != dim):
        return None
    line = _line(starts[dim], body.arguments[counter.index], counter)
    ways = {(1, 0): False, (-1, counter.trips - 1): True}
    return Stream(row, dim, ways[line]) if line in ways else None


def _line(value: ir.Value, counter: ir.Value, known: counted.Counter) -> tuple[int, int] | None:
    """(a, b) where `value` is a * turn + b."""
    if value == counter:
        return known.step, known.start
    constant = constants.constant_index(value)
    if constant is not None:
        return 0, constant
    op = defining_op(value)
    if op is None or op.name not in ("stablehlo.add", "stablehlo.subtract"):
        return None
    x, y = (_line(operand, counter, known) for operand in op.operands)
    sign = 1 if op.name == "stablehlo.add" else -1
    return None if x is None or y is None else (x[0] + sign * y[0], x[1] + sign * y[1])


def turn_index(node: Node, outer: Loop, turn: Expr, limit: int) -> Expr | None:
    """A node as an index that is linear in the turn; None where it is none from 0 to `limit`."""
    if not limit:
        return ZERO
    counter = counted.find_counter(outer.op)
    line = None if counter is None else _node_line(node, outer, counter)
    if line is None or counter is None:
        return None
    ends = sorted((line[1], line[0] * (counter.trips - 1) + line[1]))
    return turn * line[0] + line[1] if 0 <= ends[0] and ends[1] <= limit else None


def is_counter(node: Node, outer: Loop) -> bool:
    """Whether a node is the counter in a turn of the loop."""
    counter = counted.find_counter(outer.op)
    return isinstance(node, Carry) and node.loop is outer and counter is not None and outer.slots.get((counter.index, ())) == node.slot


def _node_line(node: Node, outer: Loop, counter: counted.Counter) -> tuple[int, int] | None:
    """(a, b) where the node is a * turn + b."""
    if is_counter(node, outer):
        return counter.step, counter.start
    if isinstance(node, Known) and isinstance(node.attribute, ir.IntegerAttr) and not is_unsigned(node.attribute.type):
        return 0, node.attribute.value
    if not isinstance(node, Computed) or node.op.name not in ("stablehlo.add", "stablehlo.subtract"):
        return None
    x, y = (_node_line(each, outer, counter) for each in node.operands)
    sign = 1 if node.op.name == "stablehlo.add" else -1
    return None if x is None or y is None else (x[0] + sign * y[0], x[1] + sign * y[1])
