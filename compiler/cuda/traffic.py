"""How many bytes the threads of a kernel ask global memory for, read off a gpu.func at stage gpu.

Each access counts its bytes, times the threads that reach it: all of the grid, times the trips of the loops around it, where the branches
around it and its mask hold. Trips and branches are evaluated by numpy for a sample of blocks and trips, evenly spread; what hangs on values
in memory is taken to hold, so that the figure is an upper bound there. A byte that several threads read counts several times, cache or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.common.rewriting import integer, keyword, walk
from hloom.passes.gpu.support.launch import launch_extents, tensor_maps

_SAMPLED_THREADS = 4096
_SAMPLED_TRIPS = (64, 8, 2)
"""Trips sampled per loop, indexed by nesting depth."""
_READS = ("vector.load", "vector.maskedload", "memref.load", "nvgpu.device_async_copy", "nvgpu.tma.async.load")
_WRITES = ("vector.store", "vector.maskedstore", "memref.store", "nvgpu.tma.async.store")
_BOTH = ("memref.atomic_rmw",)


@dataclass(frozen=True)
class Traffic:
    """Bytes of global memory that all threads of a launch read and write, by the number of the kernel's argument."""

    read: Mapping[int, int]
    written: Mapping[int, int]


def traffic(kernel: ir.Operation) -> Traffic:
    """What a launch of a gpu.func asks for; its grid and block are those of its attributes."""
    threads = _Threads(kernel)
    read, written = Counter[int](), Counter[int]()
    for op in walk(kernel, lambda op: op.name in _READS + _WRITES + _BOTH):
        argument, size = _accessed(op)
        if size:
            reached = round(size * threads.reaching(op))
            read[argument] += reached if op.name not in _WRITES else 0
            written[argument] += reached if op.name not in _READS else 0
    return Traffic(dict(+read), dict(+written))


def _accessed(op: ir.Operation) -> tuple[int, int]:
    """The kernel's argument that an access reaches, and how many bytes one execution moves; none of what no argument holds."""
    memories = [v for v in op.operands if isinstance(v.type, ir.MemRefType)]
    outside = [v for v in op.operands if "tensormap" in str(v.type)] or [v for v in memories if not _is_shared(v.type)]
    if not outside:
        return 0, 0
    argument = _argument_of(outside[0])
    if argument is None:
        return 0, 0
    if op.name.startswith("nvgpu.tma"):
        boxes = [ir.MemRefType(v.type) for v in memories if _is_shared(v.type)]
        return argument, byte_size(boxes[0].element_type) * prod(boxes[0].shape) if boxes else 0
    elements = [prod(ir.VectorType(v.type).shape) for v in [*op.results, *op.operands] if isinstance(v.type, ir.VectorType)]
    if op.name == "nvgpu.device_async_copy":
        elements = [integer(op, "dstElements")]
    return argument, (elements[0] if elements else 1) * byte_size(ir.MemRefType(outside[0].type).element_type)


def _argument_of(memory: ir.Value) -> int | None:
    """The number of the kernel's argument that a memref is, or is a view of, or that a tensor map describes; none of a constant."""
    while not isinstance(memory.owner, ir.Block):
        made = memory.owner.operation
        if not made.operands:
            return None
        memory = made.operands[0]
    number, kernel = ir.BlockArgument(memory).arg_number, memory.owner.owner.operation
    maps = tensor_maps(kernel)
    if isinstance(memory.type, ir.MemRefType) or not maps:
        return number
    first = len(memory.owner.arguments) - len(maps)
    return ir.IntegerAttr(maps[number - first]["argument"]).value


def _is_shared(memory: ir.Type) -> bool:
    space = ir.MemRefType(memory).memory_space
    return space is not None and "workgroup" in str(space)


