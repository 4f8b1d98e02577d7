"""split-reductions: a reduction with too few results to fill a GPU becomes one of parts, and one of their results.

Before:
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100000x64xf32>, …) -> tensor<64xf32>
After:
    %p = stablehlo.reshape %x : tensor<80x1250x64xf32>
    %1 = stablehlo.reduce(%p init: %neutral) applies stablehlo.add across dimensions = [1] : … -> tensor<80x64xf32>
    %0 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : … -> tensor<64xf32>

Whatever computes %x goes with the parts. The longest reduced dimension is split, into a divisor of its extent; the parts start from the
neutral value, so that an initial value counts once.

Must hold: nothing. Declined: targets that are no GPUs; reductions by anything but one op that has a neutral value (sums, products,
extremes, logic); those that have blocks enough, or elements so few that a second kernel costs more.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.ops import BOOL, FLOAT, OPS, SIGNED
from ..common.reductions import neutral_element
from ..common.rewriting import i64_array, ops_in
from ..common.scalar_code import Typed
from ..registry import register_pass
from .support import build
from .support.driver import rewrite

Values = list[ir.Value] | None

LEAST_ELEMENTS = 1 << 16
"""Elements a result must be made of to be worth a second kernel."""
LEAST_PART = 1 << 11
"""Elements a part must have."""
COLUMNS = 32
"""Columns that a block reduces."""


@register_pass("split-reductions", "splits reductions with too few results to fill a GPU", ops=("stablehlo.reduce",))
def split_reductions(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind == "cuda":
        rewrite(module, {"stablehlo.reduce": [lambda op: _split(op, target)]})


def _split(op: ir.Operation, target: TargetView) -> Values:
    combining = _combining_op(op)
    if len(op.operands) != 2 or combining is None:
        return None
    operand, init = op.operands
    shape, element = build.shape_of(operand), build.element_of(operand)
    neutral = _neutral(combining, element)
    dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    if neutral is None or not dims:
        return None
    dim = max(dims, key=lambda d: shape[d])
    parts = _parts(shape, dims, dim, target)
    if parts == 1:
        return None
    split = build.reshape(operand, [*shape[:dim], parts, shape[dim] // parts, *shape[dim + 1 :]])
    inner = sorted(d + 1 if d >= dim else d for d in dims)
    first = _reduce(op, split, build.splat(build.tensor([], element), neutral), inner)
    outer = dim - len([d for d in dims if d < dim])
    return [_reduce(op, first, init, [outer])]


def _parts(shape: list[int], dims: list[int], dim: int, target: TargetView) -> int:
    """Into how many parts `dim` is split: the largest divisor that gives no more blocks than run at once; 1 leaves it whole."""
    reduced = prod(shape[d] for d in dims)
    kept = prod(n for d, n in enumerate(shape) if d not in dims)
    along = len(shape) - 1 in dims
    blocks = kept if along else -(-kept // COLUMNS)
    if reduced * (1 if along else COLUMNS) < LEAST_ELEMENTS or 2 * blocks > target.multiprocessors:
        return 1
    most = min(2 * target.multiprocessors // max(1, blocks), max(1, reduced // (LEAST_PART if along else LEAST_PART // COLUMNS)))
    return next((n for n in range(min(most, shape[dim]), 1, -1) if shape[dim] % n == 0), 1)


def _combining_op(op: ir.Operation) -> str | None:
    """The one op of the body, of its two arguments."""
    block = op.regions[0].blocks[0]
    ops = ops_in(block)
    if len(ops) != 2 or len(ops[0].operands) != 2 or {*ops[0].operands} != {*block.arguments}:
        return None
    return ops[0].name if list(ops[1].operands) == list(ops[0].results) else None


def _neutral(name: str, element: ir.Type) -> ir.Attribute | None:
    scalar = OPS[name].scalar if name in OPS else None
    flags = BOOL if name in ("stablehlo.or", "stablehlo.and") else frozenset()
    if not isinstance(scalar, Typed) or str(element) not in FLOAT | SIGNED | flags:
        return None
    return neutral_element(scalar.name(element), element)


def _reduce(op: ir.Operation, operand: ir.Value, init: ir.Value, dims: list[int]) -> ir.Value:
    """`op` on another operand."""
    made = op.clone()
    made.operands[0], made.operands[1] = operand, init
    made.attributes["dimensions"] = i64_array(dims)
    kept = [n for d, n in enumerate(build.shape_of(operand)) if d not in dims]
    made.results[0].set_type(build.tensor(kept, build.element_of(operand)))
    return made.results[0]
