"""Makes the gpu.func that a group function becomes: its buffers, launch shape and shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import gpu, memref, nvvm  # noqa: F401  the bindings would import nvvm amid a pass

from hloom.dialects.storage import element_bytes

from ...common.launches import ALONE
from ...common.rewriting import create, i64_attr, index_constant, symbol_name, walk
from ...common.storage import buffer_type
from ...tiled.schedules.gpu_contraction import STATIC_SHARED_BYTES
from ..contraction.tma import TensorMapParameter
from .emit import WORKGROUP

MODULE = "kernels"
ALIGNMENT = 128
SWIZZLE_ALIGNMENT = 1024
"""The alignment of tiles that wgmma reads: it swizzles by addresses, in patterns of eight times 128 bytes. Dynamic memory always has it."""
TENSOR_MAPS = "hloom.tensor_maps"
"""A kernel's attribute: the buffer, the offset in it, the extents and the strides of each tensor map that the kernel takes behind its
buffers."""
UPDATED = "hloom.updated"
"""A kernel's attribute: the numbers of its buffers of which it writes a part: those of a scatter hold the rest when it begins, of the rest
of a partial sort nothing is read."""
_KEPT = ("hloom.bytes", "hloom.cost_ps", "hloom.flops", ALONE)
"""The planner's figures of a group, which the kernel keeps for the host program and for hloom-explain, and what a policy says of it."""


