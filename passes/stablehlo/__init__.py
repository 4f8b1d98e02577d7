"""What the passes of the stablehlo stage share: building ops, reading constants, the rewrite driver and its rules.

The bindings look for a Python module of an op's dialect each time they hand out an op, and search the whole path again when there is none
(80 µs an op): StableHLO's dialects have none, so empty ones stand in.
"""

import sys
import types

for _name in ("stablehlo", "chlo", "vhlo"):
    sys.modules.setdefault(f"torch_mlir.dialects.{_name}", types.ModuleType(f"torch_mlir.dialects.{_name}"))
