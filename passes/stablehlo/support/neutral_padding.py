"""Which windowed reductions of the CPU leave their padding out: combined with anything, it changes nothing."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import integers, padding_pairs
from ...common.scans import scan_dim, starts_neutral


def pads_with_neutral(op: ir.Operation) -> bool:
    """Whether a reduce_window of one operand is padded, with the neutral element of its body, where it has several windows of several taps.

    A scan's padding is its kernel's own affair.
    """
    if len(op.operands) != 2 or not starts_neutral(op) or scan_dim(op) is not None:
        return False
    sizes = integers(op, "window_dimensions")
    counts, ones = list(op.results[0].type.shape), [1] * len(sizes)
    pairs = padding_pairs(op, len(sizes))
    if integers(op, "base_dilations", ones) != ones or not any(map(any, pairs)) or 0 in op.operands[0].type.shape:
        return False
    return all(min(pair) >= 0 and (not any(pair) or min(size, count) > 1) for pair, size, count in zip(pairs, sizes, counts))