@dataclass
class OpenKernel:
    """A gpu.func under construction; its block ends in gpu.return, before which everything is emitted."""

    op: ir.Operation
    buffers: list[ir.Value]
    """Inputs, then outputs: one-dimensional memrefs."""
    maps: list[ir.Value] = field(default_factory=list)
    """Tensor maps of inputs (tma.py)."""

    @property
    def body(self) -> ir.InsertionPoint:
        """Where the kernel's code goes."""
        block = self.op.regions[0].blocks[0]
        return ir.InsertionPoint(list(block.operations)[-1])

    def keep_resident(self, threads: int) -> None:
        """Bounds the registers of a thread so that a multiprocessor holds at least `threads` threads of this kernel at once."""
        block = next(iter(ir.DenseI32ArrayAttr(self.op.attributes["known_block_size"])))
        self.op.attributes["nvvm.minctasm"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), max(1, threads // block))

    def arena(self, size: int, alignment: int = ALIGNMENT) -> ir.Value:
        """The kernel's shared memory as bytes; to be called once, where code is emitted.

        More than may be static is dynamic, and then hloom.shared_bytes says how much a launch has to ask for.
        """
        if size > STATIC_SHARED_BYTES:
            self.op.attributes["hloom.shared_bytes"] = i64_attr(size)
            return gpu.dynamic_shared_memory(ir.Type.parse(f"memref<?xi8, {WORKGROUP}>"))
        kind = _shared_type([size], ir.IntegerType.get_signless(8))
        symbol = f"{symbol_name(self.op)}_shared"
        with ir.InsertionPoint(self.op):
            memref.global_(symbol, ir.TypeAttr.get(kind), sym_visibility="private", alignment=alignment)
        return memref.get_global(kind, symbol)


def is_kernel(function: ir.Operation) -> bool:
    """Whether a gpu.func is launched from the host: parsed ones carry the mark as a property, those that a pass built as an attribute."""
    return "kernel" in function.attributes or "gpu.kernel" in function.attributes


def is_cooperative(kernel: ir.Operation) -> bool:
    """Whether the blocks of a gpu.func wait for each other, and so must all be there at once."""
    return any(True for _ in walk(kernel, "grid.barrier"))


def launch_extents(kernel: ir.Operation, what: str) -> list[int]:
    """The "grid" (in blocks) or the "block" (in threads) that a gpu.func is launched with, of x, y and z; ones where it does not say."""
    name = f"known_{what}_size"
    return list(ir.DenseI32ArrayAttr(kernel.attributes[name])) if name in kernel.attributes else [1, 1, 1]


def tensor_maps(kernel: ir.Operation) -> list[ir.DictAttr]:
    """What a gpu.func says of each tensor map that it takes behind its buffers."""
    return [ir.DictAttr(given) for given in kernel.attributes[TENSOR_MAPS]] if TENSOR_MAPS in kernel.attributes else []


def shared_bytes(shape: Sequence[int], element: ir.Type) -> int:
    """The bytes of a buffer of that shape in shared memory."""
    return prod(shape) * element_bytes(element)


def shared_view(arena: ir.Value, offset: int, shape: Sequence[int], element: ir.Type) -> ir.Value:
    """A buffer at a byte offset of the arena. Views that overlap need a barrier between the last use of one and the first of the other."""
    return memref.view(_shared_type(shape, element), arena, index_constant(offset), [])


def _shared_type(shape: Sequence[int], element: ir.Type) -> ir.Type:
    return ir.Type.parse(f"memref<{'x'.join(map(str, shape))}x{element}, {WORKGROUP}>")


def open_kernel(
    function: ir.Operation, blocks: int, threads: int, layout: dict[str, str | int], maps: Sequence[TensorMapParameter] = ()
) -> OpenKernel:
    """The kernel of `function`'s name in the module's @kernels, with `blocks` x `threads` and the readable `layout` as attributes.

    Behind its buffers it takes tensor maps of them.
    """
    block = function.regions[0].blocks[0]
    inputs = [a.type for a in block.arguments]
    outputs = [v.type for v in list(block.operations)[-1].operation.operands]
    shared = list(ir.DenseI64ArrayAttr(function.attributes["hloom.inplace"])) if "hloom.inplace" in function.attributes else []
    pairs = list(zip(shared[::2], shared[1::2]))
    types = [buffer_type(t) for t in [*inputs, *outputs]]
    exclusive = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
    read_only = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get(), "llvm.readonly": ir.UnitAttr.get()})
    both = ir.DictAttr.get({})
    arguments = [both if i in {a for a, _ in pairs} else read_only for i in range(len(inputs))]
    arguments += [both if i in {b for _, b in pairs} else exclusive for i in range(len(outputs))]
    arguments += [both] * len(maps)
    readable = {name: i64_attr(value) if isinstance(value, int) else ir.StringAttr.get(value) for name, value in layout.items()}
    count = len(types)
    types += [tensor.type for tensor in maps]
    with ir.InsertionPoint(_kernels(function)):
        op = create(
            "gpu.func",
            regions=1,
            sym_name=ir.StringAttr.get(symbol_name(function)),
            function_type=ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            arg_attrs=ir.ArrayAttr.get(arguments),
            workgroup_attributions=i64_attr(0),
            known_block_size=ir.DenseI32ArrayAttr.get([threads, 1, 1]),
            known_grid_size=ir.DenseI32ArrayAttr.get([blocks, 1, 1]),
            **{
                "gpu.kernel": ir.UnitAttr.get(),
                "hloom.shared_bytes": i64_attr(0),
                **{name: function.attributes[name] for name in _KEPT if name in function.attributes},
                **({TENSOR_MAPS: ir.ArrayAttr.get([tensor.attribute for tensor in maps])} if maps else {}),
                "hloom.layouts": ir.DictAttr.get(readable),
            },
        )
        entry = op.regions[0].blocks.append(*types)
    with ir.InsertionPoint(entry):
        create("gpu.return")
    return OpenKernel(op, list(entry.arguments)[:count], list(entry.arguments)[count:])


def _kernels(function: ir.Operation) -> ir.Block:
    """The body of the gpu.module that holds the kernels of `function`'s module; made where there is none."""
    module = function.parent.operation
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "gpu.module" and symbol_name(op.operation) == MODULE:
            return op.operation.regions[0].blocks[0]
    with ir.InsertionPoint(module.regions[0].blocks[0]):
        made = create("gpu.module", regions=1, sym_name=ir.StringAttr.get(MODULE))
    return made.regions[0].blocks.append()
