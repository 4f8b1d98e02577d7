"""LLVM's passes over a module of llvmlite's."""

from __future__ import annotations

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager


def optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, options: llvm.PipelineTuningOptions) -> None:
    """Runs LLVM's default pipeline at the options' level."""
    builder = llvm.create_pass_builder(machine, options)
    run_passes(builder.getModulePassManager(), module, builder)


def run_passes(passes: llvm.ModulePassManager, module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    """Runs `passes`, which are gone afterwards."""
    try:
        passes.run(module, builder)
    finally:
        # llvmlite 0.50 never frees one: ObjectRef's empty _dispose hides NewPassManager's (72 KB a module)
        NewPassManager._dispose(passes)
        passes.detach()
