"""widen-half-floats: arithmetic on bf16, and on f16 where the target has none, is done in f32 and rounded after every operation.

Before, in the body of a linalg.generic:
    %1 = arith.addf %a, %b : bf16
    %2 = arith.maximumf %1, %c : bf16
After:
    %1 = arith.truncf (arith.addf (arith.extf %a), (arith.extf %b)) : f32 to bf16
    %2 = bf16 of the upper bits of (arith.maximumf (arith.extf %1), (arith.extf %c)) : f32

One rounding of an f32 sum, product, quotient or root gives the bf16 (f16) that rounding once would have given, so results are
unchanged. The vectoriser then sees the f32 lanes that the processor works on, and conversions can be chosen for the target
(round-to-bf16); LLVM would split the vectors by way of memory and call a run-time library. A maximum or minimum needs no rounding: a
bf16 is its upper bits, and a reader takes the f32. One of what is rounded for it alone is taken before that is rounded, which is then the
last step: rounding keeps the order. Rounding from f64 goes by way of an f32 rounded to odd. Integers become f32 first, so those beyond
2^24 are rounded twice.

Upstream's arith-emulate-unsupported-floats rounds maxima too, rounds f64 twice, and takes the accumulators of reductions apart.

Must hold: nothing. Declined: ops that move or change bits of f16 (select, negf, absf, copysign); the select that a scan of several values
begins with, by which it is recognised; conversions between floats; what combines the accumulator of a reduction, which the vectoriser must
recognise; other types than scalars.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView, target_of

from ..common.bf16 import upper_half
from ..common.combiner import begins_anew
from ..common.rewriting import attributes_of, create, has_one_use, producer, replace, value_of, walk
from ..common.vectors import splat
from ..registry import register_pass

_KEPT = {f"arith.{name}" for name in ("constant", "bitcast", "extf", "truncf")}
_MOVES = {"arith.select", "arith.negf", "math.absf", "math.copysign"}
_EXTREMES = {f"arith.{name}" for name in ("maximumf", "minimumf", "maxnumf", "minnumf")}
_EXACT = _EXTREMES | _MOVES


@register_pass("widen-half-floats", "computes in f32 what is bf16, or f16 without instructions")
def widen_half_floats(module: ir.Operation) -> None:
    target = target_of(module)
    wide: dict[ir.Value, ir.Value] = {}
    with module.context:
        for op in walk(module, lambda op: op.name.split(".")[0] in ("arith", "math") and op.name not in _KEPT):
            kept = op.name in _MOVES and (not isinstance(op.results[0].type, ir.BF16Type) or _is_first_of_scan(op))
            if not kept and not _combines(op) and any(_is_half(v.type, target) for v in (*op.operands, *op.results)):
                _widen(op, target, wide)
        for op in walk(module, "arith.truncf"):
            if isinstance(op.operands[0].type, ir.F64Type) and _is_half(op.results[0].type, target):
                _round_by_way_of_f32(op)


def _is_half(type_: ir.Type, target: TargetView) -> bool:
    return isinstance(type_, ir.BF16Type) or (isinstance(type_, ir.F16Type) and not target.f16_arithmetic)


def _is_first_of_scan(op: ir.Operation) -> bool:
    """Whether it is the select that a scan of several values begins with, which is recognised by that."""
    return op.name == "arith.select" and begins_anew(op)


def _combines(op: ir.Operation) -> bool:
    """Whether `op` combines the accumulator of a reduction with an element."""
    for value in op.operands:
        nest = value.owner.owner.operation if isinstance(value.owner, ir.Block) else None
        if nest is not None and nest.name == "linalg.generic" and "reduction" in str(nest.attributes["iterator_types"]):
            if ir.BlockArgument(value).arg_number >= len(nest.operands) - len(nest.results):
                return True
    return False


def _widen(op: ir.Operation, target: TargetView, wide: dict[ir.Value, ir.Value]) -> None:
    """`wide` holds the f32 of values that are exactly so."""
    f32 = ir.F32Type.get()
    rounded = [r for v in op.operands if op.name in _EXTREMES and (r := _rounded_for(op, v)) is not None]
    before = {r.results[0]: r.operands[0] for r in rounded}
    with ir.InsertionPoint(op), op.location:
        operands = [before.get(v) or (_extended(v, wide) if _is_half(v.type, target) else v) for v in op.operands]
        types = [f32 if _is_half(r.type, target) else r.type for r in op.results]
        new = create(op.name, types, operands, **attributes_of(op))
        for old, result in zip(op.results, new.results):
            if old.type == result.type:
                old.replace_all_uses_with(result)
                continue
            exact = op.name in _EXACT and not rounded
            half = upper_half(result) if exact and isinstance(old.type, ir.BF16Type) else value_of("arith.truncf", old.type, [result])
            if exact:
                wide[half] = result
            old.replace_all_uses_with(half)
    op.erase()
    for each in rounded:
        wide.pop(each.results[0], None)  # what is made later may lie where it lay
        each.erase()


def _rounded_for(op: ir.Operation, value: ir.Value) -> ir.Operation | None:
    """The rounding of an f32 to `value`, which nothing but `op` reads."""
    rounding = producer(value, "arith.truncf")
    alone = rounding is not None and has_one_use(value) and isinstance(rounding.operands[0].type, ir.F32Type)
    return rounding if alone else None


def _round_by_way_of_f32(op: ir.Operation) -> None:
    """f64 → f32 rounded to odd, then to the half: what f32 cannot hold stays visible in the last bit, so the second rounding is right."""
    (x,) = op.operands
    f32, i32, i1 = ir.F32Type.get(), ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(1)
    with ir.InsertionPoint(op), op.location:
        near = value_of("arith.truncf", f32, [x])
        back = value_of("arith.extf", x.type, [near])
        inexact = arith.cmpf(arith.CmpFPredicate.ONE, back, x)
        magnitudes = [value_of("math.absf", x.type, [v]) for v in (back, x)]
        beyond = arith.cmpf(arith.CmpFPredicate.OGT, *magnitudes)
        bits = value_of("arith.bitcast", i32, [near])
        one, least = (splat(i32, n) for n in (1, -1))
        other = value_of("arith.addi", i32, [bits, value_of("arith.select", i32, [beyond, least, one])])
        is_odd = value_of("arith.trunci", i1, [bits])
        kept = value_of("arith.select", i32, [is_odd, bits, other])
        odd = value_of("arith.bitcast", f32, [value_of("arith.select", i32, [inexact, kept, bits])])
        replace(op, [value_of("arith.truncf", op.results[0].type, [odd])])


def _extended(value: ir.Value, wide: dict[ir.Value, ir.Value]) -> ir.Value:
    return wide[value] if value in wide else value_of("arith.extf", ir.F32Type.get(), [value])
