"""Where a group may write its result over an input: analysed on the group function's stablehlo body.

Legal for a group of kind `loop` in which every value that depends on the input reads it at the index that is written: through elementwise
ops alone, or, for a window of it, through a dynamic_slice at the very place that a dynamic_update_slice writes, or through a slice that a
concatenation puts where it was; and for one of kind `transpose`, whose result is an input but for windows that it does not read. A scatter,
and a call that says so, always updates its results in place: what is not shared is copied there before.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import storage_type

from ...common.custom_calls import aliases
from ...common.ops import Kind, is_elementwise
from ...common.rewriting import captured_values, defining_op, has_one_use, integer, integers, ops_in, producer


@dataclass(frozen=True)
class _Access:
    """How a value depends on the input: at the same index, or (`window`) at that index within the window at these start values, or
    (`at`) at that index behind these places."""

    window: tuple[object, ...] | None = None
    at: tuple[int, ...] = ()


_SAME = _Access()
_UPDATING = frozenset(kind.label for kind in Kind if kind.updates)
_ELSEWHERE = _Access(())


class InPlace:
    """Answers questions about group functions, once for each."""

    def __init__(self, functions: dict[str, ir.Operation]):
        self.functions = functions
        self.legal: dict[tuple[str, tuple[int, ...]], frozenset[int]] = {}

    def allowed(self, callee: str, inputs: tuple[int, ...], output: int) -> bool:
        """Whether `output` may be written over the buffer that all of `inputs` are read from."""
        key = (callee, inputs)
        if key not in self.legal:
            self.legal[key] = self._outputs(callee, inputs)
        return output in self.legal[key]

    def _outputs(self, callee: str, inputs: tuple[int, ...]) -> frozenset[int]:
        kind = self._kind(callee)
        if kind in _UPDATING:
            return frozenset(output for given, output in self.updates(callee) if inputs == (given,) and self.only_updated(callee, given))
        if kind == "transpose":
            return frozenset({0} if len(inputs) == 1 and self._only_windows(callee, inputs[0]) else ())
        if kind != "loop":
            return frozenset()
        block = self.functions[callee].regions[0].blocks[0]
        returned = list(list(block.operations)[-1].operation.operands)
        wanted = storage_type(block.arguments[inputs[0]].type)
        alike = frozenset(i for i, value in enumerate(returned) if storage_type(value.type) == wanted)
        accesses = _accesses(block, inputs) if alike else {}
        if any(accesses.get(value) not in (None, _SAME) for value in returned):
            return frozenset()
        shape = list(wanted.shape)
        if any(list(ir.ShapedType(value.type).shape) != shape for value in returned if accesses.get(value) is _SAME):
            return frozenset()
        readings = (self._is_read_after, self._is_read_beside)
        return alike - {o for o in alike if any(is_read(callee, given, o, accesses) for given in inputs for is_read in readings)}

    def _is_read_after(self, callee: str, given: int, output: int, accesses: dict[ir.Value, _Access]) -> bool:
        """Whether another output may read the input when this one is written: from a loop of its own, as all but the window that is written
        there, or because nothing of this output is made of it."""
        returned = list(ops_in(self.functions[callee].regions[0].blocks[0])[-1].operands)
        others = [number for number, value in enumerate(returned) if number != output and value in accesses]
        return bool(others) and (returned[output] not in accesses or any(self.window_update(callee, given, number) for number in others))

    def _is_read_beside(self, callee: str, given: int, output: int, accesses: dict[ir.Value, _Access]) -> bool:
        """Whether the output is the input but for windows, and others are made of what these write over: a window is a loop of its own."""
        if not self.window_update(callee, given, output):
            return False
        block = self.functions[callee].regions[0].blocks[0]
        returned = list(ops_in(block)[-1].operands)
        updates, value = [], returned[output]
        while value != block.arguments[given]:
            updates.append(value.owner.operation)
            value = updates[-1].operands[0]
        old = {block.arguments[given]}
        for op in ops_in(block):
            if op not in updates and not old.isdisjoint((*op.operands, *captured_values(op))):
                old.update(op.results)
        is_old = any(op.operands[1] in accesses for op in updates)
        return any(value in (accesses if is_old else old) for number, value in enumerate(returned) if number != output)

    def _kind(self, callee: str) -> str | None:
        function = self.functions.get(callee)
        known = function is not None and "hloom.kind" in function.attributes
        return ir.StringAttr(function.attributes["hloom.kind"]).value if function is not None and known else None

    def updates(self, callee: str) -> list[tuple[int, int]]:
        """The pairs (input, output) of a scatter or a call: each output's buffer holds what the input does when the group begins."""
        if self._kind(callee) not in _UPDATING:
            return []
        results = [ir.OpResult(value) for value in ops_in(self.functions[callee].regions[0].blocks[0])[-1].operands]
        (op,) = {result.owner.operation for result in results}
        starts = {result: operand for operand, result in aliases(op)} if op.name == "stablehlo.custom_call" else None
        found = []
        for output, number in enumerate(result.result_number for result in results):
            operand = number if starts is None else starts.get(number)
            if operand is not None:
                found.append((ir.BlockArgument(op.operands[operand]).arg_number, output))
        return found

    def only_updated(self, callee: str, given: int) -> bool:
        """Whether a scatter or a call reads its input as the one value that an output starts from, and nowhere else."""
        return has_one_use(self.functions[callee].regions[0].blocks[0].arguments[given])

    def _only_windows(self, callee: str, given: int) -> bool:
        """Whether the one result is the input but for windows of it, and nothing reads what is written over."""
        block = self.functions[callee].regions[0].blocks[0]
        argument, ops = block.arguments[given], ops_in(block)
        updates = [op for op in ops if op.name == "stablehlo.dynamic_update_slice"]
        alone = len(ops[-1].operands) == 1 and all(has_one_use(value) for value in (argument, *(op.results[0] for op in updates)))
        return alone and self.window_update(callee, given, 0)

    def window_update(self, callee: str, given: int, output: int) -> bool:
        """Whether the output is the input but for the windows that dynamic_update_slice writes: in place, nothing else need be touched."""
        block = self.functions[callee].regions[0].blocks[0]
        value = list(block.operations)[-1].operation.operands[output]
        updates = 0
        while (op := defining_op(value)) is not None and op.name == "stablehlo.dynamic_update_slice":
            value, updates = op.operands[0], updates + 1
        return updates > 0 and value == block.arguments[given]


