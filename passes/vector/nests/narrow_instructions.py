"""Instructions that multiply lanes of 32 bits element by element and add up the products of a lane: neighbours in depth of a contraction.

    Singles  one half a lane   bf16 and f16 that no such instruction multiplies, or none faster: widened to f32 while they are packed,
                               multiplied by vfmadd; one operand may be f32 as it lies
    Halves   two bf16 a lane   vdpbf16ps, with AVX512-BF16; bfdot, with BF16 of AArch64; summed in f32. The last way where
                               products of f32 are faster
    Split    two bf16 a lane   where there is neither, of weights that lie so in memory: a shift and a mask make two vectors of f32 of a
                               register, as a load and a shift would of each; the left operand is widened to f32 while it is packed
    Nibbles  eight of 4 bits   of weights that lie so in memory, for one row of f32: a shift brings each of the eight to the lower end of
                               its lane, where vpermps looks up the float that it stands for in a register of sixteen; elsewhere two shifts
                               and a convert
    Pairs    two i16 a lane    vpmaddwd, added by vpaddd (one vpdpwssd, where there is VNNI); two smlal on AArch64. Bytes are widened while
                               they are packed
    Quads    four bytes        vpdpbusd, with AVX512-VNNI or AVX-VNNI: unsigned bytes times signed ones
                               sdot, udot, with DotProd of AArch64: bytes that both have signs, or both have none

The instructions for bf16 take what is below the normal numbers for 0.

Where the signs of quads are others, the left operand is moved by 128 while it is packed. The sums are then off by 128 times the sum of the
right operand's column, which is the product of a left operand of nothing but 128.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir
from torch_mlir.dialects import arith, math, vector

from hloom.dialects.target import TargetView

from ...common.contraction import IntegerProduct, half_factors, integer_product
from ...common.linear_index import LinearIndex
from ...common.nibbles import NIBBLES, nibble_product
from ...common.rewriting import intrinsic, value_of
from ...common.vectors import joined, part, splat, vector_of
from .body import Captured, LanesBody
from .contraction import Step
from .lanes import Rep
from .narrow_grouping import Grouping
from .work import Point, Work

_PAIRS = {4: "llvm.x86.sse2.pmadd.wd", 8: "llvm.x86.avx2.pmadd.wd", 16: "llvm.x86.avx512.pmaddw.d.512"}
_QUADS = {lanes: f"llvm.x86.avx512.vpdpbusd.{32 * lanes}" for lanes in (4, 8, 16)}
_HALVES = {
    **{("x86_64", lanes): f"llvm.x86.avx512bf16.dpbf16ps.{32 * lanes}" for lanes in (4, 8, 16)},
    ("aarch64", 4): "llvm.aarch64.neon.bfdot.v4f32.v8bf16",
}
_LOOK_UP = "llvm.x86.avx512.permvar.sf.512"
"""Of sixteen floats, those whose numbers are in the lower four bits of the other operand's lanes."""
_ALIKE = "llvm.aarch64.neon.{}dot.v4i32.v16i8"


@dataclass(frozen=True)
class Multiplier:
    """`left` and `right` say how the operands are packed."""

    left: Grouping
    right: Grouping
    lanes: int
    machine: str

    least: ClassVar[int] = 4
    """Rows, and columns, from which on packing pays."""

    @property
    def moves(self) -> bool:
        """Whether the left operand is moved, so that sums are too large by the product of what zeros became and the right one."""
        return self.left.flips

    in_place: ClassVar[bool] = False
    """Whether the right operand must lie in memory as the multiplier reads it."""

    @property
    def stored(self) -> Grouping:
        """How elements of memory become lanes of the right operand."""
        return self.right

    @property
    def lefts(self) -> int:
        """Lanes of the left operand for each of the right one."""
        return self.right.count // self.left.count

    def add(self, total: ir.Value, *operands: ir.Value) -> ir.Value:
        """`total` and the products of all lanes of the operands: `lefts` of the left one, then the right one."""
        parts = []
        for before, *values in _registers(self.lanes, total, *operands):
            lanes = ir.VectorType(before.type).shape[0]
            kind = vector_of(self.left.count * lanes, self._element())
            parts.append(self._multiplied(lanes, before, [vector.bitcast(kind, value) for value in values]))
        return joined(parts)

    def _element(self) -> ir.Type:
        return ir.IntegerType.get_signless(self.left.bits)

    def _multiplied(self, lanes: int, total: ir.Value, operands: list[ir.Value]) -> ir.Value:
        """`total` and the products, in a register of so many lanes."""
        raise NotImplementedError


