"""hoist-products: what a loop multiplies anew in each turn, row by row of one array, is multiplied once, before the loop.

Before, in a recurrent layer, where xs is the sequence and w its weight:
    stablehlo.while(%i = %c0, %h = …) cond { %i < 64 } do {
      %0 = stablehlo.dynamic_slice %xs, %i, %c0, %c0, sizes = [1, 8, 128] : (tensor<64x8x128xf32>, …)
      %1 = stablehlo.reshape %0 : … -> tensor<8x128xf32>
      %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : … -> tensor<8x512xf32>
After:
    %p = stablehlo.dot_general %xs, %w, contracting_dims = [2] x [0] : … -> tensor<64x8x512xf32>
    stablehlo.while(%i = %c0, %h = …) cond { %i < 64 } do {
      %0 = stablehlo.dynamic_slice %p, %i, %c0, %c0, sizes = [1, 8, 512] : (tensor<64x8x512xf32>, …)
      %2 = stablehlo.reshape %0 : … -> tensor<8x512xf32>

A slice of a product is the product of the slice, wherever it begins; so turns may run in any direction. Few rows wait for the weight, which
is read in every turn; many rows at once do not, but their product is written and read again. Both are priced, and each decision has a
record. A policy's `[[loop]]` rules with `products` go before the price.

Must hold: the counter of the loop is known. Declined: products of what the loop carries; slices of the dimensions that are summed, or of
batches; more rows than the turns ask for; where a turn has rows enough to multiply while it
reads the weight (NO_GAIN).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView, target_of

from ..common.ops import FREE
from ..common.rewriting import clone_with, defining_op, is_block_argument, ops_in, producer, replace, walk
from ..fused.planner.codes import Code
from ..fused.planner.cost import SECOND, overlapped
from ..fused.planner.decisions import append_note
from ..fused.planner.loop_wishes import LoopWishes
from ..fused.planner.policy import policy_of
from ..fused.planner.policy_rules import INSIDE
from ..registry import register_pass
from .rules import loops
from .support import build
from .support.dimensions import DotDims

NEAR = 3
"""A CPU's second cache hands over so many times what the last one does."""


@dataclass(frozen=True)
class _Sliced:
    """An operand of a dot that is a slice of `source`; the dot's dimension d is that of the source's `places[d]`."""

    side: int
    slice: ir.Operation
    places: tuple[int, ...]

    @property
    def source(self) -> ir.Value:
        return self.slice.operands[0]


@register_pass("hoist-products", "multiplies all rows before a loop that takes one a turn", ops=("stablehlo.while",))
def hoist_products(module: ir.Operation) -> None:
    target = target_of(module)
    wishes = LoopWishes(policy_of(module).loop, lambda rule: rule.products != "cost")
    for loop in walk(module, "stablehlo.while"):
        counter = loops.find_counter(loop)
        number = wishes.rule_for(loop, None if counter is None else counter.trips)
        found = [] if counter is None else [(*product, counter.trips) for product in _products(loop, counter.trips)]
        if number is not None and wishes.rules[number].products != INSIDE:
            wishes.became(number, loop, "" if found else "no product in it is of rows that are there before it")
        for dot, sliced, trips in found:
            if _decides(module, dot, trips, _prices(dot, sliced, trips, target), wishes, number):
                _hoist(loop, dot, sliced)
    with module.context:
        wishes.tell(module)


def _products(loop: ir.Operation, trips: int) -> list[tuple[ir.Operation, _Sliced]]:
    """The dots that can be multiplied before the loop, with the operand that turns take row by row."""
    body = loops.body_block(loop)
    found = []
    for op in ops_in(body):
        if op.name != "stablehlo.dot_general":
            continue
        for side in (0, 1):
            sliced = _sliced(op, side, body)
            if sliced is not None and _is_before(op.operands[1 - side], body) and _rows_are_asked_for(op, sliced, trips):
                found.append((op, sliced))
                break
    return found


def _sliced(dot: ir.Operation, side: int, body: ir.Block) -> _Sliced | None:
    value = dot.operands[side]
    taken = producer(value, "stablehlo.dynamic_slice") or producer(value, "stablehlo.reshape")
    if taken is not None and taken.name == "stablehlo.reshape":
        taken = producer(taken.operands[0], "stablehlo.dynamic_slice")
    if taken is None or taken.block != body or not _is_before(taken.operands[0], body):
        return None
    places = _places(build.shape_of(taken.results[0]), build.shape_of(value))
    return None if places is None else _Sliced(side, taken, places)


def _places(shape: list[int], kept: list[int]) -> tuple[int, ...] | None:
    """Where the dimensions of a reshape that drops some of one element come from; None for any other."""
    places: list[int] = []
    for place, extent in enumerate(shape):
        if len(places) < len(kept) and extent == kept[len(places)]:
            places.append(place)
        elif extent != 1:
            return None
    return tuple(places) if len(places) == len(kept) else None


def _is_before(value: ir.Value, body: ir.Block) -> bool:
    """Whether a value is there before the loop, or made of such by ops that cost nothing."""
    if is_block_argument(value):
        return value.owner != body
    op = value.owner.operation
    return op.block != body or (op.name in FREE and all(_is_before(operand, body) for operand in op.operands))


