"""check-bounds: every access of the CPU's kernels is compared with its buffer before it is made.

Before:
    func.func private @fusion_0(%lo: index, %hi: index, %a: memref<40xf32>, …) attributes {hloom.tiles = 3 : i64, …} {
      %x = vector.load %a[%i] : memref<40xf32>, vector<16xf32>
After:
    func.func private @hloom_out_of_bounds(index, index, index)
    memref.global "private" constant @fusion_0_constant_access_0 : memref<…xi8> = "load\\n16\\ninput 0\\nfusion_0\\nvector.load\\nloc(…)"
    …
      %inside = arith.cmpi ult, %i, %c25 : index
      %x = scf.if %inside -> (vector<16xf32>) {
        %0 = vector.load %a[%i] : memref<40xf32>, vector<16xf32>
        scf.yield %0
      } else {
        %1 = memref.get_global @fusion_0_constant_access_0
        %2 = memref.extract_aligned_pointer_as_index %1
        func.call @hloom_out_of_bounds(%2, %i, %c40) : (index, index, index) -> ()
        scf.yield %zeros
      }

An access outside is reported (runtime/native/bounds.cpp) and not made; the host raises when the program has run. Masked accesses, gathers
and scatters are looked at lane by lane, the live ones alone: the others touch nothing. An AMX tile is all that its rows span. Prefetches
stay: they cannot fault. What the host program does (copies, fills, library calls, a kernel's slices) is checked when it is compiled
(dialects/thunk.py).

Upstream's generate-runtime-verification ends the process, and leaves vector loads and stores unchecked.

Must hold: kernels of the vector stage. Declined: modules that are checked already; with an error: ops on memrefs that it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector
from torch_mlir.dialects.arith import CmpIPredicate
from torch_mlir.dialects.vector import CombiningKind

from ..common.control_flow import if_else
from ..common.rewriting import create, defining_op, functions, index_constant, is_block_argument, symbol_name, value_of, walk
from ..common.vectors import broadcast, reduced, splat, vector_of
from ..errors import PassFailure
from ..registry import register_pass

REPORT = "hloom_out_of_bounds"
_MOST = (1 << 63) - 1
_CAST = "builtin.unrealized_conversion_cast"
"""A buffer of narrow elements seen as one of lanes: its type tells how many."""
_HARMLESS = {"arith.select", "memref.alloca", "memref.get_global", "memref.prefetch", "memref.reinterpret_cast", _CAST}


@dataclass(frozen=True)
class _Form:
    """Where an access op has its memref, what it does, and, if lanes are masked, where its mask is."""

    memref: int
    what: str
    mask: int | None = None
    offsets: int | None = None
    """The vector of what is added to the index in each lane; without it lanes are neighbours."""


_FORMS = {
    "memref.load": _Form(0, "load"),
    "memref.store": _Form(1, "store"),
    "vector.load": _Form(0, "load"),
    "vector.store": _Form(1, "store"),
    "vector.maskedload": _Form(0, "load", mask=2),
    "vector.maskedstore": _Form(0, "store", mask=2),
    "vector.gather": _Form(0, "load", mask=3, offsets=2),
    "vector.scatter": _Form(0, "store", mask=3, offsets=2),
    "x86.amx.tile_load": _Form(0, "load"),
    "x86.amx.tile_store": _Form(0, "store"),
}


@register_pass("check-bounds", "compares every access of the CPU's kernels with its buffer")
def check_bounds(module: ir.Operation) -> None:
    kernels = [f for f in functions(module) if "hloom.tiles" in f.attributes and f.regions[0].blocks]
    if not kernels or any(symbol_name(f) == REPORT for f in functions(module)):
        return
    with module.context, ir.Location.unknown():
        index = ir.IndexType.get()
        with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            names = {"sym_name": ir.StringAttr.get(REPORT), "sym_visibility": ir.StringAttr.get("private")}
            create("func.func", regions=1, function_type=ir.TypeAttr.get(ir.FunctionType.get([index] * 3, [])), **names)
        for kernel in kernels:
            _Checker(kernel).check()


class _Checker:
    """Puts checks around the accesses of one kernel."""

    def __init__(self, kernel: ir.Operation):
        self.kernel, self.name = kernel, symbol_name(kernel)
        self.sites: dict[str, str] = {}
        """The global that holds a text, by the text."""

    def check(self) -> None:
        for op in walk(self.kernel, _touches_memory):
            if op.name not in _FORMS:
                raise self._unknown(op)
            with op.location:
                self._guard(op, _FORMS[op.name])

    def _guard(self, op: ir.Operation, form: _Form) -> None:
        base, start, count = self._range(op, form)
        extent = ir.MemRefType(base.type).shape[0]
        with ir.InsertionPoint(op):
            if form.mask is None:
                inside, outermost = arith.cmpi(CmpIPredicate.ult, start, index_constant(max(0, extent - count + 1))), start
            else:
                inside, outermost = self._lanes(op, form, start, extent)
                count = 1

            def report() -> list[ir.Value]:
                text = "\n".join([form.what, str(count), self._memory(base), self.name, op.name, str(op.location)])
                create("func.call", [], [self._site(text), outermost, index_constant(extent)], callee=ir.FlatSymbolRefAttr.get(REPORT))
                return [_zero(r.type) for r in op.results]

            guarded = if_else(inside, [r.type for r in op.results], lambda: list(op.clone().results), report)
        for old, new in zip(list(op.results), guarded):
            old.replace_all_uses_with(new)
        op.erase()

    def _range(self, op: ir.Operation, form: _Form) -> tuple[ir.Value, ir.Value, int]:
        """The memref, the index at which the access begins, and how many elements it spans."""
        base = op.operands[form.memref]
        if op.name.startswith("x86."):
            return self._window(op, base)
        if ir.MemRefType(base.type).rank != 1:
            raise self._unknown(op)
        value = op.results[0] if form.what == "load" else op.operands[len(op.operands) - 1 if form.mask is not None else 0]
        count = ir.VectorType(value.type).shape[0] if isinstance(value.type, ir.VectorType) else 1
        return base, op.operands[form.memref + 1], count

    def _window(self, op: ir.Operation, window: ir.Value) -> tuple[ir.Value, ir.Value, int]:
        """The same of a tile: a window into a one-dimensional memref, read or written as a whole."""
        cast = defining_op(window)
        if cast is None or cast.name != "memref.reinterpret_cast" or len(cast.operands) != 2:
            raise self._unknown(op)
        rows, columns = ir.DenseI64ArrayAttr(cast.attributes["static_sizes"])
        apart, step = ir.DenseI64ArrayAttr(cast.attributes["static_strides"])
        return cast.operands[0], cast.operands[1], (rows - 1) * apart + (columns - 1) * step + 1

    def _lanes(self, op: ir.Operation, form: _Form, start: ir.Value, extent: int) -> tuple[ir.Value, ir.Value]:
        """Whether all live lanes are inside, and the least index of those that are not."""
        assert form.mask is not None
        mask = op.operands[form.mask]
        count = ir.VectorType(mask.type).shape[0]
        kind = vector_of(count, start.type)
        offsets = vector.step(kind) if form.offsets is None else op.operands[form.offsets]
        if offsets.type != kind:
            offsets = arith.index_cast(kind, offsets)
        lanes = arith.addi(broadcast(start, count), offsets)
        inside = arith.cmpi(CmpIPredicate.ult, lanes, broadcast(index_constant(extent), count))
        most = broadcast(index_constant(_MOST), count)
        dead = arith.select(mask, lanes, most)
        least = reduced(arith.select(inside, most, dead), CombiningKind.MINSI)
        return arith.cmpi(CmpIPredicate.eq, least, index_constant(_MOST)), least

    def _memory(self, base: ir.Value) -> str:
        """What a memref is, for who reads the report."""
        seen_as = defining_op(base)
        if seen_as is not None and seen_as.name == _CAST:
            base = seen_as.operands[0]
        if is_block_argument(base):
            number = list(self.kernel.regions[0].blocks[0].arguments).index(base) - 2
            inputs = ir.IntegerAttr(self.kernel.attributes["hloom.inputs"]).value
            return f"input {number}" if number < inputs else f"output {number - inputs}"
        op = defining_op(base)
        if op is not None and op.name == "memref.get_global":
            return f"constant {op.attributes['name']}"
        return "a temporary on the stack"

    def _site(self, text: str) -> ir.Value:
        """The address of `text`, which ends in a zero byte."""
        raw = np.frombuffer(text.encode() + b"\0", np.uint8)
        byte = ir.IntegerType.get_signless(8)
        buffer = ir.MemRefType.get([raw.size], byte)
        if text not in self.sites:
            self.sites[text] = f"{self.name}_constant_access_{len(self.sites)}"
            with ir.InsertionPoint(self.kernel):
                value = ir.DenseElementsAttr.get(raw, type=byte)
                kind = ir.TypeAttr.get(buffer)
                memref.global_(self.sites[text], kind, sym_visibility="private", initial_value=value, constant=True)
        return memref.extract_aligned_pointer_as_index(memref.get_global(buffer, self.sites[text]))

    def _unknown(self, op: ir.Operation) -> PassFailure:
        message = f"the kernel @{self.name} accesses memory in a way that check-bounds does not know"
        return PassFailure(message, op=op.name, loc=str(op.location), stage="vector", remedy="compile without HLOOM_DEBUG=bounds")


def _touches_memory(op: ir.Operation) -> bool:
    return op.name not in _HARMLESS and any(isinstance(v.type, ir.MemRefType) for v in [*op.operands, *op.results])


def _zero(kind: ir.Type) -> ir.Value:
    """What an access that is not made reads."""
    return value_of("x86.amx.tile_zero", kind) if str(kind).startswith("!x86.amx.tile") else splat(kind, 0)
