"""Nests of bf16 that compute in f32 with the elements of even numbers in the first half of the lanes, and the others in the second.

Where no instruction widens or rounds bf16 this saves the moves across lanes: a shift and a mask make both halves of what is loaded, a
shift, a mask and an or what is stored (pair-bf16-lanes). Each element is computed as it is anywhere else; sums are added up in another
order.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.rewriting import walk
from .work import Work, stride_along


def computes_even_first(works: Sequence[Work], vector: int, target: TargetView) -> bool:
    """Whether all that a nest, elementwise or of sums of rows, reads or writes along the loop `vector` is bf16 side by side, with which it
    computes in f32, whatever the places of the elements."""
    if target.machine != "x86_64" or target.bf16_dot:
        return False
    moving = [s for work in works for m, s in work.operands() if stride_along(m, s, vector) != 0]
    beside = all(stride_along(m, s, vector) in (0, 1) for work in works for m, s in work.operands())
    known = any(walk(work.op, lambda op: op.name in ("linalg.index", "tensor.extract")) for work in works)
    return beside and not known and all(isinstance(s.element, ir.BF16Type) for s in moving) and max(w.widest() for w in works) == 32
