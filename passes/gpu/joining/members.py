"""The kernels that may become one: what each needs of a block and of a multiprocessor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView

from ...common.launches import members_of
from ...common.rewriting import integer, symbol_name, walk
from ..support.emit import WARP
from ..support.launch import TENSOR_MAPS, UPDATED, launch_extents

_RESERVED_SHARED = 1024
"""Shared memory that CUDA takes of each block."""
_LOSS_PERCENT = 10
"""A kernel keeps all of its resident threads but so many."""


@dataclass(frozen=True)
class Kernel:
    """A gpu.func. `shared`: its static shared memory in bytes, `dynamic` what a launch asks for beside it."""

    op: ir.Operation
    blocks: int
    threads: int
    shared: int
    dynamic: int
    synchronises: bool

    @classmethod
    def of(cls, op: ir.Operation) -> Kernel:
        block = op.regions[0].blocks[0]
        inputs = len(ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs)
        held = [argument.type for argument in list(block.arguments)[inputs:]]
        held += [each.results[0].type for each in walk(op, _names_shared)]
        synchronises = any(True for _ in walk(op, "gpu.barrier"))
        (blocks, *_), (threads, *_) = launch_extents(op, "grid"), launch_extents(op, "block")
        return cls(op, blocks, threads, sum(map(padded, held)), integer(op, "hloom.shared_bytes", 0), synchronises)

    @property
    def name(self) -> str:
        return symbol_name(self.op)

    @property
    def members(self) -> list[str]:
        """The kernels that it was made of, or itself."""
        return members_of(self.op) or [self.name]

    def may_be_part_of(self, threads: int) -> bool:
        """Whether it runs on the first threads of blocks of so many: barriers of some of a block's threads are of whole warps."""
        return not self.synchronises or self.threads == threads or self.threads % WARP == 0

    @property
    def obstacle(self) -> str:
        """Why it shares its launch with no other; empty if it may."""
        if TENSOR_MAPS in self.op.attributes or UPDATED in self.op.attributes:
            return "it has tensor maps of its buffers, or updates parts of them"
        if walk(self.op, lambda each: each.name.startswith("nvvm.wgmma")):
            return "its warp groups multiply together, which other kernels' blocks and threads would not do"
        return ""


def padded(kind: ir.Type) -> int:
    """The bytes of a buffer in shared memory, up to the next one."""
    return -(-byte_size(kind) // 128) * 128


def is_shared(kind: ir.Type) -> bool:
    return isinstance(kind, ir.MemRefType) and "workgroup" in str(ir.MemRefType(kind).memory_space)


def _names_shared(op: ir.Operation) -> bool:
    return op.name == "memref.get_global" and is_shared(op.results[0].type)


def together(kernels: Sequence[Kernel], target: TargetView) -> tuple[list[list[int]], str]:
    """The numbers of the kernels in sets that may become one each, and why they are several, if they are: by the size of their blocks, at
    most twice another's, and of whole warps where they synchronise."""
    sets: list[list[int]] = []
    why = ""
    for number in sorted(range(len(kernels)), key=lambda each: -kernels[each].threads):
        kernel, reason = kernels[number], kernels[number].obstacle
        for members in sets:
            reason = reason or kernels[members[0]].obstacle or _apart([kernels[each] for each in members], kernel, target)
            if not reason:
                members.append(number)
                break
            why, reason = reason, kernel.obstacle
        else:
            why = reason or why
            sets.append([number])
    return [sorted(members) for members in sets], why


def _apart(members: Sequence[Kernel], kernel: Kernel, target: TargetView) -> str:
    """Why a kernel of smaller, or equal, blocks does not join the others."""
    threads = members[0].threads
    few = sum(each.blocks for each in [*members, kernel]) <= target.multiprocessors
    if (2 * kernel.threads < threads and not few) or not kernel.may_be_part_of(threads):
        return f"blocks of {threads} threads and of {kernel.threads}"
    union = [*members, kernel]
    held = resident_blocks(union, target)
    needed = -(-sum(each.blocks for each in union) // target.multiprocessors)
    for each in union:
        own = min(needed, resident_blocks([each], target))
        if 100 * held < (100 - _LOSS_PERCENT) * own:
            return f"{held} blocks a multiprocessor, of which @{each.name} alone has {own}"
    return ""


def resident_blocks(kernels: Sequence[Kernel], target: TargetView) -> int:
    """Blocks that a multiprocessor holds at once if each may run any of the kernels, as far as threads and shared memory let it."""
    threads, shared = max(each.threads for each in kernels), max(each.shared for each in kernels)
    by_threads = target.threads_per_multiprocessor // (-(-threads // WARP) * WARP)
    by_shared = target.shared_bytes_per_multiprocessor // (shared + max(each.dynamic for each in kernels) + _RESERVED_SHARED)
    return min(by_threads, target.blocks_per_multiprocessor, by_shared)
