"""join-contractions: two contractions and the reductions of rows between them become one group (attention).

Before:
    %s = call @fusion_0(%q, %k, %mask)       // contraction, + mask           : tensor<12x512x512xf32>
    %w = call @fusion_1(%s)                  // softmax along the columns     : tensor<12x512x512xf32>
    %o = call @fusion_2(%w, %v)              // contraction over the columns  : tensor<12x512x64xf32>
After:
    %o = call @fusion_3(%q, %k, %mask, %v)
    func.func private @fusion_3(…) attributes {hloom.live = array<i64: 512, 512, 1>, …} { contraction; + mask; softmax; contraction }

On a CPU a tile of the group is some rows, whole along the columns: what lies between the two contractions stays in a core's cache, and
so does the left operand of the first, where a group computes it element by element for that alone (queries times a number).
`hloom.live` is [rows, columns, ahead]: from column row + ahead on a mask makes zeros of what the second contraction sums (chains/masks.py),
so that a tile computes no columns behind those of its last row; where others read scores or weights, it is not there. What weights of a
row are divided by divides the results there too, where these are fewer than the weights.

On a GPU (f16, bf16) a block of the group's kernel has 64 rows and goes through the columns 64 at a time (distribute-attention). So the
group is marked `hloom.online`, and what is of a row alone (the sum that weights are divided by) stands behind the second contraction:

    dot_general(softmax(s), v)      becomes      dot_general(exp(s - max), v) / sum

Its kernel finds operands by any strides, and knows its rows and columns: calls before and behind that only move elements (heads out of a
projection, and back) go into the dimension numbers of the contractions, and masks made of indices into the group (chains/moves.py).

Numbers of its rows that others read (logarithms of sums, for the backward pass) are results of it, too; on a CPU so is what others read of
the matrices (scores, weights, a dropout's mask). Dimensions that reshapes in between join are made several there (chains/split_dims.py), as
a tile has the same rows of all results.

Must hold: plan-fusion has run. Declined, each with a record: few rows; a policy's `use = "apart"` for either contraction; on CPUs results
in between whose dimensions cannot be split, right operands that do not stay in the cache; on GPUs what others
read in between, but for numbers of rows, other types, heads wider than 128, rows that are no maximum and a sum which can be rescaled
(chains/online.py), what is not evaluated at a row and a column, and no gain in price.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import target_of

from ..common.attention import ONLINE
from ..common.contraction import LIVE
from ..common.rewriting import callee_of, erase_unused, i64_array, integer, ops_in, walk
from ..registry import register_pass
from ..stablehlo.support.build import count_of, shape_of
from .chains.bodies import call_once, convex, erase_uncalled, function_of, named, outside_values
from .chains.chain import Chain, Groups, chain_ending_at, groups_of
from .chains.half_reductions import widen_reductions
from .chains.masks import Masks, share_of
from .chains.moves import fold_moves, made_of_indices, moves_around
from .chains.on_gpu import obstacle as on_gpu_obstacle
from .chains.on_gpu import price, unknown_op
from .chains.online import apply, online
from .chains.price import figures_of, priced
from .chains.split_dims import split_dims
from .planner.codes import Code, DecisionCode
from .planner.decisions import Notes
from .planner.policy import APART, Choice, policy_of

Refusal = tuple[DecisionCode, list[str], str, str]
"""A record: code, groups, reason and edge."""
Joined = tuple[list[ir.Operation], ir.Operation, ir.Operation, list[ir.Value]]
"""Calls, the function that does what they do, the second contraction in it, and its operands."""


@register_pass("join-contractions", "makes one group of two contractions and the reductions of rows between them", ops=("func.call",))
def join_contractions(module: ir.Operation) -> None:
    with module.context:
        _Joiner(module).run()


class _Joiner:
    def __init__(self, module: ir.Operation):
        self.module, self.target, self.policy = module, target_of(module), policy_of(module)
        self.on_gpu = self.target.kind == "cuda"
        self.groups = groups_of(module, libraries=self.on_gpu)
        self.notes = Notes(module)
        self.waiting = walk(module, "func.call")[::-1]
        """The calls that are not yet looked at, the next one last."""
        self.masks: list[ir.Operation] = []
        """Calls that are done in the groups too."""
        self.made: dict[str, str] = {}

    def run(self) -> None:
        parts: set[str] = set()
        while self.waiting:
            chain = chain_ending_at(self.waiting.pop(), self.groups)
            if chain is not None:
                parts.update(self._join_if_it_pays(chain))
        parts.update(callee_of(call) for call in self.masks)
        erase_unused(self.masks)
        erase_uncalled(self.module, self.groups, parts)
        self.notes.write()

    def _join_if_it_pays(self, chain: Chain) -> list[str]:
        """The names of the groups that are joined; none where they stay apart, of which there is a record."""
        names, kind = [callee_of(each) for each in chain.calls], str(chain.between.type)
        choice = next((c for c in map(self.policy.kernel_for, (chain.first, chain.second)) if c.use == APART), Choice())
        obstacle = on_gpu_obstacle(chain, self.target) if self.on_gpu else chain.obstacle(self.target)
        if choice.use == APART:
            self.notes.add(Code.POLICY_FORBIDDEN, names, "the contractions have kernels of their own", kind, rule=choice.rule)
            return []
        if obstacle is not None:
            self.notes.add(obstacle[0], names, obstacle[1], kind)
            return []
        found = self._join(chain)
        if isinstance(found, list):
            return found
        self.notes.add(*found)
        return []

    def _join(self, chain: Chain) -> Refusal | list[str]:
        """Calls one group in place of the chain's three, and of moves around it, and tells of it; or why not, and nothing is changed."""
        masks = list(dict.fromkeys(m for call in chain.calls for m in made_of_indices(call, self.groups))) if self.on_gpu else []
        calls, function, second, operands = (_with_moves(chain, self.groups, masks) if self.on_gpu else None) or _function(
            list(chain.calls) if self.on_gpu else chain.with_left(self.groups), chain, self.groups, masks
        )
        names, edge = [callee_of(call) for call in calls], str(second.operands[0].type)
        if convex(calls, calls[-1].block) != calls:
            function.erase()
            return Code.NOT_TILEABLE, names, "what others make of its rows' numbers is read by the second contraction", edge
        leaks = chain.leaks()
        if not self.on_gpu and leaks:
            if not split_dims(function):
                function.erase()
                return Code.NOT_TILEABLE, names, "others read a value between the two contractions, which has other dimensions", edge
            second = walk(function, "stablehlo.dot_general")[-1]
        # others read what is masked, too
        ahead = None if leaks else Masks(self.groups, function, operands).ahead(second, function)
        # those that the mask goes by: the first contraction may have rows in another order
        rows, columns = shape_of(second.operands[0])[-2:]
        reason, share = "what lies between two contractions stays in the tile", 1.0
        if ahead is not None and ahead < columns and chain.row_extents.count(rows) == 1:
            function.attributes[LIVE] = i64_array([rows, columns, ahead])
            reason += f"; columns from row + {ahead} on are masked, and left out"
            share = share_of(rows, columns, ahead)
        saved = 2 * sum(byte_size(value.type) for call in calls[:-1] for value in call.results)
        before = sum(integer(self.groups[name], "hloom.cost_ps") for name in names)
        parts = [self.groups[callee_of(call)] for call in chain.calls]
        if self.on_gpu:
            refusal = _made_online(function, second)
            after = priced(function, price(function, parts, chain, self.target, share))
            if refusal is None and before - after < self.target.min_gain_ps:
                refusal = Code.NO_GAIN, f"one kernel takes {after} ps, those of today {before} ps"
            if refusal is not None:
                function.erase()
                return refusal[0], names, refusal[1], edge
        else:
            _divide_results(function, second)
            after = priced(function, figures_of(function, [self.groups[name] for name in names], self.target, share))
        name = named(self.module, function, self.made, "attention")  # after which an equal function is gone
        if calls[-1] != chain.calls[-1]:
            self.waiting.remove(calls[-1])
        self.masks += [mask for mask in masks if mask not in self.masks]
        call_once(calls, name, operands, [*chain.leaked(), *calls[-1].results])
        figures = {"t_before_ps": before, "t_after_ps": after, "gain_ps": before - after, "bytes_saved": saved}
        self.notes.add(Code.FUSED_ATTENTION, [name], reason, edge, figures)
        return names


