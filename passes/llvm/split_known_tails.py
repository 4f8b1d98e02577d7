"""split-known-tails: a vector of which so many lanes are live, the first ones, is loaded and stored in whole parts.

Before:
    %mask = arith.constant dense<[true, true, true, true, true, false, false, false]> : vector<8xi1>
    %x = vector.maskedload %a[%i], %mask, %other : memref<100xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.maskedstore %b[%i], %mask, %x : memref<100xf32>, vector<8xi1>, vector<8xf32>
After, in parts of a power of two:
    %four = vector.load %a[%i] : memref<100xf32>, vector<4xf32>
    %one = memref.load %a[%i + 4] : memref<100xf32>
    %x = vector.insert %one, (vector.insert_strided_slice %four, %other {offsets = [0], strides = [1]}) [4]
    vector.store (vector.extract_strided_slice %x {offsets = [0], sizes = [4], strides = [1]}), %b[%i] : memref<100xf32>, vector<4xf32>
    memref.store (vector.extract %x[4]), %b[%i + 4] : memref<100xf32>

For targets without masked accesses (masked_bits is 0), where LLVM goes lane by lane. On x86 it joins the lanes again.
On all targets a store of one lane is that of its element: for AVX-512 LLVM writes too much where the lanes were truncated
(of an i32 made i8 all four bytes).

Must hold: a buffer is of one dimension. Declined: targets with masked accesses, but for stores of one lane; masks that are not known, or
not of the first lanes.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from hloom.dialects.target import target_of

from ..common.rewriting import defining_op, index_constant, walk
from ..common.vectors import vector_of
from ..registry import register_pass

_OPS = ("vector.maskedload", "vector.maskedstore")


@register_pass("split-known-tails", "loads and stores the first lanes of a vector, where their number is known, in whole parts", ops=_OPS)
def split_known_tails(module: ir.Operation) -> bool:
    masked = bool(target_of(module).masked_bits)
    changed = False
    for op in walk(module, lambda op: op.name in _OPS):
        live = _live_lanes(op)
        if live is None or (masked and (op.name == "vector.maskedload" or live != 1)):
            continue
        with ir.InsertionPoint(op), op.location:
            if op.name == "vector.maskedload":
                op.results[0].replace_all_uses_with(_loaded(op, live))
            else:
                _store(op, live)
        op.erase()
        changed = True
    return changed


def _live_lanes(op: ir.Operation) -> int | None:
    """How many lanes of a masked access are live, the first ones; None where that is not known."""
    made = defining_op(op.operands[-2])
    if made is None or made.name != "arith.constant":
        return None
    lanes = list(ir.DenseIntElementsAttr(made.attributes["value"]))
    live = sum(map(bool, lanes))
    return live if all(lanes[:live]) else None


def _parts(live: int) -> Iterator[tuple[int, int]]:
    """Where each part begins, and its lanes: powers of two, the greatest first."""
    start = 0
    while start < live:
        count = 1 << (live - start).bit_length() - 1
        yield start, count
        start += count


def _loaded(op: ir.Operation, live: int) -> ir.Value:
    base, place, _, made = op.operands
    element = ir.VectorType(made.type).element_type
    for start, count in _parts(live):
        at = [arith.addi(place, index_constant(start))]
        if count == 1:
            made = vector.insert(memref.load(base, at), made, [], [start])
        else:
            made = vector.insert_strided_slice(vector.load(vector_of(count, element), base, at), made, [start], [1])
    return made


def _store(op: ir.Operation, live: int) -> None:
    base, place, _, value = op.operands
    element = ir.VectorType(value.type).element_type
    for start, count in _parts(live):
        at = [arith.addi(place, index_constant(start))]
        if count == 1:
            memref.store(vector.extract(value, [], [start]), base, at)
        else:
            vector.store(vector.extract_strided_slice(vector_of(count, element), value, [start], [count], [1]), base, at)
