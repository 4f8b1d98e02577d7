"""grid-constants: tensor maps are parameters by value, read where the launch put them.

Before:
    llvm.func @fusion_0(%x: !llvm.ptr, %map: !llvm.ptr) attributes {nvvm.kernel} {
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %barrier, box [%i, %j] …
After:
    llvm.func @fusion_0(%x: !llvm.ptr, %map: !llvm.ptr
        {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel} { … }

Without nvvm.grid_constant LLVM would copy them to local memory, where the tensor memory accelerator cannot read them.

Must hold: the kernels are llvm.funcs, TMA is still nvvm ops. Declined: kernels without TMA.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import defining_op, is_block_argument, walk
from ..registry import register_pass

_LOAD = "nvvm.cp.async.bulk.tensor.shared.cluster.global"
_BY_VALUE = "{llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}"


@register_pass("grid-constants", "takes the tensor maps of kernels by value")
def grid_constants(module: ir.Operation) -> None:
    for kernel in walk(module, lambda op: op.name == "llvm.func" and "nvvm.kernel" in op.attributes):
        maps = {_parameter(load.operands[1]) for load in walk(kernel, _LOAD)}
        if not maps:
            continue
        count = len(kernel.regions[0].blocks[0].arguments)
        given = list(kernel.attributes["arg_attrs"]) if "arg_attrs" in kernel.attributes else [ir.DictAttr.get({})] * count
        by_value = ir.Attribute.parse(_BY_VALUE)
        kernel.attributes["arg_attrs"] = ir.ArrayAttr.get([by_value if i in maps else given[i] for i in range(count)])


def _parameter(value: ir.Value) -> int:
    """The number of the kernel's parameter that a tensor map is."""
    while not is_block_argument(value):
        op = defining_op(value)
        assert op is not None and op.name == "builtin.unrealized_conversion_cast"
        value = op.operands[0]
    return ir.BlockArgument(value).arg_number
