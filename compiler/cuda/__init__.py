"""The CUDA back end: gpu.module → nvvm → LLVM → PTX → cubin, on any machine, with or without a GPU.

ptx.emit_ptx(gpu_module, target)                          PTX text of all kernels of a gpu.module
assemble.assemble(ptx, target)                            Cubin: machine code, and what each kernel uses
compile_kernels.compile_kernels(gpu_module, target)       both, through the cache on disk
statistics.kernel_statistics(gpu_module, target)          registers, spills, occupancy and access widths of each kernel
"""
