"""assign-buffers: fused → lhlo. The host functions' tensors become buffers: arguments, results, constants and one arena.

Before:

    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = call @fusion_0(%a) : (tensor<8xf32>) -> tensor<8xf32>
      %1 = call @fusion_1(%0) : (tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }

After, where fusion_1 may work in place:

    func.func @main(%a: memref<8xf32>, %out: memref<8xf32>, %arena: memref<0xi8>)
        attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64, hloom.signature = (tensor<8xf32>) -> tensor<8xf32>} {
      %0 = "lhlo.ref"(%a) : (memref<8xf32>) -> !lhlo.buffer
      %1 = "lhlo.ref"(%out) : (memref<8xf32>) -> !lhlo.buffer
      "lhlo.fusion"(%0, %1) {callee = @fusion_0, inplace = array<i64>, source = ["negate"], …}
      "lhlo.fusion"(%1, %1) {callee = @fusion_1, inplace = array<i64: 0, 0>, source = ["tanh"], …}
      return
    }

Must hold: the host functions obey the fused stage (docs/architecture.md). Group functions stay over tensors; a group whose calls share
buffers in different ways is copied, so that the `hloom.inplace` of a group function holds for every call of it. Where all that an
in-place output changes is the window of a dynamic_update_slice, `hloom.window_update` holds the pair: the rest of the buffer is right
already. Library groups become library ops. A while whose trip count is known becomes lhlo.for. What no result depends on is dropped,
and so are the functions of groups that nothing calls any more.

Upstream's one-shot-bufferize allocates each temporary by itself: it plans no arena.

An argument that is marked `hloom.updated_by` lies in the memory of that result when the program begins, and is read there.

Buffers never overlap where both are live, arguments are never written, results are written where they are computed. Sizes are rounded up
to 64 bytes, for `hloom.live_bytes` (the largest sum of live bytes) too.

On a CPU a group that reshapes and does nothing else is dropped: its result is its operand's buffer, which others see in another shape
(memref.reinterpret_cast). Kernels of a GPU are joined by their buffers, of which each has one shape.

Declined, with an error: ops that belong to no group, element types without a byte layout, library groups that no library of the target
does.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import target_of

from ..common.rewriting import callee_of, functions, symbol_name, walk
from ..errors import PassFailure
from ..fused.planner.codes import Code
from ..fused.planner.cost import SECOND
from ..fused.planner.decisions import append_note
from ..registry import register_pass
from .assignment.alternate import assigned, wishes_of
from .assignment.emit import Emitter, Globals, Groups


@register_pass("assign-buffers", "assigns buffers to the host functions' values: fused to lhlo")
def assign_buffers(module: ir.Operation) -> None:
    named = {symbol_name(function): function for function in functions(module)}
    hosts = [function for function in named.values() if "hloom.kind" not in function.attributes and function.regions[0].blocks]
    groups = {name: function for name, function in named.items() if "hloom.kind" in function.attributes}
    called = {name for host in hosts for name in _called(host, groups)}
    taken = {ir.StringAttr(op.attributes["sym_name"]).value for op in module.regions[0].blocks[0].operations if "sym_name" in op.attributes}
    target, wishes = target_of(module), wishes_of(module)
    with module.context, ir.Location.unknown():
        globals_, group_functions = Globals(module, taken), Groups(groups, plain_only=target.kind == "cpu")
        for host in hosts:
            assignment, alternating = assigned(host, groups, wishes, reshapes=target.kind == "cpu")
            for loop, saved in alternating:
                gain = saved * SECOND // target.llc_bytes_per_second
                figures = {"bytes_saved": saved, "t_before_ps": gain, "t_after_ps": 0, "gain_ps": gain}
                kind = str(max((carry.type for carry in loop.carries), key=byte_size))
                append_note(module, Code.LOOP_ALTERNATES, [], f"{loop.trip_count} turns, two at a time", kind, figures)
            Emitter(assignment, group_functions, globals_).emit(host)
            host.erase()
        for name in sorted(called - set(group_functions.names.values())):
            groups.pop(name).erase()


def _called(host: ir.Operation, groups: dict[str, ir.Operation]) -> list[str]:
    """The groups that a host function calls. Raises PassFailure if it calls anything else."""
    names = []
    for call in walk(host, "func.call"):
        name = callee_of(call)
        if name not in groups or not groups[name].regions[0].blocks:
            message = f"calls @{name}, which is not a group with a body"
            raise PassFailure(message, op=call.name, loc=str(call.location), stage="lhlo", remedy="run plan-fusion first")
        names.append(name)
    return names
