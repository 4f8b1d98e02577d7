"""LLVM IR text from MLIR's translation, made readable for llvmlite's older LLVM.

The wheel prints float literals that an older reader refuses: `+inf`, `-qnan`, `f0x40490FDB`, decimals that are not exact. They are
rewritten, bit for bit, to the hexadecimal forms that every LLVM reads: 0x and sixteen digits for float and double, 0xH for half, 0xR for
bfloat.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

_TYPE = re.compile(r"\b(float|double|half|bfloat)\b")
_LITERAL = re.compile(r'(?<![\w.%@$!#"])(?:f0x[0-9A-Fa-f]+|[+-](?:inf|qnan|s?nan\(0x[0-9A-Fa-f]+\))|[+-]?\d+\.\d+(?:e[+-]?\d+)?)(?![\w.])')
_MARKS = ("f0x", "inf", "nan", "e+", "e-")
"""One of these is in every literal: a decimal has an exponent. To find them takes a tenth of the time that patterns take."""
_STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
_BFLOAT = re.compile(r"\bbfloat\b")
_BFLOAT_LITERAL = re.compile(r"\b0xR([0-9A-Fa-f]{4})\b")
_BFLOAT_NAME = re.compile(r"(?<=[.0-9])(v[0-9]+)bf16\b")
"""The type in the names of intrinsics, as in @llvm.masked.store.v16bf16.p0."""
_BFDOT, _BFDOT_OF_BYTES = "neon.bfdot.v4f32.v8bf16", "neon.bfdot.v4f32.v16i8"
_FORMAT = {"half": (5, 10), "bfloat": (8, 7), "float": (8, 23), "double": (11, 52)}
"""Bits of the exponent and of the mantissa."""


def fix_float_literals(text: str) -> str:
    """`text` with every float literal in a form that LLVM 22 and older read. The type of a literal is the last one named before it."""
    pieces, done = [], 0
    for start, end in _lines_with(_MARKS, text):
        line = text[start:end]
        if _LITERAL.search(line) and _TYPE.search(line):
            pieces += [text[done:start], _fix_line(line)]
            done = end
    return "".join([*pieces, text[done:]])


def _lines_with(marks: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Where the lines begin and end in which one of the marks stands."""
    lines: set[tuple[int, int]] = set()
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            lines.add((text.rfind("\n", 0, at) + 1, end))
            at = text.find(mark, end)
    return sorted(lines)


def bfloat_as_bits(text: str) -> str:
    """`text` with i16 for bfloat; right where bfloats are only moved (bf16-as-bits) and multiplied by intrinsics, their literals fixed.

    LLVM's code generator for x86 ends the process on some vectors of bfloats, with AVX512-BF16 too, and calls a run-time library without.
    The intrinsics once took integers, and LLVM reads such calls still: it casts the operands.
    """
    if "bfloat" not in text:
        return text
    parts = _STRING.split(text)  # what is quoted stands at the odd places
    parts[::2] = map(_without_bfloat, parts[::2])
    return _without_repeated_declarations("".join(parts))


def _without_repeated_declarations(text: str) -> str:
    """An intrinsic of bfloats that became i16 may be declared beside the same one of i16."""
    declared: set[str] = set()
    kept = []
    for line in text.splitlines(keepends=True):
        if line.startswith("declare "):
            name = line[line.index("@") : line.index("(")]
            if name in declared:
                continue
            declared.add(name)
        kept.append(line)
    return "".join(kept)


def _without_bfloat(text: str) -> str:
    text = _BFLOAT_LITERAL.sub(lambda found: str(int(found[1], 16)), text)
    return _BFLOAT_NAME.sub(r"\1i16", _BFLOAT.sub("i16", text.replace(_BFDOT, _BFDOT_OF_BYTES)))


def _fix_line(line: str) -> str:
    masked = _STRING.sub(lambda quoted: "\0" * len(quoted.group()), line)
    types = [(found.end(), found.group()) for found in _TYPE.finditer(masked)]
    pieces, position, current = [], 0, 0
    for literal in _LITERAL.finditer(masked):
        while current < len(types) and types[current][0] <= literal.start():
            current += 1
        if current == 0:
            continue
        kind = types[current - 1][1]
        pieces += [line[position : literal.start()], _spell(_bits(literal.group(), kind), kind)]
        position = literal.end()
    return "".join(pieces) + line[position:]


def _bits(literal: str, kind: str) -> int:
    exponent, mantissa = _FORMAT[kind]
    infinity, sign = ((1 << exponent) - 1) << mantissa, 1 << (exponent + mantissa)
    if literal.startswith("f0x"):
        return int(literal[3:], 16)
    negative = sign if literal[0] == "-" else 0
    digits = literal.lstrip("+-")
    if digits == "inf":
        return negative | infinity
    if digits == "qnan":
        return negative | infinity | 1 << (mantissa - 1)
    if digits.startswith("nan("):
        return negative | infinity | 1 << (mantissa - 1) | int(digits[6:-1], 16)
    if digits.startswith("snan("):
        return negative | infinity | int(digits[7:-1], 16)
    return _rounded(float(literal), kind)


def _rounded(value: float, kind: str) -> int:
    if kind == "double":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind == "half":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    single = struct.unpack("<I", struct.pack("<f", value))[0]
    if kind == "float":
        return single
    return (single + 0x7FFF + ((single >> 16) & 1)) >> 16 & 0xFFFF


def _spell(bits: int, kind: str) -> str:
    if kind == "half":
        return f"0xH{bits:04X}"
    if kind == "bfloat":
        return f"0xR{bits:04X}"
    if kind == "double":
        return f"0x{bits:016X}"
    sign, exponent, mantissa = bits >> 31, (bits >> 23) & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:  # infinities and NaNs keep their payload
        return f"0x{sign << 63 | 0x7FF << 52 | mantissa << 29:016X}"
    return f"0x{struct.unpack('<Q', struct.pack('<d', struct.unpack('<f', struct.pack('<I', bits))[0]))[0]:016X}"
