"""Times hloom on JAX functions beside jax.jit.

python -m benchmarks.functions                    the quick run: one short round of every row
python -m benchmarks.functions scan 'nhwc*'       families and rows by name, `*` allowed
python -m benchmarks.functions --full             three rounds of long slices
"""

from __future__ import annotations

import sys

from ..layers.command import main

if __name__ == "__main__":
    sys.exit(main("functions", __doc__ or ""))
