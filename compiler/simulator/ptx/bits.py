"""Integer instructions that numpy has no name for. Operands are unsigned unless a type says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..values import leading_zeros, multiply_extended

Array = Any


def high(a: Array, b: Array) -> Array:
    """The high half of a product."""
    return multiply_extended(a, b)[1]


def divide(a: Array, b: Array) -> Array:
    """Rounds towards zero; by zero all bits are set."""
    if a.dtype.kind == "u":
        return np.where(b == 0, ~b.dtype.type(0), a // np.where(b == 0, b.dtype.type(1), b))
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = a // safe
    quotient = quotient + ((quotient * safe != a) & ((a < 0) != (safe < 0))).astype(a.dtype)
    return np.where(b == 0, b.dtype.type(-1), quotient)


def remainder(a: Array, b: Array) -> Array:
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, b.dtype.type(1), b)))


def extract(a: Array, start: Array, length: Array) -> Array:
    """bfe, of an unsigned or a signed type."""
    width = 8 * a.dtype.itemsize
    start, length = (np.minimum(x & np.uint32(255), np.uint32(width)).astype(np.int64) for x in (start, length))
    length = np.minimum(length, width - start)
    up = (width - start - length).astype(a.dtype)
    down = (width - length).astype(a.dtype)
    return np.where(length == 0, a.dtype.type(0), (a << up) >> down)


def insert(a: Array, b: Array, start: Array, length: Array) -> Array:
    """bfi: `length` bits of a into b, from `start` on."""
    width, kind = 8 * a.dtype.itemsize, a.dtype.type
    start, length = (np.minimum(x & np.uint32(255), np.uint32(width)).astype(a.dtype) for x in (start, length))
    mask = np.where(length >= kind(width), ~kind(0), (kind(1) << length) - kind(1)) << start
    return (b & ~mask) | ((a << start) & mask)


def permute(a: Array, b: Array, selector: Array) -> Array:
    """prmt: each nibble of the selector chooses one of the eight bytes of b:a, or its sign."""
    both = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
    found: Array = np.uint32(0)
    for i in range(4):
        nibble = selector >> np.uint32(4 * i) & np.uint32(15)
        byte = (both >> ((nibble & np.uint32(7)).astype(np.uint64) * np.uint64(8))).astype(np.uint32) & np.uint32(255)
        sign = np.where(byte & np.uint32(128), np.uint32(255), np.uint32(0))
        found = found | np.where(nibble & np.uint32(8), sign, byte) << np.uint32(8 * i)
    return found


def funnel(low: Array, top: Array, count: Array, left: bool, clamp: bool) -> Array:
    """shf: of the 64 bits top:low, shifted."""
    count = np.minimum(count, np.uint32(32)) if clamp else count & np.uint32(31)
    both = top.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    shift = count.astype(np.uint64)
    return (both << shift >> np.uint64(32) if left else both >> shift).astype(np.uint32)


def lookup(a: Array, b: Array, c: Array, table: int) -> Array:
    """lop3: the function of three bits that `table` gives."""
    found: Array = np.uint32(0)
    for i in range(8):
        if table >> i & 1:
            found = found | (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
    return found


def reverse(x: Array) -> Array:
    x = np.asarray(x)
    width, found = 8 * x.dtype.itemsize, np.zeros_like(x)
    for i in range(width):
        found = found | (x >> x.dtype.type(i) & x.dtype.type(1)) << x.dtype.type(width - 1 - i)
    return found


def find(x: Array) -> Array:
    """bfind: the highest bit that is set; of a signed number, that differs from its sign. All bits set where there is none."""
    x = np.asarray(x)
    if x.dtype.kind == "i":
        x = np.where(x < 0, ~x, x)
    unsigned = x.view(f"u{x.dtype.itemsize}")
    return (8 * x.dtype.itemsize - 1 - leading_zeros(unsigned).astype(np.int64)).astype(np.uint32)


def pairs(function: Callable[..., Array], kind: Any, *operands: Array) -> Array:
    """A function of the two halves of words of 32 bits or 64, each of type `kind`."""
    parts = [np.ascontiguousarray(x).reshape(*np.shape(x), 1).view(kind) for x in operands]
    found = np.asarray(function(*np.broadcast_arrays(*parts)))
    return np.ascontiguousarray(found.astype(kind)).view(f"u{2 * np.dtype(kind).itemsize}")[..., 0]


def joined(low: Array, top: Array, kind: Any) -> Array:
    """Two words as one of twice the width."""
    return low.astype(kind) | top.astype(kind) << kind(4 * np.dtype(kind).itemsize)