class Singles(Multiplier):
    """One half a lane, an f32 by then."""

    least = 16

    def add(self, total: ir.Value, *operands: ir.Value) -> ir.Value:
        """`total` and the products of all lanes."""
        return add_product(total, *operands)


class Split(Multiplier):
    """Two bf16 a lane of the right operand, the left one f32."""

    in_place = True

    def add(self, total: ir.Value, *operands: ir.Value) -> ir.Value:
        """`total` and the products of all lanes: of the lower halves, then of the upper ones."""
        *left, right = operands
        halves = arith.shli(right, splat(right.type, 16)), arith.andi(right, splat(right.type, -1 << 16))
        for value, half in zip(left, halves, strict=True):
            total = add_product(total, value, arith.bitcast(total.type, half))
        return total


class Nibbles(Multiplier):
    """Eight integers of four bits a lane of the right operand, which is a word in memory; the left one f32."""

    in_place = True

    @property
    def stored(self) -> Grouping:
        return Grouping(1, 32, self.right.signed, self.lanes)

    def add(self, total: ir.Value, *operands: ir.Value) -> ir.Value:
        """`total` and the products of all lanes, the lowest four bits first: those of all registers in turn, as a sum waits for the one
        before, and a processor does not look as far ahead as the next register's eight."""
        registers = _registers(self.lanes, total, *operands)
        parts = [sums for sums, *_ in registers]
        for number in range(self.right.count):
            floats = [self._floats(sums.type, words, number) for sums, *_, words in registers]
            parts = [add_product(sums, left[number], each) for sums, (_, *left, _), each in zip(parts, registers, floats)]
        return joined(parts)

    def _floats(self, kind: ir.Type, words: ir.Value, number: int) -> ir.Value:
        """What the bits at `number` of each word stand for."""
        bits, looks_up = self.right.bits, self.machine == "x86_64" and ir.VectorType(kind).shape[0] == 1 << self.right.bits
        if looks_up:
            half = 1 << bits - 1 if self.right.signed else 1 << bits
            table = [float(n if n < half else n - 2 * half) for n in range(1 << bits)]
            index = arith.shrui(words, splat(words.type, bits * number)) if number else words
            return intrinsic(_LOOK_UP, kind, [_table(kind, table), index])
        upper = arith.shli(words, splat(words.type, 32 - bits * (number + 1)))
        shift, convert = (arith.shrsi, arith.sitofp) if self.right.signed else (arith.shrui, arith.uitofp)
        return convert(kind, shift(upper, splat(words.type, 32 - bits)))


class Pairs(Multiplier):
    """Two i16 a lane."""

    def add(self, total: ir.Value, *operands: ir.Value) -> ir.Value:
        """`total` and the products of all lanes."""
        if self.machine != "x86_64":
            return _add_widened(total, *operands)
        return arith.addi(total, super().add(total, *operands))

    def _multiplied(self, lanes: int, total: ir.Value, operands: list[ir.Value]) -> ir.Value:
        """The products alone: `total` is added to all of them."""
        return intrinsic(_PAIRS[lanes], total.type, operands)


@dataclass(frozen=True)
class Quads(Multiplier):
    """Four bytes a lane. Those of x86 multiply unsigned bytes by signed ones; `swapped`: the right operand is the unsigned one."""

    swapped: bool

    def _multiplied(self, lanes: int, total: ir.Value, operands: list[ir.Value]) -> ir.Value:
        name = _QUADS[lanes] if self.machine == "x86_64" else _ALIKE.format("s" if self.right.signed else "u")
        return intrinsic(name, total.type, [total, *(operands[::-1] if self.swapped else operands)])


class Halves(Multiplier):
    """Two bf16 a lane; the sums are f32."""

    def _element(self) -> ir.Type:
        return ir.BF16Type.get()

    def _multiplied(self, lanes: int, total: ir.Value, operands: list[ir.Value]) -> ir.Value:
        return intrinsic(_HALVES[self.machine, lanes], total.type, [total, *operands])


