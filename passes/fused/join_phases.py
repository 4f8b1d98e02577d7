"""join-phases: the phases of a transposed convolution, and what puts their results in turn, become one group.

Before (split-phases made two of each line's; then a bias):
    %0 = call @fusion_0(%x, %p)             // a convolution                                            : tensor<4x56x32xf32>
    %1 = call @fusion_1(%x, %q)             // another one                                              : tensor<4x56x32xf32>
    %2 = call @fusion_2(%0, %1, %bias)      // reshape(concatenate of both along a new dimension) + bias : tensor<4x112x32xf32>
After:
    %2 = call @phases_0(%x, %p, %q, %bias)
    func.func private @phases_0(…) { both convolutions; reshape(concatenate of both along a new dimension + bias) }

A tile has some lines of all phases: they stay in a near cache, and memory sees each result once, where it is written. So that the tile's
loops are those of the convolutions, what follows is computed before the phases' dimensions are joined: elementwise ops, and concatenations
along other dimensions.

Must hold: plan-fusion has run. Declined: targets other than CPUs; convolutions whose results others read, with an epilogue or a Winograd
transform, of elements of less than 32 bits; consumers that do more than elementwise ops and such concatenations; weights that half of the
second-level cache does not hold, for each tile reads those of all phases; lines that a quarter of it does not hold; a policy's
`use = "apart"` for one of the convolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_mlir import ir

from hloom.dialects.storage import byte_size, element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.ops import is_elementwise
from ..common.rewriting import (
    attributes_of,
    callee_of,
    defining_op,
    erase_unused,
    has_one_use,
    i64_attr,
    integer,
    integers,
    kind_of,
    ops_in,
    value_of,
    walk,
)
from ..registry import register_pass
from ..stablehlo.support import build, constants
from .chains.bodies import call_in_place, function_of, named
from .chains.chain import Groups, groups_of, returned
from .planner.codes import Code
from .planner.cost import SECOND
from .planner.decisions import Notes
from .planner.policy import APART, Policy, policy_of

_SINGLE_BYTES = 4
_MOVES = "stablehlo.transpose", "stablehlo.reshape", "stablehlo.slice"
"""By which a convolution sees the filter in packed weights."""


@register_pass("join-phases", "makes one group of a transposed convolution's phases and what puts them in turn", ops=("func.call",))
def join_phases(module: ir.Operation) -> None:
    target, policy = target_of(module), policy_of(module)
    if target.kind != "cpu":
        return
    groups, notes, made, parts = groups_of(module), Notes(module), dict[str, str](), set[str]()
    with module.context:
        for call in walk(module, "func.call"):
            phases = _phases(call, groups)
            if len(phases) < 2 or not _stay_near(phases, groups, target):
                continue
            names = [callee_of(each) for each in (*phases, call)]
            edge = str(phases[0].results[0].type)
            rule = _apart(phases, groups, policy)
            if rule:
                notes.add(Code.POLICY_FORBIDDEN, names, "the convolutions have kernels of their own", edge, rule=rule)
                continue
            saved = 2 * sum(byte_size(each.results[0].type) for each in phases)
            name = _join(module, [*phases, call], groups, made, target)
            if name is not None:
                parts.update(names)
                notes.add(Code.FUSED_PHASES, [name], "the phases stay in the tile that puts them in turn", edge, {"bytes_saved": saved})
        for name in sorted(parts - {callee_of(call) for call in walk(module, "func.call")}):
            groups[name].erase()
        notes.write()


def _phases(call: ir.Operation, groups: Groups) -> list[ir.Operation]:
    """The calls of bare convolutions, each for this call alone, whose results it concatenates along a new dimension."""
    group = groups.get(callee_of(call))
    if group is None or kind_of(group) != "loop":
        return []
    makers = [defining_op(value) for value in call.operands]
    arguments = group.regions[0].blocks[0].arguments
    found = [
        maker
        for argument, maker in zip(arguments, makers)
        if maker is not None and maker.name == "func.call" and maker.block == call.block and _is_phase(maker, argument, groups)
    ]
    return found if len({str(maker.results[0].type) for maker in found}) == 1 else []


def _is_phase(maker: ir.Operation, argument: ir.Value, groups: Groups) -> bool:
    group = groups.get(callee_of(maker))
    if group is None or kind_of(group) != "conv" or len(maker.results) != 1:
        return False
    if not has_one_use(maker.results[0]) or not has_one_use(argument):
        return False
    *moves, last, _ = ops_in(group.regions[0].blocks[0])
    bare = last.name == "stablehlo.convolution" and all(op.name in _MOVES for op in moves)
    if not bare or element_bytes(build.element_of(argument)) < _SINGLE_BYTES:
        return False
    (use,) = argument.uses
    if use.owner.operation.name != "stablehlo.reshape" or not has_one_use(use.owner.operation.results[0]):
        return False
    apart = use.owner.operation.results[0]
    (joined,) = (use.owner.operation for use in apart.uses)
    return joined.name == "stablehlo.concatenate" and build.shape_of(apart)[integer(joined, "dimension")] == 1


def _convolution(phase: ir.Operation) -> ir.Operation:
    return ops_in(phase.regions[0].blocks[0])[-2]


def _stay_near(phases: Sequence[ir.Operation], groups: Groups, target: TargetView) -> bool:
    """Whether a tile finds the weights of all phases in the second-level cache beside a line of each."""
    convolutions = [_convolution(groups[callee_of(phase)]) for phase in phases]
    weights = sum(byte_size(op.operands[1].type) for op in convolutions)
    line = sum(prod(build.shape_of(op.results[0])[-2:]) * element_bytes(build.element_of(op.results[0])) for op in convolutions)
    return weights <= target.l2_bytes // 2 and line <= target.l2_bytes // 4


def _apart(phases: Sequence[ir.Operation], groups: Groups, policy: Policy) -> str:
    """The rule that keeps one of the convolutions apart, if there is one."""
    choices = [policy.kernel_for(_convolution(groups[callee_of(phase)])) for phase in phases]
    return next((choice.rule for choice in choices if choice.use == APART), "")


def _join(module: ir.Operation, calls: list[ir.Operation], groups: Groups, made: dict[str, str], target: TargetView) -> str | None:
    """Calls one group in place of all the calls; its name. None where the last one does what cannot be done before dimensions are joined:
    nothing is changed then."""
    inner = {value for call in calls for value in call.results}
    operands = list(dict.fromkeys(value for call in calls for value in call.operands if value not in inner))
    function, _ = function_of(calls, groups, operands)
    if not _Unjoined(function).rewrite():
        function.erase()
        return None
    parts = [groups[callee_of(call)] for call in calls]
    block = function.regions[0].blocks[0]
    moved = sum(byte_size(v.type) for v in (*block.arguments, *returned(function).operands))
    saved = 2 * sum(byte_size(value.type) for call in calls[:-1] for value in call.results) * SECOND // target.llc_bytes_per_second
    cost = max(target.launch_ps, sum(integer(part, "hloom.cost_ps") for part in parts) - saved - (len(parts) - 1) * target.launch_ps)
    function.attributes["hloom.kind"] = ir.StringAttr.get("conv")
    for key, figure in (("cost_ps", cost), ("bytes", moved), ("flops", sum(integer(part, "hloom.flops") for part in parts))):
        function.attributes[f"hloom.{key}"] = i64_attr(figure)
    name = named(module, function, made, "phases")
    call_in_place(calls[-1], name, operands)
    for call in calls[:-1]:
        call.erase()
    return name


class _Unjoined:
    """Rewrites a group so that it joins dimensions last: `factors[d]` are the extents that dimension d of a joined value is made of."""

    def __init__(self, function: ir.Operation):
        self.function = function
        self.factors: dict[int, list[int]] = {}
        self.rank = 0
        self.unjoined: dict[ir.Value, ir.Value] = {}
        """What values are before their dimensions are joined."""

    def rewrite(self) -> bool:
        """Whether all could be done."""
        block = self.function.regions[0].blocks[0]
        for op in ops_in(block):
            with ir.InsertionPoint(op), op.location:
                if not self._op(op):
                    return False
        end = returned(self.function)
        with ir.InsertionPoint(end), end.location:
            for number, value in enumerate(end.operands):
                if value in self.unjoined:
                    end.operands[number] = build.reshape(self.unjoined[value], build.shape_of(value))
        erase_unused(ops_in(block)[:-1])
        return bool(self.unjoined)

    def _op(self, op: ir.Operation) -> bool:
        if op.name == "stablehlo.reshape" and self._joins(op):
            self.unjoined[op.results[0]] = op.operands[0]
            return True
        if op.name == "func.return" or not any(value in self.unjoined for value in op.operands):
            return True
        shapes = [build.shape_of(value) for value in (*op.operands, *op.results)]
        if not all(map(self._is_joined, shapes)) or len(op.results) != 1:
            return False
        (result,), attributes = op.results, attributes_of(op)
        if op.name == "stablehlo.concatenate" and integer(op, "dimension") not in self.factors:
            attributes["dimension"] = i64_attr(self._place(integer(op, "dimension")))
        elif not is_elementwise(op):
            return False
        kind = build.tensor(self._shape(build.shape_of(result)), build.element_of(result))
        self.unjoined[result] = value_of(op.name, kind, [self._before(value) for value in op.operands], **attributes)
        return True

    def _joins(self, op: ir.Operation) -> bool:
        """Whether it joins dimensions of concatenated phases, the first time or as it was done before."""
        made = defining_op(op.operands[0])
        parts, whole = build.shape_of(op.operands[0]), build.shape_of(op.results[0])
        if made is None or made.name != "stablehlo.concatenate" or len(parts) <= len(whole):
            return False
        factors = _factors(parts, whole)
        if factors is None or (self.factors and factors != self.factors):
            return False
        self.factors, self.rank = factors, len(whole)
        return True

    def _is_joined(self, shape: Sequence[int]) -> bool:
        return len(shape) == self.rank and all(prod(parts) == shape[d] for d, parts in self.factors.items())

    def _shape(self, shape: Sequence[int]) -> list[int]:
        return [part for d, extent in enumerate(shape) for part in self.factors.get(d, [extent])]

    def _place(self, dimension: int) -> int:
        return sum(len(self.factors.get(d, [0])) for d in range(dimension))

    def _before(self, value: ir.Value) -> ir.Value:
        """The value before its dimensions are joined."""
        if value in self.unjoined:
            return self.unjoined[value]
        shape, op, splat = self._shape(build.shape_of(value)), defining_op(value), constants.splat_attribute(value)
        if splat is not None:
            return build.splat(build.tensor(shape, build.element_of(value)), splat)
        if op is not None and op.name == "stablehlo.broadcast_in_dim":
            along = integers(op, "broadcast_dimensions")
            if not any(d in self.factors for d in along):
                return build.broadcast(op.operands[0], shape, [self._place(d) for d in along])
        return build.reshape(value, shape)


def _factors(parts: Sequence[int], whole: Sequence[int]) -> dict[int, list[int]] | None:
    """Of each dimension that is made of several the extents of these; None where dimensions are not parts of one each."""
    found, left = dict[int, list[int]](), list(parts)
    for d, extent in enumerate(whole):
        taken = [left.pop(0)] if left else []
        while left and prod(taken) < extent:
            taken.append(left.pop(0))
        if prod(taken) != extent or not taken:
            return None
        if len(taken) > 1:
            found[d] = taken
    return found if not left else None
