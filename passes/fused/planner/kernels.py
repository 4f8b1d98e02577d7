"""Which kernel each group gets: its kind, and whether a library does its contraction faster than the generated kernel with its epilogue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from torch_mlir import ir

from ...common.index_expression import dims_of
from ...common.ops import OPS, Kind
from .codes import Code
from .cost import SECOND, CostModel, contraction_flops
from .group import Group, across, work_of
from .library import generated_ps, library_ps, offer_of
from .policy import Choice, Policy, required
from .reader import Handles
from .records import Decision, Op, Program

GEMM_LAUNCH_PS = 1_000_000
"""Entering a library: checking arguments, choosing a kernel, its own packing buffers."""
CHOSEN = "hloom.kernel_chosen"
"""Why a contraction gets a generated kernel, on an op for which that was decided while it was still as a library wants it."""
CLEARLY = 10
"""The library must be faster by one part in so many."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A group as it will be outlined. `tile`: the sizes that a policy's rule asks for; `blocks`: what it asks of a GPU's blocks;
    `epilogue`: what the library can do of what follows."""

    kind: str
    ops: tuple[int, ...]
    reads: frozenset[int]
    results: tuple[int, ...]
    cost_ps: int
    bytes: int
    flops: int
    library: str | None = None
    epilogue: tuple[str, ...] = ()
    tile: tuple[int, ...] = ()
    blocks: tuple[tuple[str, int], ...] = ()
    tile_rule: str = ""
    tile_required: bool = False


def kernels_of(
    group: Group, cost: CostModel, program: Program, handles: Handles, library_percent: int, policy: Policy
) -> tuple[list[Kernel], list[Decision]]:
    """One kernel for a group; or two, where a library computes the contraction and a loop what it leaves over. The policy decides, or the
    price; a contraction's choice is told, and what the policy asks for and cannot be."""
    own = _kernel(group, cost, program)
    if group.contraction is None:
        return [own], list(_reductions(group, program, policy))
    op = program.ops[group.contraction]
    choice, attributes = policy.kernel_for(op), handles.ops[op.id].attributes
    if CHOSEN in attributes:
        return [own], [_told(op, choice, False, ir.StringAttr(attributes[CHOSEN]).value)]
    offered = (_on_cuda if cost.target.kind == "cuda" else _on_cpu)(group, own, cost, program, handles, library_percent)
    if isinstance(offered, str):
        return [own], [_told(op, choice, False, f"generated: no library takes it, {offered}")]
    own, library = offered
    rest = _rest(group, own, library, cost, program)
    alternative = library.cost_ps + sum(kernel.cost_ps for kernel in rest)
    faster = alternative + alternative // CLEARLY < own.cost_ps
    chosen = {"library": True, "generated": False}.get(choice.use, faster)
    name, against = library.library if chosen else "generated", "" if chosen == faster else ", against the price"
    reason = f"{name}: {library.library} and what follows it {alternative} ps, the generated kernel {own.cost_ps} ps{against}"
    if rest:
        reason += f"; {library.library} does {', '.join(library.epilogue) or 'nothing'} beside the product, a loop the other ops"
    return ([library, *rest] if chosen else [own]), [_told(op, choice, chosen, reason, own.cost_ps, alternative)]