def _table(kind: ir.Type, numbers: Sequence[float]) -> ir.Value:
    values = [ir.FloatAttr.get_f32(number) for number in numbers]
    return value_of("arith.constant", kind, value=ir.DenseElementsAttr.get(values, kind))


def add_product(total: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
    """`total` and the product, rounded once where the machine can."""
    return math.fma(left, right, total, fastmath=arith.FastMathFlags.contract)


def step_of(work: Work, captured: Captured, add: Callable[..., ir.Value], lefts: int = 1) -> Step:
    """The step that adds to the sums what `add(sum, left…, right)` makes of the work's operands as they lie: `lefts` neighbours of the left
    one, whose last dim is the depth."""
    left, right = [(s, m) for m, s in work.inputs_in_memory()]
    first, outer = left[0], [LinearIndex()] * (len(left[0].strides) - 1)
    neighbours = [first, *(first.slice([*outer, LinearIndex(constant=n)], first.sizes) for n in range(1, lefts))]

    def step(point: Point, sums: list[ir.Value]) -> list[Rep]:
        body = LanesBody(point.lanes, point.indices, captured)
        operands = [*((storage, left[1]) for storage in neighbours), right]
        read = [body.read(storage, body.at(m)) for storage, m in operands]
        return [add(sums[0], *map(point.lanes.widen, read))]

    return step


def multipliers(block: ir.Block, target: TargetView) -> list[tuple[Multiplier, Multiplier]]:
    """The ways of `target` to compute what a body multiplies, the best first: with the rows of its first operand and with those of its
    second; none of other bodies."""
    nibbles = nibble_product(block)
    if nibbles is not None:
        lanes = target.lanes(32)
        words = Grouping(NIBBLES, 4, nibbles.signed, lanes)
        by = Nibbles(Grouping(1, 32, True, lanes), words, lanes, target.machine)
        return [(by, by)]
    factors = half_factors(block)
    if factors is not None:
        alike = factors[0] == factors[1]
        return [(by, by) for by in _of_halves(ir.BF16Type in map(type, factors), alike, target)]
    product = integer_product(block)
    return [] if product is None else [(multiplier(product, target), multiplier(product.swapped(), target))]


def _of_halves(bf16: bool, alike: bool, target: TargetView) -> list[Multiplier]:
    """For products of halves, or of a half and an f32 where they are not `alike`."""
    lanes = target.lanes(32)
    pairs, singles = Grouping(2, 16, True, lanes), Grouping(1, 32, True, lanes)
    by_pairs = [Halves(pairs, pairs, lanes, target.machine)] if bf16 and alike and target.bf16_dot else []
    split = [Split(singles, pairs, lanes, target.machine)] if bf16 else []
    widened = [*split, Singles(singles, singles, lanes, target.machine)]
    return [*by_pairs, *widened] if target.multiplies_pairs else [*widened, *by_pairs]


def multiplier(product: IntegerProduct, target: TargetView) -> Multiplier:
    """The instruction of `target` for a product."""
    lanes = target.lanes(32)
    signs = product.left_signed, product.right_signed
    if product.bits > 8 or not target.int8_dot:
        return Pairs(Grouping(2, 16, signs[0], lanes), Grouping(2, 16, signs[1], lanes), lanes, target.machine)
    mixes = target.machine == "x86_64"
    left = Grouping(4, 8, signs[0], lanes, flips=mixes == (signs[0] == signs[1]))
    return Quads(left, Grouping(4, 8, signs[1], lanes), lanes, target.machine, swapped=mixes and not signs[1])


def _add_widened(total: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
    """`total` and the products of the halves of each lane, where no instruction adds up neighbours."""
    halves = vector_of(ir.VectorType(total.type).shape[0], ir.IntegerType.get_signless(16))
    sixteen = splat(total.type, 16)
    lower = [arith.trunci(halves, value) for value in (left, right)]
    upper = [arith.trunci(halves, arith.shrui(value, sixteen)) for value in (left, right)]
    for pair in (lower, upper):
        total = arith.addi(total, arith.muli(*(arith.extsi(total.type, half) for half in pair)))
    return total


def _registers(most: int, *values: ir.Value) -> list[list[ir.Value]]:
    """The vectors in pieces of a register each."""
    count = ir.VectorType(values[0].type).shape[0]
    length = min(count, most)
    return [[part(value, start, length) for value in values] for start in range(0, count, length)]