def _function(calls: list[ir.Operation], chain: Chain, groups: Groups, masks: list[ir.Operation]) -> Joined:
    """`masks` are calls that go on being there, and are done in the function too."""
    block = chain.calls[0].block
    calls = sorted(calls, key=ops_in(block).index)
    all_of_them = [*masks, *calls]
    operands = outside_values(all_of_them)
    function, copies = function_of(all_of_them, groups, operands, [*chain.leaked(), *calls[-1].results])
    return calls, function, copies[chain.second], operands


def _with_moves(chain: Chain, groups: Groups, masks: list[ir.Operation]) -> Joined | None:
    """The chain with moves before and behind it, which the kernel does by its indices; None where there are none that it can do."""
    before, behind = moves_around(chain, groups)
    if not before and not behind:
        return None
    calls, function, second, operands = _function([*before, *chain.calls, *behind], chain, groups, masks)
    folded = fold_moves(function, second)
    if folded is None:
        function.erase()
        return None
    return calls, function, folded, operands


def _made_online(function: ir.Operation, second: ir.Operation) -> tuple[DecisionCode, str] | None:
    """Has the rows of a group reduced tile by tile; or why that cannot be."""
    widen_reductions(function)
    found = online(function, second)
    if found is None:
        return Code.NOT_TILEABLE, "the rows are no maximum and a sum that can be rescaled when the maximum grows"
    apply(found)
    unknown = unknown_op(function)
    if unknown is not None:
        return Code.NOT_TILEABLE, f"the kernel does not evaluate {unknown} at a row and a column"
    function.attributes[ONLINE] = ir.UnitAttr.get()
    return None


def _divide_results(function: ir.Operation, second: ir.Operation) -> None:
    """Has the results of the second contraction divided, and not the weights, where these are more."""
    found = online(function, second) if count_of(second.operands[0]) > count_of(second.results[0]) else None
    if found is not None:
        apply(found)
