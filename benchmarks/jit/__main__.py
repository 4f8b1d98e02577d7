"""Times hloom.jit beside jax.jit on programs that people write: both are called as functions of JAX's, dispatch included.

python -m benchmarks.jit                    one short round of every program
python -m benchmarks.jit linalg 'adam*'     families and programs by name, `*` allowed
python -m benchmarks.jit --full             three rounds of long slices
"""

from __future__ import annotations

import sys

from ..layers.command import main

if __name__ == "__main__":
    sys.exit(main("jit", __doc__ or ""))
