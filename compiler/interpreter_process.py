"""The process behind interpreter.py: reads (program, function, inputs as bytes) from stdin, writes results to stdout, until stdin ends or
the pipe whose number it is given is closed.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import re
import select
import signal
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.passmanager import PassManager

from hloom.dialects.context import make_context
from hloom.passes.common.ops import CONTRACTIONS
from hloom.passes.common.rewriting import ops_in, value_of, walk
from hloom.passes.errors import CompileError
from hloom.passes.stablehlo.complex.edges import is_complex
from hloom.passes.stablehlo.drop_annotations import drop_annotations
from hloom.passes.stablehlo.flatten_tuples import flatten_tuples
from hloom.passes.stablehlo.narrow.constants import codes_of
from hloom.runtime.dtypes import NAMES, NARROW, numpy_dtype

from .extraction import extracted, outer_values
from .frontend import enter
from .frontends.mlir_text import read_trusted
from .interpreter import HEAVY
from .interpreter_complex import joined, split_bytes, split_signature
from .source_program import main_function

_PREPARATION = (
    "func.func(stablehlo-legalize-composite-to-call),inline,symbol-dce,"
    "func.func(chlo-legalize-to-stablehlo,stablehlo-canonicalize-dynamism,stablehlo-legalize-deprecated-ops{fail-on-unused=false})"
)
_QUANTIZED = "func.func(stablehlo-legalize-quantized-op-to-qdq,stablehlo-legalize-quant-to-math)"
_UNSIGNED = re.compile(r"!quant\.uniform<u\d")
_HALF = ("f16", "bf16")
_RESOURCE = re.compile(r'(\w+|"[^"]*"): "0x([0-9A-Fa-f]*)"')
_DENSE_RESOURCE = re.compile(r"dense_resource<(.*)> : tensor<")

Result = tuple[str, tuple[int, ...], np.ndarray]


def main(lifeline: int) -> None:
    _end_with(lifeline)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the bindings print must not mix with the answers
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer: object = evaluate(*request)
        except (CompileError, ir.MLIRError, ValueError, RuntimeError) as error:
            answer = error.message if isinstance(error, CompileError) else str(error)
        pickle.dump(answer, answers)
        answers.flush()


def _end_with(lifeline: int) -> None:
    """The system ends this process when the pipe's other end is closed: a thread could not, as the interpreter keeps Python's lock."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it was closed before
        sys.exit()


def evaluate(source: str | bytes, function: str, inputs: Sequence[np.ndarray]) -> tuple[list[Result], int]:
    with make_context() as context, ir.Location.unknown():
        module = read_trusted(source, context)
        main_op = _prepare(module, function)
        signature = ir.FunctionType(ir.TypeAttr(main_op.attributes["function_type"]).value)
        if len(signature.inputs) != len(inputs):
            raise CompileError(f"@{function} takes {len(signature.inputs)} inputs, got {len(inputs)}")
        given = [part for raw, kind in zip(inputs, signature.inputs) for part in split_bytes(raw, kind)]
        split_signature(main_op)
        arguments = main_op.regions[0].blocks[0].arguments
        attributes = [_attribute(raw, ir.RankedTensorType(argument.type)) for raw, argument in zip(given, arguments, strict=True)]
        results, by_numpy = _Pieces(main_op).run(attributes)
        return joined(results, signature.results), by_numpy


def _prepare(module: ir.Module, function: str) -> ir.Operation:
    """Makes `function` the entry @main of a program that the interpreter takes."""
    enter(module, function)
    for run in (flatten_tuples, drop_annotations):
        run(module.operation)
    _make_plain(module)
    PassManager.parse(f"builtin.module({_PREPARATION})").run(module.operation)
    _make_constants_dense(module)
    for op in walk(module.operation, lambda op: op.name in CONTRACTIONS):
        _accumulate_in_f32(op)
    return main_function(module)


