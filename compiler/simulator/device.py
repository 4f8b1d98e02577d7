"""A simulated device that runs a whole program: the thunks of its host program, on buffers of bytes, and their kernels.

Beside what the kernels' own checks find, it complains where a thunk reads bytes that nobody wrote, and where a kernel writes what it only
declared to read. Memory nobody wrote holds 0xFF bytes, which are NaN in every floating-point type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from hloom.compiler.parsing import parse_module
from hloom.dialects import thunk
from hloom.dialects.context import make_context
from hloom.dialects.storage import Slice
from hloom.dialects.thunk import buffer_sizes, slices
from hloom.passes.common.dense_constants import constant_bytes
from hloom.passes.common.init_function import origin
from hloom.passes.common.rewriting import callee_of, symbol_name, walk
from hloom.runtime.artifact import Buffer
from hloom.runtime.dtypes import numpy_dtype

from .counters import Counters
from .device_memory import Buffers
from .errors import SimulationError
from .kernels import Kernels
from .launch import KernelTable

_SAMPLED_LAUNCHES = 4
"""The launches of a kernel in a loop whose requests are counted."""


@dataclass
class Execution:
    """What a run gives: the results, what it did in all, and what each kernel did."""

    results: list[np.ndarray] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    kernels: dict[str, Counters] = field(default_factory=lambda: defaultdict(Counters))
    thunks: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How many thunks of each kind ran."""

    def add(self, kernel: str, counters: Counters) -> None:
        self.counters = self.counters + counters
        self.kernels[kernel] = self.kernels[kernel] + counters


class SimulatedProgram:
    """A module at stage `thunk` with its gpu.module, ready to run.

    program = SimulatedProgram(module)
    execution = program.run([x, w])
    execution.results, execution.counters, execution.kernels["fusion_0"]
    """

    def __init__(
        self,
        module: str | ir.Module | ir.Operation,
        constants: Mapping[str, Buffer] | None = None,
        kernels: type[KernelTable] = Kernels,
    ):
        """`constants`: the bytes of the memref.globals that hold no value in the module. `kernels` is what runs the kernels."""
        constants = constants or {}
        if isinstance(module, str):
            module = parse_module(module, make_context())
        self._module = module.operation.clone()
        self.kernels = kernels(self._module)
        named = {symbol_name(op): op for op in [*walk(self._module, "memref.global"), *walk(self._module, "thunk.program")]}
        self._entries = {name: _Entry(op, named, self.kernels, constants) for name, op in named.items() if op.name == "thunk.program"}
        if "main" not in self._entries:
            raise SimulationError("the module has no thunk.program @main")

    def initialise(self, values: Sequence[np.ndarray], checks: bool = True) -> list[np.ndarray]:
        """Runs @init on the bound values, which stand at their places among all arguments: what @main takes beside them."""
        return self._initialise(values, Execution(), checks)

    def run(self, values: Sequence[np.ndarray], checks: bool = True, made: list[np.ndarray] | None = None) -> Execution:
        """Runs the program on all its arguments in their order, bound ones too. Raises SimulationError.

        `checks=False` leaves the checks of memory accesses out, which saves half of the time or more. `made` is what `initialise` gave, if
        it ran before.
        """
        execution = Execution()
        if made is None:
            made = self._initialise(values, execution, checks)
        execution.results = self._entries["main"].run(values, made, execution, checks)
        return execution

    def _initialise(self, values: Sequence[np.ndarray], execution: Execution, checks: bool) -> list[np.ndarray]:
        return self._entries["init"].run(values, [], execution, checks) if "init" in self._entries else []


def _constant(op: ir.Operation, given: Mapping[str, Buffer]) -> Buffer:
    name = symbol_name(op)
    return given[name] if name in given else constant_bytes(op.attributes["initial_value"])


