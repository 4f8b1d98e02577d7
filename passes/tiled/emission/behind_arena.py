"""Buffers behind the arena, which live while one group runs: groups share one place there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.dialects.storage import byte_size, storage_type

from ...common.rewriting import callee_of, create, functions, i64_attr, index_constant, integer, update_signature, value_of, walk
from ...lhlo.assignment.arena import aligned


def hosts_of(module: ir.Operation) -> list[Host]:
    """The module's host functions."""
    return [Host(f) for f in functions(module) if "hloom.arena_bytes" in f.attributes]


@dataclass
class Host:
    """A host function, and how far its arena is used by what was added."""

    function: ir.Operation
    arena: int = field(init=False)
    used: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        self.arena = aligned(integer(self.function, "hloom.arena_bytes"))

    def begin_group(self) -> None:
        """The buffers of the group before are free again."""
        self.used = 0

    def calls(self, name: str) -> list[ir.Operation]:
        """The calls of a group function."""
        return [op for op in walk(self.function, "lhlo.fusion") if callee_of(op) == name]

    def buffer(self, tensor: ir.Type) -> ir.Value:
        """A new buffer behind the arena."""
        block = self.function.regions[0].blocks[0]
        offset, self.used = self.arena + self.used, self.used + aligned(byte_size(tensor))
        self.most = max(self.most, self.used)
        with ir.InsertionPoint.at_block_begin(block), self.function.location:
            view = value_of("memref.view", storage_type(tensor), [block.arguments[-1], index_constant(offset)])
            return value_of("lhlo.ref", ir.Type.parse("!lhlo.buffer"), [view])

    def finish(self) -> None:
        """Makes the arena as large as is needed now."""
        if not self.most:
            return
        self.function.attributes["hloom.live_bytes"] = i64_attr(integer(self.function, "hloom.live_bytes") + self.most)
        self.function.attributes["hloom.arena_bytes"] = i64_attr(self.arena + self.most)
        arguments = self.function.regions[0].blocks[0].arguments
        arguments[len(arguments) - 1].set_type(ir.MemRefType.get([self.arena + self.most], ir.IntegerType.get_signless(8)))
        update_signature(self.function)


def call(original: ir.Operation, callee: str, inputs: Iterable[ir.Value], outputs: Iterable[ir.Value], inplace: ir.Attribute) -> None:
    """Calls a group function for the same source ops as `original`, before the insertion point."""
    inputs, outputs = list(inputs), list(outputs)
    create(
        "lhlo.fusion",
        operands=[*inputs, *outputs],
        callee=ir.FlatSymbolRefAttr.get(callee),
        inplace=inplace,
        source=original.attributes["source"],
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
    )
