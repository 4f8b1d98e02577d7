"""spare-llvm-passes: marks the kernels that LLVM need not optimise much.

Before:
    func.func private @fusion_0(%lo: index, %hi: index, …) attributes {hloom.tiles = 16 : i64}
    func.func private @fusion_1(%lo: index, %hi: index, …) attributes {hloom.effort = "least", hloom.tiles = 4 : i64}
    "thunk.program"() ({ "thunk.kernel"() {callee = @fusion_0, …} }) {sym_name = "init", …}
    "thunk.program"() ({ "thunk.for"() ({ "thunk.kernel"() {callee = @fusion_1, …} }) … }) {sym_name = "main", …}
After:
    func.func private @fusion_0(%lo: index, %hi: index, …) attributes {hloom.effort = "least", hloom.tiles = 16 : i64}
    func.func private @fusion_1(%lo: index, %hi: index, …) attributes {hloom.tiles = 4 : i64}

vectorize-tiles marks dense blocks of registers (and rows that are reduced beside them, as attention's), and what reduces nothing and finds
its operands by addresses of the loops: it wrote their instructions and addresses as they shall be. Those that @init alone runs, once, join
them here, and long kernels: long code is straight code, which was written as it shall be too. codegen.py gives them few of LLVM's passes,
and no search for pointers that move along loops: the code is as fast, in a third of the time. Other contractions that load rows of
registers, as depthwise convolutions, vectorize-tiles marks as "some": windows load some rows twice, which one more pass finds. Rows that
are reduced alone get slower by a tenth so; marked as "more" they have the same passes, and keep pointers that move along loops. What looks
elements up at an index of each lane, windows of pixels in a register and scalar loops keep all: some get slower by up to a third. Long
kernels that have scalar loops for LLVM to vectorise, as sorts have beside straight code of registers, are marked as "full".

Must hold: the thunk stage. Declined: a kernel that a loop of the host's runs, which LLVM inlines there, and one that no program runs,
and one that is marked as "full".
"""

from __future__ import annotations

from itertools import islice

from torch_mlir import ir

from hloom.dialects import thunk

from ..common.launches import members_of
from ..common.rewriting import callee_of, functions, inner_ops, symbol_name, top_level
from ..registry import register_pass


@register_pass("spare-llvm-passes", "marks the kernels that LLVM need not optimise much")
def spare_llvm_passes(module: ir.Operation, *, long: int = 1500) -> None:
    """`long`: ops of a long kernel; so many take LLVM some tenths of a second."""
    programs: dict[str, set[str]] = {}
    looping: set[str] = set()
    members = {symbol_name(function): members_of(function) for function in functions(module)}
    for program in top_level(module, "thunk.program"):
        for op in thunk.walk(program, "thunk.kernel"):
            callee = callee_of(op)
            for name in (callee, *members.get(callee, ())):
                programs.setdefault(name, set()).add(symbol_name(program))
                if op.parent.operation.name != "thunk.program":
                    looping.add(name)
    for kernel in functions(module):
        name = symbol_name(kernel)
        if name in looping:
            if "hloom.effort" in kernel.attributes:
                del kernel.attributes["hloom.effort"]
        elif name in programs and _effort(kernel) not in ("least", "full") and (programs[name] == {"init"} or _has(kernel, long)):
            kernel.attributes["hloom.effort"] = ir.StringAttr.get("least", module.context)


def _effort(kernel: ir.Operation) -> str | None:
    """What the kernel is marked as."""
    return ir.StringAttr(kernel.attributes["hloom.effort"]).value if "hloom.effort" in kernel.attributes else None


def _has(kernel: ir.Operation, ops: int) -> bool:
    """Whether the kernel has so many ops."""
    return next(islice(inner_ops(kernel), ops - 1, None), None) is not None
