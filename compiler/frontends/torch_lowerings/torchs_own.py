"""Ops that torch itself can write in simpler ones, and torch-mlir's table does not."""

from __future__ import annotations

from ..torch_registry import use_torch_decompositions

use_torch_decompositions(
    "aten.slice_scatter",  # a scatter of indices otherwise; a model with many slice assignments takes all memory
)
