"""Host programs and kernel launches as a manifest holds them: their schema, and that programs keep to their buffers and launches.

What is so of one kind of thunk alone is in that kind's file of cuda/kinds; here is what those are made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from .errors import DamagedFileError
from .schema import Mismatch, Schema, each, flag, integer, matching, one_of, record, row, text
from .thunks import Launches, Op, kind_of, kinds

FLOATS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
ELEMENT_BYTES = {"i8": 1, "f8E4M3FN": 1, "i32": 4, **FLOATS}
"""Of the elements that tensor maps and libraries have."""
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


def _kind(value: Any) -> None:
    text(value)
    try:
        kind_of(value)
    except KeyError:
        one_of(*kinds())(value)


def op(value: Any) -> None:
    """One op of a host program, with the regions in it."""
    record({"op": _kind}, more=True)(value)
    kind = kind_of(value["op"])
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
        "dtype": one_of("i8", "f16", "bf16", "f32"),
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
    {"tensor_maps": each(_TENSOR_MAP), "cooperative": flag},
)


def check_program(entry: str, body: Sequence[Op], sizes: Sequence[int], writable: Sequence[bool], launches: Launches) -> None:
    """Raises DamagedFileError where the program, which the schema took, leaves its buffers of these sizes, or writes one it may not."""
    for number, op in enumerate(_walk(body)):
        for message in chain(_wrong_slices(op, sizes, writable), kind_of(op["op"]).faults(op, launches)):
            raise DamagedFileError(
                f"the manifest does not describe a program: op {number} of programs.{entry}, {op['op']}, {message}",
                remedy="write the file again",
            )


def _walk(body: Sequence[Op]) -> Iterator[Op]:
    for op in body:
        yield op
        for region in kind_of(op["op"]).regions:
            yield from _walk(op[region])


def _wrong_slices(op: Op, sizes: Sequence[int], writable: Sequence[bool]) -> Iterator[str]:
    reads, writes = op.get("reads", ()), op.get("writes", ())
    for buffer, offset, size in (*reads, *writes):
        if buffer >= len(sizes):
            yield f"has a slice of buffer {buffer} of {len(sizes)}"
        elif offset + size > sizes[buffer]:
            yield f"has the slice of bytes {offset} to {offset + size} of buffer {buffer}, which has {sizes[buffer]}"
    for buffer, _, _ in writes:
        if not writable[buffer]:
            yield f"writes buffer {buffer}, an argument or a constant"


class Tensor(NamedTuple):
    """A tensor that a library reads or writes, in the slice that holds it; strides in elements."""

    name: str
    extents: Sequence[int]
    strides: Sequence[int]
    element: str
    at: Sequence[int]

    @property
    def fits(self) -> bool:
        """Whether it ends inside of its slice."""
        return not min(self.extents) or (reach(self.extents, self.strides) + 1) * ELEMENT_BYTES[self.element] <= self.at[2]


def dense(name: str, extents: Sequence[int], element: str, at: Sequence[int]) -> Tensor:
    """A row-major tensor."""
    strides = [1]
    for extent in reversed(extents[1:]):
        strides.insert(0, strides[0] * extent)
    return Tensor(name, extents, strides, element, at)


def past_slices(tensors: Sequence[Tensor]) -> Iterator[str]:
    """What does not hold where they do not fit."""
    for tensor in tensors:
        if not tensor.fits:
            yield f"reaches past the slice of {tensor.name}, which has {tensor.at[2]} bytes"


def reach(extents: Sequence[int], strides: Sequence[int]) -> int:
    """How far the last element lies from the first."""
    return sum((extent - 1) * stride for extent, stride in zip(extents, strides))
