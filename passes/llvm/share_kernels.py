"""share-kernels: kernels that are equal but for numbers become one, which is given the numbers.

Before, in the kernels' module:
    func.func private @fusion_1_body(%lo: index, %hi: index, %a: memref<4096xf32>, …) attributes {hloom.tiles = 4 : i64}
      { … scf.for %k = %c0 to %c64 … %c512 = arith.constant 512 : index … }
    func.func private @fusion_2_body(%lo: index, %hi: index, %a: memref<6144xf32>, …) attributes {hloom.tiles = 6 : i64}
      { … scf.for %k = %c0 to %c96 … %c768 = arith.constant 768 : index … }
After:
    func.func private @fusion_1_body(%lo: index, %hi: index, %a: memref<4096xf32>, …, %n: index) attributes {
        hloom.shared = {fusion_1 = {numbers = array<i64: 64>, tiles = 4 : i64}, fusion_2 = {numbers = array<i64: 96>, tiles = 6 : i64}}}
      { %m = arith.muli %n, %c8 … scf.for %k = %c0 to %n … }

The layers of a dense block, which read ever more channels, are such kernels, and the steps of a recurrent layer, which read their slices
of one array. What is lowered and compiled once takes the time of one. wrap-kernels gives each its function, with its numbers.

A number is an arith.constant of an index or an i64. One that is another one's multiple, plus a constant, in all of the kernels is computed
from that. Sizes of arguments of one dimension may differ, too: nothing reads them from here on.

Must hold: isolate-kernels and lower-affine have run. Declined: kernels that differ in anything else; numbers that divide or that are a
loop's step, and bounds of loops over scalars, in kernels whose loops LLVM reduces the strength of; more than MOST
numbers, or APART that differ, which would be kept in memory; kernels that together have fewer than LEAST ops to save, for LLVM inlines one
that has one user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..common.rewriting import i64_array, index_constant, inner_ops, integer, ops_in, symbol_name, top_level, update_signature
from ..registry import register_pass

MOST = 6
"""Numbers that a kernel is given."""
APART = 24
"""Different numbers that are computed from these: depthwise windows, with an offset for each tap, get slower by more."""
LEAST = 200
"""Ops that must be saved: some hundredths of a second."""
_NUMBER = re.compile(r'("arith\.constant"\(\) <\{value = )(-?\d+)(?= : (?:index|i64)\})')
_ACCESSES = (
    *("memref.load", "memref.store", "memref.prefetch"),
    *("vector.load", "vector.store", "vector.maskedload", "vector.maskedstore", "vector.gather", "vector.scatter"),
)
_SUMS = ("arith.addi", "arith.subi", "arith.muli", "arith.minsi", "arith.maxsi", "arith.cmpi", "arith.index_cast")
_TYPED = re.compile(rf'^(?:[^"\n]*"(?:func\.func|{"|".join(map(re.escape, _ACCESSES))})"|\^bb0\(%arg0: index).*', re.M)
"""Lines that hold types of arguments, whose sizes nothing reads."""
_ONE_DIMENSION = re.compile(r"memref<\d+x(?=[a-z])")


@dataclass(frozen=True)
class _Kernel:
    body: ir.Operation
    numbers: tuple[int, ...]

    @property
    def name(self) -> str:
        return symbol_name(self.body).removesuffix("_body")

    def constants(self) -> list[ir.Value]:
        """Where the numbers stand, in the same order."""
        kinds = (ir.IndexType.get(), ir.IntegerType.get_signless(64))
        return [op.results[0] for op in inner_ops(self.body) if op.name == "arith.constant" and op.results[0].type in kinds]


@register_pass("share-kernels", "makes kernels that are equal but for numbers one that is given the numbers")
def share_kernels(module: ir.Operation, *, least: int = LEAST) -> bool:
    changed = False
    for apart in top_level(module, "builtin.module"):
        alike: dict[int, list[ir.Operation]] = {}
        for op in ops_in(apart.regions[0].blocks[0]):
            if op.name == "func.func" and "hloom.tiles" in op.attributes:
                alike.setdefault(sum(1 for _ in inner_ops(op)), []).append(op)
        for ops, bodies in alike.items():
            if (len(bodies) - 1) * ops >= least:
                for family in _families(bodies):
                    if (len(family) - 1) * ops >= least:
                        changed |= _share(family)
    return changed


def _families(bodies: list[ir.Operation]) -> list[list[_Kernel]]:
    """The kernels, those together that are equal but for numbers."""
    families: dict[str, list[_Kernel]] = {}
    for body in bodies:
        form, numbers = _form(body)
        families.setdefault(form, []).append(_Kernel(body, numbers))
    return list(families.values())


def _form(body: ir.Operation) -> tuple[str, tuple[int, ...]]:
    """The kernel's text without its name, its numbers and the sizes of its arguments, which is equal where the kernels are; the numbers."""
    text = body.get_asm(print_generic_op_form=True, use_local_scope=True, assume_verified=True)
    text = text.replace(f'sym_name = "{symbol_name(body)}"', "", 1)
    tiles = integer(body, "hloom.tiles")
    text = text.replace(f"hloom.tiles = {tiles} : i64", "one tile" if tiles == 1 else "tiles")
    numbers = tuple(int(found) for _, found in _NUMBER.findall(text))
    return _TYPED.sub(lambda line: _ONE_DIMENSION.sub("memref<", line[0]), _NUMBER.sub(r"\1", text)), numbers


