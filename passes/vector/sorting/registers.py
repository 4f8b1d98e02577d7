"""Keys sorted in vector registers: columns first, each a lane, then columns merged two and two, and the matrix transposed.

    rows[0], rows[1], …: vectors of signed integers; lane c of all of them is column c
    sort all columns by Batcher's network: a minimum and a maximum for each comparison of two rows
    for each level 1, 2, …: runs of 2^level columns, by a bitonic merge:
      compare each place of a run with its mirror image; then, at half the distance each time, columns, and last rows, with each other
    transpose, so that the rows in order are the keys in order

Which lane is which column is chosen so that the transposition exchanges bits of the row's number with bits of the lane's, one shuffle of
two registers a row each, and nothing is left to permute. Where the rows fit the processor's registers nothing is spilled, and there is no
branch. Sources: K. E. Batcher, Sorting networks and their applications, 1968; B. Bramas, A novel hybrid quicksort algorithm vectorized
using AVX-512, 2017, which sorts small partitions so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

Rows = list[ir.Value]


def sort_registers(rows: Sequence[ir.Value]) -> Rows:
    """The keys of these vectors in order: a power of two of them, each of a power of two of lanes."""
    rows = list(rows)
    for low, high in batcher(len(rows)):
        rows[low], rows[high] = exchanged(rows[low], rows[high])
    lanes = _lane_bits(rows)
    for level in range(1, len(lanes) + 1):
        rows = _merged(rows, lanes[:level])
    return _transposed(rows)


def batcher(count: int) -> Iterator[tuple[int, int]]:
    """The comparisons of Batcher's odd-even merge sort of a power of two of places."""
    width = 1
    while width < count:
        distance = width
        while distance:
            for first in range(distance % width, count - distance, 2 * distance):
                for low in range(first, first + distance):
                    if low // (2 * width) == (low + distance) // (2 * width):
                        yield low, low + distance
            distance //= 2
        width *= 2


def exchanged(a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
    return arith.minsi(a, b), arith.maxsi(a, b)


def _lane_bits(rows: Rows) -> list[int]:
    """Which bit of a lane's number is which bit of its column's, lowest first: those that become bits of the row's number come last."""
    lanes, own = _bits(_lanes(rows[0])), min(_bits(len(rows)), _bits(_lanes(rows[0])))
    return [*range(own, lanes), *range(own)]


def _merged(rows: Rows, bits: Sequence[int]) -> Rows:
    """Runs of columns whose numbers differ in these bits of the lane, from halves that differ in all but the last."""
    *inner, last = bits
    rows = [_chosen(a, b, sum(1 << bit for bit in bits), last) for a, b in zip(rows, reversed(rows))]
    for bit in reversed(inner):
        rows = [_chosen(row, row, 1 << bit, bit) for row in rows]
    distance = len(rows) // 2
    while distance:
        for low in range(len(rows)):
            if not low & distance:
                rows[low], rows[low + distance] = exchanged(rows[low], rows[low + distance])
        distance //= 2
    return rows


def _chosen(row: ir.Value, other: ir.Value, flipped: int, bit: int) -> ir.Value:
    """Each lane with that of `other` whose number differs in the bits `flipped`: the greater where the lane has `bit`, else the less."""
    lanes = range(_lanes(row))
    partner = vector.shuffle(other, other, [lane ^ flipped for lane in lanes])
    less, greater = exchanged(row, partner)
    return vector.shuffle(less, greater, [lane + len(lanes) * (lane >> bit & 1) for lane in lanes])


def _transposed(rows: Rows) -> Rows:
    """The rows in order of the keys, from columns in order."""
    own = min(_bits(len(rows)), _bits(_lanes(rows[0])))
    for bit in range(own):
        rows = _swapped(rows, bit)
    more = _bits(len(rows)) - own  # bits of a row's number that stay such: below those of the column
    order = [(n & ((1 << more) - 1)) << own | n >> more for n in range(len(rows))]
    return [rows[n] for n in order]


def _swapped(rows: Rows, bit: int) -> Rows:
    """A bit of the row's number and the same of the lane's, exchanged."""
    lanes, made = range(_lanes(rows[0])), list(rows)
    step = 1 << bit
    for low in range(len(rows)):
        if not low & step:
            pair = rows[low], rows[low + step]
            made[low] = vector.shuffle(*pair, [lane if not lane & step else lane - step + len(lanes) for lane in lanes])
            made[low + step] = vector.shuffle(*pair, [lane + step if not lane & step else lane + len(lanes) for lane in lanes])
    return made


def _lanes(row: ir.Value) -> int:
    return ir.VectorType(row.type).shape[0]


def _bits(count: int) -> int:
    """The bits of a number below that power of two."""
    return count.bit_length() - 1
