"""The programs that do what a group does (dialects/evaluation.py), with the loops in an order that reads each line of the cache once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.evaluation import MOST, EvaluatedProgram, Instruction, Opcode

from ...common.rewriting import defining_op, integers, ops_in, shape_of
from .expressions import Expressions, Node, moved, splat_bits, type_of
from .views import Declined, View

_ROWS, _COLUMNS = 16, 64
"""Of a block of the interpreter's."""
_SMALL_BLOCK, _MANY = 64, 1 << 16
"""Blocks of fewer elements cost more than they do; of so many elements that is worth a kernel."""


@dataclass(frozen=True)
class _Target:
    """What is left to write a result: a value, where it goes, and what fills its surroundings before."""

    value: ir.Value
    view: View
    fillings: tuple[EvaluatedProgram, ...] = ()


def programs_of(function: ir.Operation) -> list[EvaluatedProgram]:
    """The programs of a group function. Raises Declined where there are none."""
    block = function.regions[0].blocks[0]
    first, found = len(block.arguments), []
    for number, value in enumerate(ops_in(block)[-1].operands):
        found += _result(value, first + number)
    return found


def _result(value: ir.Value, buffer: int) -> list[EvaluatedProgram]:
    """Undoes as many movements as can be from the result on; the others are those of what is read."""
    whole = View.whole(buffer, shape_of(value), type_of(value).bytes)
    for target in reversed(list(_targets(_Target(value, whole)))):
        try:
            return [*target.fillings, *_written(target)]
        except Declined as declined:
            last = declined
    raise last


def _targets(target: _Target) -> Iterator[_Target]:
    """The target, and those whose values are the operands of movements."""
    while True:
        yield target
        op = defining_op(target.value)
        try:
            if op is None or (view := _operand_view(op, target.view)) is None:
                return
        except Declined:
            return
        fillings = target.fillings
        if op.name == "stablehlo.pad":
            padding = defining_op(op.operands[1])
            if padding is None or padding.name != "stablehlo.constant":
                return
            fillings = (*fillings, _program(Node(Opcode.CONSTANT, type_of(op.operands[1]), bits=splat_bits(padding)), target.view))
        target = _Target(op.operands[0], view, fillings)


def _written(target: _Target) -> list[EvaluatedProgram]:
    """The programs of the target's value. That of a padded dimension which is split afterwards, as 96 + 32 into 2 × 64, goes in two parts:
    the first 64, and of the other 64 what there is."""
    split = _split_padding(target.value)
    if split is None:
        return [_program(Expressions().of(target.value), target.view)]
    pad, d = split
    shape, kind = list(target.view.shape), type_of(target.value)
    node, extents = Expressions().of(pad.operands[0]), shape_of(pad.operands[0])
    padding = defining_op(pad.operands[1])
    assert padding is not None
    found = [_program(Node(Opcode.CONSTANT, kind, bits=splat_bits(padding)), target.view)]
    whole, rest = divmod(extents[d], shape[d + 1])
    for first, outer, inner in ((0, whole, shape[d + 1]), (whole, 1, rest)):
        if outer * inner:
            start = [first * shape[d + 1] if i == d else 0 for i in range(len(extents))]
            taken, part = [*extents[:d], outer * inner, *extents[d + 1 :]], [*shape[:d], outer, inner, *shape[d + 2 :]]
            there = target.view.sliced([first if i == d else 0 for i in range(len(shape))], [1] * len(shape), part)
            read = moved(node, lambda view: view.sliced(start, [1] * len(start), taken).reshaped(part))  # noqa: B023  called at once
            found.append(_program(read, there))
    return found


def _split_padding(value: ir.Value) -> tuple[ir.Operation, int] | None:
    """The pad, and its one dimension, behind a reshape that splits this in two."""
    op = defining_op(value)
    pad = defining_op(op.operands[0]) if op is not None and op.name == "stablehlo.reshape" else None
    if op is None or pad is None or pad.name != "stablehlo.pad" or any(integers(pad, "interior_padding")):
        return None
    padding, high = defining_op(pad.operands[1]), integers(pad, "edge_padding_high")
    dims = [d for d, extent in enumerate(high) if extent]
    if padding is None or padding.name != "stablehlo.constant" or any(integers(pad, "edge_padding_low")) or len(dims) != 1 or min(high) < 0:
        return None
    (d,) = dims
    before, after = shape_of(op.operands[0]), shape_of(value)
    is_split = len(after) == len(before) + 1 and after[:d] == before[:d] and after[d + 2 :] == before[d + 1 :]
    return (pad, d) if is_split else None


