"""legalize-random-bits: rng_bit_generator as the arithmetic of its generator, bit for bit as XLA computes it on CPUs.

Before:
    %new, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>)
After:
    %words:4 = ten rounds of philox4x32 on the counters %state[1:3], %state[1:3] + 1
    %bits = reshape (concatenate %words)                 // the four words of a counter beside each other
    %new = concatenate %state[0:1], %state[1:3] + 2

DEFAULT is PHILOX. A state is a key and a counter; THREE_FRY counts in 64 bits, PHILOX in 128, whose upper half is the key where the state
has two words. An element of fewer than 32 bits is the low bits of a word.
Must hold: nothing. Declined: states of other than two words (for PHILOX, two or three) of 64 bits, which XLA does not take either.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import element_of, keyword
from ..registry import register_pass
from .support import build
from .support.driver import rewrite
from .support.random_bits import (
    advanced,
    counters_from,
    halves,
    joined,
    philox_words,
    threefry,
    word_type,
)


@register_pass("legalize-random-bits", "turns rng_bit_generator into the arithmetic of its generator", ops=("stablehlo.rng_bit_generator",))
def legalize_random_bits(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.rng_bit_generator": [_generated]})


def _generated(op: ir.Operation) -> list[ir.Value] | None:
    given = op.operands[0]
    algorithm, (words,) = keyword(op, "rng_algorithm"), build.shape_of(given)
    if element_of(given).width != 64 or words not in ((2,) if algorithm == "THREE_FRY" else (2, 3)):
        return None
    as_words = build.tensor([words], word_type(64))
    state = build.bitcast(given, as_words)
    key, *counter = (build.reshape(build.slice_dim(state, 0, i, i + 1), []) for i in range(words))
    shape, element = build.shape_of(op.results[1]), element_of(op.results[1])
    if algorithm == "THREE_FRY":
        bits, counter = _threefry(key, counter[0], shape, element.width)
    else:
        bits, counter = _philox(key, counter, shape, element.width)
    state = build.concatenate([build.reshape(word, [1]) for word in (key, *counter)], 0)
    if state.type != given.type:
        state = build.elementwise("bitcast_convert", state, result=given.type)
    return [state, _elements(bits, element)]


def _threefry(key: ir.Value, counter: ir.Value, shape: list[int], width: int) -> tuple[ir.Value, list[ir.Value]]:
    """Two words a counter: both are an element of 64 bits, else the neighbours along the first even (or the largest) dimension."""
    if width == 64:
        count = build.prod(shape)
        bits = build.reshape(joined(*threefry(key, *halves(counters_from(counter, count)))), shape)
        return bits, [build.add(counter, build.full_like(counter, count))]
    padded = shape or [1]
    split = next((d for d, n in enumerate(padded) if n % 2 == 0), padded.index(max(padded)))
    half = [-(-n // 2) if d == split else n for d, n in enumerate(padded)]
    count = build.prod(half)
    pair = [build.reshape(words, half) for words in threefry(key, *halves(counters_from(counter, count)))]
    bits = build.slice_dim(build.interleave(pair, split), split, 0, padded[split])
    return build.reshape(bits, shape), [build.add(counter, build.full_like(counter, count))]


def _philox(key: ir.Value, counter: list[ir.Value], shape: list[int], width: int) -> tuple[ir.Value, list[ir.Value]]:
    low, high = counter if len(counter) == 2 else (counter[0], key)
    count = build.prod(shape) * (2 if width == 64 else 1)
    words = philox_words(key, low, high, count)
    if width == 64:
        pairs = build.reshape(words, [count // 2, 2])
        words = build.reshape(joined(build.slice_dim(pairs, 1, 0, 1), build.slice_dim(pairs, 1, 1, 2)), [count // 2])
    after = advanced(low, high, build.full_like(low, -(-count // 4)))
    return build.reshape(words, shape), list(after[: len(counter)])


def _elements(words: ir.Value, element: ir.Type) -> ir.Value:
    """The low bits of words as elements."""
    bits = build.convert(words, word_type(element.width))
    kind = build.tensor(build.shape_of(words), element)
    return build.bitcast(bits, kind)
