"""load-ahead: what each turn of a kernel's loop reads is asked for some turns before.

Before:
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0) -> (f32) {
      %at = arith.addi %i, %thread : index
      %x = memref.load %xs[%at] : memref<64000xf32>
      ...
      scf.yield %b : f32
    }
After, for one turn ahead:
    %x0 = scf.if (%c0 < %n) { memref.load %xs[…] } else { 0 }
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %x = %x0) -> (f32, f32) {
      %later = arith.addi %i, %c1 : index
      %next = scf.if (%later < %n) { memref.load %xs[…] } else { %x }
      ...
      scf.yield %b, %next : f32, f32
    }

A turn that waits for its own load takes the memory's latency, half a microsecond, whatever else it does; where threads are few no other
warp hides it. As many turns ahead as TURNS, or as REGISTERS allow for the values that wait.

Must hold: stage gpu; the kernel has few threads (THREADS for each multiprocessor), and the loop's turn more ops than a reduction's has
(OPS for each load); the load stands at the top of the body, of a buffer that the kernel only reads (llvm.readonly); its place hangs on the
loop's variable, on carried integers that hang on these alone, and on values from outside. Only arithmetic is done for a turn that never
comes: it loads nothing. Declined: all else, such as loads in branches, and places that hang on what is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView, target_of

from ..common.rewriting import clone_with, create, index_constant, is_block_argument, ops_in, top_level, value_of, walk
from ..registry import register_pass
from .support.launch import launch_extents

TURNS, REGISTERS, THREADS, OPS = 4, 16, 256, 8
_DIALECTS = ("arith.", "math.", "memref.load", "memref.store", "scf.yield")
_FAILING = ("divsi", "divui", "remsi", "remui")


@register_pass("load-ahead", "has loops of few threads load what later turns read", ops=("scf.for",))
def load_ahead(module: ir.Operation) -> None:
    target = target_of(module)
    for kernel in [op for holder in top_level(module, "gpu.module") for op in walk(holder, "gpu.func")]:
        if _is_narrow(kernel, target):
            for loop in walk(kernel, "scf.for"):
                found = _reads(loop, kernel)
                if found is not None:
                    with kernel.context, loop.location:
                        found.emit()


def _is_narrow(kernel: ir.Operation, target: TargetView) -> bool:
    return prod([*launch_extents(kernel, "grid"), *launch_extents(kernel, "block")]) <= target.multiprocessors * THREADS


def _reads(loop: ir.Operation, kernel: ir.Operation) -> Reads | None:
    """The loads of a loop that can be asked for ahead; None without any."""
    body = ops_in(loop.regions[0].blocks[0])
    if any(not op.name.startswith(_DIALECTS) for op in body):
        return None
    arguments = kernel.regions[0].blocks[0].arguments
    marks = list(ir.ArrayAttr(kernel.attributes["arg_attrs"])) if "arg_attrs" in kernel.attributes else []
    read_only = {value for value, mark in zip(arguments, marks) if "llvm.readonly" in ir.DictAttr(mark)}
    loads, slots, ops = [], set(), set()
    for load in body:
        if load.name != "memref.load" or load.operands[0] not in read_only:
            continue
        needs = _needs(load.operands[1:], loop)
        if needs is not None:
            loads.append(load)
            slots |= needs.slots
            ops |= needs.ops
    if not loads or len(body) < OPS * len(loads) or len(loads) > REGISTERS:
        return None
    return Reads(loop, loads, sorted(slots), [op for op in body if op in ops], min(TURNS, REGISTERS // len(loads)))


@dataclass
class Needs:
    """What a place hangs on: carried values by their number, and ops of the body."""

    slots: set[int]
    ops: set[ir.Operation]


def _needs(values: Sequence[ir.Value], loop: ir.Operation) -> Needs | None:
    """None where it is not known turns ahead."""
    block, found, left, seen = loop.regions[0].blocks[0], Needs(set(), set()), list(values), set()
    nexts = ops_in(block)[-1].operands
    variable, *carried = block.arguments
    while left:
        value = left.pop()
        if value in seen or value == variable:
            continue
        seen.add(value)
        if value in carried:
            slot = carried.index(value)
            if not isinstance(value.type, (ir.IntegerType, ir.IndexType)):
                return None
            found.slots.add(slot)
            left.append(nexts[slot])
        elif not is_block_argument(value) and value.owner.operation.block == block:
            op = value.owner.operation
            if not op.name.startswith("arith.") or op.name.endswith(_FAILING):
                return None
            found.ops.add(op)
            left.extend(op.operands)
    return found


@dataclass
class Reads:
    """`loads` of a loop, `turns` ahead; `ops` compute their places and the next values of the carried `slots`, in the body's order."""

    loop: ir.Operation
    loads: list[ir.Operation]
    slots: list[int]
    ops: list[ir.Operation]
    turns: int

    def emit(self) -> None:
        """Makes the loop anew."""
        loop = self.loop
        lower, upper, step, *starts = loop.operands
        block = loop.regions[0].blocks[0]
        with ir.InsertionPoint(loop):
            states, waiting = [starts[slot] for slot in self.slots], []
            for turn in range(self.turns):
                zeros = [arith.ConstantOp(load.results[0].type, _zero(load.results[0].type)).result for load in self.loads]
                at = arith.addi(lower, arith.muli(index_constant(turn), step))
                values, states = self._turn(at, states, zeros)
                waiting.append(values)
            begun = [*starts, *states, *(value for values in waiting for value in values)]
            made = create("scf.for", [value.type for value in begun], [lower, upper, step, *begun], regions=1)
            inner = made.regions[0].blocks.append(ir.IndexType.get(), *[value.type for value in begun])
        variable, *values = inner.arguments
        carried, rest = values[: len(starts)], values[len(starts) :]
        states, queue = rest[: len(self.slots)], rest[len(self.slots) :]
        count = len(self.loads)
        with ir.InsertionPoint(inner):
            later = arith.addi(variable, arith.muli(index_constant(self.turns), step))
            values, states = self._turn(later, states, queue[:count])
            mapping = dict(zip(block.arguments, [variable, *carried]))
            mapping.update(zip((load.results[0] for load in self.loads), queue[:count]))
            *body, last = ops_in(block)
            for op in body:
                if op not in self.loads:
                    clone_with(op, mapping)
            ends = [mapping.get(value, value) for value in last.operands]
            create("scf.yield", [], [*ends, *states, *queue[count:], *values])
        for old, new in zip(loop.results, made.results):
            old.replace_all_uses_with(new)
        loop.erase()

    def _turn(self, at: ir.Value, states: Sequence[ir.Value], otherwise: Sequence[ir.Value]) -> tuple[list[ir.Value], list[ir.Value]]:
        """What the turn `at` a place loads, or `otherwise` where it does not come, and the carried values of the turn behind it."""
        block = self.loop.regions[0].blocks[0]
        variable, *carried = block.arguments
        mapping = {variable: at, **{carried[slot]: state for slot, state in zip(self.slots, states)}}
        for op in self.ops:
            clone_with(op, mapping)
        comes = arith.cmpi(arith.CmpIPredicate.slt, at, self.loop.operands[1])
        branch = create("scf.if", [value.type for value in otherwise], [comes], regions=2)
        there, absent = (region.blocks.append() for region in branch.regions)
        with ir.InsertionPoint(there):
            loaded = [value_of("memref.load", load.results[0].type, [mapping.get(v, v) for v in load.operands]) for load in self.loads]
            create("scf.yield", [], loaded)
        with ir.InsertionPoint(absent):
            create("scf.yield", [], otherwise)
        nexts = ops_in(block)[-1].operands
        return list(branch.results), [mapping.get(nexts[slot], nexts[slot]) for slot in self.slots]


def _zero(kind: ir.Type) -> ir.Attribute:
    return ir.FloatAttr.get(kind, 0.0) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, 0)
