"""llvmlite's LLVM, for this machine or for another."""

from __future__ import annotations

import functools

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from .forking import hold_over_forks

hold_over_forks(ffi.lib._lock._lock)  # it is held while LLVM runs, so a child finds no LLVM that was stopped halfway either


@functools.cache
def initialise() -> None:
    """Readies LLVM's code generator for this machine's processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@functools.cache
def initialise_all() -> None:
    """Readies it for every processor that it knows."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
