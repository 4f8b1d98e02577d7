"""Host programs of a manifest against its buffers and launches: what each op reads and writes lies inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from .errors import DamagedFileError
from .thunk_schema import FLOATS
from .thunks import Launches, Op, kinds


def check_program(entry: str, body: Sequence[Op], sizes: Sequence[int], writable: Sequence[bool], launches: Launches) -> None:
    """Raises DamagedFileError where the program, which the schema took, leaves its buffers of these sizes, or writes one it may not."""
    for number, op in enumerate(_walk(body)):
        for message in chain(_wrong_slices(op, sizes, writable), kinds()[op["op"]].faults(op, launches)):
            raise DamagedFileError(
                f"the manifest does not describe a program: op {number} of programs.{entry}, {op['op']}, {message}",
                remedy="write the file again",
            )


def _walk(body: Sequence[Op]) -> Iterator[Op]:
    for op in body:
        yield op
        for region in kinds()[op["op"]].regions:
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
        return not min(self.extents) or (reach(self.extents, self.strides) + 1) * FLOATS[self.element] <= self.at[2]


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
