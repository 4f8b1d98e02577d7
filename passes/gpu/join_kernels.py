"""join-kernels: the kernels of a launch that several calls share become one, each block of which runs one of them.

Before:
    "lhlo.fusion"(%p, %dp, %p1) {callee = @fusion_0, hloom.launch = 0 : i64, …}
    "lhlo.fusion"(%q, %dq, %q1) {callee = @fusion_1, hloom.launch = 0 : i64, …}
    gpu.func @fusion_0(…) kernel attributes {known_grid_size = array<i32: 8, 1, 1>, …} { …; gpu.return }
    gpu.func @fusion_1(…) kernel attributes {known_grid_size = array<i32: 24, 1, 1>, …} { …; gpu.return }
After:
    "lhlo.fusion"(%p, %dp, %q, %dq, %p1, %q1) {callee = @launch_0, …}
    gpu.func @launch_0(…) kernel attributes {known_grid_size = array<i32: 32, 1, 1>, …} {
      scf.if (block < 8) { the body of @fusion_0 } else { that of @fusion_1, its block's number less 8 }
      gpu.return
    }

A block finds its kernel by a tree of comparisons, which are the same for all its threads. Shared memory is that of the kernel that needs
most: the others' lies in the same place. Threads that a smaller kernel has not are idle, and its barriers wait for its own alone
(nvvm.barrier). Buffers are passed as they are: none is copied, shapes may differ. What several kernels read is one parameter.

Must hold: stage gpu, each group a gpu.func. Declined, with a record (OCCUPANCY): blocks of which one has more than twice another's
threads, where they are more than the multiprocessors; parts of warps that synchronise in larger blocks; a kernel that would lose a tenth
of its resident blocks to what others need; kernels with tensor maps or wgmma. These keep launches of their own.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.launches import LAUNCH, joined, shared_launches
from ..common.rewriting import callee_of, symbol_name, top_level, walk
from ..fused.planner.codes import Code
from ..fused.planner.decisions import append_note
from ..registry import register_pass
from .joining.joint import joint_kernel, side_by_side_ps
from .joining.members import Kernel, together


@register_pass("join-kernels", "makes one kernel of those that share a launch", ops=("lhlo.fusion",))
def join_kernels(module: ir.Operation) -> None:
    target = target_of(module)
    kernels = {symbol_name(op): op for holder in top_level(module, "gpu.module") for op in walk(holder, "gpu.func")}
    made: dict[tuple[object, ...], str] = {}
    with module.context:
        for calls in shared_launches(module):
            known = [Kernel.of(kernels[callee_of(call)]) for call in calls]
            sets, why = together(known, target)
            if why:
                append_note(module, Code.OCCUPANCY, list(dict.fromkeys(kernel.name for kernel in known)), why, "")
            for members in (members for members in sets if len(members) > 1):
                call = joined([calls[number] for number in members])
                if call.key not in made:
                    made[call.key] = f"launch_{len(made)}"
                    joined_kernels = [known[number] for number in members]
                    joint_kernel(made[call.key], call, joined_kernels, side_by_side_ps(joined_kernels, target), target)
                call.write(made[call.key])
        left = walk(module, "lhlo.fusion")
        for call in left:
            if LAUNCH in call.attributes:
                del call.attributes[LAUNCH]
        called = {callee_of(call) for call in left}
        for name in sorted(kernels.keys() - called):
            kernels[name].erase()
