"""gpu → nvvm: the kernels of a gpu.module in the LLVM and NVVM dialects.

The passes are the bundle `stage-nvvm` (stage_passes.py); hloom's among them do what upstream's leave, each documented in its file.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import TargetView, attach_target
from hloom.passes.common.rewriting import walk
from hloom.passes.errors import CompileError

from ..instrument import Instrumentation
from ..passmanager import parse_pipeline, run_steps
from ..stage_passes import NVVM


def lower_to_nvvm(gpu_module: ir.Operation, target: TargetView, watch: Instrumentation | None = None) -> ir.Module:
    """A module of its own that holds a copy of `gpu_module`, taken to nvvm. `gpu_module` may already be there."""
    source = only_gpu_module(gpu_module)
    with source.context, ir.Location.unknown():
        module = ir.Module.create()
        module.body.append(source.clone())
        attach_target(module.operation, target)
        run_steps(module.operation, parse_pipeline(",".join(NVVM), source.context), watch, stage="nvvm")
    return module


def only_gpu_module(op: ir.Operation | ir.Module) -> ir.Operation:
    """`op` itself, or the one gpu.module inside. Raises CompileError where there is none, or several."""
    root = op.operation
    if root.name == "gpu.module":
        return root
    found = walk(root, "gpu.module")
    if len(found) != 1:
        raise CompileError(f"expected one gpu.module, found {len(found)}", stage="nvvm", remedy="run the gpu stage first")
    return found[0]
