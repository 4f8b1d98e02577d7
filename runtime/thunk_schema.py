"""Host programs and kernel launches as a manifest holds them: the schema of each op (dialects/thunk.py says what its attributes mean)."""

from __future__ import annotations

from typing import Any

from .schema import Mismatch, Schema, each, flag, integer, matching, one_of, record, row, text

FLOATS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
"""Element types of library calls, and their bytes."""
EPILOGUES = ("none", "bias", "relu", "bias_relu", "gelu", "bias_gelu")

_MOST = 1 << 47
_SIZE = integer(0, _MOST)
_BIT = integer(0, 1)
_SLICE = row(_SIZE, _SIZE, _SIZE)
_NAME = matching(r"[A-Za-z_][\w.$-]*", "a symbol")
_NAMES = each(text)
_INSIDE = integer(-_MOST, _MOST)
_REAL = one_of("f32", "f64")


def _body(value: Any) -> None:
    each(op)(value)


def _sequence(value: Any) -> None:
    record({"op": one_of("sequence"), "body": _body}, more=True)(value)


def _moving(attributes: dict[str, Schema], reads: int | None = None, writes: int | None = None) -> Schema:
    """An op of these attributes that reads and writes so many slices; any number where that is None."""
    counts = {"reads": reads, "writes": writes}
    slices = {name: each(_SLICE, least=count or 0, most=count) for name, count in counts.items()}
    return record({**slices, **attributes}, more=True)


_GEMM: dict[str, Schema] = {
    "transposed": row(_BIT, _BIT),
    "sizes": row(*[_SIZE] * 4),
    "leading": row(*[_SIZE] * 3),
    "strides": row(*[_SIZE] * 3),
    "element": one_of(*FLOATS),
    "result": one_of(*FLOATS),
    "epilogue": one_of(*EPILOGUES),
    "accumulate": _BIT,
}
_CONV: dict[str, Schema] = {
    **dict.fromkeys(("input", "filter", "output"), each(_SIZE, least=3, most=5)),
    **dict.fromkeys(("input_strides", "filter_strides", "output_strides"), each(_SIZE, least=3, most=5)),
    **dict.fromkeys(("window_strides", "padding_low", "padding_high", "dilations"), each(_INSIDE, least=1, most=3)),
    **dict.fromkeys(("bias", "residual", "relu"), _BIT),
    "groups": integer(1, _MOST),
    "element": one_of(*FLOATS),
}
_FFT: dict[str, Schema] = {
    "transform": one_of("fft", "ifft", "rfft", "irfft"),
    "lengths": each(_SIZE, least=1, most=3),
    "batch": _SIZE,
    "element": _REAL,
}
_SOLVE: dict[str, Schema] = {"lower": _BIT, "element": _REAL}

_OPS: dict[str, Schema] = {
    "kernel": _moving({"callee": _NAME, "source": _NAMES}),
    "gemm": _moving({**_GEMM, "source": _NAMES}),
    "conv": _moving({**_CONV, "source": _NAMES}),
    "fft": _moving({**_FFT, "source": _NAMES}, 1, 1),
    "cholesky": _moving({**_SOLVE, "sizes": row(_SIZE, _SIZE), "source": _NAMES}, 1, 1),
    "triangular_solve": _moving(
        {**_SOLVE, **dict.fromkeys(("left", "transposed", "unit_diagonal"), _BIT), "sizes": row(*[_SIZE] * 3), "source": _NAMES}, 2, 1
    ),
    "copy": _moving({}, 1, 1),
    "fill": record({"writes": row(_SLICE), "pattern": each(integer(-128, 255), least=1)}, more=True),
    "while": record({"reads": row(row(_SIZE, _SIZE, integer(1, 1))), "cond": _body, "body": _body}, more=True),
    "for": record({"trip_count": integer(0), "body": _body}, more=True),
    "case": record({"reads": row(row(_SIZE, _SIZE, one_of(1, 2, 4, 8))), "branches": each(_sequence, least=1)}, more=True),
    "sequence": record({"body": _body}, more=True),
    "profile_begin": record({"id": _INSIDE, "label": text}, more=True),
    "profile_end": record({"id": _INSIDE}, more=True),
}


def op(value: Any) -> None:
    """One op of a host program, with the regions in it."""
    record({"op": one_of(*_OPS)}, more=True)(value)
    _OPS[value["op"]](value)


_EVERY_SIZE = each(_SIZE)
PROGRAM = record(
    {"op": one_of("program"), "body": _body},
    {
        "sym_name": text, "signature": text, "value_attributes": _NAMES, "constants": _NAMES, "argument_bytes": _EVERY_SIZE,
        "result_bytes": _EVERY_SIZE, "arena_bytes": _SIZE,
    },
)  # fmt: skip


def _block(value: Any) -> None:
    row(integer(1, 1024), integer(1, 1024), integer(1, 64))(value)
    if value[0] * value[1] * value[2] > 1024:
        raise Mismatch("at most 1024 threads", value)


_TENSOR_MAP = record(
    {
        "argument": _SIZE,
        "offset": _SIZE,
        "dtype": one_of("f16", "bf16", "f32"),
        "extents": each(integer(1, _MOST), least=1, most=5),
        "strides": each(integer(1, _MOST), least=1, most=5),
        "box": each(integer(1, 256), least=1, most=5),
        "swizzle": one_of(32, 64, 128),
    }
)

LAUNCH = record(
    {
        "grid": row(integer(0, (1 << 31) - 1), integer(0, 65535), integer(0, 65535)),
        "block": _block,
        "shared_bytes": integer(0, 1 << 20),
        "noalias": each(flag),
    },
    {"tensor_maps": each(_TENSOR_MAP)},
)
