"""Which chains of two contractions are one kernel of a GPU (passes/gpu/attention), and what it takes.

A block takes 64 rows and goes through the columns 64 at a time: what lies between the contractions stays in registers.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.attention import BLOCK_ROWS, FIRST_CAPABILITY, WIDEST
from ...common.ops import Kind
from ...common.rewriting import element_of, integer, ops_in
from ...stablehlo.support.build import shape_of
from ..planner.codes import Code, DecisionCode
from ..planner.cost import SECOND, kernel_ps
from ..planner.library import GENERATED_PERCENT
from .chain import Chain, dimensions, summed
from .price import Figures, bytes_moved

_LEAST_ROWS = 16
EVALUATED = frozenset(
    "abs add and ceil compare constant convert cosine divide exponential exponential_minus_one floor iota is_finite log log_plus_one"
    " logistic maximum minimum multiply negate not or power reduce remainder rsqrt select sine sqrt subtract tanh xor"
    " broadcast_in_dim dot_general reshape slice transpose".split()
)
"""What the kernel evaluates at a row and a column, and what it is made of."""


def obstacle(chain: Chain, target: TargetView) -> tuple[DecisionCode, str] | None:
    """Why the three should stay apart, as far as their two contractions tell."""
    if chain.leaks():
        return Code.NOT_TILEABLE, "a value between the two contractions is needed by others"
    if target.compute_capability < FIRST_CAPABILITY:
        return Code.NOT_TILEABLE, f"tensor cores before sm_{FIRST_CAPABILITY} have no kernel of it"
    kinds = {str(element_of(v)) for dot in (chain.first, chain.second) for v in dot.operands}
    if kinds not in ({"f16"}, {"bf16"}):
        return Code.NOT_TILEABLE, f"the kernel multiplies f16 or bf16, not {', '.join(sorted(kinds))}"
    depths = summed(chain.first), _width(chain)
    if max(depths) > WIDEST:
        return Code.ROW_TOO_LARGE, f"heads of {max(depths)} do not stay in registers; {WIDEST} do"
    batches = len(dimensions(chain.first).lhs_batching_dimensions)
    rows, columns = prod(shape_of(chain.between)[batches:-1]), shape_of(chain.between)[-1]
    if min(rows, columns) < _LEAST_ROWS:
        return Code.NO_GAIN, f"a block multiplies {BLOCK_ROWS} rows and as many columns, and there are {min(rows, columns)}"
    return None


def unknown_op(function: ir.Operation) -> str | None:
    """An op of the group that the kernel does not evaluate at a row and a column."""
    *ops, _ = ops_in(function.regions[0].blocks[0])
    return next((op.name for op in ops if op.name.removeprefix("stablehlo.") not in EVALUATED), None)


def price(function: ir.Operation, parts: list[ir.Operation], chain: Chain, target: TargetView, share: float) -> Figures:
    """(time, bytes, flops) of the kernel: as a contraction's, and not faster than the blocks that there are."""
    moved = bytes_moved(function)
    flops = [round(share * integer(each, "hloom.flops")) for each in parts]
    rate = max(1, target.peak_flops(str(element_of(chain.first.operands[0]))))
    multiplied = (flops[0] + flops[2]) * SECOND * 100 // (rate * GENERATED_PERCENT[Kind.MATMUL])
    batches = len(dimensions(chain.first).lhs_batching_dimensions)
    between = shape_of(chain.between)
    blocks = prod(between[:batches]) * -(-prod(between[batches:-1]) // BLOCK_ROWS)
    idle = max(1.0, target.multiprocessors / max(1, blocks))
    arithmetic = round(idle * (multiplied + flops[1] * SECOND // target.f32_flops))
    memory = moved * SECOND // target.llc_bytes_per_second
    return kernel_ps(memory, arithmetic, target), moved, sum(flops)


def _width(chain: Chain) -> int:
    """The columns of the second contraction's results."""
    rank = len(shape_of(chain.second.operands[0])) - 1
    return prod(shape_of(chain.second.results[0])[rank:])
