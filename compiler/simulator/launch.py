"""Running the kernels of a gpu.module on numpy arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.compiler.parsing import parse_module
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import defining_op, integer, integers, symbol_name, walk
from hloom.passes.gpu.support.launch import UPDATED, is_cooperative, tensor_maps

from . import ops_arith, ops_gpu, ops_memory, ops_nvgpu, ops_vector, ops_wgmma  # noqa: F401  each registers its ops
from .batch import Batch
from .checks import AccessLog
from .counters import Counters
from .element_types import element_name
from .errors import SimulationError
from .lockstep import Launch
from .memory import MemRef, row_major
from .tma import Descriptor, MappedTensor
from .translate import Translator
from .values import DTYPES

THREADS_AT_ONCE = 16384
"""Enough that numpy's overhead does not count, few enough that a value of all threads stays in the L2 cache."""


class KernelTable:
    """The kernels of a module, each translated when it is first launched. All threads of a block take each step together.

    `module` is MLIR text, a module that holds a gpu.module, or a gpu.module; later changes to it make no difference.
    """

    def __init__(self, module: str | ir.Module | ir.Operation, threads_at_once: int = THREADS_AT_ONCE):
        if isinstance(module, str):
            module = parse_module(module, make_context())
        self._root = module.operation.clone()
        self.threads_at_once = threads_at_once
        self._functions = {symbol_name(op): op for op in walk(self._root, "gpu.func")}
        self._globals = {symbol_name(op): op for op in walk(self._root, "memref.global")}
        self._kernels: dict[str, _Kernel] = {}

    @property
    def names(self) -> list[str]:
        return list(self._functions)

    def source(self, name: str) -> str:
        """The numpy program that runs the kernel, to look at."""
        return self._kernel(name).code.source

    def argument_types(self, name: str) -> list[np.dtype]:
        """The element types of the kernel's memrefs."""
        types = self._kernel(name).code.types
        return [np.dtype(DTYPES[element_name(kind)]) for kind in types if isinstance(kind, ir.MemRefType)]

    def stored(self, name: str) -> list[int]:
        """The numbers of the arguments that the kernel writes."""
        return sorted(self._kernel(name).code.stored)

    def launch(self, name: str, arrays: Sequence[np.ndarray | MappedTensor], checks: bool = True, sample: bool = True) -> Counters:
        """Runs a kernel on flat arrays, one for each of its memrefs, written in place (a MappedTensor for a tensor map).

        Tensor maps that the kernel describes itself (hloom.tensor_maps) are made from the arrays. Raises SimulationError.

        Grid and block are those of the attributes known_grid_size and known_block_size. `sample=False` counts no requests: they cost time.
        """
        return self._kernel(name).launch(arrays, checks, sample, self.threads_at_once)

    def _kernel(self, name: str) -> _Kernel:
        if name not in self._functions:
            raise SimulationError(f"no kernel @{name}; there are {', '.join(self._functions) or 'none'}")
        if name not in self._kernels:
            self._kernels[name] = _Kernel(self._functions[name], self._globals)
        return self._kernels[name]