def byte_size(element: ir.Type) -> int:
    """Bytes of an element in memory: an index has 8, an i1 has 1."""
    return max(1, getattr(element, "width", 64) // 8)


class _Threads:
    """Evaluates indices and conditions for the sampled threads: arrays that broadcast to (trips of loops…, blocks, threads)."""

    def __init__(self, kernel: ir.Operation):
        self.grid, self.block = (launch_extents(kernel, what) for what in ("grid", "block"))
        blocks, threads = prod(self.grid), prod(self.block)
        sampled = min(blocks, max(1, _SAMPLED_THREADS // threads))
        self.all = blocks * threads
        self._blocks = (np.arange(sampled) * blocks // sampled)[:, None]
        self._threads = np.arange(threads)[None, :]
        self._known: dict[ir.Value, Any] = {}
        self._loops: dict[ir.Operation, tuple[Any, Any]] = {}
        self._weights: dict[ir.Block, Any] = {}

    def reaching(self, op: ir.Operation) -> float:
        """How often threads execute `op`, all together."""
        weight = self._weight(op.block)
        return float(np.mean(weight * self._share(op))) * self.all

    def _share(self, op: ir.Operation) -> Any:
        """How much of the access is made: the rest is masked, or filled with zeros."""
        limit, length = None, 1
        if op.name == "nvgpu.device_async_copy":
            if list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-1]:
                limit, length = list(op.operands)[-1], integer(op, "dstElements")
        elif op.name.startswith("vector.masked"):
            mask = next(v for v in op.operands if isinstance(v.type, ir.VectorType) and str(v.type).endswith("xi1>"))
            if not isinstance(mask.owner, ir.Block) and mask.owner.name == "vector.create_mask" and len(mask.owner.operands) == 1:
                limit, length = mask.owner.operands[0], ir.VectorType(mask.type).shape[0]
        elif op.name == "nvgpu.tma.async.load" and list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[-1]:
            limit = list(op.operands)[-1]
        known = None if limit is None else self.value(limit)
        return 1.0 if known is None else np.clip(known, 0, length) / length

    def _weight(self, block: ir.Block) -> Any:
        """How often a thread enters `block`."""
        if block not in self._weights:
            self._weights[block] = self._entered(block)
        return self._weights[block]

    def _entered(self, block: ir.Block) -> Any:
        op = block.owner.operation
        if op.name == "gpu.func":
            return np.float64(1)
        outer = self._weight(op.block)
        if op.name == "scf.for":
            return outer * self._loop(op)[0]
        if op.name == "scf.if":
            condition = self.value(op.operands[0])
            if condition is None:
                return outer
            taken = block == op.regions[0].blocks[0]
            return outer * np.asarray(condition, bool) if taken else outer * ~np.asarray(condition, bool)
        return outer

    def _loop(self, op: ir.Operation) -> tuple[Any, Any]:
        """The trips of a loop, and its induction variable on a sample of them, along an axis of its own."""
        if op not in self._loops:
            lower, upper, step = (self.value(v) for v in list(op.operands)[:3])
            if lower is None or upper is None or step is None:
                self._loops[op] = np.float64(1), None
            else:
                trips = np.maximum(0, -(-(np.asarray(upper) - lower) // step))
                depth = self._depth(op)
                sampled = int(min(_SAMPLED_TRIPS[min(depth, len(_SAMPLED_TRIPS) - 1)], max(1, np.max(trips))))
                axis = np.arange(sampled).reshape(-1, *[1] * (2 + depth))
                self._loops[op] = trips, lower + step * (axis * trips // sampled)
        return self._loops[op]

    @staticmethod
    def _depth(op: ir.Operation) -> int:
        """The loops around a loop."""
        depth, parent = 0, op.parent
        while parent is not None and parent.operation.name != "gpu.func":
            depth += parent.operation.name == "scf.for"
            parent = parent.operation.parent
        return depth

    def value(self, value: ir.Value) -> Any:
        """The value as an array, None where it is not known."""
        if value not in self._known:
            self._known[value] = self._argument(value) if isinstance(value.owner, ir.Block) else self._computed(value)
        return self._known[value]

    def _argument(self, value: ir.Value) -> Any:
        owner = value.owner.owner.operation
        induction = owner.name == "scf.for" and ir.BlockArgument(value).arg_number == 0
        return self._loop(owner)[1] if induction else None

    def _computed(self, value: ir.Value) -> Any:
        op = value.owner.operation
        if op.name == "arith.constant":
            attribute = op.attributes["value"]
            return np.int64(ir.IntegerAttr(attribute).value) if isinstance(attribute, ir.IntegerAttr | ir.BoolAttr) else None
        if op.name in ("gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim"):
            return self._position(op)
        function = _COMPARISONS.get(_predicate(op)) if op.name == "arith.cmpi" else _ARITHMETIC.get(op.name)
        if function is None or any(isinstance(v.type, ir.VectorType) for v in op.operands):
            return None
        operands = [self.value(v) for v in op.operands]
        return None if any(v is None for v in operands) else function(*operands)

    def _position(self, op: ir.Operation) -> Any:
        axis = "xyz".index(keyword(op, "dimension"))
        of_block = op.name.startswith("gpu.block_id")
        extents = self.grid if of_block or op.name == "gpu.grid_dim" else self.block
        if op.name.endswith("_dim"):
            return np.int64(extents[axis])
        return (self._blocks if of_block else self._threads) // prod(extents[:axis]) % extents[axis]


def _divide(a: Any, b: Any) -> Any:
    return a // np.maximum(b, 1)


def _remainder(a: Any, b: Any) -> Any:
    return a % np.maximum(b, 1)


def _same(a: Any) -> Any:
    return a


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.divui": _divide, "arith.divsi": _divide,
    "arith.floordivsi": _divide, "arith.remui": _remainder, "arith.remsi": _remainder, "arith.minui": np.minimum, "arith.minsi": np.minimum,
    "arith.maxui": np.maximum, "arith.maxsi": np.maximum, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor, "arith.shli": np.left_shift, "arith.shrui": np.right_shift, "arith.shrsi": np.right_shift,
    "arith.select": np.where,
    "arith.index_cast": _same, "arith.index_castui": _same, "arith.extsi": _same, "arith.extui": _same, "arith.trunci": _same,
}  # fmt: skip
"""Arithmetic of indices, which are never negative where they are divided."""
_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")


def _predicate(op: ir.Operation) -> str:
    return _PREDICATES[integer(op, "predicate")]