def _operand_view(op: ir.Operation, view: View) -> View | None:
    """Where the op's operand goes, if its result goes to `view`."""
    if op.name == "stablehlo.transpose":
        return view.as_operand_of_transpose(integers(op, "permutation"))
    if op.name == "stablehlo.reshape":
        return view.reshaped(shape_of(op.operands[0]))
    if op.name == "stablehlo.pad":
        edges = [integers(op, f"edge_padding_{side}") for side in ("low", "high")]
        if any(integers(op, "interior_padding")) or min(map(min, edges), default=0) < 0:
            return None
        return view.sliced(edges[0], [1] * len(view.shape), shape_of(op.operands[0]))
    return None


def _program(root: Node, target: View) -> EvaluatedProgram:
    """The instructions of an expression, over loops that all its views have in common."""
    order: list[Node] = []
    _post_order(root, order, set())
    views = [target, *(node.view for node in order if node.view)]
    loops, repeated = _loops(target.shape, views)
    sums = [node for node in order if node.opcode is Opcode.SUM]
    if len(sums) > 1 or len(order) >= MOST:
        raise Declined("several sums, or a long expression")
    order.sort(key=lambda node: bool(sums) and not _within(sums[0], node))  # what a sum is of stands before it
    numbers = {node: number for number, node in enumerate(order)}

    def strides(view: View) -> tuple[int, ...]:
        return (*(stride[views.index(view)] for _, stride in loops), view.term)

    code = []
    for node in order:
        a, b = ([numbers[value] for value in node.values] + [0, 0])[:2]
        if node.view:
            code.append(Instruction(node.opcode, node.type, node.view.buffer, node.view.offset, 0, strides(node.view)))
        else:
            code.append(Instruction(node.opcode, node.type, node.bits if node.opcode is Opcode.CONSTANT else a, b))
    code.append(Instruction(Opcode.STORE, root.type, target.buffer, target.offset, numbers[root], strides(target)))
    return EvaluatedProgram(tuple(extent for extent, _ in loops), repeated, sums[0].terms if sums else 1, tuple(code))


def _post_order(node: Node, order: list[Node], seen: set[Node]) -> None:
    if node not in seen:
        seen.add(node)
        for value in node.values:
            _post_order(value, order, seen)
        order.append(node)


def _within(root: Node, node: Node) -> bool:
    return root is node or any(_within(value, node) for value in root.values)


_Loop = tuple[int, tuple[int, ...]]
"""Its extent, and its stride in each view."""


def _loops(shape: tuple[int, ...], views: list[View]) -> tuple[list[_Loop], int]:
    """Outer loops, rows and columns, and how many of the outer ones read a block of the largest operand again. Columns are contiguous in
    the result, rows as near together as can be in that operand."""
    strides = list(zip(*(view.strides for view in views))) if shape else []
    loops: list[_Loop] = []
    for extent, stride in sorted(((e, s) for e, s in zip(shape, strides) if e > 1), key=lambda loop: -loop[1][0]):
        if loops and all(outer == inner * extent for outer, inner in zip(loops[-1][1], stride)):
            loops[-1] = (loops[-1][0] * extent, stride)
        else:
            loops.append((extent, stride))
    while len(loops) < 2:
        loops.insert(0, (1, (0,) * len(views)))
    *others, columns = loops
    largest = max(range(len(views)), key=lambda v: (prod(extent for extent, stride in loops if stride[v]), v))
    if columns[1][largest] == columns[1][0] and columns[0] % _COLUMNS == 0:  # nothing to transpose: a block is of one line
        others.append((columns[0] // _COLUMNS, tuple(stride * _COLUMNS for stride in columns[1])))
        columns = (_COLUMNS, columns[1])
    else:
        others.sort(key=lambda loop: -(abs(loop[1][largest]) or 1 << 62))
    *others, rows = others
    if min(rows[0], _ROWS) * min(columns[0], _COLUMNS) < _SMALL_BLOCK and prod(shape) > _MANY:
        raise Declined("short lines of a large array")
    repeated = [loop for loop in others if not loop[1][largest]]
    return [*(loop for loop in others if loop not in repeated), *repeated, rows, columns], len(repeated)
