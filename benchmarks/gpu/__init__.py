"""hloom beside JAX, torch.compile and hand-written CUDA on an NVIDIA GPU. Compiling and measuring may happen on two machines:

python -m benchmarks.gpu prepare --target=sm_90a -o DIR    where the compiler is: programs, inputs as seeds, expected results
python -m benchmarks.gpu run DIR -o OUT                    where the GPU is: checks them all, times the workloads, writes tables

DIR holds all that the second needs (pack.py): `sh DIR/run.sh` runs it, and tests/gpu, with Python, NumPy and cuda-python alone, and prints
one page. For the peers' times it needs torch, JAX and nvcc.
"""

from .bootstrap import make_importable

make_importable()
