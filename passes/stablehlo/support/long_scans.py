"""Scans of more elements than a block of a GPU scans at once: of parts, by what lies before each.

    %p = reshape %x : tensor<256x4096xf32>                          // of a scan of 1,048,576 elements
    %t = reduce %p : tensor<256xf32>                                // the total of each part
    %b = pad (reduce_window %t), low = [1], high = [-1]             // their scan, a part later: what lies before each part
    %r = reshape (broadcast %b + reduce_window %p)                  // the scans of the parts

The elements are read twice and written once. Sums and products of f16 and bf16 are of f32, to be rounded once.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from ...common.reductions import neutral_element
from ...common.rewriting import ops_in
from ...common.scans import scalar_op
from . import build

BLOCK_BYTES = 128 << 10
"""Elements of a tile, as they are combined: 32 words of each of 1024 threads."""
COLUMNS = 32
"""Columns that a block scans side by side, where there are as many."""


def fits_block(op: ir.Operation, dim: int) -> bool:
    """Whether a block scans all of `dim` at once."""
    return build.shape_of(op.results[0])[dim] <= _most(op, dim)


def in_parts(op: ir.Operation, dim: int) -> list[ir.Value] | None:
    """The scan `op` along `dim` by parts; None where one op of two elements is not all that it does."""
    body = ops_in(op.regions[0].blocks[0])
    if len(op.operands) != 2 or len(body) != 2:
        return None
    (operand, _), name = op.operands, body[0].name.removeprefix("stablehlo.")
    element, shape = build.element_of(operand), build.shape_of(operand)
    halves = isinstance(element, ir.FloatType) and element.width == 16 and name in ("add", "multiply")
    wide = ir.F32Type.get() if halves else element
    neutral = neutral_element(scalar_op(body[0].name, wide), wide)
    assert neutral is not None  # it is a scan
    start = build.splat(build.tensor([], wide), neutral)
    length = _part(shape[dim], _most(op, dim))
    parts = -(-shape[dim] // length)
    beyond = [parts * length - shape[dim] if d == dim else 0 for d in range(len(shape))]
    whole = build.pad(build.convert(operand, wide), start, [0] * len(shape), beyond)
    split = build.reshape(whole, [*shape[:dim], parts, length, *shape[dim + 1 :]])
    (totals,) = build.reduce([split], [start], [dim + 1], lambda a, b: [build.elementwise(name, a, b)])
    later = [int(d == dim) for d in range(len(shape))]
    before = build.pad(_scan(name, totals, start, dim), start, later, [-n for n in later])
    kept = [d for d in range(len(shape) + 1) if d != dim + 1]
    scanned = build.elementwise(name, build.broadcast(before, build.shape_of(split), kept), _scan(name, split, start, dim + 1))
    joined = build.reshape(scanned, build.shape_of(whole))
    return [build.convert(build.slice_dim(joined, dim, 0, shape[dim]) if any(beyond) else joined, element)]


def _most(op: ir.Operation, dim: int) -> int:
    """The elements along `dim` that a block scans at once."""
    inner = prod(build.shape_of(op.results[0])[dim + 1 :])
    width = sum(max(4, build.element_of(result).width // 8) for result in op.results)
    return BLOCK_BYTES // width // min(COLUMNS, 1 << max(0, inner - 1).bit_length())


def _part(extent: int, most: int) -> int:
    """The elements of a part: the largest divisor that is not much shorter than it may be, or a power of two."""
    most = min(most // 8, extent)
    return next((n for n in range(most, most // 4, -1) if extent % n == 0), 1 << most.bit_length() - 1)


def _scan(name: str, value: ir.Value, start: ir.Value, dim: int) -> ir.Value:
    return build.scan([value], [start], dim, lambda a, b: [build.elementwise(name, a, b)])[0]
