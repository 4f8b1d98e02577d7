"""insert-profiling: brackets every thunk of the host programs with thunk.profile_begin and thunk.profile_end.

Before:

    "thunk.kernel"() {callee = @fusion_0, …, source = ["tanh"]}
    "thunk.while"() ({…}, {…}) {reads = …}

After:

    "thunk.profile_begin"() {id = 0 : i64, label = "tanh"}
    "thunk.kernel"() {callee = @fusion_0, …, source = ["tanh"]}
    "thunk.profile_end"() {id = 0 : i64}
    "thunk.profile_begin"() {id = 1 : i64, label = "while"}
    …

A label names the source ops that the thunk carries out, or else the thunk. No number stands twice in the module, whichever its program. On
the CPU the two ops become calls of the native library's clock, on CUDA events of the graph.

Options: `nested` measures the thunks inside of loops and branches too: on the CPU alone, since a CUDA graph records no events there.

Must hold: the thunk stage. Declined: programs that hold measurements already are left as they are.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import create, i64_attr, walk
from ..registry import register_pass

_WHOLE = ("thunk.program", "thunk.sequence")
_MARKS = ("thunk.profile_begin", "thunk.profile_end")


@register_pass("insert-profiling", "measures every thunk of the host programs")
def insert_profiling(module: ir.Operation, *, nested: bool = False) -> None:
    if walk(module, lambda op: op.name in _MARKS):
        return
    wanted = [op for program in walk(module, "thunk.program") for op in _thunks(program, nested)]
    with module.context:
        for number, op in enumerate(wanted):
            _bracket(op, number)


def _thunks(parent: ir.Operation, nested: bool) -> list[ir.Operation]:
    """The thunks in the regions of an op, in program order, that a measurement stands around."""
    found = []
    for op in [op.operation for region in parent.regions for block in region.blocks for op in block.operations]:
        if op.name not in _WHOLE:
            found.append(op)
        if nested:
            found += _thunks(op, nested)
    return found


def _bracket(op: ir.Operation, number: int) -> None:
    identity = i64_attr(number)
    with op.location:
        with ir.InsertionPoint(op):
            create("thunk.profile_begin", id=identity, label=ir.StringAttr.get(_label(op)))
        with ir.InsertionPoint.after(op):
            create("thunk.profile_end", id=identity)


def _label(op: ir.Operation) -> str:
    names = [ir.StringAttr(name).value for name in op.attributes["source"]] if "source" in op.attributes else []
    return "; ".join(names) or op.name.removeprefix("thunk.")
