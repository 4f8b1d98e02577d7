"""Host programs and kernel launches as a manifest holds them: the schema of programs, and what those of the kinds are made of."""

from __future__ import annotations

from typing import Any

from .schema import Mismatch, Schema, each, flag, integer, matching, one_of, record, row, text
from .thunks import kinds

FLOATS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
"""Element types of library calls, and their bytes."""

MOST = 1 << 47
SIZE = integer(0, MOST)
BIT = integer(0, 1)
SLICE = row(SIZE, SIZE, SIZE)
NAME = matching(r"[A-Za-z_][\w.$-]*", "a symbol")
NAMES = each(text)
INSIDE = integer(-MOST, MOST)


def body(value: Any) -> None:
    """The ops of a region."""
    each(op)(value)


def moving(reads: int | None = None, writes: int | None = None) -> dict[str, Schema]:
    """The fields of an op that reads and writes so many slices; any number where that is None."""
    counts = {"reads": reads, "writes": writes}
    return {name: each(SLICE, least=count or 0, most=count) for name, count in counts.items()}


def op(value: Any) -> None:
    """One op of a host program, with the regions in it."""
    record({"op": one_of(*kinds())}, more=True)(value)
    kind = kinds()[value["op"]]
    regions = {name: body for name in kind.regions if name not in kind.fields}
    record({**kind.fields, **regions}, more=True)(value)


_EVERY_SIZE = each(SIZE)
PROGRAM = record(
    {"op": one_of("program"), "body": body},
    {
        "sym_name": text, "signature": text, "value_attributes": NAMES, "constants": NAMES, "argument_bytes": _EVERY_SIZE,
        "result_bytes": _EVERY_SIZE, "arena_bytes": SIZE,
    },
)  # fmt: skip


def _block(value: Any) -> None:
    row(integer(1, 1024), integer(1, 1024), integer(1, 64))(value)
    if value[0] * value[1] * value[2] > 1024:
        raise Mismatch("at most 1024 threads", value)


_TENSOR_MAP = record(
    {
        "argument": SIZE,
        "offset": SIZE,
        "dtype": one_of("f16", "bf16", "f32"),
        "extents": each(integer(1, MOST), least=1, most=5),
        "strides": each(integer(1, MOST), least=1, most=5),
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
