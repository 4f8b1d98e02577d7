"""Programs that the native library interprets: copies in another order and arithmetic on elements (runtime/native/evaluate.cpp).

A program is a nest of loops whose body is a list of instructions. Each computes a value of its own, by its number; loads and stores say
where their first element is and how far apart elements are in bytes: of each loop, then of the sum. The numbers of several programs, which
run one after the other, are

    how many programs, then of each: how many numbers follow,
        loops, those of them that are repeated, terms of the sum, instructions, the loops' extents,
        of each instruction: opcode, type, a, b, c, a stride for each loop, a stride for the sum

The last two loops are rows and columns, which go by blocks; the ones before them that are repeated run within a block. What stands before
SUM is computed once for each term. In machine code a number has seven bits a byte, the lowest first, its sign in the lowest bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import takewhile
from math import prod

from .storage import Slice

MOST = 32
"""Instructions of a program: each has 8 KB."""


class Opcode(IntEnum):
    """What an instruction computes of `a`, `b` and `c`."""

    LOAD = 0  # buffer a, offset b
    CONSTANT = 1  # the bits of a
    SUM = 2  # of the values a that the terms have
    STORE = 3  # to buffer a, offset b, the value c
    CONVERT = 4  # a, of the other type of floats
    ADD = 5
    SUBTRACT = 6
    MULTIPLY = 7
    DIVIDE = 8
    NEGATE = 9
    ABS = 10
    SQRT = 11
    RSQRT = 12


class Type(IntEnum):
    """Floats to compute with, and elements of so many bits, which are only moved."""

    F32 = 0
    F64 = 1
    BITS8 = 2
    BITS16 = 3
    BITS32 = 4
    BITS64 = 5

    @property
    def bytes(self) -> int:
        return (4, 8, 1, 2, 4, 8)[self]


@dataclass(frozen=True)
class Instruction:
    opcode: Opcode
    type: Type
    a: int = 0
    b: int = 0
    c: int = 0
    strides: tuple[int, ...] = ()
    """Of the loops and of the sum; none where nothing is loaded or stored."""

    @property
    def values(self) -> tuple[int, ...]:
        """The instructions whose values it takes."""
        if self.opcode in (Opcode.LOAD, Opcode.CONSTANT):
            return ()
        if self.opcode is Opcode.STORE:
            return (self.c,)
        return (self.a, self.b) if Opcode.ADD <= self.opcode <= Opcode.DIVIDE else (self.a,)


@dataclass(frozen=True)
class EvaluatedProgram:
    extents: tuple[int, ...]
    repeated: int
    terms: int
    code: tuple[Instruction, ...]

    def numbers(self) -> list[int]:
        found = [len(self.extents), self.repeated, self.terms, len(self.code), *self.extents]
        for it in self.code:
            found += [it.opcode, it.type, it.a, it.b, it.c, *(it.strides or [0] * (len(self.extents) + 1))]
        return found

    def faults(self, sizes: Sequence[int], inputs: int) -> Iterator[str]:
        """What does not hold of the program on buffers of those bytes, of which it reads the first `inputs` and writes the others."""
        if not 0 <= self.repeated <= len(self.extents) - 2 or min(self.extents) < 1 or self.terms < 1 or len(self.code) > MOST:
            yield "a program without rows and columns, terms, or with too many instructions"
            return
        for number, it in enumerate(self.code):
            if any(not 0 <= value < number or self.code[value].opcode is Opcode.STORE for value in it.values):
                yield f"instruction {number} takes a value that is not there"
            if it.opcode > Opcode.STORE and it.type > Type.F64:
                yield f"instruction {number} computes with {it.type.name}"
            if it.opcode in (Opcode.LOAD, Opcode.STORE):
                yield from self._outside(number, it, sizes, inputs)

    def _outside(self, number: int, it: Instruction, sizes: Sequence[int], inputs: int) -> Iterator[str]:
        buffers = range(inputs) if it.opcode is Opcode.LOAD else range(inputs, len(sizes))
        if it.a not in buffers:
            yield f"instruction {number} has no buffer {it.a}"
            return
        ways = [stride * (extent - 1) for stride, extent in zip(it.strides, (*self.extents, self.terms))]
        first, last = (it.b + sum(way for way in ways if (way > 0) == forward) for forward in (False, True))
        if first < 0 or last + it.type.bytes > sizes[it.a]:
            yield f"instruction {number} leaves buffer {it.a}, which has {sizes[it.a]} bytes"

    def flops(self) -> int:
        points, summed = prod(self.extents), any(it.opcode is Opcode.SUM for it in self.code)
        inside = len(list(takewhile(lambda it: it.opcode is not Opcode.SUM, self.code))) + 1 if summed else 0
        arithmetic = [it.opcode in (Opcode.SUM, *range(Opcode.ADD, len(Opcode))) for it in self.code]
        return points * (self.terms * sum(arithmetic[:inside]) + sum(arithmetic[inside:]))


def encoded(programs: Sequence[EvaluatedProgram]) -> list[int]:
    """The numbers of the programs."""
    found = [len(programs)]
    for program in programs:
        numbers = program.numbers()
        found += [len(numbers), *numbers]
    return found


def decoded(numbers: Sequence[int]) -> list[EvaluatedProgram]:
    """The programs of the numbers. Raises ValueError where they are none."""
    at, found = 1, []
    for _ in range(numbers[0] if numbers else 0):
        length = numbers[at] if at < len(numbers) else -1
        if not 4 <= length <= len(numbers) - at - 1:
            raise ValueError("numbers are missing")
        found.append(_decoded(numbers[at + 1 : at + 1 + length]))
        at += 1 + length
    if not found or at != len(numbers):
        raise ValueError("numbers are left, or there are none")
    return found


def at_slices(numbers: Sequence[int], slices: Sequence[Slice]) -> list[int]:
    """The numbers of the same programs where buffers are not what they are given, but those that these slices are of."""
    found, start = list(numbers), 1
    while start < len(found):
        loops, _, _, count = found[start + 1 : start + 5]
        width = 5 + loops + 1
        for row in range(start + 5 + loops, start + 5 + loops + count * width, width):
            if found[row] in (Opcode.LOAD, Opcode.STORE):
                buffer, offset, _ = slices[found[row + 2]]
                found[row + 2], found[row + 3] = buffer, found[row + 3] + offset
        start += 1 + found[start]
    return found


def packed(numbers: Sequence[int]) -> bytes:
    """How many numbers there are, and these, as bytes."""
    found = bytearray()
    for number in (len(numbers), *numbers):
        left = number << 1 if number >= 0 else ~number << 1 | 1
        while left > 127:
            found.append(left & 127 | 128)
            left >>= 7
        found.append(left)
    return bytes(found)


def _decoded(numbers: Sequence[int]) -> EvaluatedProgram:
    loops, repeated, terms, count = numbers[:4]
    width = 5 + loops + 1
    if loops < 0 or count < 0 or len(numbers) != 4 + loops + count * width:
        raise ValueError("a program of another length")
    rows = [numbers[start : start + width] for start in range(4 + loops, len(numbers), width)]
    code = [Instruction(Opcode(row[0]), Type(row[1]), row[2], row[3], row[4], tuple(row[5:])) for row in rows]
    return EvaluatedProgram(tuple(numbers[4 : 4 + loops]), repeated, terms, tuple(code))
