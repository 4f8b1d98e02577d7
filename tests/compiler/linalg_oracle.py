"""For the tests of the linalg stage: the reference interpreter in a process of its own, and linalg run through upstream's plain loops."""

from __future__ import annotations

import ctypes
import pickle
import re
import subprocess
import sys

import ml_dtypes
import numpy as np
from hloom.dialects.context import make_context
from hloom.passes.registry import find_pass
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

INGRESS = ["lower-to-linalg", "generalize-contractions", "inline-producers", "select-to-maximum", "collapse-loop-dims", "outs-style"]
TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i1": np.bool_,
    **{f"i{n}": np.dtype(f"i{n // 8}").type for n in (8, 16, 32, 64)},
    **{f"ui{n}": np.dtype(f"u{n // 8}").type for n in (8, 16, 32, 64)},
}  # fmt: skip
_TO_LLVM = (
    "one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},canonicalize,cse,"
    "func.func(convert-linalg-to-loops),fold-memref-alias-ops,expand-strided-metadata,lower-affine,func.func(convert-scf-to-cf),"
    "convert-math-to-llvm,convert-math-to-libm,lower-affine,convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-cf-to-llvm,reconcile-unrealized-casts"
)


def run_passes(module: ir.Module, names: list[str]) -> None:
    for name in names:
        own = find_pass(name)
        if own is not None:
            own.fn(module.operation)
        else:
            PassManager.parse(f"builtin.module({name})", module.context).run(module.operation)
    module.operation.verify()


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
        run_passes(module, INGRESS if passes is None else passes)
        module = ir.Module.parse(_as_kernel(module), context)
        run_passes(module, [f"inline,symbol-dce,{_TO_LLVM}"])
        engine = ExecutionEngine(module, opt_level=1, enable_object_dump=False)
        arguments = [np.ascontiguousarray(a) for a in inputs] + results
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arguments]
        packed = (ctypes.c_void_p * len(pointers))(*[ctypes.addressof(p) for p in pointers])
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup("kernel"))(ctypes.addressof(packed))
    return results


def _as_kernel(module: ir.Module) -> str:
    """@main over tensors becomes @kernel over memrefs, inputs then results."""
    main = next(f for f in module.body.operations if f.attributes["sym_name"].value == "main")
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    ins, outs = [str(t) for t in kind.inputs], [str(t) for t in kind.results]
    main.attributes["sym_visibility"] = ir.StringAttr.get("private", module.context)
    memrefs = [t.replace("tensor<", "memref<") for t in ins + outs]
    n = len(ins)
    body = [f"%t{i} = bufferization.to_tensor %a{i} restrict : {memrefs[i]} to {t}" for i, t in enumerate(ins)]
    body.append(f"%r:{len(outs)} = call @main({', '.join(f'%t{i}' for i in range(n))}) : ({', '.join(ins)}) -> ({', '.join(outs)})")
    body += [
        f"bufferization.materialize_in_destination %r#{i} in restrict writable %a{n + i} : ({t}, {memrefs[n + i]}) -> ()"
        for i, t in enumerate(outs)
    ]
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(memrefs))
    text = re.sub(r" \{jax\.result_info[^}]*\}", "", str(module).rstrip())
    text, resources, trailer = text.partition("\n{-#")
    head = text[: text.rindex("}")]
    return f"{head}func.func @kernel({arguments}) {{\n" + "\n".join(body) + f"\nreturn\n}}\n}}{resources}{trailer}"


class Interpreter:
    """StableHLO's reference interpreter in a child process, which may die of a program without taking the tests with it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, text: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
        assert self._process.stdin and self._process.stdout
        pickle.dump((text, [(a.dtype.name, a.shape, a.tobytes()) for a in inputs]), self._process.stdin)
        self._process.stdin.flush()
        raw = pickle.load(self._process.stdout)
        if isinstance(raw, str):
            raise RuntimeError(raw)
        types = [parse_type(t) for t in tensor_types(text)[1]]
        return [np.array(values, TYPES[element]).reshape(shape) for values, (shape, element) in zip(raw, types)]

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def _serve() -> None:
    from torch_mlir._mlir_libs import _stablehlo

    while True:
        try:
            text, inputs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            with make_context():
                module = ir.Module.parse(text)
                types = tensor_types(text)[0]
                arguments = [_attribute(np.dtype(name), shape, data, t) for (name, shape, data), t in zip(inputs, types)]
                answer = [_values(a.maybe_downcast()) for a in _stablehlo.eval_module(module, arguments)]
        except Exception as error:  # noqa: BLE001  the parent raises it
            answer = f"{type(error).__name__}: {error}"
        pickle.dump(answer, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _attribute(dtype: np.dtype, shape: tuple[int, ...], data: bytes, kind: str) -> ir.Attribute:
    if not data:
        return ir.Attribute.parse(f"dense<> : {kind}")
    if dtype != np.bool_:
        return ir.Attribute.parse(f'dense<"0x{data.hex().upper()}"> : {kind}')
    flags = ", ".join(str(bool(f)).lower() for f in np.frombuffer(data, np.bool_))
    return ir.DenseElementsAttr.get(
        np.frombuffer(data, np.bool_).reshape(shape), type=ir.IntegerType.get_signless(1), shape=list(shape)
    ) if shape else ir.Attribute.parse(f"dense<{flags}> : {kind}")


def _values(attribute: ir.DenseElementsAttr) -> list:
    """Plain Python numbers. Floats as printed in hexadecimal would lose NaN payloads, which nobody compares."""
    count = int(np.prod(attribute.type.shape))
    if attribute.is_splat:
        return [_number(attribute.get_splat_value())] * count
    return [attribute[i] for i in range(count)]  # type: ignore[index]


def _number(value: ir.Attribute) -> float | int:
    return ir.FloatAttr(value).value if isinstance(value, ir.FloatAttr) else ir.IntegerAttr(value).value


if __name__ == "__main__":
    _serve()
