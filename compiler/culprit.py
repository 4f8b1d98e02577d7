"""The first op whose compiled form gives other values than the reference interpreter does.

The program is compiled once more with the results of every group as results of its own. Each group is then compared with the interpreter
on that group's inputs as the compiled program had them, so an earlier group's error is not laid to a later one. The same follows within
the group, op by op. A program whose groups are all right went wrong before them (the front end, a pass) or after (buffers): the interpreter
runs the program at `input` and with its groups, and bisects the passes between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.dialects.target import TargetView, attach_target
from hloom.passes.common.rewriting import body_ops, callee_of, functions, ops_in, symbol_name, update_signature
from hloom.passes.errors import CompileError
from hloom.runtime.comparison import conditioned, difference, neighbours

from .compile import Compilation
from .extraction import extracted, outer_values
from .frontend import load_program
from .interpreter import Interpreter, InterpreterError
from .parsing import bytecode_of, parse_module
from .pipeline import STAGES, Pipeline
from .reference import Culprit
from .resume import load_stage
from .source_program import main_function

_PLANNED = "plan-fusion"
"""The pass that makes the groups. What follows it in its stage moves groups to @init, where the interpreter would not see them."""


def find_culprit(
    original: bytes, target: TargetView, inputs: Sequence[np.ndarray], expected: Sequence[np.ndarray], interpreter: Interpreter
) -> Culprit | None:
    """The first op of the program (`original`, at stage `input`) that differs on `inputs`, or what else is at fault.

    None where the interpreter does not give the `expected` results either (the front end is at fault), or does not run the program.
    """
    fused = _fused(original, target)
    group = first_wrong_op(fused, "fused", target, inputs, interpreter)
    if group is not None:
        name = f"@{group.callee}" if group.callee else group.name
        inner = _op_of_group(fused, group, target, interpreter) if group.callee else None
        if inner is None:
            return Culprit(f"{name}: its ops are right one by one, fused they are not", group.loc, "linalg to object")
        return Culprit(f"{inner.name} of the group {name}", inner.loc, "linalg to object")
    try:
        plain = interpreter.run(original, inputs).results
        if not _agree(expected, plain, lambda: interpreter.run(original, neighbours(inputs)).results):
            return None
        return _wrong_pass(original, target, inputs, plain, interpreter) or Culprit(
            "no op by itself: buffers or the packing of bound values are at fault", None, "lhlo"
        )
    except InterpreterError:
        return None


@dataclass(frozen=True)
class _WrongOp:
    name: str
    loc: str
    callee: str
    operands: list[np.ndarray]


def first_wrong_op(
    program: bytes, stage: str, target: TargetView, inputs: Sequence[np.ndarray], interpreter: Interpreter
) -> _WrongOp | None:
    """The first op of @main (of a program at `stage`) that the compiled program computes otherwise than the interpreter."""
    with make_context() as context, ir.Location.unknown():
        module = parse_module(program, context)
        watched = [op for op in body_ops(main_function(module)) if op.name != "stablehlo.constant"]
        kept = [value for op in watched for value in op.results]
        _return(main_function(module), kept)
        loaded, _ = load_stage(bytecode_of(module), stage)
        exe = Compilation(loaded, target, stage=stage).executable()
        known = dict(zip(main_function(module).regions[0].blocks[0].arguments, inputs))
        known.update(zip(kept, (np.asarray(value) for value in exe.flat(inputs))))
        helpers = [op for op in functions(module.operation) if symbol_name(op) != "main"]
        for op in watched:
            part, arguments = _alone(op, helpers)
            given = [known[value] for value in arguments]
            found = [known[value] for value in op.results]
            if not _right(part, given, found, interpreter):
                callee = callee_of(op) if op.name == "func.call" else ""
                return _WrongOp(op.name, str(op.location), callee, given)
    return None


def _right(part: bytes, given: list[np.ndarray], found: list[np.ndarray], interpreter: Interpreter) -> bool:
    """Whether `found` are the part's results on `given`; where the interpreter does not run the part, it gets the benefit of the doubt."""
    try:
        expected = interpreter.run(part, given).results
        return _agree(found, expected, lambda: interpreter.run(part, neighbours(given)).results)
    except InterpreterError:
        return True


