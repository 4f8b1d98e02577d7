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
are. What lies between is found from a matrix that a contraction sums over, with all that makes it and all that is made of it.

Must hold: plan-fusion has run. Declined, each with a record: what others need of the matrices; a reduction of them; operands that are no
halves, or wider than 128; a policy's `use = "apart"`; no gain in price. Unchanged: CPUs (join-row-blocks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import target_of

from ..common.attention import BEGINS, FIRST_CAPABILITY, RECOMPUTED
from ..common.contraction import LIVE
from ..common.rewriting import defining_op, erase_unused, i64_array, integer, kind_of, ops_in, walk
from ..registry import register_pass
from ..stablehlo.support.build import count_of
from .chains.bodies import call_once, convex, function_of, named, users
from .chains.chain import CONTRACTION_KINDS, callee, groups_of, returned
from .chains.masks import Masks, share_of
from .chains.moves import made_of_indices
from .chains.on_gpu import EVALUATED
from .chains.price import priced
from .chains.products import Products, price, products_of
from .chains.rows import summed_dimensions
from .chains.split_dims import split_dims
from .planner.codes import Code, DecisionCode
from .planner.decisions import Notes
from .planner.policy import APART, policy_of

_KINDS = (*CONTRACTION_KINDS, "loop")
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


@dataclass
class _Region:
    """Calls that make large values of one size, in order, and those of contractions that sum over them."""

    makers: list[ir.Operation] = field(default_factory=list)
    readers: list[ir.Operation] = field(default_factory=list)


@dataclass(frozen=True)
class _Kernel:
    """Some readers, which are gone, and the function that does what they do, with its operands."""

    readers: list[ir.Operation]
    function: ir.Operation
    operands: list[ir.Value]
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


