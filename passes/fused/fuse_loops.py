"""fuse-loops: a loop whose tiles need nothing of each other becomes one kernel: tiles outside, time inside.

Before:
    %r:2 = stablehlo.while(%i = %c0, %x = %arg0) : tensor<i32>, tensor<2048xf32> cond { %i < 1000 } do {
      %0 = stablehlo.sine %x; stablehlo.return %i + 1, %0
    }
After:
    %r = call @loop_0(%arg0) : (tensor<2048xf32>) -> tensor<2048xf32>
    func.func private @loop_0(%x) attributes {hloom.kind = "while"} { the loop; return }

The carries are scalars of an element, which stay in registers: an element of a result is followed back through the body (loops/trace.py),
and where that needs only a few elements of each carry, always the same, a tile is computed from the first turn to the last. What is the
same for all elements (counters, keys of random numbers) each tile computes for itself. Loops in the body stay loops.

Must hold: the end of the stage stablehlo. Holds after: as plan-fusion has it, which leaves groups alone. Declined, with a record each:
where an element needs its neighbours' (LOOP_CROSS_TILE), a carry that is read and written in part (LOOP_ALIAS), conditions of all tiles, or
on a CPU of one among several turns that are lanes (LOOP_COND), ops in the body that are no scalar code, or on a GPU more of it than
registers hold (LOOP_BODY), and loops that turn faster in the host program (NO_GAIN). A policy's `[[loop]]` rules with `turns_in` go before
the price (docs/policy.md).
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import func

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView, target_of

from ..common.ops import FREE
from ..common.rewriting import around, captured_values, clone_with, defining_op, functions, i64_attr, symbol_name, walk
from ..registry import register_pass
from ..stablehlo.rules.loops import find_counter
from .loops.held import held_scalars
from .loops.nodes import Result
from .loops.parts import Part, parts_of
from .loops.price import Price, price
from .loops.trace import Obstacle
from .planner.codes import Code
from .planner.decisions import append_note
from .planner.loop_wishes import LoopWishes
from .planner.policy import HOST, policy_of

LEAST_GAIN = 20
"""A loop that gains less than one part in so many stays where it is."""


MOST_HELD = 128
"""Of a GPU's thread, of 255 registers: the others are addresses, wide scalars and what a function computes."""


@register_pass("fuse-loops", "makes one kernel of a loop whose tiles need nothing of each other", ops=("stablehlo.while",))
def fuse_loops(module: ir.Operation) -> None:
    target = target_of(module)
    wishes = LoopWishes(policy_of(module).loop, lambda rule: rule.turns_in != "cost")
    with module.context, ir.Location.unknown():
        pending = [op for op in walk(module, "stablehlo.while") if _parent_loop(op) is None]
        while pending:
            loop = pending.pop(0)
            if not _fuse(module, loop, target, wishes):
                pending.extend(op for op in walk(loop, "stablehlo.while") if op != loop and _parent_loop(op) == loop)
        wishes.tell(module)


def _parent_loop(op: ir.Operation) -> ir.Operation | None:
    """The loop around an op, or None."""
    return next((outer for outer in around(op) if outer.name == "stablehlo.while"), None)