def _agree(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], moved: Callable[[], list[np.ndarray]]) -> bool:
    if all(difference(one, other).ok for one, other in zip(found, expected)):
        return True
    return all(difference(one, other).ok or conditioned(one, other, near)[0] for one, other, near in zip(found, expected, moved()))


def _alone(op: ir.Operation, helpers: list[ir.Operation]) -> tuple[bytes, list[ir.Value]]:
    """The op, with the constants that it reads and the functions that it may call, as a program; and the values that this takes."""
    outside = outer_values([op])
    constants = [value.owner.operation for value in outside if _is_constant(value)]
    arguments = [value for value in outside if not _is_constant(value)]
    module = extracted([*constants, op], arguments, list(op.results))
    with ir.InsertionPoint(module.body):
        for helper in helpers:
            helper.clone()
    return bytecode_of(module), arguments


def _is_constant(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "stablehlo.constant"


def _op_of_group(fused: bytes, group: _WrongOp, target: TargetView, interpreter: Interpreter) -> _WrongOp | None:
    with make_context() as context, ir.Location.unknown():
        module = parse_module(fused, context)
        function = next(op for op in functions(module.operation) if symbol_name(op) == group.callee)
        block = function.regions[0].blocks[0]
        ops = body_ops(function)
        program = extracted(ops, list(block.arguments), [value for op in ops for value in op.results])
        return first_wrong_op(bytecode_of(program), "stablehlo", target, group.operands, interpreter)


def _return(function: ir.Operation, values: list[ir.Value]) -> None:
    """Has the function return `values`, nothing else."""
    block = function.regions[0].blocks[0]
    ops_in(block)[-1].erase()
    with ir.InsertionPoint(block):
        ir.Operation.create("func.return", operands=values)
    update_signature(function)
    if "res_attrs" in function.attributes:
        del function.attributes["res_attrs"]


def _fused(original: bytes, target: TargetView) -> bytes:
    """The program with its groups, and nothing bound."""
    module = _loaded(original, target)
    Pipeline(",".join(name for name, _ in _passes(target))).run(module)
    return bytecode_of(module)


def _passes(target: TargetView) -> list[tuple[str, str]]:
    """The passes up to the one that makes the groups, each with its stage."""
    names = [(name, stage.name) for stage in STAGES for name in stage.passes_for(target.kind)]
    return names[: [name for name, _ in names].index(_PLANNED) + 1]


def _loaded(original: bytes, target: TargetView) -> ir.Module:
    program = load_program(original)
    main = main_function(program.module)
    with main.context:
        if "arg_attrs" in main.attributes:
            del main.attributes["arg_attrs"]
        attach_target(program.module.operation, target)
    return program.module


def _wrong_pass(
    original: bytes, target: TargetView, inputs: Sequence[np.ndarray], plain: list[np.ndarray], interpreter: Interpreter
) -> Culprit | None:
    """The first pass up to the planner after which the interpreter gives other results, by bisection."""
    names = _passes(target)

    def wrong(count: int) -> bool:
        module = _loaded(original, target)
        try:
            Pipeline(",".join(name for name, _ in names[:count])).run(module)
            found = interpreter.run(bytecode_of(module), inputs).results
        except CompileError:
            return False  # what the interpreter does not run between two passes counts as right
        return not _agree(found, plain, lambda: interpreter.run(original, neighbours(inputs)).results)

    if not wrong(len(names)):
        return None
    low, high = 0, len(names)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wrong(middle) else (middle, high)
    name, stage = names[high - 1]
    return Culprit(f"the pass {name}", None, stage)
