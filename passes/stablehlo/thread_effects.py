"""thread-effects: calls with effects become calls that give a number, which the next one takes and the last result waits for.

Before:
    stablehlo.custom_call @hloom.effect(%x) {has_side_effect = true, …} : (tensor<4xf32>) -> ()
    return %y : tensor<4xf32>
After:
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.custom_call @hloom.effect(%0, %x) {…} : (tensor<i32>, tensor<4xf32>) -> tensor<i32>
    %2 = select (%1 < 0), 1, %y
    return %2 : tensor<4xf32>

What nothing reads is dropped, what is the same is computed once, and what has no effect may move: no pass has to know of effects, for
these calls are read, each once and in their order. They give 0, and what they gave. The number passes through loops and branches.
Must hold: calls of functions are inlined. Declined: other custom calls (legalize-custom-calls refuses effects). In the condition of a loop,
in a region that is no loop and no branch, and in a program without results they raise UnsupportedOpError.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.custom_calls import EFFECT, target_of_call
from ..common.init_function import entry
from ..common.rewriting import attributes_of, create, ops_in, replace, walk
from ..errors import UnsupportedOpError
from ..registry import register_pass
from .support import build
from .support.threading import Thread

_CALL = "stablehlo.custom_call"


@register_pass("thread-effects", "puts calls with effects in their order by a number that each gives the next", ops=(_CALL,))
def thread_effects(module: ir.Operation) -> bool:
    main = entry(module, "main")
    if main is None or not (calls := walk(main, _is_effect)):
        return False
    block = main.regions[0].blocks[0]
    *_, returned = ops_in(block)
    if not len(returned.operands):
        raise _refused(calls[0], "a program without results")
    with main.location, ir.InsertionPoint.at_block_begin(block):
        start = build.zero([], ir.IntegerType.get_signless(32))
    after = Thread(_is_effect, _step, _refused).through(block, start)
    last = len(returned.operands) - 1
    with returned.location, ir.InsertionPoint(returned):
        value = returned.operands[last]
        failed = build.compare("LT", after, build.full_like(after, 0))
        returned.operands[last] = build.select(failed, build.full(value.type, 1), value)
    return True


def _is_effect(op: ir.Operation) -> bool:
    return op.name == _CALL and target_of_call(op) == EFFECT and "has_side_effect" in op.attributes


def _step(op: ir.Operation, before: ir.Value) -> ir.Value:
    attributes = {name: value for name, value in attributes_of(op).items() if name not in _OF_OPERANDS}
    new = create(_CALL, [before.type, *(result.type for result in op.results)], [before, *op.operands], **attributes)
    after, *results = new.results
    replace(op, results)
    return after


_OF_OPERANDS = ("has_side_effect", "operand_layouts", "result_layouts")
"""Attributes of the call before: those that JAX writes tell row-major layouts, as none do."""


def _refused(op: ir.Operation, place: str) -> UnsupportedOpError:
    call = next(iter(walk(op, _is_effect)), op)
    remedy = "take it out, or have jax.pure_callback give what the program needs of it"
    what = f"hloom does not compile a callback to Python that has effects in {place}"
    return UnsupportedOpError(what, op=_CALL, loc=str(call.location), stage="stablehlo", remedy=remedy)
