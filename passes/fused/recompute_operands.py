"""recompute-operands: contractions of a large matrix compute it themselves, tile by tile, from the contractions that it is made of.

Before, the gradients of attention:
    %0:2 = call @fusion_0(%q, %k, %l)          // exp(q · k - l), in f32 and in bf16      : tensor<16x2048x2048xf32>, …
    %1 = call @fusion_2(%do, %v, %d, %0#0)     // %0 * (do · v - d)                       : tensor<16x2048x2048xbf16>
    %dq = call @fusion_3(%1, %k)               // contraction over the columns of %1      : tensor<16x2048x64xbf16>
    %dk = call @fusion_4(%1, %q)               // contraction over the rows of %1         : tensor<16x2048x64xbf16>
    %dv = call @fusion_4(%0#1, %do)            // contraction over the rows of %0
After:
    %dq = call @recomputed_0(%q, %k, %l, %do, %v, %d)
    %dk, %dv = call @recomputed_1(%q, %k, %l, %do, %v, %d)
    func.func private @recomputed_0(…) attributes {hloom.recomputed, …} { %0, %1 and %dq }

No large matrix is in memory: a block of the kernel (passes/gpu/attention/products.py) has some rows, computes tiles of %0 and %1 column by
column, and adds their products to its results. What sums over the rows of %1 has its columns for rows. So each kernel multiplies once more
what the matrices are made of, which takes less than to write and read them. `hloom.live` is [rows, columns, ahead] as in join-contractions.

It goes by dimensions (chains/dims.py) and knows no names: all ops between contractions are evaluated at a row and a column, whatever they
are. What lies between is found from a matrix that a contraction sums over, with all that makes it and all that is made of it
(chains/regions.py). Maxima and sums of its rows, as JAX's gradients of softmax have, are kernels too, each before those that read it:
    %m = call @recomputed_0(%q, %k);  %l = call @recomputed_1(%q, %k, %m);  %r = call @recomputed_2(…, %m, %l)
Where forward has a result of its own, its three groups stay for join-contractions, and return such numbers of their rows (@rows_0).

Calls before that only move elements (heads out of a projection, turned for a contraction) are read through, where the elements of a head
lie together behind them.

Must hold: plan-fusion has run. Declined, each with a record: what others need of the matrices, or make of their rows' numbers; operands
that are no halves (but f32 beside widened bf16), or wider than 128; a policy's `use = "apart"`; no gain in price. Unchanged: CPUs
(join-row-blocks).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import target_of

from ..common.attention import BEGINS, FIRST_CAPABILITY, PARTS, RECOMPUTED
from ..common.contraction import LIVE
from ..common.rewriting import callee_of, create, defining_op, erase_unused, i64_array, i64_attr, integer, walk
from ..registry import register_pass
from .chains import constant_factors
from .chains.bodies import call_once, convex, erase_uncalled, function_of, named, outside_values, users
from .chains.chain import groups_of, returned
from .chains.half_reductions import widen_reductions
from .chains.masks import Masks, share_of
from .chains.moves import keeps_heads, made_of_indices, only_moves
from .chains.numbers import Operand, numbers_kept, read_numbers, return_values, without_unused
from .chains.price import priced
from .chains.products import Products, price, products_of
from .chains.regions import Region, Regions, in_order, reductions
from .chains.split_dims import split_dims
from .planner.codes import Code, DecisionCode
from .planner.decisions import Notes
from .planner.policy import APART, policy_of

_MOST_RESULTS = 2
"""Of a kernel, whose accumulators stay in registers."""


@register_pass("recompute-operands", "has contractions compute large operands themselves, tile by tile", ops=("func.call",))
def recompute_operands(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cuda" or target.compute_capability < FIRST_CAPABILITY:
        return
    with module.context:
        _Joiner(module).run()


class _Refused(Exception):
    """Why large values stay in memory."""

    def __init__(self, code: DecisionCode, reason: str):
        super().__init__(code, reason)
        self.code, self.reason = code, reason


@dataclass(frozen=True)
class _Kernel:
    """Some readers, which are gone, or a reduction by its number; and the function that does what they do, with its operands."""

    readers: list[ir.Operation]
    number: int | None
    function: ir.Operation
    operands: list[Operand]
    products: Products

    @property
    def masked(self) -> str:
        """What the record says of a mask."""
        attributes = self.function.attributes
        name = next((each for each in (LIVE, BEGINS) if each in attributes), None)
        if name is None:
            return ""
        *_, at = ir.DenseI64ArrayAttr(attributes[name])
        return f"; columns {'from' if name == LIVE else 'before'} row + {at} {'on ' if name == LIVE else ''}are masked, and left out"

    @property
    def results(self) -> list[ir.Value]:
        return [value for call in self.readers for value in call.results]


def _results_read(kernels: Sequence[_Kernel], results: Sequence[ir.Value]) -> list[tuple[list[Operand], int, int]]:
    """Where kernels have one of these results for an operand: their operands, the place there, and which result it is."""
    places = {value: number for number, value in enumerate(results)}
    operands = ((kernel.operands, at, each) for kernel in kernels for at, each in enumerate(kernel.operands))
    return [(given, at, places[each]) for given, at, each in operands if each in places]


class _Joiner:
    def __init__(self, module: ir.Operation):
        self.module, self.target, self.policy = module, target_of(module), policy_of(module)
        self.groups, self.notes = groups_of(module, libraries=True), Notes(module)
        self.regions = Regions(self.groups)
        self.made: dict[str, str] = {}
        self.declined: set[ir.Value] = set()
        self.waiting = walk(module, "func.call")
        """The calls that are not yet looked at, the next one last."""

    def run(self) -> None:
        """Looks at each value once, from the last on: whether groups make it, and contractions sum over it."""
        parts: set[str] = set()
        while self.waiting:
            call = self.waiting.pop()
            for value in call.results if self.regions.is_part(call, call.block) else ():
                if value not in self.declined and any(self.regions.sums(user, value) for user in users(value)):
                    names = self._join_if_it_pays(value)
                    parts.update(names)
                    if names:
                        break
        erase_uncalled(self.module, self.groups, parts)
        self.notes.write()

    def _join_if_it_pays(self, seed: ir.Value) -> list[str]:
        """The names of the groups that are joined; none where they stay apart."""
        region, edge = self.regions.region(seed), str(seed.type)
        if region is None:
            return []
        if isinstance(region, str):
            self.notes.add(Code.NOT_TILEABLE, [callee_of(seed.owner.operation)], region, edge)
            return []
        if not any(walk(self.groups[callee_of(call)], "stablehlo.dot_general") for call in region.makers):
            return []  # nothing but what is read from memory, once
        names, kernels = list(dict.fromkeys(callee_of(call) for call in region.gone)), []
        try:
            self._check_policy([*region.makers, *region.readers])
            kernels = self._kernels(region)
            before = sum(integer(self.groups[callee_of(call)], "hloom.cost_ps") for call in region.gone)
            after = sum(integer(kernel.function, "hloom.cost_ps") for kernel in kernels)
            if before - after < self.target.min_gain_ps:
                raise _Refused(Code.NO_GAIN, f"{len(kernels)} kernels that compute it take {after} ps, those of today {before} ps")
        except _Refused as refusal:
            for kernel in kernels:
                kernel.function.erase()
            self.declined.update(value for call in region.makers for value in call.results)
            self.notes.add(refusal.code, names, refusal.reason, edge)
            return []
        saved = sum(2 * byte_size(value.type) for call in region.gone if call in region.makers for value in call.results)
        before_it = in_order({*self._masks_of(region), *self._moves_of(region)})
        names += [callee_of(call) for call in (*before_it, *region.kept)]
        gone = {*before_it, *region.makers, *region.readers}
        self.waiting = [call for call in self.waiting if call not in gone]
        made, masked = self._call(region, kernels, before_it)
        reason = "what contractions sum over is computed in their kernels, tile by tile" + masked
        figures = {"t_before_ps": before, "t_after_ps": after, "gain_ps": before - after, "bytes_saved": saved}
        self.notes.add(Code.FUSED_ATTENTION, made, reason, edge, figures)
        return names

    def _call(self, region: Region, kernels: list[_Kernel], before: list[ir.Operation]) -> tuple[list[str], str]:
        """Calls the kernels in place of a region's calls, and of those before it that nobody needs; returns their names, and what they
        leave out."""
        owners = region.owners(self.groups)
        outside = {value: number for value, number in self.regions.numbers_outside(region).items() if number is not None}
        unused = in_order({*before, *(call for call in region.makers if call not in region.kept[:1])})
        numbers = numbers_kept(region, self.module, self.groups, self.made) if region.kept else {}
        made, masked = [], ""
        for place, kernel in enumerate(kernels):
            masked, kinds = masked or kernel.masked, [value.type for value in returned(kernel.function).operands]
            made.append(named(self.module, kernel.function, self.made, "recomputed"))  # after which an equal function is gone
            operands = [numbers[each] if isinstance(each, int) else each for each in kernel.operands]
            if kernel.number is None:
                read = _results_read(kernels[place + 1 :], kernel.results)
                new = call_once(kernel.readers, made[-1], operands, kernel.results)
                for given, at, result in read:
                    given[at] = new.results[result]
                continue
            owner = owners[kernel.number]
            with ir.InsertionPoint(owner), owner.location:
                call = create("func.call", kinds, operands, callee=ir.FlatSymbolRefAttr.get(made[-1]))
            numbers[kernel.number] = call.results[0]
        for value, number in outside.items():
            value.replace_all_uses_with(numbers[number])
        erase_unused(unused)
        return made, masked

    def _masks_of(self, region: Region) -> list[ir.Operation]:
        """What is made of indices alone, which the kernels know."""
        return [mask for maker in region.makers for mask in made_of_indices(maker, self.groups)]

    def _moves_of(self, region: Region) -> set[ir.Operation]:
        """Calls that only move what the region reads."""
        read = (defining_op(value) for call in (*region.makers, *region.readers) for value in call.operands)
        return {maker for maker in read if maker is not None and only_moves(maker, self.groups)}

    def _check_policy(self, calls: Sequence[ir.Operation]) -> None:
        for call in calls:
            for dot in walk(self.groups[callee_of(call)], "stablehlo.dot_general"):
                if self.policy.kernel_for(dot).use == APART:
                    raise _Refused(Code.POLICY_FORBIDDEN, "the contractions have kernels of their own")

    def _kernels(self, region: Region) -> list[_Kernel]:
        """The kernels of all readers: those that keep the same dimension share one, if none needs what another makes."""
        made: list[_Kernel] = []
        try:
            for reader in region.readers:
                made.append(self._kernel(region, [reader]))
                self._share_last(region, made)
            self._add_numbers(region, made)
        except _Refused:
            for kernel in made:
                kernel.function.erase()
            raise
        return made

    def _add_numbers(self, region: Region, made: list[_Kernel]) -> None:
        """Adds, before other kernels, those that make the rows' numbers which these read, in their order."""
        kept = region.numbers_of_kept(self.groups)
        waiting = [number for number in self.regions.numbers_outside(region).values() if number is not None]
        waiting += [each for kernel in made for each in kernel.operands if isinstance(each, int)]
        found: dict[int, _Kernel] = {}
        while waiting:
            number = waiting.pop()
            if number in found or number in kept:
                continue
            found[number] = self._kernel(region, [], number)
            made.insert(sorted(found).index(number), found[number])
            waiting += [each for each in found[number].operands if isinstance(each, int)]

    def _share_last(self, region: Region, made: list[_Kernel]) -> None:
        """Has the last kernel be one with an earlier one, where that can be."""
        for number, kernel in enumerate(made[:-1]):
            shared = self._shared(region, kernel, made[-1])
            if shared is not None:
                made.pop().function.erase()
                kernel.function.erase()
                made[number] = shared
                return

    def _shared(self, region: Region, one: _Kernel, other: _Kernel) -> _Kernel | None:
        """One kernel of two; None where they keep other dimensions, or are too much."""
        readers = [*one.readers, *other.readers]
        if len(readers) > _MOST_RESULTS or convex(readers, readers[0].block) != readers or one.products.kept != other.products.kept:
            return None
        return self._kernel(region, readers)

    def _kernel(self, region: Region, readers: list[ir.Operation], number: int | None = None) -> _Kernel:
        """The kernel of some readers, or of a reduction; it reads through moves where it can. Raises _Refused."""
        calls = {*self._masks_of(region), *region.makers, *readers}
        moves = self._moves_of(region) & {maker for call in calls for value in call.operands if (maker := defining_op(value))}
        if moves:
            with suppress(_Refused):
                return self._made_of(in_order(calls | moves), region.size, readers, number, through_moves=True)
        return self._made_of(in_order(calls), region.size, readers, number)

    def _made_of(
        self, calls: list[ir.Operation], size: int, readers: list[ir.Operation], number: int | None, through_moves: bool = False
    ) -> _Kernel:
        """The kernel that does what calls do."""
        given = outside_values(calls)
        function, _ = function_of(calls, self.groups, given, [value for call in readers for value in call.results])
        widen_reductions(function)
        constant_factors.move_behind(function)
        if number is not None:
            return_values(function, [reductions(function)[number].results[0]])
        try:
            cut = [n for n in range(len(reductions(function))) if n != number]
            operands = without_unused(function, [*given, *read_numbers(function, cut)])
            if through_moves and not keeps_heads(function):
                raise _Refused(Code.NOT_TILEABLE, "the elements of a head do not lie together")
            if not split_dims(function):
                raise _Refused(Code.NOT_TILEABLE, "reshapes take dimensions apart")
            found = products_of(function, size)
            if isinstance(found, str):
                raise _Refused(Code.NOT_TILEABLE, found)
        except _Refused:
            function.erase()
            raise
        function.attributes[RECOMPUTED] = ir.UnitAttr.get()
        if found.parts > 1:
            function.attributes[PARTS] = i64_attr(found.parts)
        kernel = _Kernel(readers, number, function, operands, found)
        priced(function, price(function, found, self.target, self._masked(kernel)))
        return kernel

    def _masked(self, kernel: _Kernel) -> float:
        """Of all elements those that a mask leaves; writes at the function which it leaves out."""
        function = kernel.function
        operands = [None if isinstance(each, int) else each for each in kernel.operands]
        for pair in kernel.products.pairs:
            rows, columns = pair.rows, pair.columns
            ahead = Masks(self.groups, function, operands).ahead_of(pair.read, pair.reduced)
            if ahead is not None and ahead < columns:
                function.attributes[LIVE] = i64_array([rows, columns, ahead])
                return share_of(rows, columns, ahead)
            ahead = None if pair.reduced else Masks(self.groups, function, operands).ahead_of(pair.turned, [])
            if ahead is not None and ahead < rows:
                function.attributes[BEGINS] = i64_array([rows, columns, 1 - ahead])
                return share_of(columns, rows, ahead)
        return 1.0