def _fuse(module: ir.Operation, loop: ir.Operation, target: TargetView, wishes: LoopWishes) -> bool:
    """Whether the loop became kernels, one for each part of its results."""
    kind = str(max((result.type for result in loop.results), key=byte_size))
    counter = find_counter(loop)
    number = wishes.rule_for(loop, None if counter is None else counter.trips)
    asked = "cost" if number is None else wishes.rules[number].turns_in
    told = "" if number is None else wishes.named(number)
    if number is not None and asked == HOST:
        wishes.became(number, loop)
        append_note(module, Code.POLICY_FORBIDDEN, [], "the policy has the loop turn in the host program", kind, rule=told)
        return False
    try:
        parts = parts_of(loop)
        for part in parts:
            _check_lanes(part, target)
            _check_thread(part, target)
    except Obstacle as obstacle:
        if number is not None:
            wishes.became(number, loop, obstacle.reason)
        append_note(module, obstacle.code, [], obstacle.reason, kind if obstacle.value is None else str(obstacle.value.type), rule=told)
        return False
    if not parts:
        return False
    prices = [price(part, target) for part in parts]
    inside, outside = sum(each.inside for each in prices), max(each.outside for each in prices)
    figures = {"t_before_ps": outside, "t_after_ps": inside, "gain_ps": outside - inside}
    gains = outside - inside > max(target.min_gain_ps, outside // LEAST_GAIN)
    if not gains and number is None:
        append_note(module, Code.NO_GAIN, [], "the loop turns faster in the host program", kind, figures)
        return False
    if number is not None:
        wishes.became(number, loop)
    names = [_outline(module, loop, part, each) for part, each in zip(parts, prices)]
    turns = "" if counter is None else f"{counter.trips} turns, "
    scalars = sum(len(part.outer.slots) for part in parts)
    against = "" if gains else ", against the price"
    append_note(module, Code.FUSED_LOOP, names, f"{turns}{scalars} carried scalars for each element{against}", kind, figures, told)
    loop.erase()
    return True


def _check_lanes(part: Part, target: TargetView) -> None:
    """Turns that need nothing of each other are lanes on a CPU, of which all do the same. Raises Obstacle where a loop in them goes on as
    long as what one of them computes says."""
    if target.kind == "cuda" or not part.turns_are_alike:
        return
    loops = {node.loop for node in part.tracer.nodes if isinstance(node, Result)}
    if any(each.goes_on is not None for each in loops):
        raise Obstacle(Code.LOOP_COND, "turns are lanes, and a loop in them may end at another turn in each")


def _check_thread(part: Part, target: TargetView) -> None:
    """A thread of a GPU stores what it writes turn by turn: rows of the tile, one behind the other. What it holds lies in registers: local
    memory would be slower than the host's turns. Raises Obstacle on others."""
    if target.kind != "cuda":
        return
    for number in part.streams:
        if part.axes[number] != [len(part.extents), *range(len(part.extents))]:
            raise Obstacle(Code.LOOP_BODY, "what a turn writes does not lie as its tiles", part.outer.op.results[number])
    held = held_scalars(part)
    if held > MOST_HELD:
        raise Obstacle(Code.LOOP_BODY, f"a thread would hold {held} scalars at once: more than {MOST_HELD} are no registers")


def _outline(module: ir.Operation, loop: ir.Operation, part: Part, cost: Price) -> str:
    """A function that makes the part's results, and its call before the loop; the name."""
    emitted: list[ir.Operation] = []
    arguments: list[ir.Value] = []
    for value in (*loop.operands, *captured_values(loop)):
        _collect(value, emitted, arguments)
    numbers = sorted(part.roots)
    results = [loop.results[n].type for n in numbers]
    with ir.InsertionPoint(module.regions[0].blocks[0]), loop.location:
        function = func.FuncOp(_free_name(module), ir.FunctionType.get([v.type for v in arguments], results), visibility="private")
        entry = function.add_entry_block()
    mapping = dict(zip(arguments, entry.arguments))
    with ir.InsertionPoint(entry):
        for op in (*emitted, loop):
            copy = clone_with(op, mapping)
        func.ReturnOp([copy.results[n] for n in numbers], loc=loop.location)
    attributes = function.operation.attributes
    attributes["hloom.kind"] = ir.StringAttr.get("while")
    moved = sum(byte_size(kind) for kind in (*(v.type for v in arguments), *results))
    for name, figure in (("cost_ps", cost.inside), ("bytes", moved), ("flops", cost.work)):
        attributes[f"hloom.{name}"] = i64_attr(figure)
    others = module.regions[0].blocks[0].operations
    function.operation.move_after(others[len(others) - 1].operation)
    with ir.InsertionPoint(loop), loop.location:
        call = func.CallOp(results, ir.FlatSymbolRefAttr.get(symbol_name(function.operation)), arguments)
    for number, result in zip(numbers, call.operation.results):
        loop.results[number].replace_all_uses_with(result)
    return symbol_name(function.operation)


def _collect(value: ir.Value, emitted: list[ir.Operation], arguments: list[ir.Value]) -> None:
    """Adds what a value needs: the free ops that make it, in order, and the values that those read."""
    op = defining_op(value)
    if op is None or op.name not in FREE:
        if value not in arguments:
            arguments.append(value)
        return
    if op in emitted:
        return
    for operand in op.operands:
        _collect(operand, emitted, arguments)
    emitted.append(op)


def _free_name(module: ir.Operation) -> str:
    taken = {symbol_name(function) for function in functions(module)}
    return next(name for number in range(len(taken) + 1) if (name := f"loop_{number}") not in taken)
