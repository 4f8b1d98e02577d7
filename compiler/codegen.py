"""llvm → object: the LLVM-dialect module as objects for the target (ELF, Mach-O for macOS), through llvmlite."""

from __future__ import annotations

import llvmlite.binding as llvm
from torch_mlir import ir
from torch_mlir._mlir_libs._mlirDialectsLLVM import translate_module_to_llvmir

from hloom.dialects.target import TargetView, target_of
from hloom.passes.common.rewriting import inner_ops, top_level
from hloom.passes.errors import CompileError, PassFailure
from hloom.runtime.interrupts import uninterrupted
from hloom.runtime.llvm import initialise_all
from hloom.runtime.manifest import INTERFACE

from .llvm_passes import Job, assembly_of, objects_of
from .llvm_split import EFFORT, Effort, split
from .llvm_text import bfloat_as_bits, fix_float_literals

_FRAME_BYTES = 16


@uninterrupted()
def emit_objects(module: ir.Operation, interface: str) -> list[bytes]:
    """The objects of a module in the LLVM dialect; the first holds `interface` (runtime/manifest.py) at the symbol of that name.

    Raises CompileError where an op of another dialect is left.
    """
    target = target_of(module)
    first, *others = split(to_llvm_ir(module))
    texts = (first.text + text_global(INTERFACE, interface), *(part.text for part in others))
    return objects_of([_job(text, target, part.effort) for text, part in zip(texts, (first, *others))])


def text_global(name: str, value: str) -> str:
    """LLVM IR of a constant that holds the ASCII text and a zero."""
    return f'@{name} = constant [{len(value) + 1} x i8] c"{value}\\00"\n'


@uninterrupted()
def emit_assembly(module: ir.Operation) -> str:
    """The same as assembly text, to be read."""
    target = target_of(module)
    return "".join(assembly_of(_job(part.text, target, part.effort)) for part in split(to_llvm_ir(module)))


def to_llvm_ir(module: ir.Operation) -> str:
    """LLVM IR text that llvmlite reads. The translation crashes on ops of other dialects, so they are looked for first."""
    left = {name for name in {op.name for op in inner_ops(module.operation)} if not name.startswith("llvm.") and name != "builtin.module"}
    if left:
        raise CompileError(
            f"ops that are not of the LLVM dialect: {', '.join(sorted(left))}", stage="object", remedy="run the llvm stage first"
        )
    target = target_of(module)
    with module.context:
        width = ir.Attribute.parse(f'["prefer-vector-width", "{target.vector_bits}"]')
        frame = _aligned_frame(target)
        for function in top_level(module.operation, "llvm.func"):
            if len(function.regions[0].blocks):
                effort = function.attributes["hloom.effort"] if "hloom.effort" in function.attributes else None
                marks = [ir.ArrayAttr.get([ir.StringAttr.get(EFFORT), effort])] if effort else []
                function.attributes["passthrough"] = ir.ArrayAttr.get([width, *frame, *marks])
    return bfloat_as_bits(fix_float_literals(translate_module_to_llvmir(module.operation)))


def _aligned_frame(target: TargetView) -> list[ir.Attribute]:
    """Marks of a function whose frame begins where a register may: LLVM decides whether it does before it knows of registers that it puts
    there, and each that lies across two cache lines takes both. Platforms align frames to 16 bytes themselves."""
    size = target.vector_bits // 8
    return [ir.Attribute.parse(mark) for mark in ('"stackrealign"', f'["alignstack", "{size}"]')] if size > _FRAME_BYTES else []


def _machine(target: TargetView) -> llvm.TargetMachine:
    initialise_all()
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default")


def parse_verified(text: str) -> llvm.ModuleRef:
    """Verified, for LLVM's passes end the process where it is not valid."""
    try:
        parsed = llvm.parse_assembly(text, llvm.create_context())
        parsed.verify()
    except RuntimeError as error:
        raise PassFailure(f"LLVM refuses the kernels' code: {error}", stage="object") from None
    return parsed


def _job(text: str, target: TargetView, effort: Effort) -> Job:
    machine, module = _machine(target), parse_verified(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.slp_vectorization = True
    options.loop_vectorization = True
    # LLVM's unroller unrolls loops of few vector chunks wholly, and spills
    options.loop_unrolling = False
    return Job(module, machine, options, effort)
