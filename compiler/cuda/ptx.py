"""gpu → nvvm → PTX.

The kernels of a gpu.module are taken to the LLVM and NVVM dialects by the bundle `stage-nvvm` (stage_passes.py). MLIR translates them to
LLVM IR text, which llvmlite reads; they are linked with libdevice's functions, optimised and emitted.
"""

from __future__ import annotations

import functools

import llvmlite.binding as llvm
from torch_mlir import ir
from torch_mlir._mlir_libs._mlirDialectsLLVM import translate_module_to_llvmir

from hloom.dialects.target import TargetView, attach_target
from hloom.passes.common.rewriting import ops_in, walk
from hloom.passes.errors import CompileError

from ..instrument import Instrumentation
from ..llvm_passes import optimise
from ..llvm_text import fix_float_literals
from ..passmanager import parse_pipeline, run_steps
from ..stage_passes import NVVM
from .libdevice import link_libdevice

_TRIPLE = "nvptx64-nvidia-cuda"


def emit_ptx(gpu_module: ir.Operation, target: TargetView, watch: Instrumentation | None = None) -> str:
    """PTX text of all kernels of a gpu.module, at stage gpu or nvvm. Raises CompileError."""
    return to_ptx(to_llvm_ir(lower_to_nvvm(gpu_module, target, watch), target), target)


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


def to_llvm_ir(module: ir.Module, target: TargetView) -> str:
    """LLVM IR text that llvmlite reads, of a module that holds one gpu.module at stage nvvm. That module is emptied."""
    with module.context, ir.Location.unknown():
        flat = ir.Module.create()
        for op in ops_in(module.body.operations[0].regions[0].blocks[0]):
            op.detach_from_parent()
            flat.body.append(op)
        # here rather than on the text: an access that states no alignment has its type's, which the layout decides
        flat.operation.attributes["llvm.data_layout"] = ir.StringAttr.get(str(_machine(target.cpu, target.features).target_data))
        flat.operation.attributes["llvm.target_triple"] = ir.StringAttr.get(_TRIPLE)
    return fix_float_literals(translate_module_to_llvmir(flat.operation))


def to_ptx(text: str, target: TargetView) -> str:
    """PTX text of a module in LLVM IR text. It must have passed verify-nvvm: LLVM ends the process on what it has no code for."""
    machine = _machine(target.cpu, target.features)
    context = llvm.create_context()
    with llvm.parse_assembly(text, context) as module:  # closed before its context, whatever an error's traceback holds
        link_libdevice(module, machine, context)
        optimise(module, machine, llvm.create_pipeline_tuning_options(speed_level=3))
        return machine.emit_assembly(module)


@functools.cache
def _machine(cpu: str, features: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(_TRIPLE).create_target_machine(cpu=cpu, features=features, opt=3)
