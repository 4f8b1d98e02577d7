"""How the CPU's kernels transform: the radices of their stages, and the table of roots of unity that they read.

A transform along columns is one list of radices. Of a row there are two lists, with products n1 and n2: the row is an n1 × n2 matrix whose
columns are transformed, multiplied by roots of unity, transposed, and transformed. Several columns stand side by side in the lanes of a
vector, whatever their length.

The pass that makes the call and the one that makes its kernel meet here: the call `stablehlo.custom_call @hloom.dft(%re, %im, %table)` has
the plan as attributes, and the table as the last operand, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np
from torch_mlir import ir

from .rewriting import i64_array, i64_attr
from .roots_of_unity import divisors, prime_factors, roots_of_unity

TARGET = "hloom.dft"
PRIMES = frozenset((2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))
"""There are butterflies for these radices, for 4, 8 and 9, and for 16 where there are 32 registers. Those of larger primes, which are
sums of all their elements, take longer than a convolution."""


@dataclass(frozen=True)
class FourierPlan:
    """`lanes`: columns in a vector. `factor`: what the results are multiplied by. `extended`: the first element of a transform stands at
    its end again. `taken`, `given`: where real and imaginary parts of the operand, or of the result, lie side by side in one array, the
    places of both; else each has its own array.
    """

    radices: tuple[tuple[int, ...], ...]
    lanes: int
    factor: float = 1.0
    extended: bool = False
    taken: tuple[int, ...] = ()
    given: tuple[int, ...] = ()

    @property
    def lengths(self) -> list[int]:
        return [prod(radices) for radices in self.radices]

    def starts(self) -> list[int]:
        """Where in the table the roots of each list of radices begin, and where those of the matrix between them."""
        return list(accumulate((2 * _count(radices) for radices in self.radices), initial=0))

    def table(self, bits: int) -> np.ndarray:
        """What the kernel reads, for floats of so many bits: of each list of radices, the numbers that multiply what its butterflies
        give, then of the matrix between them the real parts and the imaginary parts."""
        parts = [_interleaved(_stages(radices, bits)) for radices in self.radices]
        if len(self.radices) == 2:
            n1, n2 = self.lengths
            between = roots_of_unity(n1 * n2, np.arange(n1)[:, None] * np.arange(n2), bits) * self.factor
            parts += [between.real.ravel(), between.imag.ravel()]
        return np.concatenate(parts)

    def attributes(self) -> dict[str, ir.Attribute]:
        """What a call says of the plan."""
        given = {
            "radices": ir.ArrayAttr.get([i64_array(radices) for radices in self.radices]),
            "lanes": i64_attr(self.lanes),
            "factor": ir.FloatAttr.get(ir.F64Type.get(), self.factor),
            "extended": ir.BoolAttr.get(self.extended),
        }
        given |= {name: i64_array(places) for name, places in (("taken", self.taken), ("given", self.given)) if places}
        return {"call_target_name": ir.StringAttr.get(TARGET), TARGET: ir.DictAttr.get(given)}

    @staticmethod
    def of(op: ir.Operation) -> FourierPlan:
        """The plan of a call."""
        given = ir.DictAttr(op.attributes[TARGET])
        taken, gives = (tuple(ir.DenseI64ArrayAttr(given[name])) if name in given else () for name in ("taken", "given"))
        return FourierPlan(
            tuple(tuple(ir.DenseI64ArrayAttr(radices)) for radices in given["radices"]),
            ir.IntegerAttr(given["lanes"]).value,
            ir.FloatAttr(given["factor"]).value,
            ir.BoolAttr(given["extended"]).value,
            taken,
            gives,
        )


def _count(radices: Sequence[int]) -> int:
    """How many numbers `_stages` gives."""
    left = [prod(radices[number:]) for number in range(len(radices))]
    return sum(rest // radix * (radix - 1) for rest, radix in zip(left, radices[:-1]))


def _stages(radices: Sequence[int], bits: int) -> np.ndarray:
    """Of each stage but the last, [p, j - 1] is the root of unity of the order of what is left to transform, to the power j · p."""
    tables, left = [np.zeros(0, complex)], prod(radices)
    for radix in radices[:-1]:
        tables.append(roots_of_unity(left, np.arange(left // radix)[:, None] * np.arange(1, radix), bits).ravel())
        left //= radix
    return np.concatenate(tables)


def _interleaved(table: np.ndarray) -> np.ndarray:
    return np.stack([table.real, table.imag], 1).ravel()


def radices_of(length: int, registers: int) -> tuple[int, ...]:
    """The radices of a transform along columns: few stages, whose butterflies fit the vector registers."""
    twos = prime_factors(length).count(2)
    largest = 4 if registers >= 32 else 3
    found = []
    while twos:
        stages = -(-twos // largest)
        found.append(1 << -(-twos // stages))
        twos -= -(-twos // stages)
    odd = [prime for prime in prime_factors(length) if prime > 2]
    threes = odd.count(3)
    nines = threes // 2 if registers >= 32 else 0
    return tuple([*found, *[9] * nines, *[3] * (threes - 2 * nines), *[prime for prime in odd if prime > 3]])


def is_smooth(length: int) -> bool:
    return set(prime_factors(length)) <= PRIMES


def halves(length: int, lanes: int) -> tuple[int, int] | None:
    """Two factors of the length, both of at least so many lanes and near each other, of whole vectors if there are such."""
    found = [(d, length // d) for d in divisors(length) if d >= lanes and length // d >= lanes]
    return min(found, key=lambda pair: sum(-(-n // lanes) * lanes / n for n in pair) + 0.1 * max(pair) / min(pair), default=None)


def smooth_from(least: int) -> int:
    """The least product of 2, 3 and 5, a multiple of 8, that is `least` or more."""
    best = 8
    while best < least:
        best *= 2
    three = 1
    while three < best:
        five = three
        while five < best:
            number = max(8, 1 << max(0, -(-least // five) - 1).bit_length()) * five
            best = min(best, number)
            five *= 5
        three *= 3
    return best
