"""What compiles of every op and element type, for CPUs and for CUDA: `python -m tests.op_table` finds out, docs/ops.md shows it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for the package fuzz
