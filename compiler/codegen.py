"""llvm → object: the LLVM-dialect module as an ELF object for the target, through llvmlite."""

from __future__ import annotations

import llvmlite.binding as llvm
from torch_mlir import ir
from torch_mlir.dialects.llvm import translate_module_to_llvmir

from hloom.dialects.target import TargetView, target_of
from hloom.passes.errors import CompileError
from hloom.passes.rewriting import walk

from .llvm_text import bfloat_as_bits, fix_float_literals

_initialised = False


def emit_object(module: ir.Operation) -> bytes:
    """The ELF object of a module in the LLVM dialect. Raises CompileError where an op of another dialect is left."""
    return _machine(target_of(module)).emit_object(_optimised(module))


def emit_assembly(module: ir.Operation) -> str:
    """The same as assembly text, to be read."""
    return _machine(target_of(module)).emit_assembly(_optimised(module))


def to_llvm_ir(module: ir.Operation) -> str:
    """LLVM IR text that llvmlite reads. The translation crashes on ops of other dialects, so they are looked for first."""
    left = {op.name for op in walk(module.operation) if op.name.split(".")[0] not in ("llvm", "builtin")}
    left |= {op.name for op in walk(module.operation, "builtin.unrealized_conversion_cast")}
    if left:
        raise CompileError(
            f"ops that are not of the LLVM dialect: {', '.join(sorted(left))}", stage="object", remedy="run the llvm stage first"
        )
    target = target_of(module)
    with module.context:
        width = ir.Attribute.parse(f'[["prefer-vector-width", "{target.vector_bits}"]]')
        for function in walk(module.operation, "llvm.func"):
            if len(function.regions[0].blocks):
                function.attributes["passthrough"] = width
    text = fix_float_literals(translate_module_to_llvmir(module.operation))
    return text if target.bf16_dot else bfloat_as_bits(text)


def _machine(target: TargetView) -> llvm.TargetMachine:
    global _initialised
    if not _initialised:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _initialised = True
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default")


def _optimised(module: ir.Operation) -> llvm.ModuleRef:
    machine = _machine(target_of(module))
    parsed = llvm.parse_assembly(to_llvm_ir(module))
    parsed.triple = target_of(module).triple
    parsed.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.slp_vectorization = True
    options.loop_vectorization = True
    # LLVM's unroller unrolls loops of few vector chunks wholly, and spills
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return parsed
