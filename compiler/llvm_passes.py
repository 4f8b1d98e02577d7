"""LLVM's passes over modules of llvmlite's, on as many cores as there are modules.

llvmlite lets one thread into LLVM at a time. LLVM itself asks only that threads share no context: each module has its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from ctypes import string_at
from dataclasses import dataclass

import llvmlite.binding as llvm
from llvmlite.binding import ffi
from llvmlite.binding.newpassmanagers import NewPassManager

from hloom.passes.errors import PassFailure
from hloom.runtime import llvm as llvmlites_lock  # noqa: F401  its lock is one that who holds ours may wait for
from hloom.runtime.forking import hold_over_forks

from .llvm_split import Effort

_running = threading.RLock()
"""Held while threads are in LLVM that do not hold llvmlite's lock: a child that is forked meanwhile would find LLVM stopped halfway."""
hold_over_forks(_running)

# LLVM's search for checksums follows each operand of each op anew: a chain of 64 squares, as powers of i64 are, would take 2^64 steps
llvm.set_option("hloom", "-disable-loop-idiom-hashrecognize=true")


@dataclass(frozen=True)
class Job:
    """A module to optimise and to emit."""

    module: llvm.ModuleRef
    machine: llvm.TargetMachine
    options: llvm.PipelineTuningOptions
    effort: Effort = Effort.FULL

    def passes(self, builder: llvm.PassBuilder) -> llvm.ModulePassManager:
        if self.effort == Effort.FULL:
            return builder.getModulePassManager()
        few = llvm.create_new_module_pass_manager()
        if self.effort == Effort.LEAST:
            few.add_instruction_combine_pass()
        few.add_loop_rotate_pass()
        few.add_simplify_cfg_pass()
        if self.effort > Effort.LEAST:  # combined last, as LLVM's pipeline ends: sums keep their bits
            few.add_instruction_combine_pass()
            few.add_new_gvn_pass()
        return few


def optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, options: llvm.PipelineTuningOptions) -> None:
    """Runs LLVM's default pipeline at the options' level."""
    builder = llvm.create_pass_builder(machine, options)
    run_passes(builder.getModulePassManager(), module, builder)


def run_passes(passes: llvm.ModulePassManager, module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    """Runs `passes`, which are gone afterwards."""
    try:
        passes.run(module, builder)
    finally:
        _dispose(passes)


def objects_of(jobs: Sequence[Job]) -> list[bytes]:
    """The ELF object of each module, optimised as `optimise` does and then closed. The jobs share no module, context or machine."""
    builders = [llvm.create_pass_builder(job.machine, job.options) for job in jobs]
    passes = [job.passes(builder) for job, builder in zip(jobs, builders)]
    errors = [ffi.OutputString() for _ in jobs]
    buffers: list[int | None] = [None] * len(jobs)

    def work(numbers: Iterator[int]) -> None:
        for number in numbers:
            buffers[number] = _optimise_and_emit(jobs[number], builders[number], passes[number], errors[number])

    try:
        with _running:
            with _without_strength_reduction():
                _on_all_cores(work, [number for number, job in enumerate(jobs) if job.effort < Effort.MORE])
            _on_all_cores(work, [number for number, job in enumerate(jobs) if job.effort >= Effort.MORE])
    finally:
        for each, job in zip(passes, jobs):
            _dispose(each)
            job.module.close()  # before its context, whatever an error's traceback holds
    return [_contents(buffer, error) for buffer, error in zip(buffers, errors)]


def _on_all_cores(work: Callable[[Iterator[int]], None], numbers: Sequence[int]) -> None:
    """Calls `work` in several threads, which share the numbers."""
    left = iter(numbers)
    # no pool of the standard library's: a fork holds a lock that its `submit` takes while it waits for the one that is held here
    threads = [threading.Thread(target=work, args=[left]) for _ in range(min(len(numbers), len(os.sched_getaffinity(0))) - 1)]
    for thread in threads:
        thread.start()
    work(left)
    for thread in threads:
        thread.join()


def assembly_of(job: Job) -> str:
    """The assembly text of what `objects_of` makes an object of."""
    builder = llvm.create_pass_builder(job.machine, job.options)
    with _running, _without_strength_reduction() if job.effort < Effort.MORE else nullcontext():
        run_passes(job.passes(builder), job.module, builder)
        return job.machine.emit_assembly(job.module)


@contextmanager
def _without_strength_reduction() -> Iterator[None]:
    """Has the code generator reduce no strength: of long code that takes half of its time. The option is the process's: modules with and
    without it are compiled one group after the other. As a pass over a module's loops, LLVM's assertions end the process at some nests.
    """
    llvm.set_option("hloom", "-disable-lsr=true")
    try:
        yield
    finally:
        llvm.set_option("hloom", "-disable-lsr=false")


_unlocked_run = ffi.lib.LLVMPY_RunNewModulePassManager._cfn
_unlocked_emit = ffi.lib.LLVMPY_TargetMachineEmitToMemory._cfn


def _optimise_and_emit(job: Job, builder: llvm.PassBuilder, passes: llvm.ModulePassManager, error: ffi.OutputString) -> int | None:
    """The address of a buffer of LLVM's; None, and the error, where it fails."""
    _unlocked_run(passes, job.module, builder)
    return _unlocked_emit(job.machine, job.module, 1, error)


def _contents(buffer: int | None, error: ffi.OutputString) -> bytes:
    with error:
        if not buffer:
            raise PassFailure(f"LLVM emits no code: {error if error else 'it does not say why'}", stage="object")
    try:
        return string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _dispose(passes: llvm.ModulePassManager) -> None:
    # llvmlite 0.50 never frees one: ObjectRef's empty _dispose hides NewPassManager's (72 KB a module)
    NewPassManager._dispose(passes)
    passes.detach()