class _Joiner:
    def __init__(self, module: ir.Operation):
        self.module, self.target, self.policy = module, target_of(module), policy_of(module)
        self.groups, self.notes = groups_of(module, libraries=True), Notes(module)
        self.made: dict[str, str] = {}
        self.declined: set[ir.Value] = set()
        self.waiting = walk(module, "func.call")
        """The calls that are not yet looked at, the next one last."""

    def run(self) -> None:
        """Looks at each value once, from the last on: whether groups make it, and contractions sum over it."""
        parts: set[str] = set()
        while self.waiting:
            call = self.waiting.pop()
            for value in call.results if self._is_part(call, call.block) else ():
                if value not in self.declined and any(self._sums(user, value) for user in users(value)):
                    names = self._join_if_it_pays(value)
                    parts.update(names)
                    if names:
                        break
        called = {callee(call) for call in walk(self.module, "func.call")}
        for name in sorted(parts - called):
            self.groups[name].erase()
        self.notes.write()

    def _is_part(self, op: ir.Operation | None, block: ir.Block) -> bool:
        """Whether an op calls a group that is evaluated element by element, with a contraction or without."""
        if op is None or op.name != "func.call" or op.block != block:
            return False
        group = self.groups.get(callee(op))
        if group is None or kind_of(group) not in _KINDS:
            return False
        return all(each.name.removeprefix("stablehlo.") in EVALUATED and not each.regions for each in _ops(group))

    def _sums(self, call: ir.Operation, value: ir.Value) -> bool:
        """Whether a contraction of a call sums over a dimension of a value, which is larger than the result."""
        if not self._is_part(call, call.block) or len(call.results) != 1 or count_of(call.results[0]) >= count_of(value):
            return False
        group = self.groups[callee(call)]
        if kind_of(group) not in CONTRACTION_KINDS:
            return False
        arguments = [a for a, given in zip(group.regions[0].blocks[0].arguments, call.operands) if given == value]
        return bool(summed_dimensions(group, arguments))

    def _join_if_it_pays(self, seed: ir.Value) -> list[str]:
        """The names of the groups that are joined; none where they stay apart."""
        region, edge = self._region(seed), str(seed.type)
        if isinstance(region, str):
            self.notes.add(Code.NOT_TILEABLE, [callee(seed.owner.operation)], region, edge)
            return []
        calls = [*region.makers, *region.readers]
        if not any(walk(self.groups[callee(call)], "stablehlo.dot_general") for call in region.makers):
            return []  # nothing but what is read from memory, once
        names, kernels = list(dict.fromkeys(callee(call) for call in calls)), []
        try:
            self._check_policy(calls)
            kernels = self._kernels(region)
            before = sum(integer(self.groups[callee(call)], "hloom.cost_ps") for call in calls)
            after = sum(integer(kernel.function, "hloom.cost_ps") for kernel in kernels)
            if before - after < self.target.min_gain_ps:
                raise _Refused(Code.NO_GAIN, f"{len(kernels)} kernels that compute it take {after} ps, those of today {before} ps")
        except _Refused as refusal:
            for kernel in kernels:
                kernel.function.erase()
            self.declined.update(value for call in region.makers for value in call.results)
            self.notes.add(refusal.code, names, refusal.reason, edge)
            return []
        saved = sum(2 * byte_size(value.type) for call in region.makers for value in call.results)
        made, masked = [], ""
        masks = self._masks_of(region)
        names += [callee(mask) for mask in masks]
        gone = {*masks, *calls}
        self.waiting = [call for call in self.waiting if call not in gone]
        for kernel in kernels:
            masked = masked or kernel.masked
            made.append(named(self.module, kernel.function, self.made, "recomputed"))
            call_once(kernel.readers, made[-1], kernel.operands, kernel.results)
        erase_unused(_in_order({*masks, *region.makers}))
        reason = "what contractions sum over is computed in their kernels, tile by tile" + masked
        figures = {"t_before_ps": before, "t_after_ps": after, "gain_ps": before - after, "bytes_saved": saved}
        self.notes.add(Code.FUSED_ATTENTION, made, reason, edge, figures)
        return names

    def _region(self, seed: ir.Value) -> _Region | str:
        """All that makes, and all that is made of, values of the size of `seed`; or why that is more than the kernels compute."""
        block, size = seed.owner.operation.block, count_of(seed)
        found, waiting, known = _Region(), [seed], set()
        while waiting:
            value = waiting.pop()
            maker = defining_op(value)
            if value in known or maker is None or not self._is_part(maker, block):
                continue  # an argument, or what is read from memory at a row and a column
            known.add(value)
            calls = [maker]
            for user in users(value):
                if self._sums(user, value):
                    found.readers.append(user)
                elif self._is_part(user, block):
                    calls.append(user)
                else:
                    return "a value that contractions sum over is needed by others"
            for call in calls:
                if any(count_of(each) != size for each in call.results):
                    return "a value that contractions sum over is needed by others"
                if call not in found.makers:
                    found.makers.append(call)
                    waiting += [each for each in (*call.operands, *call.results) if count_of(each) == size]
        return _Region(_in_order(set(found.makers)), _in_order(set(found.readers)))

    def _masks_of(self, region: _Region) -> list[ir.Operation]:
        """What is made of indices alone, which the kernels know."""
        return [mask for maker in region.makers for mask in made_of_indices(maker, self.groups)]

    def _check_policy(self, calls: Sequence[ir.Operation]) -> None:
        for call in calls:
            for dot in walk(self.groups[callee(call)], "stablehlo.dot_general"):
                if self.policy.kernel_for(dot).use == APART:
                    raise _Refused(Code.POLICY_FORBIDDEN, "the contractions have kernels of their own")

    def _kernels(self, region: _Region) -> list[_Kernel]:
        """The kernels of all readers: those that keep the same dimension share one, if none needs what another makes."""
        made: list[_Kernel] = []
        try:
            for reader in region.readers:
                made.append(self._kernel(region, [reader]))
                self._share_last(region, made)
        except _Refused:
            for kernel in made:
                kernel.function.erase()
            raise
        return made

    def _share_last(self, region: _Region, made: list[_Kernel]) -> None:
        """Has the last kernel be one with an earlier one, where that can be."""
        for number, kernel in enumerate(made[:-1]):
            shared = self._shared(region, kernel, made[-1])
            if shared is not None:
                made.pop().function.erase()
                kernel.function.erase()
                made[number] = shared
                return

    def _shared(self, region: _Region, one: _Kernel, other: _Kernel) -> _Kernel | None:
        """One kernel of two; None where they keep other dimensions, or are too much."""
        readers = [*one.readers, *other.readers]
        if len(readers) > _MOST_RESULTS or convex(readers, readers[0].block) != readers or one.products.row != other.products.row:
            return None
        return self._kernel(region, readers)

    def _kernel(self, region: _Region, readers: list[ir.Operation]) -> _Kernel:
        """The kernel of some readers. Raises _Refused."""
        calls = _in_order({*self._masks_of(region), *region.makers, *readers})
        made = {value for call in calls for value in call.results}
        operands = list(dict.fromkeys(value for call in calls for value in call.operands if value not in made))
        function, _ = function_of(calls, self.groups, operands, [value for call in readers for value in call.results])
        try:
            operands = _without_unused(function, operands)
            if not split_dims(function):
                raise _Refused(Code.NOT_TILEABLE, "reshapes take dimensions apart")
            found = products_of(function, count_of(region.makers[0].results[0]))
            if isinstance(found, str):
                raise _Refused(Code.NOT_TILEABLE, found)
        except _Refused:
            function.erase()
            raise
        function.attributes[RECOMPUTED] = ir.UnitAttr.get()
        kernel = _Kernel(readers, function, operands, found)
        priced(function, price(function, found, self.target, self._masked(kernel)))
        return kernel

    def _masked(self, kernel: _Kernel) -> float:
        """Of all elements those that a mask leaves; writes at the function which it leaves out."""
        function, found = kernel.function, kernel.products
        rows, columns = found.rows, found.columns
        ahead = Masks(self.groups, function, kernel.operands).ahead_of(found.read, [])
        if ahead is not None and ahead < columns:
            function.attributes[LIVE] = i64_array([rows, columns, ahead])
            return share_of(rows, columns, ahead)
        ahead = Masks(self.groups, function, kernel.operands).ahead_of(found.turned, [])
        if ahead is not None and ahead < rows:
            function.attributes[BEGINS] = i64_array([rows, columns, 1 - ahead])
            return share_of(columns, rows, ahead)
        return 1.0


def _in_order(calls: set[ir.Operation]) -> list[ir.Operation]:
    """The calls as they follow each other in their block."""
    return [op for op in ops_in(next(iter(calls)).block) if op in calls] if calls else []


def _without_unused(function: ir.Operation, operands: list[ir.Value]) -> list[ir.Value]:
    """Erases what no result needs, arguments too; returns the operands that are left."""
    block = function.regions[0].blocks[0]
    erase_unused(_ops(function))
    for number in reversed(range(len(operands))):
        if not list(block.arguments[number].uses):
            block.erase_argument(number)
            operands = [*operands[:number], *operands[number + 1 :]]
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], [value.type for value in returned(function).operands])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    return operands


def _ops(function: ir.Operation) -> list[ir.Operation]:
    return ops_in(function.regions[0].blocks[0])[:-1]