class _Kernel:
    def __init__(self, function: ir.Operation, globals_: dict[str, ir.Operation]):
        self.code = Translator(function, globals_)
        self.name = self.code.kernel
        self.block, self.grid = (_extents(function, f"known_{what}_size", self.name) for what in ("block", "grid"))
        self.shared_bytes, self.maps = integer(function, "hloom.shared_bytes", 0), tensor_maps(function)
        self.cooperative, self.alone = is_cooperative(function), _takes_turns(function)
        self.has_roles = bool(walk(function, "nvgpu.mbarrier.arrive"))
        self.updated = set(integers(function, UPDATED))
        self.noalias, self.readonly = (_marked(function, f"llvm.{mark}", len(self.code.types)) for mark in ("noalias", "readonly"))

    def launch(self, arrays: Sequence[np.ndarray | MappedTensor], checks: bool, sample: bool, threads_at_once: int) -> Counters:
        memories = self._memories([*arrays, *(_tensor_map(given, arrays) for given in self.maps)], checks)
        launch = Launch(self.name, self.code.sites, self.block, self.grid, self.shared_bytes, self.code.shared_unit, checks, sample)
        launch.counters.launches = 1
        blocks, threads = int(np.prod(self.grid)), int(np.prod(self.block))
        at_once = blocks if self.cooperative else 1 if self.alone else max(1, threads_at_once // threads)
        launch.logs = list({id(memory.log): memory.log for memory in memories if memory.log is not None}.values())
        arguments = self._arguments(memories)
        with np.errstate(all="ignore"):
            for first in range(0, blocks, at_once):
                self.code.run(Batch(launch, first, min(at_once, blocks - first)), *arguments)
        if checks:
            self._check_outputs(memories)
        return launch.counters

    def _memories(self, arrays: Sequence[np.ndarray | MappedTensor], checks: bool) -> list[MemRef]:
        if len(arrays) != len(self.code.types):
            raise SimulationError(f"the kernel takes {len(self.code.types)} arrays, got {len(arrays)}", kernel=self.name)
        memories = []
        for i, (kind, given) in enumerate(zip(self.code.types, arrays)):
            memref = _memref(kind)
            if isinstance(given, MappedTensor):
                array, shape, fits = given.array, list(given.shape), given.fits and not isinstance(kind, ir.MemRefType)
            else:
                array, shape = given, list(memref.shape)
                fits = isinstance(kind, ir.MemRefType) and array.size == np.prod(shape, dtype=np.int64)
            if not (fits and array.dtype == DTYPES[element_name(memref)] and array.flags.c_contiguous):
                found = f"{array.dtype}{list(array.shape)}"
                raise SimulationError(f"argument {i} is {kind}, got {found} (contiguous: {array.flags.c_contiguous})", kernel=self.name)
            memory = MemRef(array.reshape(-1), shape, row_major(shape), f"argument {i}", readonly=i in self.readonly)
            if isinstance(given, MappedTensor):
                memory.strides, memory.offset = given.steps, given.offset
            memories.append(memory)
        if checks:
            self._attach_logs(memories)
        return memories

    def _arguments(self, memories: list[MemRef]) -> list[MemRef | Descriptor]:
        """What the generated code takes: a tensor map also knows its box."""
        return [m if isinstance(kind, ir.MemRefType) else _descriptor(m, kind) for m, kind in zip(memories, self.code.types)]

    def _attach_logs(self, memories: list[MemRef]) -> None:
        """One log for the arguments that overlap, if the kernel writes any of them."""
        for group in _overlapping(memories):
            written = [i for i in group if i in self.code.stored]
            if not written:
                continue
            if len(group) > 1 and (marked := [i for i in group if i in self.noalias]):
                names = " and ".join(f"argument {i}" for i in group)
                raise SimulationError(f"{names} overlap and are written, but argument {marked[0]} is llvm.noalias", kernel=self.name)
            start = min(_address(memories[i]) for i in group)
            end = max(_address(memories[i]) + memories[i].buffer.nbytes for i in group)
            unit = min(memories[i].itemsize for i in group)
            reads = any(i in self.code.loaded for i in group)
            log = AccessLog((end - start) // unit, unit, across_blocks=True, reads=reads)
            for i in group:
                memories[i].log, memories[i].log_offset = log, (_address(memories[i]) - start) // unit

    def _check_outputs(self, memories: list[MemRef]) -> None:
        """An argument that is only written must be written wholly: the next kernel reads it."""
        groups = {i: group for group in _overlapping(memories) for i in group}
        for i in self.code.stored - self.code.loaded - self.updated:
            memory = memories[i]
            if memory.log is not None and len(groups[i]) == 1 and (missing := memory.log.unwritten()):
                raise SimulationError(f"nobody wrote {missing} of {len(memory.buffer)} elements of {memory.name}", kernel=self.name)


def _memref(kind: ir.Type) -> ir.MemRefType:
    """The memref that an argument is, or that its tensor map names the box by."""
    if isinstance(kind, ir.MemRefType):
        return kind
    found = re.search(r"tensor = (memref<.*>), swizzle", str(kind))
    if found is None:
        raise SimulationError(f"an argument of type {kind}")
    return ir.MemRefType(ir.Type.parse(found[1], kind.context))


def _tensor_map(given: ir.DictAttr, arrays: Sequence[np.ndarray | MappedTensor]) -> MappedTensor:
    """What the kernel says of a tensor map, on the array of its buffer."""
    array = arrays[ir.IntegerAttr(given["argument"]).value]
    assert isinstance(array, np.ndarray)
    extents, strides = (tuple(ir.DenseI64ArrayAttr(given[name])) for name in ("extents", "strides"))
    size = array.itemsize
    return MappedTensor(array, extents, tuple(stride // size for stride in strides), ir.IntegerAttr(given["offset"]).value // size)


def _descriptor(memory: MemRef, kind: ir.Type) -> Descriptor:
    swizzle = re.findall(r"swizzle = (\w+)", str(kind))[0]
    return Descriptor(memory, list(_memref(kind).shape), swizzle)


def _address(memory: MemRef) -> int:
    return memory.buffer.__array_interface__["data"][0]


def _overlapping(memories: list[MemRef]) -> list[list[int]]:
    """Arguments by common memory; one without elements has none, wherever it lies."""
    groups = [[i] for i, memory in enumerate(memories) if not memory.buffer.nbytes]
    order = sorted((i for i, memory in enumerate(memories) if memory.buffer.nbytes), key=lambda i: _address(memories[i]))
    end = -1
    for i in order:
        begin = _address(memories[i])
        if begin < end:
            groups[-1].append(i)
        else:
            groups.append([i])
        end = max(end, begin + memories[i].buffer.nbytes)
    return groups


def _takes_turns(function: ir.Operation) -> bool:
    """Whether blocks may go through different numbers of products of warp groups, which are kept for all blocks of a batch."""
    loops = [op for op in walk(function, "scf.for") if walk(op, "nvvm.wgmma.mma_async")]
    return any((made := defining_op(bound)) is None or made.name != "arith.constant" for op in loops for bound in list(op.operands)[:2])


def _extents(function: ir.Operation, name: str, kernel: str) -> tuple[int, int, int]:
    if name not in function.attributes:
        raise SimulationError(f"the kernel has no {name}", kernel=kernel)
    x, y, z = ir.DenseI32ArrayAttr(function.attributes[name])
    return x, y, z


def _marked(function: ir.Operation, mark: str, count: int) -> set[int]:
    """The arguments that carry an attribute."""
    if "arg_attrs" not in function.attributes:
        return set()
    marks: list[Any] = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    return {i for i in range(min(count, len(marks))) if mark in ir.DictAttr(marks[i])}
