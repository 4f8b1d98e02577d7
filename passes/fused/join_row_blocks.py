"""join-row-blocks: contractions of which some keep the rows of large values and some sum over them become one group.

Before:
    %p = call @fusion_0(%q, %k)              // softmax(q · k)                      : tensor<12x1024x1024xf32>
    %s = call @fusion_1(%do, %v, %p, %d)     // p * (do · v - d)                    : tensor<12x1024x1024xf32>
    %dv = call @fusion_2(%p, %do)            // contraction over the rows of %p     : tensor<12x1024x64xf32>
    %dk = call @fusion_3(%s, %q)             // contraction over the rows of %s     : tensor<12x1024x64xf32>
    %dq = call @fusion_4(%s, %k)             // contraction over the columns of %s  : tensor<12x1024x64xf32>
After:
    %dv, %dk, %dq = call @row_blocks_0(%q, %k, %do, %v, %d)
    func.func private @row_blocks_0(…) attributes {hloom.row_loop = 2, …} { all of them }

A tile of the group is one batch. It goes through its rows in blocks (passes/tiled/schedules/row_loop.py): %p and %s are there for one
block at a time, in a core's cache, and never in memory; %dv and %dk are added to by each block, in the order of the rows, whatever the
number of threads. `hloom.row_loop` is how many contractions sum over the rows, which tells these from the columns. `hloom.live` is [rows,
columns, ahead] as in join-contractions: what a mask leaves out no block computes, unless it is returned; of two dimensions that may be
the rows, that is taken which a mask goes by. What others read of %p or %s is a result, and written once.

Gradients whose forward pass is in the program too, and has a result of its own, compute scores and weights again, from the maxima and sums
of its rows, which that returns then: whatever stands between the two is no matter, and join-contractions makes one group of forward
(chains/regions.py, chains/numbers.py).

Rows may be several dimensions that all sums are over: heads that share keys. `hloom.live` tells which of them a mask goes by.

It goes by dimensions (chains/dims.py): softmax, masks, biases, dropout and scales are ops like all others. A group is found from a value
that two contractions read, one of which sums over another dimension than the other. What makes it joins, and what else reads what is as
large, as long as the dimension that is the rows is kept by all, or summed by contractions that nothing in the loop reads.

Must hold: plan-fusion has run. Declined: fewer batches than cores; rows that do not stay in a tile's share of the cache (ROW_TOO_LARGE);
halves that AMX multiplies; a policy's `use = "apart"`. Unchanged: values of which the second-level cache holds three; GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView, target_of

from ..common.contraction import LIVE, ROW_LOOP
from ..common.rewriting import callee_of, defining_op, element_of, erase_unused, i64_array, i64_attr, integer, kind_of, walk
from ..registry import register_pass
from ..stablehlo.support.build import count_of
from .chains.bodies import call_once, convex, erase_uncalled, function_of, named, outside_values, users
from .chains.chain import groups_of
from .chains.half_reductions import widen_reductions
from .chains.masks import Masks, share_of
from .chains.numbers import Operand, numbers_kept, read_numbers, without_unused
from .chains.price import figures_of, priced
from .chains.regions import Region, Regions, in_order
from .chains.rows import Rows, rows_of, summed_dimensions
from .chains.split_dims import split_dims
from .planner.codes import Code, DecisionCode
from .planner.decisions import Notes
from .planner.policy import APART, policy_of

_KINDS = ("matmul", "loop", "reduce", "multi_reduce")
_LEAST_ROWS = 16
"""Of a block: with fewer, what is summed over the rows is loaded and stored as often as it is added to."""
_KEPT = 3
"""Values as large as the scores that a block keeps."""


@register_pass(
    "join-row-blocks", "makes one group of contractions that keep, and that sum over, the rows of large values", ops=("func.call",)
)
def join_row_blocks(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cpu":
        return
    with module.context:
        _Joiner(module, target).run()


@dataclass(frozen=True)
class _Region:
    """Calls that may be one group: their results that others read, the merged function, and what may be its rows, the best first."""

    calls: list[ir.Operation]
    operands: list[Operand]
    results: list[ir.Value]
    function: ir.Operation
    rows: list[Rows]
    apart: Region | None = None
    """Where the calls read numbers of rows that forward keeps, and compute its scores again: what it keeps."""


class _Joiner:
    def __init__(self, module: ir.Operation, target: TargetView):
        self.module, self.target, self.policy = module, target, policy_of(module)
        self.groups, self.notes = groups_of(module), Notes(module)
        self.regions = Regions(self.groups)
        self.made: dict[str, str] = {}
        self.declined: set[ir.Value] = set()

    def run(self) -> None:
        parts: set[str] = set()
        while (seed := self._next_seed()) is not None:
            names = self._join(seed)
            parts.update(names)
            if not names:
                self.declined.add(seed)
        erase_uncalled(self.module, self.groups, parts)
        self.notes.write()

    def _next_seed(self) -> ir.Value | None:
        """The last value that two contractions read, and sum over different dimensions of; of those that no near cache holds together."""
        for call in reversed(walk(self.module, "func.call")):
            for value in call.results if self._may_join(call, call.block) else ():
                if value not in self.declined and _KEPT * byte_size(value.type) > self.target.l2_bytes and len(self._summed(value)) > 1:
                    return value
        return None

    def _may_join(self, op: ir.Operation | None, block: ir.Block) -> bool:
        if op is None or op.name != "func.call" or op.block != block:
            return False
        group = self.groups.get(callee_of(op))
        return group is not None and kind_of(group) in _KINDS

    def _summed(self, value: ir.Value) -> set[int]:
        """The dimensions of a value that contractions sum over."""
        return {d for call in users(value) if self._may_join(call, call.block) for d in self._summed_by(call, value)}

    def _summed_by(self, call: ir.Operation, value: ir.Value) -> set[int]:
        """Those that the contractions of a call sum over."""
        group = self.groups[callee_of(call)]
        arguments = [a for a, given in zip(group.regions[0].blocks[0].arguments, call.operands) if given == value]
        return summed_dimensions(group, arguments)

    def _join(self, seed: ir.Value) -> list[str]:
        """The names of the groups that are joined; none where they stay apart."""
        region = self._behind_forward(seed) or self._grown(seed)
        if region is None:
            return []
        names, edge = [callee_of(call) for call in region.calls], str(seed.type)
        refusal = self._refusal(region)
        if refusal is not None:
            region.function.erase()
            self.notes.add(refusal[0], names, refusal[1], edge)
            return []
        function = region.function
        rows, ahead = self._rows_of(region)
        function.attributes[ROW_LOOP] = i64_attr(rows.sums)
        reason, share = "what lies between contractions is there for a block of rows at a time", 1.0
        if ahead is not None:
            function.attributes[LIVE] = i64_array([rows.rows, rows.columns, ahead])
            reason += f"; columns from row + {ahead} on are masked, and left out"
            share = share_of(rows.rows, rows.columns, ahead)
        parts = [self.groups[name] for name in names]
        before, after = (
            sum(integer(part, "hloom.cost_ps") for part in parts),
            priced(function, figures_of(function, parts, self.target, share)),
        )
        outside = {*region.results, *(each for each in region.operands if isinstance(each, ir.Value))}
        saved = sum(2 * byte_size(v.type) for call in region.calls for v in call.results if v not in outside)
        name = named(self.module, function, self.made, "row_blocks")
        numbers = numbers_kept(region.apart, self.module, self.groups, self.made) if region.apart is not None else {}
        call_once(region.calls, name, [numbers[each] if isinstance(each, int) else each for each in region.operands], region.results)
        if region.apart is not None:
            erase_unused([region.apart.kept[-1]])
        figures = {"t_before_ps": before, "t_after_ps": after, "gain_ps": before - after, "bytes_saved": saved}
        self.notes.add(Code.FUSED_ROWS, [name], reason, edge, figures)
        return names

    def _rows_of(self, region: _Region) -> tuple[Rows, int | None]:
        """The rows that a tile goes by, of which a mask leaves columns out where there are such, and from which column on it does."""
        for rows in region.rows:
            told = not rows.written and len({each.together for each in region.rows if each.sums == rows.sums}) == 1
            operands = [each if isinstance(each, ir.Value) else None for each in region.operands]
            ahead = Masks(self.groups, region.function, operands).ahead_of(rows.read, rows.reduced) if told else None
            if ahead is not None and ahead < rows.columns:
                return rows, ahead
        return region.rows[0], None

    def _behind_forward(self, seed: ir.Value) -> _Region | None:
        """The gradients of a chain that forward has, whatever stands between: they compute its scores and weights again, from numbers of
        its rows, and it is left to join-contractions. None where there is no such chain."""
        found = self.regions.region(seed)
        if not isinstance(found, Region) or not found.kept:
            return None
        gone, calls = in_order(set(found.gone)), in_order({*found.makers, *found.readers})
        if convex(gone, gone[0].block) != gone:
            return None
        given = outside_values(calls)
        results = [v for call in gone for v in call.results if any(user not in gone for user in users(v))]
        function, _ = function_of(calls, self.groups, given, results)
        widen_reductions(function)
        operands = without_unused(function, [*given, *read_numbers(function, found.numbers_of_kept(self.groups))])
        rows = rows_of(function, found.size) if split_dims(function) else []
        region = _Region(gone, operands, results, function, rows, found)
        if not rows or self._refusal(region) is not None:
            function.erase()
            return None
        return region

    def _grown(self, seed: ir.Value) -> _Region | None:
        """The most calls around a value that may be one group."""
        maker, size = seed.owner.operation, count_of(seed)
        block = maker.block
        readers = [call for call in users(seed) if self._may_join(call, block) and self._summed_by(call, seed)]
        region = self._region([maker, *readers], size)
        refused: set[ir.Operation] = set()
        while region is not None:
            near = [v for call in region.calls for v in (*call.operands, *call.results) if count_of(v) == size]
            calls = [op for v in near for op in (defining_op(v), *users(v)) if op is not None and self._may_join(op, block)]
            new = next((op for op in calls if op not in region.calls and op not in refused), None)
            if new is None:
                break
            larger = self._region([*region.calls, new], size)
            if larger is None:
                refused.add(new)
                continue
            region.function.erase()
            region = larger
        return region

    def _region(self, calls: Sequence[ir.Operation], size: int) -> _Region | None:
        """The calls, and those between them, if they can be one group; large values have so many elements."""
        block = calls[0].block
        closed = convex(calls, block)
        if not all(self._may_join(call, block) for call in closed):
            return None
        operands = outside_values(closed)
        results = [v for call in closed for v in call.results if any(user not in closed for user in users(v))]
        function, _ = function_of(closed, self.groups, operands, results)
        rows = rows_of(function, size) if split_dims(function) else []
        if not rows:
            function.erase()
            return None
        return _Region(closed, operands, results, function, rows)

    def _refusal(self, region: _Region) -> tuple[DecisionCode, str] | None:
        """Why the calls should stay apart."""
        target, rows, dots = self.target, region.rows[0], walk(region.function, "stablehlo.dot_general")
        if any(self.policy.kernel_for(dot).use == APART for dot in dots):
            return Code.POLICY_FORBIDDEN, "the contractions have kernels of their own"
        if target.amx_bf16 and any(isinstance(element_of(v), ir.BF16Type) for dot in dots for v in dot.operands):
            return Code.NO_GAIN, "AMX multiplies these, in tiles of its own"
        if rows.batches < target.cores:
            return Code.NO_GAIN, f"{rows.batches} batches for {target.cores} cores"
        kept = _KEPT * _LEAST_ROWS * rows.columns * 4
        if kept > target.tile_bytes // 2:
            return Code.ROW_TOO_LARGE, f"{kept} bytes of {_LEAST_ROWS} rows do not stay in the cache"
        return None
