"""unroll-short-sorts: on a CPU, sorts of many short rows become comparisons of neighbours, of all rows at once.

Before:
    %0 = "stablehlo.sort"(%x) <{dimension = 0}> ({ %a < %b }) : (tensor<3x1000xi32>) -> tensor<3x1000xi32>
After, where %a, %b and %c are the rows of %x:
    %s = %c < %b;   %b1 = select %s, %c, %b;    %c1 = select %s, %b, %c
    %t = %b1 < %a;  %a1 = select %t, %b1, %a;   %b2 = select %t, %a, %b1     // the least is %a1
    %u = %c1 < %b2; …
    %0 = concatenate %a1, %b3, %c2

Elementwise ops are fused with what is around them, and a vector has a row in each of its lanes. Neighbours that are equal stay as they are:
the sort is stable. What nobody reads is not computed: of the two greatest of 16 (the experts of a router) 29 comparisons are left of 120,
of a median of 9 values 30 of 36. A comparator that compares the same function of two elements (common/sorting/comparator.py) is evaluated
once for each element, and its values are moved with them; floats in total order become integers.

Must hold: nothing. Declined: GPUs, where threads sort a row together; rows of more than `LONGEST` elements, and few of them; sorts of which
so many elements are read that it does not pay (each of them is computed by itself where they become one array), fewer where there are
several keys; comparators of other than elementwise ops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import integer, integers, keyword, ops_in, producer
from ..common.sorting.comparator import side_of
from ..registry import register_pass
from .support import build
from .support.driver import rewrite
from .support.pointwise import evaluated, is_pointwise

LONGEST, LEAST_ROWS = 16, 256
MOST_COMPARED, MOST_BY_BODY = 81, 25
"""Places of a row times those that are read: above, rows are sorted one by one in less time. Where elements have no key, whole bodies are
compiled for each comparison."""


Row = list[ir.Value]


@register_pass("unroll-short-sorts", "turns sorts of short rows into comparisons of neighbours, on a CPU", ops=("stablehlo.sort",))
def unroll_short_sorts(module: ir.Operation) -> bool:
    return target_of(module).kind != "cuda" and rewrite(module, {"stablehlo.sort": [_unrolled]})


def _unrolled(sort: ir.Operation) -> list[ir.Value] | None:
    shape, block = build.shape_of(sort.operands[0]), sort.regions[0].blocks[0]
    if not shape or min(shape) < 1 or not is_pointwise(block):
        return None
    along = integer(sort, "dimension", -1) % len(shape)
    length = shape[along]
    rows = prod(n for d, n in enumerate(shape) if d != along)
    key = _key_of(block)
    if not 1 < length <= LONGEST or rows < LEAST_ROWS or length * _read(sort, along) > (MOST_BY_BODY if key is None else MOST_COMPARED):
        return None
    places = [[build.slice_dim(value, along, at, at + 1) for at in range(length)] for value in sort.operands]
    is_before, moved = _comparison(block, key, places)
    for least in range(length - 1):
        for at in reversed(range(least, length - 1)):
            swap = is_before(at + 1, at)
            for row in moved:
                row[at], row[at + 1] = build.select(swap, row[at + 1], row[at]), build.select(swap, row[at], row[at + 1])
    return [build.concatenate(row, along) for row in places]


def _read(sort: ir.Operation, along: int) -> int:
    """How many places of its rows are read; all where anything but a slice reads a result."""
    places: set[int] = set()
    length = build.shape_of(sort.operands[0])[along]
    for use in (use for result in sort.results for use in result.uses):
        user = use.owner.operation
        if user.name != "stablehlo.slice":
            return length
        places.update(
            range(integers(user, "start_indices")[along], integers(user, "limit_indices")[along], integers(user, "strides")[along])
        )
    return len(places)


@dataclass(frozen=True)
class _Key:
    """What a comparator compares of each element: the value `of`, which is the one on the left for element `side`."""

    of: ir.Value
    side: int
    direction: str
    total: bool

    def row(self, block: ir.Block, places: list[Row]) -> Row:
        """The keys of each place."""
        if self.of in list(block.arguments):
            row = places[ir.BlockArgument(self.of).arg_number // 2]
        else:
            row = [evaluated(block, [value for value in element for _ in "ab"], [self.of])[0] for element in zip(*places)]
        return [_ascending(value) for value in row] if self.total else row


def _key_of(block: ir.Block) -> _Key | None:
    """None where a comparator does something else than to compare the same of two elements."""
    (returned,) = ops_in(block)[-1].operands
    answer = producer(returned, "stablehlo.compare")
    if answer is None or answer not in ops_in(block)[-2:]:
        return None
    left, right = answer.operands
    direction, side = keyword(answer, "comparison_direction"), side_of(block, left, right)
    if direction not in ("LT", "GT") or side is None:
        return None
    return _Key(left, side, direction, "compare_type" in answer.attributes and keyword(answer, "compare_type") == "TOTALORDER")


def _comparison(block: ir.Block, key: _Key | None, places: list[Row]) -> tuple[Callable[[int, int], ir.Value], list[Row]]:
    """What tells whether the element at one place comes before that at another, and all that moves with elements."""
    if key is None:

        def by_body(first: int, second: int) -> ir.Value:
            (before,) = evaluated(block, [row[place] for row in places for place in (first, second)])
            return before

        return by_body, places
    row = key.row(block, places)

    def by_key(first: int, second: int) -> ir.Value:
        left, right = (first, second) if key.side == 0 else (second, first)
        return build.compare(key.direction, row[left], row[right])

    return by_key, places if row in places else [row, *places]


def _ascending(value: ir.Value) -> ir.Value:
    """A float's bits as integers that ascend with it."""
    integer_type = ir.IntegerType.get_signless(build.element_of(value).width)
    bits = build.bitcast(value, build.tensor(build.shape_of(value), integer_type))
    sign = build.elementwise("shift_right_arithmetic", bits, build.full_like(bits, integer_type.width - 1))
    return build.elementwise("xor", bits, build.elementwise("shift_right_logical", sign, build.full_like(sign, 1)))
