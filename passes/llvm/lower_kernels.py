"""lower-kernels: the kernels of the vector stage in the LLVM dialect, behind one signature.

Before:
    func.func private @fusion_0(%lo: index, %hi: index, %a: memref<1024xf32>, %out: memref<1024xf32>) attributes {hloom.tiles = 16 : i64}
After:
    llvm.func internal @fusion_0_body(%lo: i64, %hi: i64, %a: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias})
    llvm.func @fusion_0(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {hloom.tiles = 16 : i64}   // loads the pointers, calls the body

Pointers are noalias, save those that buffer assignment lets share a buffer (hloom.inplace). Kernels are lowered in a module of their
own, so that upstream's conversions see nothing of the host program. On AVX-512, scaling by powers of two becomes vscalef
(scale-to-avx512); rounding to bf16 becomes integer arithmetic (round-to-bf16).

Must hold: the vector stage. Declined: functions without hloom.tiles.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import llvm  # noqa: F401  the bindings would, amid the pass
from torch_mlir.passmanager import PassManager

from hloom.dialects.target import TargetView, target_of

from ..common.rewriting import functions, symbol_name
from ..registry import register_pass
from .bf16_as_bits import bf16_as_bits
from .masked_bf16_as_bits import masked_bf16_as_bits
from .round_to_bf16 import round_to_bf16
from .scale_to_avx512 import scale_to_avx512

_VECTOR = "canonicalize,cse"
_LOWERING = (
    "func.func(convert-vector-to-scf{full-unroll=true target-rank=1}),lower-affine,func.func(convert-scf-to-cf),"
    "convert-vector-to-llvm{enable-x86=true reassociate-fp-reductions=true},convert-math-to-llvm,convert-arith-to-llvm,"
    "convert-index-to-llvm,convert-ub-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},"
    "convert-to-llvm,reconcile-unrealized-casts,cse"
)


@register_pass("lower-kernels", "lowers the kernels to the LLVM dialect, behind one signature")
def lower_kernels(module: ir.Operation) -> None:
    target = target_of(module)
    kernels = [f for f in functions(module) if "hloom.tiles" in f.attributes]
    if not kernels:
        return
    with module.context, ir.Location.unknown():
        apart = ir.Module.create()
        names = {symbol_name(k) for k in kernels}
        tiles = {symbol_name(k): k.attributes["hloom.tiles"] for k in kernels}
        for op in [o.operation for o in module.regions[0].blocks[0].operations]:
            if op in kernels or _is_kernel_constant(op, names) or _is_declaration(op):
                op.detach_from_parent()
                apart.body.append(op)
        for kernel in functions(apart.operation):
            if not _is_declaration(kernel):
                _prepare(kernel)
        _lower(apart, target)
        _wrap(apart, tiles)
        for op in [o.operation for o in apart.body.operations]:
            op.detach_from_parent()
            module.regions[0].blocks[0].append(op)


def _is_kernel_constant(op: ir.Operation, kernels: set[str]) -> bool:
    return op.name == "memref.global" and symbol_name(op).rpartition("_constant_")[0] in kernels


def _is_declaration(op: ir.Operation) -> bool:
    """What kernels call in the native library."""
    return op.name == "func.func" and not op.regions[0].blocks


def _prepare(kernel: ir.Operation) -> None:
    """Renames the kernel to its body's name and says which pointers alias nothing."""
    signature = ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value)
    shared: set[int] = set()
    if "hloom.inplace" in kernel.attributes:
        pairs = list(ir.DenseI64ArrayAttr(kernel.attributes["hloom.inplace"]))
        inputs = _input_count(kernel, signature)
        for number in range(0, len(pairs), 2):
            shared |= {2 + pairs[number], 2 + inputs + pairs[number + 1]}
    noalias = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
    plain = ir.DictAttr.get({})
    attributes = [noalias if i >= 2 and i not in shared else plain for i in range(len(signature.inputs))]
    kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    kernel.attributes["sym_name"] = ir.StringAttr.get(symbol_name(kernel) + "_body")
    for name in [n for n in kernel.attributes if n.startswith("hloom.")]:
        del kernel.attributes[name]


def _input_count(kernel: ir.Operation, signature: ir.FunctionType) -> int:
    return ir.IntegerAttr(kernel.attributes["hloom.inputs"]).value


def _lower(apart: ir.Module, target: TargetView) -> None:
    PassManager.parse(f"builtin.module({_VECTOR})", apart.context).run(apart.operation)
    if target.vector_bits == 512:
        scale_to_avx512(apart.operation)
    round_to_bf16(apart.operation)
    if not target.bf16_dot:
        bf16_as_bits(apart.operation)
    PassManager.parse(f"builtin.module({_LOWERING})", apart.context).run(apart.operation)
    masked_bf16_as_bits(apart.operation)


def _wrap(apart: ir.Module, tiles: dict[str, ir.Attribute]) -> None:
    """Adds the function of the common signature for each body."""
    bodies = [o.operation for o in apart.body.operations if o.operation.name == "llvm.func" and len(o.operation.regions[0].blocks)]
    for body in bodies:
        name = symbol_name(body).removesuffix("_body")
        if name not in tiles:
            continue
        pointers = len(body.regions[0].blocks[0].arguments) - 2
        body.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        lines = []
        for number in range(pointers):
            lines += [
                f"%s{number} = llvm.getelementptr %buffers[{number}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr",
                f"%p{number} = llvm.load %s{number} : !llvm.ptr -> !llvm.ptr",
            ]
        arguments = ", ".join(["%lo", "%hi", *(f"%p{n}" for n in range(pointers))])
        types = ", ".join(["i64", "i64", *["!llvm.ptr"] * pointers])
        text = f"""
            llvm.func @{name}_body({types})
            llvm.func @{name}(%lo: i64, %hi: i64, %buffers: !llvm.ptr) attributes {{hloom.tiles = {tiles[name]}}} {{
              {chr(10).join(lines)}
              llvm.call @{name}_body({arguments}) : ({types}) -> ()
              llvm.return
            }}"""
        parsed = ir.Module.parse(text)
        wrapper = [o.operation for o in parsed.body.operations][1]
        wrapper.detach_from_parent()
        apart.body.append(wrapper)