def _rows_are_asked_for(dot: ir.Operation, sliced: _Sliced, trips: int) -> bool:
    """Whether all that is summed lies in a slice whole, and the turns ask for as many rows as there are."""
    dims, whole, part = DotDims.of(dot), build.shape_of(sliced.source), build.shape_of(sliced.slice.results[0])
    fixed = {sliced.places[d] for d in (*dims.batch[sliced.side], *dims.contracting[sliced.side])}
    return all(whole[d] == part[d] for d in fixed) and build.count_of(sliced.source) <= trips * build.count_of(sliced.slice.results[0])


def _decides(module: ir.Operation, dot: ir.Operation, trips: int, prices: tuple[int, int], wishes: LoopWishes, number: int | None) -> bool:
    """Whether the product moves before its loop, with the record of that; `number` is the rule that matches the loop."""
    asked = "cost" if number is None else wishes.rules[number].products
    told = "" if number is None else wishes.named(number)
    inside, before = prices
    figures = {"t_before_ps": inside, "t_after_ps": before, "gain_ps": inside - before}
    gains, kind = inside - before > target_of(module).min_gain_ps, str(dot.results[0].type)
    with module.context:
        if asked == INSIDE:
            append_note(module, Code.POLICY_FORBIDDEN, [], "the policy has each turn multiply for itself", kind, figures, told)
            return False
        if not gains and asked == "cost":
            append_note(module, Code.NO_GAIN, [], "a turn multiplies long enough to read the weight meanwhile", kind, figures)
            return False
        against = "" if gains else ", against the price"
        append_note(module, Code.LOOP_HOISTED, [], f"the rows of all {trips} turns are multiplied once{against}", kind, figures, told)
    return True


def _prices(dot: ir.Operation, sliced: _Sliced, trips: int, target: TargetView) -> tuple[int, int]:
    """Picoseconds of the products turn by turn, and of all before the loop, which are written and read again."""
    weight, product = dot.operands[1 - sliced.side], dot.results[0]
    rows = build.count_of(sliced.source) // build.count_of(sliced.slice.results[0])
    summed = prod(build.shape_of(weight)[d] for d in DotDims.of(dot).contracting[1 - sliced.side])
    flops = 2 * summed * build.count_of(product) * SECOND // target.peak_flops(str(build.element_of(weight)))
    read = _moved(byte_size(weight.type), target)
    launch = target.launch_ps if target.kind == "cuda" else 0
    inside = trips * (overlapped(read, flops) + launch)
    return inside, overlapped(read, rows * flops) + 2 * _moved(rows * byte_size(product.type), target) + launch


def _moved(size: int, target: TargetView) -> int:
    """Picoseconds in which so many bytes are read or written again and again."""
    if target.kind == "cpu" and size <= target.l2_bytes // 4:
        return size * SECOND // (NEAR * target.llc_bytes_per_second)
    return size * SECOND // (target.llc_bytes_per_second if size < target.llc_bytes // 2 else target.dram_bytes_per_second)


def _hoist(loop: ir.Operation, dot: ir.Operation, sliced: _Sliced) -> None:
    """Multiplies the source before the loop; the dot becomes a slice of that. Rows of one element stand before the weight's columns, so
    that a turn reads neighbours."""
    dims, side, taken = DotDims.of(dot), sliced.side, sliced.slice
    sizes, weight = build.shape_of(taken.results[0]), dot.operands[1 - side]
    batch, summed = (tuple(sliced.places[d] for d in pair[side]) for pair in (dims.batch, dims.contracting))
    free = [d for d in range(len(sizes)) if d not in (*batch, *summed)]
    columns = [build.shape_of(weight)[d] for d in dims.free(1 - side)]
    first = side == 0 or all(sizes[d] == 1 for d in free)
    new = DotDims((batch, dims.batch[1 - side]), (summed, dims.contracting[1 - side]), (len(sizes), dims.ranks[1 - side]))
    body, mapping = loops.body_block(loop), dict[ir.Value, ir.Value]()
    with dot.location, ir.InsertionPoint(loop):
        rows, weight = (_before(value, body, mapping) for value in (sliced.source, weight))
        extents = [build.shape_of(sliced.source)[d] for d in free]
        shape = [*(sizes[d] for d in batch), *(extents + columns if first else columns + extents)]
        kind = build.tensor(shape, build.element_of(dot.results[0]))
        product = new.emit(dot, rows, weight, kind) if first else new.exchanged().emit(dot, weight, rows, kind)
    with dot.location, ir.InsertionPoint(dot):
        zero = build.zero([], build.element_of(taken.operands[1]))
        starts, taken_rows = [taken.operands[1 + d] for d in free], [sizes[d] for d in free]
        whole = [zero] * len(columns)
        places = [*[zero] * len(batch), *(starts + whole if first else whole + starts)]
        row = build.dynamic_slice(product, places, [*shape[: len(batch)], *(taken_rows + columns if first else columns + taken_rows)])
        replace(dot, [build.reshape(row, build.shape_of(dot.results[0]))])


def _before(value: ir.Value, body: ir.Block, mapping: dict[ir.Value, ir.Value]) -> ir.Value:
    """The value, or what costs nothing and makes it again, before the loop."""
    op = defining_op(value)
    if op is None or op.block != body:
        return value
    if value not in mapping:
        for operand in op.operands:
            mapping[operand] = _before(operand, body, mapping)
        clone_with(op, mapping)
    return mapping[value]
