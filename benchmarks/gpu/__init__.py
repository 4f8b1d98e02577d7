"""hloom beside JAX, torch.compile and hand-written CUDA on an NVIDIA GPU. Compiling and measuring may happen on two machines:

python -m benchmarks.gpu prepare --target=sm_90a -o DIR    where the compiler is: programs, inputs as seeds, expected results
python -m benchmarks.gpu run DIR -o OUT                    where the GPU is: checks them all, times the workloads, writes tables

The second needs a checkout, NumPy, ml_dtypes and cuda-python; for the times torch, for the peers JAX and nvcc. It needs no compiler of ours
and nothing installed.
"""

from .bootstrap import make_importable

make_importable()
