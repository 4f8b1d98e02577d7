"""How the kernels of a GPU are launched, as an artifact says it (docs/artifact.md)."""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from hloom.passes.common.rewriting import integer, symbol_name, walk
from hloom.passes.errors import CompileError
from hloom.passes.gpu.contraction.tma import box_of
from hloom.passes.gpu.support.launch import is_cooperative, is_kernel, launch_extents, tensor_maps


def launches(module: ir.Operation) -> dict[str, dict[str, Any]]:
    """Grid, block, shared memory, tensor maps and whether its blocks wait for each other, of every kernel of the module, by its name."""
    return {symbol_name(kernel): _launch(kernel) for kernel in walk(module, "gpu.func") if is_kernel(kernel)}


def _launch(kernel: ir.Operation) -> dict[str, Any]:
    missing = [name for name in ("known_grid_size", "known_block_size") if name not in kernel.attributes]
    if missing:
        raise CompileError(f"the kernel @{symbol_name(kernel)} has no {missing[0]}", loc=str(kernel.location), stage="thunk")
    maps = _tensor_maps(kernel)
    arguments = list(kernel.attributes["arg_attrs"]) if "arg_attrs" in kernel.attributes else []
    exclusive = ["llvm.noalias" in ir.DictAttr(given) for given in arguments[: len(arguments) - len(maps)]]
    launch: dict[str, Any] = {what: launch_extents(kernel, what) for what in ("grid", "block")}
    launch |= {"shared_bytes": integer(kernel, "hloom.shared_bytes", 0), "noalias": exclusive}
    return launch | ({"tensor_maps": maps} if maps else {}) | ({"cooperative": True} if is_cooperative(kernel) else {})


def _tensor_maps(kernel: ir.Operation) -> list[dict[str, Any]]:
    """The tensor maps that a kernel takes behind its buffers: what its attribute says, and the box and swizzle of each one's type."""
    given = tensor_maps(kernel)
    types = list(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).inputs)
    found = []
    for attributes, kind in zip(given, types[len(types) - len(given) :]):
        box, swizzle = box_of(kind)
        entry: dict[str, Any] = {name: ir.IntegerAttr(attributes[name]).value for name in ("argument", "offset")}
        entry |= {name: list(ir.DenseI64ArrayAttr(attributes[name])) for name in ("extents", "strides")}
        found.append(entry | {"dtype": str(box.element_type), "box": list(box.shape), "swizzle": swizzle})
    return found
