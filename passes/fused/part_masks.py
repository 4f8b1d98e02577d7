"""part-masks: a mask that a group draws between two contractions is a group before it.

Before, weights of an attention with a dropout:
    %p:2 = call @fusion_1(%s, %key)     // softmax of %s; threefry of %key and places; select → weights, and the mask for the backward pass
    %o = call @fusion_2(%p#0, %v)       // a contraction that sums over the weights' columns
After:
    %m = call @mask_0(%key)             // : tensor<4x8x1024x1024xi1>
    %p = call @fusion_3(%s, %m)
    %o = call @fusion_2(%p, %v)

A GPU's kernels of two contractions evaluate what lies between them at a row and a column (recompute-operands, join-contractions). They do
not draw masks: that takes a hundred operations an element, in each of these kernels. They read them, a byte an element.

Must hold: plan-fusion has run. Declined: CPUs, whose tiles write the masks that they draw; contractions that no such kernel takes; groups
in which what is made of the scores is nothing that a kernel evaluates, or what is drawn is no mask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.attention import FIRST_CAPABILITY, WIDEST
from ..common.ops import OPS, is_elementwise
from ..common.rewriting import callee_of, clone_with, create, defining_op, element_of, is_block_argument, kind_of, ops_in, walk
from ..registry import register_pass
from ..stablehlo.support.build import count_of
from .chains.bodies import named, open_function, users
from .chains.chain import CONTRACTION_KINDS, groups_of, returned, summed
from .chains.on_gpu import EVALUATED
from .chains.price import bytes_moved, priced
from .chains.regions import Regions
from .planner.codes import Code
from .planner.cost import SECOND, kernel_ps
from .planner.decisions import append_note

_HALVES = ("f16", "bf16")


@register_pass("part-masks", "gives masks that are drawn between two contractions groups of their own", ops=("func.call",))
def part_masks(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cuda" or target.compute_capability < FIRST_CAPABILITY:
        return
    with module.context:
        _Parting(module, target).run()


@dataclass(frozen=True)
class _Cut:
    """The masks of a group's body, and the ops that make them."""

    masks: list[ir.Value]
    ops: list[ir.Operation]


