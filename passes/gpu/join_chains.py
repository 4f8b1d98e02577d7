"""join-chains: tiny kernels that follow each other become one, whose blocks wait for each other between (FUSED_GRID).

Before:
    "lhlo.fusion"(%x, %w, %t) {callee = @fusion_0, …}
    "lhlo.fusion"(%t, %y) {callee = @fusion_1, …}
    gpu.func @fusion_0(…) kernel attributes {known_grid_size = array<i32: 12, 1, 1>, …} { …; gpu.return }
    gpu.func @fusion_1(…) kernel attributes {known_grid_size = array<i32: 4, 1, 1>, …} { …; gpu.return }
After:
    "lhlo.fusion"(%x, %w, %t, %y) {callee = @chain_0, …}
    gpu.func @chain_0(…) kernel attributes {hloom.in_turn, known_grid_size = array<i32: 12, 1, 1>, …} {
      the body of @fusion_0
      "grid.barrier"()
      scf.if (block < 4) { that of @fusion_1 }
      gpu.return
    }

A small program is bound by its launches: a barrier of all blocks takes about half of one (`grid_barrier_ps` of the target), one of a
single block nearly nothing. Blocks that wait for each other must be there at once, so a chain has as many as there are multiprocessors
at most, and is launched cooperatively. Buffers lie where they lay: what a kernel frees a later one may overwrite. A buffer that one
kernel writes and another accesses loses llvm.noalias and llvm.readonly, for its loads must not go past the barrier.

Must hold: stage gpu, after join-kernels; each group a gpu.func. Declined, with a record (OCCUPANCY): kernels that synchronise parts of
warps in larger blocks; whole warps have a barrier of their own (nvvm.barrier). Declined without: kernels of more blocks than
multiprocessors, or that take longer than two launches; tensor maps, wgmma, scatters; those that a policy's rule keeps alone; what reads a
buffer otherwise than it was written; @init, which runs once; whatever is no kernel, such as a library call, ends a chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.init_function import entry
from ..common.launches import ALONE
from ..common.rewriting import callee_of, integer, ops_in, symbol_name, top_level, walk
from ..fused.launches.price import is_small, is_worth_it
from ..fused.planner.codes import Code
from ..fused.planner.decisions import append_note
from ..registry import register_pass
from .joining.chain import Chain
from .joining.joint import in_turn_ps, joint_kernel
from .joining.members import Kernel

_TRANSPARENT = ("memref.view", "memref.get_global", "lhlo.ref", "arith.constant")
"""They do nothing."""


@register_pass("join-chains", "makes one kernel of tiny ones that follow each other", ops=("lhlo.fusion",))
def join_chains(module: ir.Operation) -> None:
    main = entry(module, "main")
    kernels = {symbol_name(op): op for holder in top_level(module, "gpu.module") for op in walk(holder, "gpu.func")}
    if main is None or not kernels:
        return
    target = target_of(module)
    made: dict[tuple[object, ...], str] = {}
    with module.context:
        for chain in _chains(module, main, {name: Kernel.of(op) for name, op in kernels.items()}, target):
            before, after = _before(chain.kernels), _after(chain, target)
            if not is_worth_it(before, after, target):
                continue
            call = chain.call()
            names = list(dict.fromkeys(member for kernel in chain.kernels for member in kernel.members))
            figures = {"t_before_ps": before, "t_after_ps": after, "gain_ps": before - after}
            append_note(module, Code.FUSED_GRID, names, f"{len(chain.calls)} kernels take turns in one launch", "", figures)
            if call.key not in made:
                made[call.key] = f"chain_{len(made)}"
                joint_kernel(made[call.key], call, chain.kernels, after, target, chain.waits)
            call.write(made[call.key], at=-1)
        called = {callee_of(call) for call in walk(module, "lhlo.fusion")}
        for name in sorted(kernels.keys() - called):
            kernels[name].erase()


def _chains(module: ir.Operation, main: ir.Operation, kernels: dict[str, Kernel], target: TargetView) -> Iterator[Chain]:
    """The chains of two calls or more, each as long as may be."""
    blocks = [block for op in walk(main, lambda op: len(op.regions) > 0) for region in op.regions for block in region.blocks]
    for block in blocks:
        chain = Chain()
        for op in ops_in(block):
            if op.name in _TRANSPARENT:
                continue
            kernel = kernels[callee_of(op)] if op.name == "lhlo.fusion" else None
            if kernel and _is_tiny(kernel, target) and _fits(module, chain, kernel) and chain.add(op, kernel):
                continue
            if len(chain.calls) > 1:
                yield chain
            chain = Chain()
            if kernel and _is_tiny(kernel, target):
                chain.add(op, kernel)
        if len(chain.calls) > 1:
            yield chain


def _is_tiny(kernel: Kernel, target: TargetView) -> bool:
    plain = not kernel.obstacle and ALONE not in kernel.op.attributes
    return plain and kernel.blocks <= target.multiprocessors and is_small(integer(kernel.op, "hloom.cost_ps", 0), target)


def _fits(module: ir.Operation, chain: Chain, kernel: Kernel) -> bool:
    """Whether all of them that synchronise have blocks of whole warps, or of the largest size."""
    union = [*chain.kernels, kernel]
    threads = max(each.threads for each in union)
    other = next((each for each in union if not each.may_be_part_of(threads)), None)
    if other is not None:
        reason = f"blocks of {threads} threads, and of {other.threads} that synchronise"
        append_note(module, Code.OCCUPANCY, [chain.kernels[-1].name, kernel.name], reason, "")
    return other is None


def _before(kernels: Sequence[Kernel]) -> int:
    return sum(integer(each.op, "hloom.cost_ps", 0) for each in kernels)


def _after(chain: Chain, target: TargetView) -> int:
    barrier = target.grid_barrier_ps if max(each.blocks for each in chain.kernels) > 1 else 0
    return in_turn_ps(chain.kernels, target) + len(chain.waits) * barrier
