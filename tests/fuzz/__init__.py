"""Random StableHLO programs, compiled by hloom and compared with the reference interpreter and XLA: `python -m tests.fuzz --help`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # for guards.py
sys.path.append(str(Path(__file__).parents[1] / "conformance"))  # for comparison.py, values.py
