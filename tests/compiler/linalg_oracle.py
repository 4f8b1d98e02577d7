"""For the tests of the linalg stage: linalg run through upstream's plain loops, to compare with the reference interpreter."""

from __future__ import annotations

import ctypes
import re

import ml_dtypes
import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import memref, scf
from torch_mlir.execution_engine import ExecutionEngine

from hloom.compiler import pipeline  # noqa: F401  registers canonicalize-ingress
from hloom.compiler.passmanager import parse_pipeline, run_steps
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import walk

INGRESS = ["lower-to-linalg", "canonicalize-ingress"]
TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i1": np.bool_,
    **{f"i{n}": np.dtype(f"i{n // 8}").type for n in (8, 16, 32, 64)},
    **{f"ui{n}": np.dtype(f"u{n // 8}").type for n in (8, 16, 32, 64)},
}  # fmt: skip
_TO_LOOPS = (
    "inline{default-pipeline=cse},symbol-dce,"
    "one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},"
    "func.func(convert-linalg-to-loops)"
)
_WITHOUT_BF16 = ["widen-half-floats", "round-to-bf16", "bf16-as-bits"]
"""LLVM calls a run-time library to round to bf16 on processors without it, which nothing here links."""
_TO_LLVM = (
    "fold-memref-alias-ops,expand-strided-metadata,lower-affine,func.func(convert-scf-to-cf),"
    "convert-math-to-llvm,convert-math-to-libm,lower-affine,convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-cf-to-llvm,reconcile-unrealized-casts"
)


def run_passes(module: ir.Module, names: list[str]) -> None:
    run_steps(module.operation, parse_pipeline(",".join(names), module.context))


def lowered(text: str, passes: list[str] | None = None) -> str:
    """The module after the ingress passes (or those named)."""
    with make_context():
        module = ir.Module.parse(text)
        run_passes(module, INGRESS if passes is None else passes)
        return str(module)


def tensor_types(text: str) -> tuple[list[str], list[str]]:
    """The argument and result types of @main."""
    with make_context():
        module = ir.Module.parse(text)
        main = next(f for f in module.body.operations if f.attributes["sym_name"].value == "main")
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        return [str(t) for t in kind.inputs], [str(t) for t in kind.results]


def parse_type(text: str) -> tuple[tuple[int, ...], str]:
    inner = text[len("tensor<") : -1].split("x")
    return tuple(int(d) for d in inner[:-1]), inner[-1]


def run_lowered(text: str, inputs: list[np.ndarray], passes: list[str] | None = None) -> list[np.ndarray]:
    """Lowers @main to linalg, then through upstream's loops to machine code, and runs it."""
    _, result_types = tensor_types(text)
    results = [np.zeros(shape, TYPES[element]) for shape, element in map(parse_type, result_types)]
    with make_context() as context:
        module = ir.Module.parse(text)
        run_passes(module, [*(INGRESS if passes is None else passes), "expand-math"])
        module = ir.Module.parse(_as_kernel(module), context)
        run_passes(module, [_TO_LOOPS, *_WITHOUT_BF16])
        _expand_copies(module)
        run_passes(module, [_TO_LLVM])
        engine = ExecutionEngine(module, opt_level=0, enable_object_dump=False)
        arguments = [np.require(a, requirements="C") for a in (*inputs, *results) if a.size]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arguments]
        packed = (ctypes.c_void_p * len(pointers))(*[ctypes.addressof(p) for p in pointers])
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup("kernel"))(ctypes.addressof(packed))
    return results


def _expand_copies(module: ir.Module) -> None:
    """memref.copy of strided views would call a run-time library that is not there."""
    for op in walk(module.operation, "memref.copy"):
        source, target = op.operands
        with ir.InsertionPoint(op), op.location:
            _copy_loops(source, target, list(ir.MemRefType(source.type).shape), [])
        op.erase()


def _copy_loops(source: ir.Value, target: ir.Value, shape: list[int], point: list[ir.Value]) -> None:
    if len(point) == len(shape):
        memref.store(memref.load(source, point), target, point)
        return
    for index in scf.for_(0, shape[len(point)], 1):
        _copy_loops(source, target, shape, [*point, index])
        scf.yield_([])


def _as_kernel(module: ir.Module) -> str:
    """@main over tensors becomes @kernel over memrefs, inputs then results."""
    main = next(f for f in module.body.operations if f.attributes["sym_name"].value == "main")
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    ins, outs = [str(t) for t in kind.inputs], [str(t) for t in kind.results]
    main.attributes["sym_visibility"] = ir.StringAttr.get("private", module.context)
    body, parameters = [], []
    for i, t in enumerate(ins):
        if 0 in parse_type(t)[0]:  # upstream converts no memref of no elements
            body.append(f"%t{i} = tensor.empty() : {t}")
            continue
        parameters.append(f"%a{i}: {t.replace('tensor<', 'memref<')}")
        body.append(f"%t{i} = bufferization.to_tensor %a{i} restrict : {t.replace('tensor<', 'memref<')} to {t}")
    body.append(f"%r:{len(outs)} = call @main({', '.join(f'%t{i}' for i in range(len(ins)))}) : ({', '.join(ins)}) -> ({', '.join(outs)})")
    for i, t in enumerate(outs):
        if 0 in parse_type(t)[0]:
            continue
        buffer = t.replace("tensor<", "memref<")
        parameters.append(f"%o{i}: {buffer}")
        body.append(f"bufferization.materialize_in_destination %r#{i} in restrict writable %o{i} : ({t}, {buffer}) -> ()")
    text = re.sub(r" \{jax\.result_info[^}]*\}", "", str(module).rstrip())
    text, resources, trailer = text.partition("\n{-#")
    head = text[: text.rindex("}")]
    return f"{head}func.func @kernel({', '.join(parameters)}) {{\n" + "\n".join(body) + f"\nreturn\n}}\n}}{resources}{trailer}"
