"""lower-thunks: thunk → LLVM dialect. Each thunk.program becomes one host function with real branches and loops; nothing is interpreted.

Before:

    "thunk.program"() ({
      "thunk.for"() ({
        "thunk.kernel"() {callee = @fusion_0, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, tiles = 1 : i64, …}
      }) {trip_count = 10 : i64}
    }) {sym_name = "main", …}

After:

    llvm.func @hloom_main(%buffers: !llvm.ptr) {
      // the pointers of fusion_0, in an array on the stack, set up once
    ^loop(%i: i64): …
      llvm.call @fusion_0(%zero, %tiles, %array) : (i64, i64, !llvm.ptr) -> ()

`buffers` is an array of pointers: the program's arguments, its results, the arena, then its constants (dialects/thunk.py). A kernel that
is worth sharing among threads (grain > 0) is run by hloom_parallel_for(kernel, tiles, grain, pointers) of the native library. `tiles`
that are still -1 are taken from the `hloom.tiles` of the kernel's function. In odd turns of a loop a kernel marked `hloom.to_and_fro`
goes by way of another function, which runs its tiles from the last to the first.

Must hold: the kernels' functions are llvm.func by now, or come from elsewhere (they are declared then). The program's constants,
memref.global ops, leave the module with it: an artifact holds their bytes beside the object.

Declined, with an error: kernels that have no tiles, or are not lowered yet.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects import thunk
from hloom.dialects.host_function import HostFunction
from hloom.dialects.kinds.kernel import fill_tiles

from ..common.rewriting import ops_in, symbol_name
from ..errors import PassFailure
from ..registry import register_pass

_STRAIGHT = 2
"""The blocks of a host function without loops and branches, where LLVM has nothing to optimise."""


@register_pass("lower-thunks", "compiles the thunk programs to host functions in the LLVM dialect")
def lower_thunks(module: ir.Operation) -> None:
    named = thunk.symbols(module)
    fill_tiles(module, named)
    programs = [op for op in named.values() if op.name == "thunk.program"]
    block = module.regions[0].blocks[0]
    with module.context, ir.Location.unknown():
        _check(programs, named)
        for program in programs:
            function = HostFunction(program)
            parsed = ir.Module.parse(function.module_text())
            for op in ops_in(parsed.body):
                if symbol_name(op) not in named:
                    if len(op.regions[0].blocks) == _STRAIGHT:
                        op.attributes["hloom.effort"] = ir.StringAttr.get("least")
                    op.detach_from_parent()
                    block.append(op)
                    named[symbol_name(op)] = op
    constants = {ir.FlatSymbolRefAttr(name).value for program in programs for name in program.attributes["constants"]}
    for op in [*programs, *(named[name] for name in sorted(constants))]:
        op.erase()


def _check(programs: list[ir.Operation], named: dict[str, ir.Operation]) -> None:
    for op in [op for program in programs for op in thunk.walk(program, "thunk.")]:
        if obstacle := op.opview.obstacle(named):
            message, remedy = obstacle
            raise PassFailure(message, op=op.name, loc=str(op.location), stage="llvm", remedy=remedy)
