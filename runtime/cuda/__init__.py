"""Programs on NVIDIA GPUs: a thunk program becomes one CUDA graph, so that a call is one launch (docs/cuda.md).

Nothing here needs a driver or a CUDA library to be imported; what is missing is said when a program that needs it is loaded.
"""
