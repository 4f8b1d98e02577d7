"""Cumulative products of complex numbers: what multiplies two pairs of numbers is not known to be associative, so it is said before."""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.rewriting import defining_op, ops_in, walk
from ...common.scans import ASSOCIATIVE, scan_dim
from ..support.long_scans import fits_block
from .edges import is_complex

_ONE = "dense<(1.000000e+00,0.000000e+00)>"


def mark_products(module: ir.Operation) -> None:
    """Says of every scan that multiplies complex numbers that it is associative."""
    for op in walk(module, lambda op: op.name == "stablehlo.reduce_window" and len(op.results) == 1 and _multiplies(op)):
        op.attributes[ASSOCIATIVE] = ir.UnitAttr.get()
        if scan_dim(op) is None and scan_dim(op, backwards=True) is None:
            del op.attributes[ASSOCIATIVE]


def unmark_long_products(module: ir.Operation) -> None:
    """A GPU's block scans several values where it holds all of them."""
    if target_of(module).kind != "cuda":
        return
    for op in walk(module, lambda op: op.name == "stablehlo.reduce_window" and len(op.results) == 2 and ASSOCIATIVE in op.attributes):
        dim = scan_dim(op)
        if dim is None or not fits_block(op, dim):
            del op.attributes[ASSOCIATIVE]


def _multiplies(op: ir.Operation) -> bool:
    block, start = op.regions[0].blocks[0], defining_op(op.operands[1])
    if not is_complex(op.operands[0].type) or start is None or start.name != "stablehlo.constant" or _ONE not in str(start):
        return False
    inner = ops_in(block)
    return len(inner) == 2 and inner[0].name == "stablehlo.multiply" and set(inner[0].operands) == set(block.arguments)