class _Entry:
    """@main or @init: its buffers and its thunks."""

    def __init__(self, program: ir.Operation, named: dict[str, ir.Operation], kernels: KernelTable, constants: Mapping[str, Buffer]):
        self.name, self.kernels = symbol_name(program), kernels
        signature = ir.FunctionType(ir.TypeAttr(program.attributes["signature"]).value)
        self.inputs, self.outputs = list(signature.inputs), list(signature.results)
        attributes = [ir.DictAttr(item) for item in program.attributes["value_attributes"]]
        self.sources = [origin(i, attributes[i]) for i in range(len(self.inputs))]
        self.sizes = buffer_sizes(program, named)
        symbols = [ir.FlatSymbolRefAttr(symbol).value for symbol in program.attributes["constants"]]
        self.constants = [np.frombuffer(_constant(named[name], constants), np.uint8) for name in symbols]
        self.body = program.regions[0]
        self._check(program)

    def run(self, values: Sequence[np.ndarray], made: list[np.ndarray], execution: Execution, checks: bool) -> list[np.ndarray]:
        needed = max((i for kind, i in self.sources if kind == "argument"), default=-1) + 1
        if len(values) < needed:
            raise SimulationError(f"@{self.name} takes {needed} arguments, got {len(values)}")
        buffers = Buffers(self.sizes, writable=range(len(self.inputs), len(self.inputs) + len(self.outputs) + 1), checks=checks)
        for number, ((kind, i), tensor) in enumerate(zip(self.sources, self.inputs)):
            buffers.fill(number, _bytes_of(made[i] if kind == "init" else values[i], tensor, f"argument {i}"))
        for i, constant in enumerate(self.constants):
            buffers.fill(len(self.inputs) + len(self.outputs) + 1 + i, constant)
        _Run(buffers, self.kernels, execution).run(self.body)
        results = []
        for i, tensor in enumerate(self.outputs):
            number = len(self.inputs) + i
            found = buffers.read((number, 0, self.sizes[number]), f"result {i} of @{self.name}")
            results.append(found.view(_dtype(tensor)).reshape(tensor.shape).copy())
        return results

    def _check(self, program: ir.Operation) -> None:
        """Raises SimulationError where a thunk has no simulation, or a kernel is not what its thunk says."""
        for op in thunk.walk(program, "thunk."):
            if type(op.opview).simulate is thunk.ThunkOp.simulate:
                raise SimulationError(f"the simulated device does not know {op.name}", op=op.name, loc=str(op.location))
        for op in thunk.walk(program, "thunk.kernel"):
            name = callee_of(op)
            reads, writes = slices(op, "reads"), slices(op, "writes")
            takes = len(self.kernels.argument_types(name))
            if takes != len(reads) + len(writes):
                raise SimulationError(f"{len(reads)} slices to read and {len(writes)} to write, but @{name} takes {takes}", kernel=name)
            undeclared = [i for i in self.kernels.stored(name) if i < len(reads) and not _overlaps(reads[i], writes)]
            if undeclared:
                raise SimulationError(f"argument {undeclared[0]} is written, but declared as only read", kernel=name, loc=str(op.location))


class _Run:
    """What runs the thunks of an entry once (dialects/thunk.py's Machine)."""

    def __init__(self, buffers: Buffers, kernels: KernelTable, execution: Execution):
        self.read, self.write = buffers.read, buffers.write
        self.buffers, self.kernels, self.execution = buffers, kernels, execution

    def run(self, region: ir.Region) -> None:
        for block in region.blocks:
            for op in block.operations:
                self.step(op)

    def step(self, op: ir.OpView) -> None:
        if op.regions or "writes" in op.attributes:  # marks of measurements do not count
            self.execution.thunks[op.kind] += 1
        op.simulate(self)

    def launch(self, callee: str, reads: list[Slice], writes: list[Slice]) -> None:
        found = [self.read(part, f"argument {i} of @{callee}") for i, part in enumerate(reads)]
        found += [self.write(part) for part in writes]
        arrays = [part.view(dtype) for part, dtype in zip(found, self.kernels.argument_types(callee))]
        sample = self.execution.kernels[callee].launches < _SAMPLED_LAUNCHES
        self.execution.add(callee, self.kernels.launch(callee, arrays, self.buffers.checks, sample))


def _dtype(tensor: ir.Type) -> np.dtype:
    return numpy_dtype(str(ir.RankedTensorType(tensor).element_type))


def _bytes_of(value: np.ndarray, tensor: ir.Type, what: str) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype != _dtype(tensor) or list(array.shape) != list(tensor.shape):
        raise SimulationError(f"{what} is {tensor}, got {array.dtype}{list(array.shape)}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _overlaps(part: Slice, others: list[Slice]) -> bool:
    buffer, start, size = part
    return any(buffer == other and start < begin + length and begin < start + size for other, begin, length in others)
