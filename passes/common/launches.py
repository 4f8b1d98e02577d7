"""Kernels that share a launch. Of independent ones the calls carry its number, and stand together in their block until they become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from .rewriting import callee_of, create, functions, i64_array, integer, integers, segments, walk

LAUNCH = "hloom.launch"
"""On a call: the number of the launch that its kernel shares with those of other calls in the block."""

JOINS = "hloom.joins"
"""On a function without a body: the kernels of a CPU that it runs (join-regions), each with its buffers' numbers among all, its tiles,
and its share of the numbers that the function is given a part of."""

MEMBERS = "hloom.members"
"""On a kernel made of several: the names of these."""


IN_TURN = "hloom.in_turn"
"""On a kernel made of several: they follow each other, and are not side by side."""

ALONE = "hloom.alone"
"""On a group function, or its kernel: a policy keeps it out of others' launches."""


def members_of(kernel: ir.Operation) -> list[str]:
    """The kernels that a kernel was made of; none of one that was not."""
    return [ir.StringAttr(name).value for name in kernel.attributes[MEMBERS]] if MEMBERS in kernel.attributes else []


def launch_of(call: ir.Operation) -> int | None:
    """The number of a call's launch; None where it has one of its own."""
    return integer(call, LAUNCH) if LAUNCH in call.attributes else None


def shared_launches(module: ir.Operation) -> list[list[ir.Operation]]:
    """The lhlo.fusion ops of each launch that several share, in order."""
    found: dict[tuple[str, int], list[ir.Operation]] = {}
    for host in functions(module):
        if "hloom.arena_bytes" in host.attributes:
            for call in walk(host, lambda op: op.name == "lhlo.fusion" and LAUNCH in op.attributes):
                found.setdefault((str(host.attributes["sym_name"]), integer(call, LAUNCH)), []).append(call)
    return [calls for calls in found.values() if len(calls) > 1]


@dataclass(frozen=True)
class JoinedCall:
    """One call for several. `places`: for each of these, its buffers' numbers among those of the one: inputs, which several may read,
    then outputs. `inplace`: pairs of an input and an output, numbered apart, that are one buffer. `exchanged`: the numbers of buffers
    that more than one of the kernels accesses, of which one writes."""

    calls: tuple[ir.Operation, ...]
    inputs: list[ir.Value]
    outputs: list[ir.Value]
    places: tuple[tuple[int, ...], ...]
    inplace: tuple[int, ...]
    exchanged: frozenset[int] = frozenset()

    @property
    def key(self) -> tuple[object, ...]:
        """What the kernels of equal ones have in common."""
        return tuple(map(callee_of, self.calls)), self.places, self.inplace, self.exchanged

    @property
    def members(self) -> ir.ArrayAttr:
        """The value of MEMBERS of its kernel."""
        return ir.ArrayAttr.get([ir.StringAttr.get(callee_of(call)) for call in self.calls])

    def write(self, kernel: str, at: int = 0) -> None:
        """Puts the call of that kernel in the place of one of them, the first if not told otherwise, and the others are gone."""
        first = self.calls[at]
        sources = dict.fromkeys(name for call in self.calls for name in ir.ArrayAttr(call.attributes["source"]))
        with ir.InsertionPoint(first), first.location:
            create(
                "lhlo.fusion",
                operands=[*self.inputs, *self.outputs],
                callee=ir.FlatSymbolRefAttr.get(kernel),
                inplace=i64_array(self.inplace),
                source=ir.ArrayAttr.get(list(sources)),
                operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(self.inputs), len(self.outputs)]),
            )
        for call in self.calls:
            call.erase()


def joined(calls: Sequence[ir.Operation]) -> JoinedCall:
    """One call with the buffers of all: what several only read is passed once."""
    inputs: list[ir.Value] = []
    outputs: list[ir.Value] = []
    inplace: list[int] = []
    numbers: dict[ir.Value, int] = {}
    places = []
    for call in calls:
        read, written = segments(call)
        pairs = integers(call, "inplace")
        mine = []
        for place, value in enumerate(read):
            if value not in numbers or place in pairs[::2]:
                numbers[value] = len(inputs)
                inputs.append(value)
            mine.append(numbers[value])
        for given, output in zip(pairs[::2], pairs[1::2]):
            inplace += [mine[given], len(outputs) + output]
        places.append((mine, range(len(outputs), len(outputs) + len(written))))
        outputs += written
    all_places = tuple((*mine, *(len(inputs) + number for number in theirs)) for mine, theirs in places)
    return JoinedCall(tuple(calls), inputs, outputs, all_places, tuple(inplace))
