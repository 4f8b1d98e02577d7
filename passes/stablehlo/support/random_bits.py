"""The counter-based generators threefry2x32 and philox4x32-10 as StableHLO ops on words of 32 bits."""

from __future__ import annotations

from torch_mlir import ir

from . import build

_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_THREEFRY_PARITY = 0x1BD11BDA
_PHILOX_FACTORS = (0xD2511F53, 0xCD9E8D57)
_PHILOX_STEPS = (0x9E3779B9, 0xBB67AE85)


def word_type(bits: int) -> ir.IntegerType:
    return ir.IntegerType.get_unsigned(bits)


def _xor(*values: ir.Value) -> ir.Value:
    first, *rest = values
    for value in rest:
        first = build.elementwise("xor", first, value)
    return first


def halves(value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The low and the high words of numbers of 64 bits."""
    high = build.elementwise("shift_right_logical", value, build.full_like(value, 32))
    return build.convert(value, word_type(32)), build.convert(high, word_type(32))


def joined(low: ir.Value, high: ir.Value) -> ir.Value:
    """What `halves` takes apart."""
    wide = build.convert(high, word_type(64))
    wide = build.elementwise("shift_left", wide, build.full_like(wide, 32))
    return build.elementwise("or", build.convert(low, word_type(64)), wide)


def threefry(key: ir.Value, x: ir.Value, y: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Two words for each counter, given as its low and its high words; `key` has 64 bits."""
    low, high = (build.broadcast(word, build.shape_of(x), []) for word in halves(key))
    keys = [low, high, _xor(low, high, build.full_like(low, _THREEFRY_PARITY))]
    x, y = build.add(x, keys[0]), build.add(y, keys[1])
    for group in range(5):
        for rotation in _THREEFRY_ROTATIONS[group % 2]:
            x = build.add(x, y)
            y = _xor(_rotated(y, rotation), x)
        x = build.add(x, keys[(group + 1) % 3])
        y = build.add(build.add(y, keys[(group + 2) % 3]), build.full_like(y, group + 1))
    return x, y


def _rotated(value: ir.Value, by: int) -> ir.Value:
    left = build.elementwise("shift_left", value, build.full_like(value, by))
    return build.elementwise("or", left, build.elementwise("shift_right_logical", value, build.full_like(value, 32 - by)))


def philox(key: ir.Value, low: ir.Value, high: ir.Value) -> list[ir.Value]:
    """Four words for each counter of 128 bits, given as two of 64 of rank 1; `key` has 64 bits."""
    words = [*halves(low), *halves(high)]
    keys = [build.broadcast(word, build.shape_of(low), []) for word in halves(key)]
    for round_ in range(10):
        if round_:
            keys = [build.add(k, build.full_like(k, step)) for k, step in zip(keys, _PHILOX_STEPS)]
        (low0, high0), (low1, high1) = (_product(words[2 * i], factor) for i, factor in enumerate(_PHILOX_FACTORS))
        words = [_xor(high1, words[1], keys[0]), low1, _xor(high0, words[3], keys[1]), low0]
    return words


def _product(words: ir.Value, factor: int) -> tuple[ir.Value, ir.Value]:
    """The low and the high words of a product."""
    wide = build.convert(words, word_type(64))
    return halves(build.multiply(wide, build.full_like(wide, factor)))


def counters_from(start: ir.Value, count: int) -> ir.Value:
    """`start`, `start` + 1, … of 64 bits."""
    return build.add(build.broadcast(start, [count], []), build.iota([count], word_type(64), 0))


def counters_of(start: ir.Value, shape: list[int]) -> tuple[ir.Value, ir.Value]:
    """The low and the high words of `start` + an element's number in row-major order, each made from the element's place alone."""
    if build.prod(shape) >= 1 << 32:
        number = _numbers(shape, word_type(64))
        return halves(build.add(build.broadcast(start, shape, []), number))
    low, high = (build.broadcast(word, shape, []) for word in halves(start))
    total = build.add(low, _numbers(shape, word_type(32)))
    carry = build.convert(build.compare("LT", total, low), word_type(32))
    return total, build.add(high, carry)


def _numbers(shape: list[int], kind: ir.Type) -> ir.Value:
    numbers = build.zero(shape, kind)
    for dim in range(len(shape)):
        along = build.iota(shape, kind, dim)
        numbers = build.add(numbers, build.multiply(along, build.full_like(along, build.prod(shape[dim + 1 :]))))
    return numbers


def advanced(low: ir.Value, high: ir.Value, by: ir.Value) -> tuple[ir.Value, ir.Value]:
    """A counter of 128 bits, or many, plus `by` of 64."""
    total = build.add(low, by)
    carry = build.convert(build.compare("LT", total, low), word_type(64))
    return total, build.add(high, carry)


def philox_words(key: ir.Value, low: ir.Value, high: ir.Value, count: int) -> ir.Value:
    """The first `count` words of the stream that begins at a counter: the four of one counter stand beside each other."""
    blocks = -(-count // 4)
    lows, highs = (build.broadcast(word, [blocks], []) for word in (low, high))
    words = philox(key, *advanced(lows, highs, build.iota([blocks], word_type(64), 0)))
    return build.slice_(build.interleave(words, 0), [0], [count])
