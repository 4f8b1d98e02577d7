"""tensor-map-parameters: the tensor maps that kernels take become pointers, which upstream's conversions know.

Before:
    gpu.func @fusion_0(%x: memref<4096xf16>, %map: !nvgpu.tensormap.descriptor<…>) kernel { nvgpu.tma.async.load %map[…] … }
After:
    gpu.func @fusion_0(%x: memref<4096xf16>, %0: !llvm.ptr) kernel {
      %map = builtin.unrealized_conversion_cast %0 : !llvm.ptr to !nvgpu.tensormap.descriptor<…>
      nvgpu.tma.async.load %map[…] … }

convert-nvgpu-to-nvvm removes the cast. The pass grid-constants marks the pointer's target as passed by value.

Must hold: stage gpu. Declined: other parameters.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import value_of, walk
from ..registry import register_pass

_MAP = "!nvgpu.tensormap.descriptor<"


@register_pass("tensor-map-parameters", "takes tensor maps as pointers")
def tensor_map_parameters(module: ir.Operation) -> None:
    for kernel in walk(module, "gpu.func"):
        if any(str(argument.type).startswith(_MAP) for argument in kernel.regions[0].blocks[0].arguments):
            _as_pointers(kernel)


def _as_pointers(kernel: ir.Operation) -> None:
    block, pointer = kernel.regions[0].blocks[0], ir.Type.parse("!llvm.ptr", kernel.context)
    with ir.InsertionPoint.at_block_begin(block), kernel.location:
        for argument in block.arguments:
            if not str(argument.type).startswith(_MAP):
                continue
            descriptor = argument.type
            argument.set_type(pointer)
            cast = value_of("builtin.unrealized_conversion_cast", descriptor, [argument])
            argument.replace_all_uses_except(cast, cast.owner.operation)
    parameters = len(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).inputs)
    types = [argument.type for argument in list(block.arguments)[:parameters]]
    kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, [], kernel.context))
