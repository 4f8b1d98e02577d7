"""copy-narrow-tails: the first lanes of a vector of narrow elements are loaded and stored by way of the stack.

Before:
    %mask = vector.create_mask %n : vector<256xi1>
    %x = vector.maskedload %a[%i], %mask, %other : memref<1300xi16>, vector<256xi1>, vector<256xi16> into vector<256xi16>
    vector.maskedstore %b[%i], %mask, %x : memref<1300xi16>, vector<256xi1>, vector<256xi16>
After, with a buffer for each type of vector at the function's begin:
    %room = memref.alloca() : memref<256xi16>
    %live = arith.minsi %n, %c256
    scf.for %k = %c0 to %live step %c1 { %room[%k] = %a[%i + %k] }
    %x = arith.select %mask, (vector.load %room[%c0]), %other
    vector.store %x, %room[%c0]
    scf.for %k = %c0 to %live step %c1 { %b[%i + %k] = %room[%k] }

Before AVX-512 x86 has masked accesses of 32 and 64 bits alone, NEON has none (the target's masked_bits). LLVM makes a branch a lane of
others: of a vector of many registers each branch hands on all of them, and code generation takes seconds. The loops become calls of memcpy.

Must hold: a buffer is of one dimension. Declined: elements that the target has masked accesses of; a single register, where LLVM's branches
are fewer and equal loads become one; masks that are not of the first lanes.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from hloom.dialects.target import TargetView, target_of

from ..common.control_flow import each_value
from ..common.rewriting import all_functions, defining_op, index_constant, walk
from ..registry import register_pass

_OPS = ("vector.maskedload", "vector.maskedstore")


@register_pass("copy-narrow-tails", "loads and stores the first lanes of narrow elements by way of the stack", ops=_OPS)
def copy_narrow_tails(module: ir.Operation) -> bool:
    target, changed = target_of(module), False
    for function in all_functions(module):
        rooms: dict[ir.Type, ir.Value] = {}
        for op in walk(function, lambda op: op.name in _OPS):
            live = _live_lanes(op, target)
            if live is not None:
                _copy(op, live, _room(function, op.operands[-1].type, rooms))
                changed = True
    return changed


def _live_lanes(op: ir.Operation, target: TargetView) -> ir.Value | None:
    """How many lanes of a masked access of several registers are live, the first ones; None where there is an instruction for it."""
    *_, mask, value = op.operands
    made, kind = defining_op(mask), ir.VectorType(value.type)
    width = kind.element_type.width
    if target.masks(width) or width * kind.shape[0] <= target.vector_bits or made is None or made.name != "vector.create_mask":
        return None
    return made.operands[0]


def _room(function: ir.Operation, kind: ir.VectorType, rooms: dict[ir.Type, ir.Value]) -> ir.Value:
    if kind not in rooms:
        with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]), function.location:
            rooms[kind] = memref.alloca(ir.MemRefType.get(kind.shape, kind.element_type), [], [], alignment=64)
    return rooms[kind]


def _copy(op: ir.Operation, live: ir.Value, room: ir.Value) -> None:
    base, start, mask, value = op.operands
    with ir.InsertionPoint(op), op.location:
        zero = index_constant(0)
        live = arith.minsi(live, index_constant(ir.VectorType(value.type).shape[0]))
        if op.name == "vector.maskedstore":
            vector.store(value, room, [zero])
            each_value(zero, live, lambda k: memref.store(memref.load(room, [k]), base, [arith.addi(start, k)]))
        else:
            each_value(zero, live, lambda k: memref.store(memref.load(base, [arith.addi(start, k)]), room, [k]))
            loaded = vector.load(value.type, room, [zero])
            op.results[0].replace_all_uses_with(arith.select(mask, loaded, value))
    op.erase()