class _Parting:
    def __init__(self, module: ir.Operation, target: TargetView):
        self.module, self.target, self.groups = module, target, groups_of(module, libraries=True)
        self.regions = Regions(self.groups)
        self.made: dict[str, str] = {}

    def run(self) -> None:
        parted = set()
        for call in walk(self.module, "func.call"):
            size = self._matrix(call)
            cut = _cut(self.groups[callee_of(call)], size) if size else None
            if cut is not None:
                parted.add(callee_of(call))
                self._part(call, cut)
        for name in sorted(parted - {callee_of(call) for call in walk(self.module, "func.call")}):
            self.groups.pop(name).erase()

    def _matrix(self, call: ir.Operation) -> int:
        """The elements of the matrix that a contraction makes, the call's group changes and another contraction sums over; 0 where none."""
        group = self.groups.get(callee_of(call))
        if group is None or kind_of(group) in CONTRACTION_KINDS:
            return 0
        sizes = {count_of(value) for value in call.operands if self._is_of_contraction(value)}
        summed = (count_of(value) for value in call.results for user in users(value) if self.regions.sums(user, value))
        return next((size for size in summed if size in sizes), 0)

    def _is_of_contraction(self, value: ir.Value) -> bool:
        """Whether a contraction that a kernel takes makes it."""
        maker = defining_op(value)
        group = self.groups.get(callee_of(maker)) if maker is not None and maker.name == "func.call" else None
        dots = walk(group, "stablehlo.dot_general") if group is not None and kind_of(group) in CONTRACTION_KINDS else []
        return len(dots) == 1 and str(element_of(dots[0].operands[0])) in _HALVES and summed(dots[0]) <= WIDEST

    def _part(self, call: ir.Operation, cut: _Cut) -> None:
        """Two calls in place of one."""
        group = self.groups[callee_of(call)]
        outside = dict(zip(group.regions[0].blocks[0].arguments, call.operands))
        kept = [number for number, value in enumerate(returned(group).operands) if value not in cut.masks]
        results = [returned(group).operands[number] for number in kept]
        drawn, given = self._function(group, cut.ops, [], cut.masks, "mask", "loop")
        with ir.InsertionPoint(call), call.location:
            masks = self._call(drawn, cut.masks, [outside[value] for value in given])
        outside.update(zip(cut.masks, masks))
        rest, given = self._function(group, _slice(results, cut.masks), cut.masks, results, "fusion", kind_of(group))
        with ir.InsertionPoint(call), call.location:
            made = self._call(rest, results, [outside[value] for value in given])
        for number, value in enumerate(returned(group).operands):
            new = made[kept.index(number)] if number in kept else outside[value]
            call.results[number].replace_all_uses_with(new)
        append_note(
            self.module, Code.SPLIT, [drawn, rest], "a mask that is drawn between two contractions has a buffer", str(masks[0].type)
        )
        call.erase()

    def _call(self, name: str, results: Sequence[ir.Value], operands: Sequence[ir.Value]) -> list[ir.Value]:
        call = create("func.call", [value.type for value in results], operands, callee=ir.FlatSymbolRefAttr.get(name))
        return list(call.results)

    def _function(
        self, group: ir.Operation, ops: list[ir.Operation], known: list[ir.Value], results: Sequence[ir.Value], prefix: str, kind: str
    ) -> tuple[str, list[ir.Value]]:
        """A group of some of another's ops, by name, and what of the other's values it is given: arguments, and `known` ones."""
        read = {value for op in ops for value in op.operands} | set(results)
        given = [value for value in (*group.regions[0].blocks[0].arguments, *known) if value in read]
        function, block = open_function(group, given, results)
        mapping: dict[ir.Value, ir.Value] = dict(zip(given, block.arguments))
        with ir.InsertionPoint(block):
            for op in ops:
                clone_with(op, mapping)
            with group.location:
                create("func.return", [], [mapping[value] for value in results])
        self._price(function, kind)
        name = named(self.module, function, self.made, prefix)
        self.groups.setdefault(name, function)
        return name, given

    def _price(self, function: ir.Operation, kind: str) -> None:
        ops = [op for op in ops_in(function.regions[0].blocks[0]) if is_elementwise(op)]
        flops, moved = sum(OPS[op.name].work * count_of(op.results[0]) for op in ops), bytes_moved(function)
        time = kernel_ps(moved * SECOND // self.target.llc_bytes_per_second, flops * SECOND // self.target.f32_flops, self.target)
        priced(function, (time, moved, flops))
        function.attributes["hloom.kind"] = ir.StringAttr.get(kind)


def _cut(group: ir.Operation, size: int) -> _Cut | None:
    """The masks that a kernel does not evaluate, and that do not depend on a matrix of that size; None where there is anything else that it
    does not evaluate, or nothing."""
    *ops, end = ops_in(group.regions[0].blocks[0])
    changed = {argument for argument in group.regions[0].blocks[0].arguments if count_of(argument) == size}
    drawn: set[ir.Value] = set()
    for op in ops:
        evaluated = op.name.removeprefix("stablehlo.") in EVALUATED
        if any(value in changed for value in op.operands):
            if not evaluated:
                return None
            changed.update(op.results)
        elif not evaluated or any(value in drawn for value in op.operands):
            drawn.update(op.results)
    read = [value for op in ops for value in op.results if value in drawn and any(_reads(user, end, changed) for user in users(value))]
    found = [_masks_of(value, drawn) for value in read]
    if not found or None in found:
        return None
    masks = list(dict.fromkeys(mask for each in found for mask in each or ()))
    return _Cut(masks, _slice(masks, []))


def _reads(op: ir.Operation, end: ir.Operation, changed: set[ir.Value]) -> bool:
    return op == end or any(value in changed for value in op.results)


def _masks_of(value: ir.Value, drawn: set[ir.Value]) -> list[ir.Value] | None:
    """The masks that a drawn value is made of by what a kernel evaluates; None where it is made of another."""
    if str(element_of(value)) == "i1":
        return [value]
    op = defining_op(value)
    if op is None or op.name.removeprefix("stablehlo.") not in EVALUATED:
        return None
    found = [_masks_of(each, drawn) for each in op.operands if each in drawn]
    return None if None in found else [mask for each in found for mask in each or ()]


def _slice(results: Iterable[ir.Value], known: Sequence[ir.Value]) -> list[ir.Operation]:
    """The ops that make the results, of arguments and what is known, in order."""
    waiting, found = [value for value in results if value not in known], set()
    while waiting:
        value = waiting.pop()
        op = None if is_block_argument(value) else defining_op(value)
        if op is not None and op not in found:
            found.add(op)
            waiting += [each for each in op.operands if each not in known]
    return [op for op in ops_in(next(iter(found)).block) if op in found] if found else []
