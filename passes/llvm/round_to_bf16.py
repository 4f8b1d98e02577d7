"""round-to-bf16: arithmetic on bf16 in f32, and rounding f32 to bf16 as integer arithmetic, or by an instruction.

Before, on scalars or vectors:

    %x = arith.addf %a, %b : vector<16xbf16>

After:

    %x = arith.truncf (arith.addf (arith.extf %a), (arith.extf %b)) : vector<16xf32> to vector<16xbf16>

and that, to the nearest, ties to even, any NaN becoming the quiet one:

    %bits = arith.bitcast %x : vector<16xf32> to vector<16xi32>
    %last = arith.andi (arith.shrui %bits, %c16), %c1
    %sum = arith.addi (arith.addi %bits, %c32767), %last
    %kept = arith.select (arith.cmpf uno, %x, %x), %quiet_nan, %sum
    %y = arith.bitcast (arith.trunci (arith.shrui %kept, %c16))

Integers are converted to f32 and then rounded. A NaN whose lower half is 0, as that of a bf16 or of an operation, is its own rounding: it
is not asked for in functions that meet no other (short_nans.py).

Where the target has AVX512-BF16, whole registers of 16 lanes are rounded by its instruction, if none of them is a NaN or below the normal
numbers: the instruction makes zeros of these, and keeps what a NaN holds. A branch asks for that, one for all vectors of a
block that are rounded before anybody reads one of them:

    %rare = llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"(%x0, %c161), … or'ed and reduced
    %y = scf.if %rare { … as above … } else { llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%x1, %x0), … }

Left to LLVM, processors without AVX512-BF16 call a run-time library for each lane, and the others make zeros of subnormals. Upstream's
arith-expand{include-bf16=true} does truncf alone, neither arithmetic nor conversions of integers. Must hold: nothing. Declined: rounding
from f64, ops that need no rounding, scalable vectors, tensors; by the instruction, vectors of other lengths than one, two or four
registers, and what is extended again: in integers the two together are a mask.
"""

from __future__ import annotations

from functools import reduce
from itertools import compress
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.target import target_of

from ..common.bf16 import integers, is_of, with_element
from ..common.control_flow import if_else
from ..common.rewriting import all_functions, attributes_of, intrinsic, replace, value_of, walk
from ..common.vectors import joined, part, reduced, splat, vector_of
from ..registry import register_pass
from .support.short_nans import has_short_nans

_QUIET_NAN = 0x7FC00000
_LANES = 16
_ROUND, _ROUND_TWO = "llvm.x86.avx512bf16.cvtneps2bf16.512", "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
_RARE = 0x80 | 0x20 | 0x01
"""vfpclassps's classes: signalling NaNs, numbers below the normal ones, quiet NaNs."""
_ARITHMETIC = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()
_ROUNDING = {f"arith.{name}" for name in _ARITHMETIC} | {"math.sqrt", "math.fma", "vector.reduction"}
_ALL = _ROUNDING | {"arith.truncf", "arith.sitofp", "arith.uitofp"}


@register_pass("round-to-bf16", "rounds f32 to bf16 by integer arithmetic", ops=_ALL)
def round_to_bf16(module: ir.Operation) -> bool:
    target = target_of(module)
    has_instruction = target.machine == "x86_64" and target.vector_bits == 512 and target.bf16_dot
    changed = False
    for function in all_functions(module):
        ops = [op for op in walk(function, lambda op: op.name in _ALL) if _is_rounded(op)]
        changed |= bool(ops)
        short = bool(ops) and has_short_nans(function)
        by_instruction = [has_instruction and _is_whole(op.results[0].type) and not _is_extended(op) for op in ops]
        groups = _groups(list(compress(ops, by_instruction)))
        for op in [op for op, instead in zip(ops, by_instruction) if not instead]:
            with ir.InsertionPoint(op), op.location:
                replace(op, [_by_integers(_in_f32(op), op.results[0].type, short)])
        for group in groups:
            with ir.InsertionPoint(group[-1]), group[-1].location:
                rounded = _by_instruction([_in_f32(op) for op in group], [op.results[0].type for op in group])
            for op, value in zip(group, rounded):
                replace(op, [value])
    return changed


