"""Programs broken in small ways, reproducibly: `mutant(text, seed)` and `flipped(data, seed)`.

Edits come in two kinds. Local ones (a token dropped, a byte changed) mostly end in the parser; consistent ones (a dimension or an element
type changed wherever it occurs) mostly pass the verifier, and try what comes after it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_TOKEN = re.compile(r'//[^\n]*|"[^"\n]*"|[%@#!^]?[A-Za-z_$][\w.$]*|0x[0-9A-Fa-f]+|\d+(?:\.\d+(?:e[+-]?\d+)?)?|->|\s+|.', re.DOTALL)
_NUMBERS = "0 1 -1 2 3 7 127 4096 65537 2147483648 9223372036854775807 99999999999999999999999 1.5 0xFF".split()
_SIZES = "0 1 2 3 17 1000 ? * -1 99999 4294967296 9223372036854775807 18446744073709551616".split()
_ELEMENTS = (
    "f64 f32 f16 bf16 i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 i2 i4 ui4 i128 i7 si32 index f8E4M3FN f8E5M2 f4E2M1FN tf32 f80 f128 none "
    "complex<f32> tuple<f32> vector<4xf32> tensor<4xf32> memref<4xf32> !stablehlo.token !quant.uniform<i8:f32,1.0> !nothing.here"
).split()
_OPS = (
    "abs add and atan2 broadcast_in_dim case cbrt ceil cholesky clamp compare complex concatenate constant convert convolution cosine "
    "custom_call divide dot_general dynamic_gather dynamic_iota dynamic_reshape dynamic_slice dynamic_update_slice exponential fft "
    "floor gather get_dimension_size if imag iota is_finite log logistic map maximum minimum multiply negate not or optimization_barrier "
    "pad popcnt power real reduce reduce_precision reduce_window remainder reshape return reverse rng rng_bit_generator rsqrt scatter "
    "select shift_left shift_right_arithmetic sign sine slice sort sqrt subtract tan tanh transpose triangular_solve tuple while xor "
    "no_such_op"
).split()
_TYPES = re.compile(r"tensor<[^<>]*>")
_DIMENSION = re.compile(r"(?<=[<x])\d+(?=x)")
_ELEMENT = re.compile(r"(?<=[<x])(?:f64|f32|f16|bf16|ui?\d+|i\d+)(?=>)|(?<=: )i(?:32|64)\b")
_INTEGER = re.compile(r"(?<![\w.%@#-])-?\d+(?![\w.])")
_FLOAT = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
_OP = re.compile(r"stablehlo\.[a-z_0-9]+")


def mutant(text: str, seed: int) -> str:
    """`text` with one to three edits."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(EDITS)(text, rng)
    return text


def flipped(data: bytes, seed: int) -> bytes:
    """`data` with one to four bytes changed, or cut short, or with bytes too many."""
    rng = random.Random(seed)
    changed = bytearray(data)
    kind = rng.random()
    if kind < 0.1:
        return data[: rng.randrange(len(data))]
    if kind < 0.15:
        at = rng.randrange(len(data))
        return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]
    for _ in range(rng.randrange(1, 5)):
        changed[rng.randrange(len(changed))] ^= rng.choice((1, 2, 4, 8, 16, 32, 64, 128, 255))
    return bytes(changed)


def _substitute(pattern: re.Pattern, choose: Callable[[str, random.Random], str], everywhere: bool) -> Callable[[str, random.Random], str]:
    """An edit of one match of `pattern`, or of all that read like it."""

    def edit(text: str, rng: random.Random) -> str:
        matches = list(pattern.finditer(text))
        if not matches:
            return text
        chosen = rng.choice(matches)
        new = choose(chosen[0], rng)
        if everywhere:
            return pattern.sub(lambda m: new if m[0] == chosen[0] else m[0], text)
        return text[: chosen.start()] + new + text[chosen.end() :]

    return edit


def _tokens(change: Callable[[list[str], int, random.Random], None]) -> Callable[[str, random.Random], str]:
    def edit(text: str, rng: random.Random) -> str:
        tokens = _TOKEN.findall(text)
        solid = [i for i, token in enumerate(tokens) if not token.isspace()]
        if solid:
            change(tokens, rng.choice(solid), rng)
        return "".join(tokens)

    return edit


def _delete(tokens: list[str], at: int, rng: random.Random) -> None:
    del tokens[at]


def _duplicate(tokens: list[str], at: int, rng: random.Random) -> None:
    tokens.insert(at, tokens[at])


def _replace(tokens: list[str], at: int, rng: random.Random) -> None:
    alike = [token for token in tokens if token[0] == tokens[at][0]] if rng.random() < 0.7 else tokens
    tokens[at] = rng.choice(alike)


def _lines(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(3)
    if kind == 0:
        del lines[a]
    elif kind == 1:
        lines.insert(b, lines[a])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    return "".join(lines)


def _bytes(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    return text[:at] + chr(rng.choice((rng.randrange(128), rng.randrange(32, 127), 0, 255))) + text[at + 1 :]


def _cut(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text))]


def _deeper(text: str, rng: random.Random) -> str:
    at, depth = rng.randrange(len(text)), rng.choice((2, 50, 5000, 200_000))
    return text[:at] + rng.choice("([{<") * depth + text[at:]


def _size(old: str, rng: random.Random) -> str:
    return rng.choice([*_SIZES, str(int(old) + 1), str(max(int(old) - 1, 0)), str(int(old) * 2)])


def _integer(old: str, rng: random.Random) -> str:
    return rng.choice([*_NUMBERS, str(int(old) + 1), str(int(old) - 1), str(-int(old))])


def _type(old: str, rng: random.Random) -> str:
    return rng.choice(
        ("tensor<*xf32>", "tensor<f32>", "tensor<0xf32>", "f32", f"tensor<{'1x' * 9}f32>", "!stablehlo.token", "tuple<>", "()")
    )


def _element(old: str, rng: random.Random) -> str:
    return rng.choice(_ELEMENTS)


def _number(old: str, rng: random.Random) -> str:
    return rng.choice(("0.0", "-0.0", "1.0", "1.0e38", "1.0e300", "1.0e-300", "0x7FC00000", "0xFF800000", "0x7F800000", "true", "5"))


def _op(old: str, rng: random.Random) -> str:
    return f"stablehlo.{rng.choice(_OPS)}"


EDITS = [
    _tokens(_delete),
    _tokens(_duplicate),
    _tokens(_replace),
    _lines,
    _bytes,
    _cut,
    _deeper,
    _substitute(_DIMENSION, _size, everywhere=False),
    _substitute(_TYPES, _type, everywhere=False),
    _substitute(_INTEGER, _integer, everywhere=False),
    _substitute(_FLOAT, _number, everywhere=False),
    *[_substitute(_DIMENSION, _size, everywhere=True)] * 4,
    *[_substitute(_ELEMENT, _element, everywhere=True)] * 3,
    _substitute(_ELEMENT, _element, everywhere=False),
    *[_substitute(_TYPES, _type, everywhere=True)] * 2,
    *[_substitute(_INTEGER, _integer, everywhere=True)] * 2,
    *[_substitute(_OP, _op, everywhere=False)] * 2,
]