def _make_plain(module: ir.Module) -> None:
    """Quantized types as their integers, which upstream's passes compute on by f32."""
    kinds = {str(value.type) for value in _values(module) if "!quant." in str(value.type)}
    for kind in kinds:
        if _UNSIGNED.search(kind):
            raise CompileError(f"the interpreter does not run programs of {kind}: upstream's passes take its integers for signed ones")
    if kinds:
        PassManager.parse(f"builtin.module({_QUANTIZED})").run(module.operation)


def _values(module: ir.Module) -> Iterator[ir.Value]:
    for op in walk(module.operation):
        yield from op.results
        yield from (argument for region in op.regions for block in region.blocks for argument in block.arguments)


def _make_constants_dense(module: ir.Module) -> None:
    constants = walk(
        module.operation, lambda op: op.name in ("arith.constant", "stablehlo.constant") and not is_complex(op.results[0].type)
    )
    resources: dict[str, str] | None = None
    for op in constants:
        value = op.attributes["value"]
        match = _DENSE_RESOURCE.match(str(value)) if not isinstance(value, ir.DenseElementsAttr) else None
        if match:
            if resources is None:
                resources = dict(_RESOURCE.findall(module.operation.get_asm(large_resource_limit=1 << 40)))
            raw = np.frombuffer(bytes.fromhex(resources[match[1]]), np.uint8)[4:]  # 4 bytes of alignment before the elements
            value = _attribute(raw, ir.RankedTensorType(op.results[0].type))
        if match or op.name == "arith.constant":
            with ir.InsertionPoint(op):
                op.results[0].replace_all_uses_with(value_of("stablehlo.constant", op.results[0].type, value=value))
            op.erase()


def _accumulate_in_f32(op: ir.Operation) -> None:
    result = ir.RankedTensorType(op.results[0].type)
    if str(result.element_type) not in _HALF:
        return
    f32 = ir.F32Type.get()
    with ir.InsertionPoint(op):
        operands = [value_of("stablehlo.convert", ir.RankedTensorType.get(v.type.shape, f32), [v]) for v in op.operands]
        named = [op.attributes[index] for index in range(len(op.attributes))]
        attributes = {entry.name: entry.attr for entry in named}
        wide = ir.Operation.create(op.name, [ir.RankedTensorType.get(result.shape, f32)], operands, attributes=attributes).results[0]
        op.results[0].replace_all_uses_with(value_of("stablehlo.convert", result, [wide]))
    op.erase()


class _Pieces:
    """Evaluates @main piece by piece: what lies between heavy contractions by the interpreter, those by NumPy."""

    def __init__(self, main_op: ir.Operation):
        self.block = main_op.regions[0].blocks[0]
        self.heavy = 0
        self.whole = any(is_complex(value.type) for op in walk(main_op) for value in op.results)
        """The bindings cannot hand complex values from one piece to the next."""

    def run(self, inputs: Sequence[ir.Attribute]) -> tuple[list[Result], int]:
        known = dict(zip(self.block.arguments, inputs))
        *ops, last = ops_in(self.block)
        pending: list[ir.Operation] = []
        for op in ops:
            if op.name == "stablehlo.dot_general" and not self.whole and _multiply_adds(op) > HEAVY:
                self._interpret(pending, known)
                pending = []
                known[op.results[0]] = _contract(op, known)
                self.heavy += 1
            else:
                pending.append(op)
        self._interpret(pending, known)
        return [_result(known[value]) for value in last.operands], self.heavy

    def _interpret(self, ops: list[ir.Operation], known: dict[ir.Value, ir.Attribute]) -> None:
        """Evaluates ops whose operands are known; adds their results that anything after them uses."""
        used = [value for value in outer_values(ops) if value in known]
        own = {inner for op in ops for inner in walk(op)}
        made = [value for op in ops for value in op.results if any(use.owner.operation not in own for use in value.uses)]
        if not made:
            return
        module = extracted(ops, used, made)
        known.update(zip(made, _stablehlo.eval_module(module, [known[value] for value in used])))