def _share(family: list[_Kernel]) -> bool:
    """Leaves the first of the family, if few numbers differ. Returns whether it does."""
    first = family[0]
    columns = list(zip(*(kernel.numbers for kernel in family)))
    differing = [column for column in dict.fromkeys(columns) if len(set(column)) > 1]
    if len(differing) > APART:
        return False
    given = _independent(differing)
    constants = dict[tuple[int, ...], list[ir.Value]]()
    for column, constant in zip(columns, first.constants()):
        constants.setdefault(column, []).append(constant)
    few = "hloom.effort" in first.body.attributes and ir.StringAttr(first.body.attributes["hloom.effort"]).value != "more"
    if len(given) > MOST or not all(_may_differ(constant, few) for column in differing for constant in constants[column]):
        return False
    block = first.body.regions[0].blocks[0]
    numbers = {column: block.add_argument(ir.IndexType.get(), first.body.location) for column in given}
    with ir.InsertionPoint.at_block_begin(block), first.body.location:
        for column in differing:
            number = numbers.get(column) or _computed(column, numbers)
            for constant in constants[column]:
                constant.replace_all_uses_with(number if constant.type == number.type else arith.index_cast(constant.type, number))
    update_signature(first.body)
    if "arg_attrs" in first.body.attributes:
        marks = ir.ArrayAttr(first.body.attributes["arg_attrs"])
        first.body.attributes["arg_attrs"] = ir.ArrayAttr.get([*marks, *[ir.DictAttr.get({})] * len(given)])
    members = {
        kernel.name: {"numbers": i64_array(column[place] for column in given), "tiles": kernel.body.attributes["hloom.tiles"]}
        for place, kernel in enumerate(family)
    }
    first.body.attributes["hloom.shared"] = ir.DictAttr.get({name: ir.DictAttr.get(each) for name, each in members.items()})
    for kernel in family[1:]:
        kernel.body.erase()
    return True


def _may_differ(constant: ir.Value, few: bool) -> bool:
    """Whether the code is as fast with the number in a register, of a kernel that gets few of LLVM's passes or all."""
    for use in constant.uses:
        user = use.owner.operation
        bound = user.name == "scf.for" and use.operand_number < (3 if few else 2) and (few or _has_vectors(user))
        if user.name not in _SUMS + _ACCESSES and not bound:
            return False
    return True


def _has_vectors(loop: ir.Operation) -> bool:
    return any(isinstance(result.type, ir.VectorType) for op in inner_ops(loop) for result in op.results)


def _independent(columns: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Those of the columns that the others can be computed from."""
    given: list[tuple[int, ...]] = []
    for column in sorted(columns, key=lambda column: [abs(number) for number in column]):
        if not any(_line(column, other) for other in given):
            given.append(column)
    return given


def _line(column: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int] | None:
    """The factor and the summand that make the column of the other one, if there are such."""
    far = next(place for place, number in enumerate(other) if number != other[0])
    factor, rest = divmod(column[far] - column[0], other[far] - other[0])
    summand = column[0] - factor * other[0]
    return (factor, summand) if not rest and all(b == a * factor + summand for a, b in zip(other, column)) else None


def _computed(column: tuple[int, ...], numbers: dict[tuple[int, ...], ir.Value]) -> ir.Value:
    """The numbers of the column from those that are given."""
    other, (factor, summand) = next((other, line) for other in numbers if (line := _line(column, other)))
    return arith.addi(arith.muli(numbers[other], index_constant(factor)), index_constant(summand))
