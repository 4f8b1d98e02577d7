"""Which kernel each group gets: its kind, and whether a library does its contraction faster than the generated kernel with its epilogue."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch_mlir import ir

from .axes import axes_of
from .cost import SECOND, CostModel, across, contraction_flops, lane_axis
from .group import Group, work_of
from .library import generated_ps, library_ps, offer_of
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
    """A group as it will be outlined."""

    kind: str
    ops: tuple[int, ...]
    reads: frozenset[int]
    results: tuple[int, ...]
    cost_ps: int
    bytes: int
    flops: int
    library: str | None = None


def kernels_of(
    group: Group, cost: CostModel, program: Program, handles: Handles, library_percent: int, policy: str
) -> tuple[list[Kernel], list[Decision]]:
    """One kernel for a group; or two, where a library computes the contraction and a loop what it leaves over.

    `policy`: the faster one ("cost"), or the library where there is one ("always") or the generated kernel ("never") at any price.
    """
    own = _kernel(group, cost, program)
    if group.contraction is None:
        return [own], []
    if cost.target.kind == "cuda":
        return _on_cuda(group, own, cost, program, handles, library_percent, policy)
    if not _plain(program.ops[group.contraction], program):
        return [own], []
    op = program.ops[group.contraction]
    flops = contraction_flops(op, program.values)
    rate = cost.target.peak_flops(program.values[op.results[0]].element) * library_percent // 100
    touched = [*(read.value for read in op.reads), *op.results]
    moved = sum(program.values[value].bytes for value in touched)
    gemm_ps = GEMM_LAUNCH_PS + cost.time(sum(map(cost.whole, touched)), flops * SECOND // max(1, rate))
    library = Kernel("library", (op.id,), frozenset(read.value for read in op.reads), op.results, gemm_ps, moved, flops, "gemm")
    return _chosen(group, own, library, cost, program, policy)


def _on_cuda(
    group: Group, own: Kernel, cost: CostModel, program: Program, handles: Handles, library_percent: int, policy: str
) -> tuple[list[Kernel], list[Decision]]:
    assert group.contraction is not None
    op = program.ops[group.contraction]
    if CHOSEN in handles.ops[op.id].attributes:
        reason = ir.StringAttr(handles.ops[op.id].attributes[CHOSEN]).value
        return [own], [Decision("KERNEL_CHOSEN", "note", (op.id,), reason, op.results[0])]
    offer = offer_of(group, program, handles)
    if isinstance(offer, str):
        return [own], [Decision("KERNEL_CHOSEN", "note", (op.id,), f"generated: no library takes it, {offer}", op.results[0])]
    moved = sum(program.values[value].bytes for value in (*offer.reads, offer.result))
    price = library_ps(offer, op.id, cost, program, library_percent)
    flops = contraction_flops(op, program.values)
    library = Kernel("library", offer.ops, offer.reads, (offer.result,), price, moved, flops, offer.library)
    own = replace(own, cost_ps=generated_ps(group, offer.padded, cost, program))
    return _chosen(group, own, library, cost, program, policy)


def _chosen(
    group: Group, own: Kernel, library: Kernel, cost: CostModel, program: Program, policy: str
) -> tuple[list[Kernel], list[Decision]]:
    """The library, with a loop for what it leaves over, or the generated kernel; and a note of both prices."""
    assert group.contraction is not None
    op = program.ops[group.contraction]
    rest = _rest(group, own, library, cost, program)
    alternative = library.cost_ps + sum(kernel.cost_ps for kernel in rest)
    faster = alternative + alternative // CLEARLY < own.cost_ps
    chosen = {"always": True, "never": False}.get(policy, faster)
    name = library.library if chosen else "generated"
    why = "" if chosen == faster else f" by policy ({policy})"
    reason = f"{name}{why}: {library.library} and what follows it {alternative} ps, the generated kernel {own.cost_ps} ps"
    note = Decision("KERNEL_CHOSEN", "note", (op.id,), reason, op.results[0], own.cost_ps, alternative)
    return ([library, *rest] if chosen else [own]), [note]


def _kernel(group: Group, cost: CostModel, program: Program) -> Kernel:
    return Kernel(
        _kind(group, program), tuple(group.members), frozenset(group.reads), tuple(sorted(group.results)), cost.time(*cost.of(group)),
        cost.bytes_of(group), cost.flops_of(group),
    )  # fmt: skip


def _kind(group: Group, program: Program) -> str:
    if group.contraction is not None:
        return program.ops[group.contraction].kind
    reduced = {i for i, axis in group.axes.items() if axis.reduced}
    if group.reductions:
        rows = any(axes_of(signature) & reduced for signature in group.results.values())
        return "multi_reduce" if rows or group.phases > 1 or (group.row and group.reductions > 1) else "reduce"
    lane = lane_axis(group)
    return "transpose" if any(across(s, lane) for signatures in group.reads.values() for s in signatures) else "loop"


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


def _plain(op: Op, program: Program) -> bool:
    """A dot that a gemm computes: f32 or f64, operands read as they lie, one free and one contracted dimension each, leading batches."""
    if op.kind != "matmul" or len(op.ranges) != 1 or len(op.reads) != 2:
        return False
    values = [program.values[v] for v in (*op.operands, *op.results)]
    if any(v.element != values[0].element for v in values) or values[0].element not in ("f32", "f64"):
        return False
    batches = len(values[2].shape) - 2
    leading = all(read.map.index is not None and all(read.map.index[i].axis == i for i in range(batches)) for read in op.reads)
    direct = {read.value for read in op.reads} == set(op.operands)
    return batches >= 0 and direct and leading and all(len(v.shape) == batches + 2 for v in values)