def _accesses(block: ir.Block, inputs: tuple[int, ...]) -> dict[ir.Value, _Access]:
    """How every value of the block that depends on the inputs does so."""
    found: dict[ir.Value, _Access] = {block.arguments[i]: _SAME for i in inputs}
    for op in block.operations:
        op = op.operation
        if any(value in found for value in (*op.operands, *captured_values(op))):
            found.update({result: _of(op, result, found) for result in op.results})
    return found


def _of(op: ir.Operation, result: ir.Value, found: dict[ir.Value, _Access]) -> _Access:
    operands = list(op.operands)
    if is_elementwise(op):
        return _elementwise(result, operands, found)
    if op.name == "stablehlo.slice" and all(stride == 1 for stride in integers(op, "strides")):
        return _moved(found[operands[0]], integers(op, "start_indices"))
    if op.name == "stablehlo.concatenate":
        return _concatenated(op, operands, found)
    if op.name == "stablehlo.dynamic_slice":
        source, starts = operands[0], operands[1:]
        if found.get(source) != _SAME or any(start in found for start in starts):
            return _ELSEWHERE
        return _window(source, starts)
    if op.name == "stablehlo.dynamic_update_slice":
        source, update, starts = operands[0], operands[1], operands[2:]
        if found.get(source, _SAME) != _SAME or any(start in found for start in starts):
            return _ELSEWHERE
        there = _window(source, starts), _known_window(source, update, starts)
        if update in found and (source not in found or found[update] not in there):
            return _ELSEWHERE
        return _SAME
    return _ELSEWHERE


def _moved(access: _Access, by: list[int]) -> _Access:
    """Of a slice, or with the signs changed of what it is a slice of."""
    if access.window is not None:
        return _ELSEWHERE
    places = tuple(place + step for place, step in zip(access.at or [0] * len(by), by))
    return _Access(at=places) if any(places) else _SAME


def _concatenated(op: ir.Operation, pieces: list[ir.Value], found: dict[ir.Value, _Access]) -> _Access:
    """Of a concatenation that puts each piece of the input where it was."""
    axis, start, accesses = integer(op, "dimension"), 0, set()
    for piece in pieces:
        shape = list(ir.ShapedType(piece.type).shape)
        if piece in found:
            accesses.add(_moved(found[piece], [-start if d == axis else 0 for d in range(len(shape))]))
        start += shape[axis]
    return accesses.pop() if len(accesses) == 1 else _ELSEWHERE


def _window(source: ir.Value, starts: list[ir.Value]) -> _Access:
    """The window of `source` at these start values; equal constants are equal starts. A scalar has no starts: its window is all of it."""
    named: list[object] = ["window", tuple(ir.ShapedType(source.type).shape)]
    for start in starts:
        constant = producer(start, "stablehlo.constant")
        named.append(start if constant is None else constant.attributes["value"])
    return _Access(tuple(named))


def _known_window(source: ir.Value, update: ir.Value, starts: list[ir.Value]) -> _Access | None:
    """How a slice reads the elements that an update of `source` at these starts writes; None unless they are constant and in bounds."""
    constants = [constant for start in starts if (constant := producer(start, "stablehlo.constant")) is not None]
    places = [ir.DenseIntElementsAttr(constant.attributes["value"])[0] for constant in constants]
    room = [whole - size for whole, size in zip(ir.ShapedType(source.type).shape, ir.ShapedType(update.type).shape)]
    within = len(places) == len(starts) and all(0 <= place <= most for place, most in zip(places, room))
    return _moved(_SAME, places) if within else None


def _elementwise(result: ir.Value, operands: list[ir.Value], found: dict[ir.Value, _Access]) -> _Access:
    shape = list(ir.ShapedType(result.type).shape)
    read = {found[value] for value in operands if value in found}
    same_shape = all(list(ir.ShapedType(value.type).shape) == shape for value in operands if value in found)
    return read.pop() if len(read) == 1 and same_shape else _ELSEWHERE