def _on_cpu(
    group: Group, own: Kernel, cost: CostModel, program: Program, handles: Handles, library_percent: int
) -> tuple[Kernel, Kernel] | str:
    """The generated kernel and the library's, with their prices; or why there is none of a library."""
    assert group.contraction is not None
    op = program.ops[group.contraction]
    obstacle = _no_gemm(op, program)
    if obstacle:
        return obstacle
    flops = contraction_flops(op, program.values)
    rate = cost.target.peak_flops(program.values[op.results[0]].element) * library_percent // 100
    touched = [*(read.value for read in op.reads), *op.results]
    moved = sum(program.values[value].bytes for value in touched)
    gemm_ps = GEMM_LAUNCH_PS + cost.time(sum(map(cost.whole, touched)), flops * SECOND // max(1, rate))
    return own, Kernel("library", (op.id,), frozenset(read.value for read in op.reads), op.results, gemm_ps, moved, flops, "gemm")


def _on_cuda(
    group: Group, own: Kernel, cost: CostModel, program: Program, handles: Handles, library_percent: int
) -> tuple[Kernel, Kernel] | str:
    """As `_on_cpu`."""
    assert group.contraction is not None
    op = program.ops[group.contraction]
    offer = offer_of(group, program, handles)
    if isinstance(offer, str):
        return offer
    moved = sum(program.values[value].bytes for value in (*offer.reads, offer.result))
    price = library_ps(offer, op.id, cost, program, library_percent)
    flops = contraction_flops(op, program.values)
    library = Kernel("library", offer.ops, offer.reads, (offer.result,), price, moved, flops, offer.library, offer.epilogue)
    return replace(own, cost_ps=generated_ps(group, offer, cost, program)), library


def _told(op: Op, choice: Choice, library: bool, reason: str, before: int = 0, after: int = 0) -> Decision:
    """`library`: whether one was chosen; `before` and `after`: the prices without and with one."""
    if choice.use == "library" and not library:
        required(choice.rule, choice.require, reason, op.name, op.loc)
    codes = {"library": Code.POLICY_FORCED if library else Code.POLICY_UNMET, "generated": Code.POLICY_FORBIDDEN}
    code = codes.get(choice.use, Code.KERNEL_CHOSEN)
    return Decision(code, (op.id,), reason, op.results[0], before, after, rule=choice.rule)


def _reductions(group: Group, program: Program, policy: Policy) -> Iterator[Decision]:
    """What the policy asks for a group's reductions, where that is a library."""
    for op in (program.ops[number] for number in group.members):
        choice = policy.kernel_for(op) if op.kind.reduces else Choice()
        if choice.use == "library":
            yield _told(op, choice, False, "generated: no library computes reductions")


def _kernel(group: Group, cost: CostModel, program: Program) -> Kernel:
    return Kernel(
        _kind(group, program), tuple(group.members), frozenset(group.reads), tuple(sorted(group.results)), cost.time(*cost.of(group)),
        cost.bytes_of(group), cost.flops_of(group), OPS[_hero(group, program).name].library if group.alone else None,
    )  # fmt: skip


def _hero(group: Group, program: Program) -> Op:
    """The op that is alone in its kernel but for what computes a scatter's updates."""
    return next(op for number in group.members if (op := program.ops[number]).kind.alone)


def _kind(group: Group, program: Program) -> str:
    if group.contraction is not None:
        return program.ops[group.contraction].kind.label
    if group.alone:
        op = _hero(group, program)
        return "library" if OPS[op.name].library else op.kind.label
    reduced = {i for i, axis in group.axes.items() if axis.reduced}
    if group.reductions:
        rows = any(dims_of(signature) & reduced for signature in group.results.values())
        return "multi_reduce" if rows or group.phases > 1 or (group.row and group.reductions > 1) else "reduce"
    return "transpose" if any(across(s, group.lane) for signatures in group.reads.values() for s in signatures) else "loop"


def _rest(group: Group, own: Kernel, library: Kernel, cost: CostModel, program: Program) -> list[Kernel]:
    """The epilogue as a loop of its own, reading what the library wrote."""
    ops = tuple(op for op in own.ops if op not in library.ops)
    if not ops:
        return []
    made = {value for op in ops for value in program.ops[op].results}
    reads = frozenset(read.value for op in ops for read in program.ops[op].reads if read.value not in made)
    results = tuple(value for value in own.results if value in made)
    moved = sum(program.values[value].bytes for value in (*reads, *results))
    work = group.work() - sum(work_of(program.ops[op]) * program.values[program.ops[op].results[0]].elements for op in library.ops)
    time = cost.time(sum(map(cost.whole, (*reads, *results))), work * SECOND // cost.target.f32_flops)
    return [Kernel("loop", ops, reads, results, time, moved, work)]


def _no_gemm(op: Op, program: Program) -> str:
    """Why a contraction is none that a CPU's gemm computes: a dot in f32 or f64 of operands as they lie, with one free and one contracted
    dimension each, after leading batches. Empty if it is one."""
    if op.kind is not Kind.MATMUL:
        return "there is none for convolutions"
    values = [program.values[v] for v in (*op.operands, *op.results)]
    if any(v.element != values[0].element for v in values) or values[0].element not in ("f32", "f64"):
        return "its types are none of the library's"
    if any(v.elements == 0 for v in values):
        return "it has no elements"
    if len(op.reads) != 2 or {read.value for read in op.reads} != set(op.operands):
        return "an operand is no buffer as it lies"
    batches = len(values[2].shape) - 2
    plain = len(op.ranges) == 1 and batches >= 0 and all(len(v.shape) == batches + 2 for v in values)
    leading = plain and all(read.map.index is not None and all(read.map.index[i].dim == i for i in range(batches)) for read in op.reads)
    return "" if leading else "its dimensions are none of the library's"
