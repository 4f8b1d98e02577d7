"""Runs a fused program through buffer assignment, thunks and the host function, with Python callbacks in place of kernels.

A callback evaluates its group with StableHLO's reference interpreter. It spoils every output that is not declared in place before it
reads its inputs, so that buffers that overlap where they must not show in the results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects.llvm import translate_module_to_llvmir

from hloom.dialects.context import make_context
from hloom.dialects.storage import byte_size
from hloom.dialects.thunk import buffer_sizes, integers
from hloom.passes.common.dense_constants import constant_bytes
from hloom.passes.common.rewriting import functions, symbol_name
from hloom.passes.lhlo.assign_buffers import assign_buffers
from hloom.passes.lhlo.verify_lhlo import verify_lhlo
from hloom.passes.llvm.lower_thunks import lower_thunks
from hloom.passes.thunk.emit_thunks import emit_thunks
from hloom.passes.thunk.verify_thunk import verify_thunk

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p))
PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p))


def interpret(text: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    with make_context(), ir.Location.unknown():
        return _evaluate(ir.Module.parse(text), inputs)


def _evaluate(module: ir.Module, inputs: list[np.ndarray]) -> list[np.ndarray]:
    attributes = []
    for array in inputs:
        unsigned = ir.IntegerType.get_unsigned(8 * array.itemsize) if array.dtype.kind == "u" else None
        element = ir.IntegerType.get_signless(1) if array.dtype.kind == "b" else unsigned
        attributes.append(ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=element, shape=list(array.shape)))
    return [np.array(result) for result in _stablehlo.eval_module(module, attributes)]


def jit(module: ir.Operation, symbols: dict[str, Callable]) -> llvm.ExecutionEngine:
    """Compiles a module of the LLVM dialect without floating-point literals; `symbols` are the C functions it may call."""
    parsed = llvm.parse_assembly(translate_module_to_llvmir(module))
    parsed.triple = llvm.get_process_triple()
    machine = llvm.Target.from_triple(parsed.triple).create_target_machine(opt=1, jit=True)
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.hloom_symbols = symbols  # the callbacks live as long as the code that calls them
    declared = {function.name: function for function in parsed.functions if function.is_declaration}
    for name in declared.keys() & symbols.keys():
        engine.add_global_mapping(declared[name], ctypes.cast(symbols[name], ctypes.c_void_p).value)
    engine.finalize_object()
    return engine


class Kernel:
    """A group as a callback. `in_place` are the outputs that share a buffer with an input."""

    def __init__(self, function: ir.Operation):
        self.error: Exception | None = None
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        self.inputs, self.outputs = [_numpy_type(t) for t in kind.inputs], [_numpy_type(t) for t in kind.results]
        shared = list(ir.DenseI64ArrayAttr(function.attributes["hloom.inplace"])) if "hloom.inplace" in function.attributes else []
        self.in_place = set(shared[1::2])
        text = str(function).replace(f"@{symbol_name(function)}(", "@main(", 1).replace("func.func private", "func.func", 1)
        self.module = ir.Module.parse(text)
        self.callback = KERNEL(self.run)

    def run(self, low: int, high: int, buffers) -> None:
        if low:
            return
        with self.module.context, ir.Location.unknown():
            arrays = [_view(buffers[i], kind) for i, kind in enumerate([*self.inputs, *self.outputs])]
            inputs, outputs = arrays[: len(self.inputs)], arrays[len(self.inputs) :]
            for i, array in enumerate(outputs):
                if i not in self.in_place:
                    array.reshape(-1).view(np.uint8)[...] = 0xEE if array.dtype != bool else 1
            try:
                results = _evaluate(self.module, inputs)
            except ValueError as error:  # an exception cannot leave a callback; zeros end the loops that wait for its results
                self.error, results = error, [np.zeros_like(array) for array in outputs]
            for array, result in zip(outputs, results):
                array[...] = result


_NUMPY = {"i1": bool, "i8": "i1", "i32": "i4", "i64": "i8", "f32": "f4", "f64": "f8", "ui8": "u1", "ui32": "u4"}


def _numpy_type(kind: ir.Type) -> tuple[tuple[int, ...], np.dtype]:
    shaped = ir.ShapedType(kind)
    return tuple(shaped.shape), np.dtype(_NUMPY[str(shaped.element_type)])


def _view(address: int, kind: tuple[tuple[int, ...], np.dtype]) -> np.ndarray:
    shape, dtype = kind
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address or 0), dtype=dtype).reshape(shape) if size else np.zeros(shape, dtype)


class Machine:
    """A compiled host program; `run(name, inputs)` calls an entry. `symbols` are further C functions that it may call, by name."""

    def __init__(self, text: str, *, tiles: int = 1, cost_ps: int | None = None, symbols: dict[str, Callable] | None = None):
        self.context = make_context()
        self.symbols = dict(symbols or {})
        self.order: list[str] = []
        with self.context, ir.Location.unknown():
            module = ir.Module.parse(text).operation
            self._compile(module, tiles, cost_ps)

    def _compile(self, module: ir.Operation, tiles: int, cost_ps: int | None) -> None:
        for function in functions(module):
            if cost_ps is not None and "hloom.kind" in function.attributes:
                function.attributes["hloom.cost_ps"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), cost_ps)
        assign_buffers(module)
        module.verify()
        verify_lhlo(module)
        self.lhlo = str(module)
        hosts = {symbol_name(f): f for f in functions(module) if "hloom.signature" in f.attributes}
        self.arena_bytes = {name: ir.IntegerAttr(f.attributes["hloom.arena_bytes"]).value for name, f in hosts.items()}
        self.live_bytes = {name: ir.IntegerAttr(f.attributes["hloom.live_bytes"]).value for name, f in hosts.items()}
        emit_thunks(module)
        module.verify()
        verify_thunk(module)
        self.thunk = str(module)
        self._read_programs(module)
        self._replace_kernels(module, tiles)
        lower_thunks(module)
        module.verify()
        self.llvm = str(module)
        self.engine = jit(module, self.symbols)

    def _read_programs(self, module: ir.Operation) -> None:
        named = {ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation for op in module.regions[0].blocks[0].operations}
        self.entries = {}
        for name, program in named.items():
            if program.name != "thunk.program":
                continue
            signature = ir.FunctionType(ir.TypeAttr(program.attributes["signature"]).value)
            results = [(*_numpy_type(kind), byte_size(kind)) for kind in signature.results]
            symbols = [ir.FlatSymbolRefAttr(symbol).value for symbol in program.attributes["constants"]]
            constants = [constant_bytes(named[symbol].attributes["initial_value"]) for symbol in symbols]
            arguments = len(integers(program.attributes["argument_bytes"]))
            assert [len(c) for c in constants] == buffer_sizes(program, named)[arguments + len(results) + 1 :]
            self.entries[name] = results, constants, ir.IntegerAttr(program.attributes["arena_bytes"]).value

    def _replace_kernels(self, module: ir.Operation, tiles: int) -> None:
        """What lower-kernels would do: every group function becomes an llvm.func that says how many tiles it has."""
        self.kernels = {symbol_name(function): Kernel(function) for function in functions(module)}
        for function in functions(module):
            function.erase()
        for name, kernel in self.kernels.items():
            declaration = f"llvm.func @{name}(i64, i64, !llvm.ptr) attributes {{hloom.tiles = {tiles} : i64}}"
            parsed = ir.Module.parse(declaration)
            op = parsed.body.operations[0].operation
            op.detach_from_parent()
            module.regions[0].blocks[0].append(op)
            self.symbols[name] = kernel.callback

    def run(self, inputs: list[np.ndarray], entry: str = "main") -> list[np.ndarray]:
        results, constants, arena_bytes = self.entries[entry]
        inputs = [np.array(array, order="C") for array in inputs]
        before = [array.copy() for array in inputs]
        outputs = [np.full(size, 0xEE, np.uint8) for _, _, size in results]
        held = [*inputs, *outputs, np.full(arena_bytes, 0xEE, np.uint8), *(np.frombuffer(data, np.uint8).copy() for data in constants)]
        pointers = (ctypes.c_void_p * len(held))(*(array.ctypes.data for array in held))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.get_function_address(f"hloom_{entry}"))(ctypes.addressof(pointers))
        for kernel in self.kernels.values():
            if kernel.error:
                raise kernel.error
        for array, original in zip(inputs, before):
            np.testing.assert_array_equal(array, original, err_msg="an argument was written")
        return [array.view(dtype).reshape(shape) for array, (shape, dtype, _) in zip(outputs, results)]
