"""The CUDA back end: gpu.module → nvvm → LLVM → PTX → cubin, on any machine, with or without a GPU.

emit_ptx(gpu_module, target)          PTX text of all kernels of a gpu.module (ptx.py, after nvvm.py)
assemble(ptx, target)                 Cubin: machine code, and what each kernel uses (assemble.py)
compile_kernels(gpu_module, target)   both, through the cache on disk (compile_kernels.py)
kernel_statistics(gpu_module, target) registers, spills, occupancy and access widths of each kernel (statistics.py)
"""

from __future__ import annotations

from .assemble import Cubin, Resources, assemble, assembler
from .compile_kernels import CompiledKernels, compile_kernels
from .nvvm import lower_to_nvvm
from .ptx import emit_ptx
from .statistics import KernelStatistics, kernel_statistics

__all__ = [
    "CompiledKernels",
    "Cubin",
    "KernelStatistics",
    "Resources",
    "assemble",
    "assembler",
    "compile_kernels",
    "emit_ptx",
    "kernel_statistics",
    "lower_to_nvvm",
]
