"""Groups made of several: the bodies of called functions behind each other in one, and its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch_mlir import ir

from ...common.rewriting import body_ops, callee_of, clone_with, create, defining_op, functions, ops_in, symbol_name, walk
from .chain import returned


def function_of(
    calls: Sequence[ir.Operation],
    groups: Mapping[str, ir.Operation],
    operands: Sequence[ir.Value],
    results: Sequence[ir.Value] | None = None,
) -> tuple[ir.Operation, dict[ir.Operation, ir.Operation]]:
    """A function of `operands` with the bodies of what is called, in that order, that returns `results` of these, or what the last call
    does; and the copies of their ops."""
    parts = [groups[callee_of(call)] for call in calls]
    given, location = list(calls[-1].results) if results is None else list(results), parts[-1].location
    function, block = open_function(parts[-1], operands, given)
    values, copies = dict(zip(operands, block.arguments)), {}
    with ir.InsertionPoint(block):
        for call, part in zip(calls, parts):
            mapping = {a: values[v] for a, v in zip(part.regions[0].blocks[0].arguments, call.operands)}
            for op in body_ops(part):
                copies[op] = clone_with(op, mapping)
            values.update(zip(call.results, (mapping[v] for v in returned(part).operands)))
        with location:
            create("func.return", [], [values[v] for v in given])
    return function, copies


def outside_values(calls: Sequence[ir.Operation]) -> list[ir.Value]:
    """What the calls read that none of them makes, each value once, in order of use."""
    made = {value for call in calls for value in call.results}
    return list(dict.fromkeys(value for call in calls for value in call.operands if value not in made))


def erase_uncalled(module: ir.Operation, groups: Mapping[str, ir.Operation], names: Iterable[str]) -> None:
    """Erases those of the named groups that no call names any more."""
    called = {callee_of(call) for call in walk(module, "func.call")}
    for name in sorted(set(names) - called):
        groups[name].erase()


def open_function(before: ir.Operation, operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> tuple[ir.Operation, ir.Block]:
    """A function without a name of its own, of values of these types, before another one; and its body, which is empty."""
    kind = ir.FunctionType.get([value.type for value in operands], [value.type for value in results])
    with ir.InsertionPoint(before), before.location:
        function = create(
            "func.func",
            regions=1,
            sym_name=ir.StringAttr.get("group"),
            function_type=ir.TypeAttr.get(kind),
            sym_visibility=ir.StringAttr.get("private"),
        )
    return function, function.regions[0].blocks.append(*kind.inputs, arg_locs=[before.location] * len(operands))


def named(module: ir.Operation, function: ir.Operation, made: dict[str, str], prefix: str) -> str:
    """A name for the function; that of an equal one, which then stands for it, and the function is gone. `made`: the names by text."""
    text = function.get_asm(enable_debug_info=False, use_local_scope=True)
    if text in made:
        function.erase()
        return made[text]
    taken = {symbol_name(each) for each in functions(module)}
    number = next(n for n in range(len(taken) + 1) if f"{prefix}_{n}" not in taken)
    name = made[text] = f"{prefix}_{number}"
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    return name


def call_in_place(call: ir.Operation, name: str, operands: Sequence[ir.Value]) -> ir.Operation:
    """The call of `name` in place of a call, which is gone."""
    with ir.InsertionPoint(call), call.location:
        new = create("func.call", [value.type for value in call.results], operands, callee=ir.FlatSymbolRefAttr.get(name))
    for old, value in zip(call.results, new.results):
        old.replace_all_uses_with(value)
    call.erase()
    return new


def users(value: ir.Value) -> list[ir.Operation]:
    """The ops that read a value."""
    return list(dict.fromkeys(use.owner.operation for use in value.uses))


def convex(calls: Sequence[ir.Operation], block: ir.Block) -> list[ir.Operation]:
    """The calls and all ops between them, of which one reads, directly or not, another's result, and is read by one; in order."""
    ops, wanted = ops_in(block), set(calls)
    places = [number for number, op in enumerate(ops) if op in wanted]
    span = ops[places[0] : places[-1] + 1]
    after, before = set(wanted), set(wanted)
    for op in span:
        if any(defining_op(v) in after for each in walk(op) for v in each.operands):
            after.add(op)
    for op in reversed(span):
        if any(_holder(user, block) in before for result in op.results for user in users(result)):
            before.add(op)
    return [op for op in span if op in wanted or (op in after and op in before)]


def _holder(op: ir.Operation, block: ir.Block) -> ir.Operation:
    """The op of the block that `op` is, or lies in."""
    while op.block != block:
        op = op.parent.operation
    return op


def call_once(calls: Sequence[ir.Operation], name: str, operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> ir.Operation:
    """One call in place of several that are convex, which are gone; what reads a result of theirs comes behind it."""
    block, last, inside = calls[-1].block, calls[-1], set(calls)
    ops = ops_in(block)
    span = ops[ops.index(calls[0]) : ops.index(last)]
    behind: list[ir.Operation] = []
    reading = set(inside)
    for op in span:
        if op not in inside and any(defining_op(v) in reading for each in walk(op) for v in each.operands):
            reading.add(op)
            behind.append(op)
    with ir.InsertionPoint(last), last.location:
        new = create("func.call", [value.type for value in results], operands, callee=ir.FlatSymbolRefAttr.get(name))
    for op in reversed(behind):
        op.move_after(new)
    for old, value in zip(results, new.results):
        old.replace_all_uses_with(value)
    for call in reversed(calls):
        call.erase()
    return new
