"""split-windows: a long windowed reduction becomes several short ones.

Before:
    %0 = reduce_window(%x, %zero) {window_dimensions = [1, 512], padding = [[0, 0], [0, 0]]} : add
After:
    %1 = reduce_window(%x, %zero) {window_dimensions = [1, 8]} : add
    %2 = reduce_window(%1, %zero) {window_dimensions = [1, 8], window_dilations = [1, 8]} : add
    %0 = reduce_window(%2, %zero) {window_dimensions = [1, 8], window_dilations = [1, 64]} : add

A window of a·b elements is b windows of a elements, a apart: a + b steps an element instead of a·b. Of a cumulative reduction, whose window
reaches beyond the first (or last) element wherever it stands, the window may as well be longer, so its length need not be a product.

A scan, as cumulative sums are, stays as it is, from the first element on: one from the last on is turned around

    %0 = reduce_window(%x, %zero) {window_dimensions = [1, 1024], padding = [[0, 0], [0, 1023]]} : add
    %r = stablehlo.reverse %x, dims = [1]
    %s = reduce_window(%r, %zero) {window_dimensions = [1, 1024], padding = [[0, 0], [1023, 0]]} : add
    %0 = stablehlo.reverse %s, dims = [1]

For a GPU, a scan of more elements than a block scans at once is made of parts (support/long_scans.py).

Must hold: one operand; an associative and commutative body with its neutral element as the initial value, which more windows than one
take in; one dimension with a window, without strides and dilations. Declined: all else, and windows of at most 16 elements, or whose length
has no factors of at most 32.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import i64_array, integers, padding_pairs
from ..common.scans import scan_dim, starts_neutral
from ..registry import register_pass
from .support import build
from .support.driver import rewrite, with_region
from .support.long_scans import fits_block, in_parts

_LONG = 16
"""Windows that are longer are split."""
_LONGEST_PART = 32
_RADIX = 8


@register_pass(
    "split-windows", "turns long windowed reductions, such as cumulative sums, into several short ones", ops=("stablehlo.reduce_window",)
)
def split_windows(module: ir.Operation) -> bool:
    on_gpu = target_of(module).kind == "cuda"
    return rewrite(module, {"stablehlo.reduce_window": [_turned, partial(_split, blocks=on_gpu)]})


def _turned(op: ir.Operation) -> list[ir.Value] | None:
    """A scan from the last element on, as one from the first on."""
    dim = scan_dim(op, backwards=True)
    if dim is None:
        return None
    values, starts = list(op.operands)[: len(op.results)], list(op.operands)[len(op.results) :]
    pairs = [pair[::-1] for pair in padding_pairs(op, len(build.shape_of(values[0])))]
    padding = ir.DenseElementsAttr.get(np.array(pairs, np.int64))
    turned = [build.reverse(value, [dim]) for value in values]
    scan = with_region(op, [*turned, *starts], [result.type for result in op.results], padding=padding)
    return [build.reverse(result, [dim]) for result in scan.results]


def _split(op: ir.Operation, blocks: bool) -> list[ir.Value] | None:
    scanned = scan_dim(op)
    if len(op.operands) != 2 or not starts_neutral(op) or (scanned is not None and (not blocks or fits_block(op, scanned))):
        return None
    parts = None if scanned is None else in_parts(op, scanned)
    if parts is not None:
        return parts
    operand, init = op.operands
    shape, window = build.shape_of(operand), integers(op, "window_dimensions")
    rank = len(shape)
    sides = {n for name in ("window_strides", "window_dilations", "base_dilations") for n in integers(op, name, [1] * rank)}
    dims = [d for d, n in enumerate(window) if n > 1]
    if sides - {1} or len(dims) != 1 or window[dims[0]] <= _LONG:
        return None
    dim, pairs = dims[0], padding_pairs(op, rank)
    extent, length = shape[dim], window[dim]
    others = [pair for d, pair in enumerate(pairs) if d != dim]
    cumulative = extent == length and pairs[dim] in ((length - 1, 0), (0, length - 1)) and not any(map(any, others))
    parts = _covering(length) if cumulative else _factors(length)
    if not parts:
        return None
    step, value = 1, operand
    for number, part in enumerate(parts):
        reach = (part - 1) * step
        if cumulative:
            pairs[dim] = (reach, 0) if pairs[dim][0] else (0, reach)
        elif number:
            pairs = [(0, 0)] * rank
        value = _window(op, value, init, dim, part, step, pairs)
        step *= part
    return [value]


def _covering(length: int) -> list[int]:
    """Lengths of parts whose product is at least `length`."""
    count = math.ceil(math.log(length, _RADIX) - 0.5)
    parts: list[int] = []
    for left in range(max(2, count), 0, -1):
        rest = math.ceil(length / math.prod(parts))
        parts.append(max(1, math.ceil(round(rest ** (1 / left), 9))))
    return [part for part in parts if part > 1]


def _factors(length: int) -> list[int]:
    """Lengths of two or more parts whose product is `length`, its prime factors merged while they stay short; empty if one is too long."""
    primes, rest, prime = [], length, 2
    while rest > 1:
        if rest % prime:
            prime += 1
            continue
        primes.append(prime)
        rest //= prime
    parts: list[int] = []
    for factor in primes:
        if parts and parts[-1] * factor <= _RADIX:
            parts[-1] *= factor
        else:
            parts.append(factor)
    return parts if len(parts) > 1 and max(parts) <= _LONGEST_PART else []


def _window(op: ir.Operation, value: ir.Value, init: ir.Value, dim: int, length: int, step: int, pairs: list[tuple[int, int]]) -> ir.Value:
    """The op on `value` with a window of `length` elements, `step` apart, along `dim`."""
    shape = [n + low + high for n, (low, high) in zip(build.shape_of(value), pairs)]
    shape[dim] -= (length - 1) * step
    along, dilations = [1] * len(shape), [1] * len(shape)
    along[dim], dilations[dim] = length, step
    changed = {
        "window_dimensions": i64_array(along),
        "window_dilations": i64_array(dilations),
        "window_strides": i64_array([1] * len(shape)),
        "base_dilations": i64_array([1] * len(shape)),
        "padding": ir.DenseElementsAttr.get(np.array(pairs, np.int64)),
    }
    return with_region(op, [value, init], [build.tensor(shape, build.element_of(value))], **changed).results[0]
