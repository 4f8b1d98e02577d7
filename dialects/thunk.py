"""thunk: the host program over buffer slices."""

# No `from __future__ import annotations` here: the definitions below are read from the annotations as types, not as text.

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import ext

from ._support import WRITES_ANYTHING, DenseArray, Violation, numbers_of, symbols, violation, walk
from .host_function import HostFunction
from .storage import Slice, byte_size


class Thunk(ext.Dialect, name="thunk"):
    """The host program: what happens on a call, over slices of buffers.

    The buffers of a program are numbered: its arguments, its results, the arena, then one for each of its `constants`. The runtime makes
    an array of pointers in this order; a constant's pointer leads to the bytes of the memref.global of that name. A slice is (buffer,
    byte offset, byte size); attributes hold slices one after the other in an array of integers.
    """


class Machine(Protocol):
    """What simulates a program: its buffers, and what runs its kernels and regions."""

    def read(self, part: Slice, what: str) -> np.ndarray:
        """The bytes of a slice, each of which must have been written; `what` names them in an error."""

    def write(self, part: Slice) -> np.ndarray:
        """The bytes of a slice, to be written wholly."""

    def launch(self, callee: str, reads: list[Slice], writes: list[Slice]) -> None:
        """Runs a kernel."""

    def run(self, region: ir.Region) -> None:
        """Runs the thunks of a region."""

    def step(self, thunk: ir.OpView) -> None:
        """Runs one thunk."""


class ThunkOp(Thunk.Operation, traits=[WRITES_ANYTHING]):
    """What every op of the dialect is. A kind of thunk is a subclass in dialects/kinds, in a file with the lhlo op that becomes it."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)

    @property
    def kind(self) -> str:
        return self.operation.name.removeprefix("thunk.")

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        """What does not hold of the op; `named` are the module's symbols."""
        yield from ()

    def obstacle(self, named: dict[str, ir.Operation]) -> tuple[str, str | None] | None:
        """Why it cannot be lowered for a CPU, and the remedy."""
        return None

    def lower(self, host: HostFunction, loops: int) -> None:
        """Writes the op into the host function of a CPU; `loops` are around it."""
        raise NotImplementedError(f"{self.operation.name} has no code for a CPU")

    def simulate(self, machine: Machine) -> None:
        """Does on a simulated device what the op says."""
        raise NotImplementedError(f"{self.operation.name} has no simulation")

    def describe(self) -> str:
        """What runs, in a word or two, for the report."""
        return self.kind

    def flops(self) -> int:
        """The floating-point operations of a library call."""
        return 0


class ProgramOp(ThunkOp, name="program", traits=[ir.NoTerminatorTrait]):
    """An entry of the host program, `@main` or `@init`.

    `argument_bytes`, `result_bytes` and `arena_bytes` are the sizes of those buffers. `signature` is the function type over tensors that
    the program implements, `value_attributes` holds the dictionary of attributes of each argument and result.
    """

    sym_name: ir.StringAttr
    signature: ir.TypeAttr
    value_attributes: ir.ArrayAttr
    argument_bytes: DenseArray
    result_bytes: DenseArray
    arena_bytes: ir.IntegerAttr
    constants: ir.ArrayAttr
    body: ir.Region


def fields() -> dict[str, list[str]]:
    """The attributes that each op of the dialect has, by the op's name."""
    return {op.OPERATION_NAME: [each.name for each in op._fields if not isinstance(each, ext.RegionDef)] for op in Thunk.operations}


def integers(attribute: ir.Attribute) -> list[int]:
    return numbers_of(ir.DenseI64ArrayAttr(attribute))


def slices(op: ir.Operation, name: str) -> list[Slice]:
    """The slices that the attribute `name` of an op holds, none if it has no such attribute."""
    flat = integers(op.attributes[name]) if name in op.attributes else []
    return list(zip(flat[::3], flat[1::3], flat[2::3]))


def buffer_sizes(program: ir.Operation, named: dict[str, ir.Operation]) -> list[int]:
    """The byte size of every buffer of a program. Raises KeyError if a constant is not in the module."""
    sizes = [*integers(program.attributes["argument_bytes"]), *integers(program.attributes["result_bytes"])]
    sizes.append(ir.IntegerAttr(program.attributes["arena_bytes"]).value)
    for symbol in program.attributes["constants"]:
        held = named[ir.FlatSymbolRefAttr(symbol).value]
        sizes.append(byte_size(ir.TypeAttr(held.attributes["type"]).value))
    return sizes


def verify(module: ir.Operation) -> list[Violation]:
    """What does not hold of the module's thunk programs beyond what their definitions constrain."""
    named = symbols(module)
    found: list[Violation] = []
    for program in named.values():
        if program.name != "thunk.program":
            continue
        try:
            sizes = buffer_sizes(program, named)
        except KeyError as error:
            found.append(violation(program, f"the constant @{error.args[0]} is not in this module"))
            continue
        arguments = len(integers(program.attributes["argument_bytes"]))
        writable = range(arguments, arguments + len(integers(program.attributes["result_bytes"])) + 1)
        for op in walk(program, "thunk."):
            messages = [*_check_slices(op, sizes, writable), *op.opview.violations(named)]
            found.extend(violation(op, message) for message in messages)
    return found


def _check_slices(op: ir.Operation, sizes: list[int], writable: range) -> Iterator[str]:
    for name in ("reads", "writes"):
        if name in op.attributes and len(integers(op.attributes[name])) % 3:
            yield f"{name} holds no slices of three numbers"
            continue
        for buffer, offset, size in slices(op, name):
            if not 0 <= buffer < len(sizes):
                yield f"{name} buffer {buffer} of {len(sizes)}"
            elif offset < 0 or size < 0 or offset + size > sizes[buffer]:
                yield f"{name} bytes {offset} to {offset + size} of buffer {buffer}, which has {sizes[buffer]}"
            elif name == "writes" and buffer not in writable:
                yield f"writes buffer {buffer}, an argument or a constant"
