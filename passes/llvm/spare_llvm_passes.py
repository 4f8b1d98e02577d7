"""spare-llvm-passes: marks the kernels that LLVM need not optimise much.

Before:
    func.func private @fusion_0(%lo: index, %hi: index, …) attributes {hloom.tiles = 16 : i64}
    func.func private @fusion_1(%lo: index, %hi: index, …) attributes {hloom.few_passes, hloom.tiles = 4 : i64}
    "thunk.program"() ({ "thunk.kernel"() {callee = @fusion_0, …} }) {sym_name = "init", …}
    "thunk.program"() ({ "thunk.for"() ({ "thunk.kernel"() {callee = @fusion_1, …} }) … }) {sym_name = "main", …}
After:
    func.func private @fusion_0(%lo: index, %hi: index, …) attributes {hloom.few_passes, hloom.tiles = 16 : i64}
    func.func private @fusion_1(%lo: index, %hi: index, …) attributes {hloom.tiles = 4 : i64}

vectorize-tiles marks dense blocks of registers, whose instructions and addresses it wrote as they shall be, and which are the longest code.
Those that @init alone runs, once, join them here. codegen.py gives them few of LLVM's passes: the code is as fast, in a third of the
time.

Must hold: the thunk stage. Declined: a kernel that a loop of the host's runs, which LLVM inlines there, and one that no program runs.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects import thunk

from ..common.rewriting import functions, symbol_name, top_level
from ..registry import register_pass


@register_pass("spare-llvm-passes", "marks the kernels that LLVM need not optimise much")
def spare_llvm_passes(module: ir.Operation) -> None:
    programs: dict[str, set[str]] = {}
    looping: set[str] = set()
    for program in top_level(module, "thunk.program"):
        for op in thunk.walk(program, "thunk.kernel"):
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            programs.setdefault(callee, set()).add(symbol_name(program))
            if op.parent.operation.name != "thunk.program":
                looping.add(callee)
    for kernel in functions(module):
        name = symbol_name(kernel)
        if name in looping:
            if "hloom.few_passes" in kernel.attributes:
                del kernel.attributes["hloom.few_passes"]
        elif programs.get(name) == {"init"}:
            kernel.attributes["hloom.few_passes"] = ir.UnitAttr.get(module.context)