def _groups(ops: list[ir.Operation]) -> list[list[ir.Operation]]:
    """The ops in groups: those of a block, in turn, of which nobody reads the first before the last."""
    groups: list[list[ir.Operation]] = []
    for op in ops:
        if groups and all(_is_read_after(each, op) for each in groups[-1]):
            groups[-1].append(op)
        else:
            groups.append([op])
    return groups


def _is_read_after(op: ir.Operation, last: ir.Operation) -> bool:
    """Whether the ops are in one block, and whoever reads the first one's result is in it too, behind the last one."""
    readers = [use.owner.operation for use in op.results[0].uses]
    return op.block == last.block and all(reader.block == op.block and last.is_before_in_block(reader) for reader in readers)


def _is_rounded(op: ir.Operation) -> bool:
    """Whether the op rounds f32 to bf16."""
    from_f32 = op.name != "arith.truncf" or is_of(op.operands[0].type, ir.F32Type)
    return from_f32 and is_of(op.results[0].type, ir.BF16Type)


def _is_whole(kind: ir.Type) -> bool:
    """Whether vectors of it fill registers of f32."""
    return isinstance(kind, ir.VectorType) and prod(kind.shape) in (_LANES, 2 * _LANES, 4 * _LANES)


def _is_extended(op: ir.Operation) -> bool:
    """Whether an extension reads the result: of integers only a mask is then left of both."""
    return any(use.owner.operation.name == "arith.extf" for use in op.results[0].uses)


def _in_f32(op: ir.Operation) -> ir.Value:
    """What the op computes, before it is rounded."""
    if op.name == "arith.truncf":
        return op.operands[0]
    f32 = ir.F32Type.get()
    operands = list(op.operands)
    if op.name in _ROUNDING:
        operands = [value_of("arith.extf", with_element(x.type, f32), [x]) for x in operands]
    return value_of(op.name, with_element(op.results[0].type, f32), operands, **attributes_of(op))


def _by_instruction(xs: list[ir.Value], results: list[ir.Type]) -> list[ir.Value]:
    """All of them rounded so where it gives what integers give, else by these."""
    flat = [vector.shape_cast(vector_of(prod(result.shape), ir.F32Type.get()), x) for x, result in zip(xs, results)]
    registers = [[part(x, start, _LANES) for start in range(0, ir.VectorType(x.type).shape[0], _LANES)] for x in flat]

    def by_integers() -> list[ir.Value]:
        return [_by_integers(x, result) for x, result in zip(xs, results)]

    def rounded() -> list[ir.Value]:
        return [_rounded(each, result) for each, result in zip(registers, results)]

    return if_else(_any_rare([register for each in registers for register in each]), results, by_integers, rounded)


def _rounded(registers: list[ir.Value], result: ir.Type) -> ir.Value:
    element = result.element_type
    if len(registers) == 1:
        return vector.shape_cast(result, intrinsic(_ROUND, vector_of(_LANES, element), registers))
    pairs = zip(registers[::2], registers[1::2])
    parts = [intrinsic(_ROUND_TWO, vector_of(2 * _LANES, element), [upper, lower]) for lower, upper in pairs]
    return vector.shape_cast(result, joined(parts))


def _any_rare(registers: list[ir.Value]) -> ir.Value:
    """Whether an element is a NaN, or below the normal numbers and not 0."""
    bits, classes = vector_of(_LANES, ir.IntegerType.get_signless(1)), splat(ir.IntegerType.get_signless(32), _RARE)
    found = [intrinsic("llvm.x86.avx512.fpclass.ps.512", bits, [register, classes]) for register in registers]
    return reduced(reduce(arith.ori, found), vector.CombiningKind.OR)


def _by_integers(x: ir.Value, result: ir.Type, short_nans: bool = False) -> ir.Value:
    i32 = integers(result, 32)

    def apply(name: str, *operands: ir.Value) -> ir.Value:
        return value_of(f"arith.{name}", i32, operands)

    bits = apply("bitcast", x)
    sixteen = splat(i32, 16)
    last = apply("andi", apply("shrui", bits, sixteen), splat(i32, 1))
    rounded = apply("addi", apply("addi", bits, splat(i32, 0x7FFF)), last)
    if not short_nans:
        is_nan = arith.cmpf(arith.CmpFPredicate.UNO, x, x)
        rounded = apply("select", is_nan, splat(i32, _QUIET_NAN), rounded)
    high = apply("shrui", rounded, sixteen)
    return value_of("arith.bitcast", result, [value_of("arith.trunci", integers(result, 16), [high])])