def _multiply_adds(op: ir.Operation) -> int:
    batch, contracting, _ = _dimensions(op)
    left, right = (ir.RankedTensorType(v.type).shape for v in op.operands)
    shared = [right[i] for i in batch[1] + contracting[1]]
    return int(np.prod(left, dtype=object) * np.prod(right, dtype=object) // max(1, np.prod(shared, dtype=object)))


def _dimensions(op: ir.Operation) -> tuple[tuple[list[int], list[int]], tuple[list[int], list[int]], str]:
    text = str(op.attributes["dot_dimension_numbers"])

    def field(name: str) -> list[int]:
        match = re.search(name + r" = \[([^\]]*)\]", text)
        return [int(part) for part in match[1].split(",")] if match else []

    batch = field("lhs_batching_dimensions"), field("rhs_batching_dimensions")
    return batch, (field("lhs_contracting_dimensions"), field("rhs_contracting_dimensions")), text


def _contract(op: ir.Operation, known: dict[ir.Value, ir.Attribute]) -> ir.Attribute:
    """dot_general in f64 (integers in their own type), rounded once."""
    batch, contracting, _ = _dimensions(op)
    result = ir.RankedTensorType(op.results[0].type)
    dtype = numpy_dtype(_type_name(result.element_type))
    wide = np.dtype(np.float64) if dtype.kind not in "iub" else dtype
    matrices = []
    for side, value in enumerate(op.operands):
        name, shape, raw = _result(known[value])
        array = raw.view(numpy_dtype(name)).reshape(shape).astype(wide)
        free = [i for i in range(array.ndim) if i not in batch[side] + contracting[side]]
        order = [*batch[side], *free, *contracting[side]] if side == 0 else [*batch[side], *contracting[side], *free]
        sizes = [[shape[i] for i in part] for part in (batch[side], free, contracting[side])]
        b, f, c = (int(np.prod(part)) for part in sizes)
        matrices.append(array.transpose(order).reshape((b, f, c) if side == 0 else (b, c, f)))
    product = np.matmul(*matrices).astype(dtype).reshape(result.shape)
    return _attribute(np.ascontiguousarray(product).reshape(-1).view(np.uint8), result)


def _attribute(raw: np.ndarray, kind: ir.RankedTensorType) -> ir.Attribute:
    """A dense attribute of that type from the elements' bytes."""
    name = _type_name(kind.element_type)
    bits = {"bf16": np.uint16, **dict.fromkeys(NARROW, np.uint8)}
    array = raw.view(bits.get(name) or numpy_dtype(name)).reshape(kind.shape)
    if name == "i1":  # the bindings pack the bits, but not where the type is given
        return ir.DenseElementsAttr.get(array)
    return ir.DenseElementsAttr.get(array, type=kind.element_type, shape=list(kind.shape))


def _result(attribute: ir.Attribute) -> Result:
    """Type, shape and bytes of a dense attribute."""
    kind = ir.RankedTensorType(ir.ShapedType(attribute.type))
    name, shape = _type_name(kind.element_type), tuple(kind.shape)
    if name in NARROW:
        return name, shape, codes_of(attribute)
    if name == "bf16":  # the bindings cannot read it
        attribute = _bits_of(attribute, kind)
    array = np.array(attribute)
    if attribute.is_splat:
        array = np.broadcast_to(array.reshape(-1)[:1], int(np.prod(shape)))
    return name, shape, np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _bits_of(attribute: ir.Attribute, kind: ir.RankedTensorType) -> ir.Attribute:
    bits = ir.RankedTensorType.get(kind.shape, ir.IntegerType.get_unsigned(16))
    text = f"func.func @main(%x: {kind}) -> {bits} {{\n%0 = stablehlo.bitcast_convert %x : ({kind}) -> {bits}\nreturn %0 : {bits}\n}}"
    return _stablehlo.eval_module(ir.Module.parse(text), [attribute])[0]


def _type_name(element_type: ir.Type) -> str:
    name = str(element_type)
    if name not in NAMES:
        raise CompileError(f"element type {name} is not one that hloom compiles")
    return name


if __name__ == "__main__":
    main(int(sys.argv[1]))
