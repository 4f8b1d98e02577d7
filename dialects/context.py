"""One way to make an MLIR context with every dialect that hloom reads or writes."""

from __future__ import annotations

import torch_mlir.dialects.gpu.passes  # noqa: F401  registers upstream's passes
import torch_mlir.dialects.linalg.passes  # noqa: F401
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

_stablehlo.register_stablehlo_passes()


def make_context() -> ir.Context:
    """A fresh context, single-threaded; stablehlo, chlo, vhlo and hloom's own dialects are loaded."""
    context = ir.Context()
    _stablehlo.register_dialect(context)
    return context
