"""case: one of several branches, as an integer says; a branch is a sequence of thunks."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from .._support import WRITES_ANYTHING, DenseArray
from ..host_function import POINTER, HostFunction
from ..lhlo import LhloOp
from ..thunk import Machine, ThunkOp, slices


class LhloCase(LhloOp, name="case", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Reads an integer i from `index` and runs the i-th `lhlo.branch` of `branches`, or the last one if there is no i-th."""

    index: Operand[ir.MemRefType]
    branches: ir.Region

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        index = ir.MemRefType(self.index.type)
        if index.rank or not isinstance(index.element_type, ir.IntegerType):
            yield f"the index is {index}, not one integer"
        yield from _other_than("lhlo.branch", self.branches)


class LhloBranch(LhloOp, name="branch", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """One branch of an `lhlo.case`."""

    body: ir.Region
    thunk = "sequence"

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if self.operation.parent.name != "lhlo.case":
            yield "stands outside of an lhlo.case"


class ThunkCase(ThunkOp, name="case", traits=[ir.NoTerminatorTrait]):
    """Reads an integer i from the slice in `reads` and runs the i-th `thunk.sequence` of `branches`, or the last one if there is no i-th.

    The integer is as wide as the slice. Branches are counted from 0.
    """

    reads: DenseArray
    branches: ir.Region

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        reads = slices(self, "reads")
        if len(reads) != 1 or reads[0][2] not in (1, 2, 4, 8):
            yield "the index is no slice of 1, 2, 4 or 8 bytes"
        yield from _other_than("thunk.sequence", self.branches)

    def lower(self, host: HostFunction, loops: int) -> None:
        (at,) = slices(self, "reads")
        branches = list(self.branches.blocks[0].operations)
        labels, after = [host.label() for _ in branches], host.label()
        index = host.value(f"llvm.load {host.pointer(at)} : {POINTER} -> i{8 * at[2]}")
        targets = ", ".join(f"{i}: {label}" for i, label in enumerate(labels[:-1]))
        host.body.append(f"llvm.switch {index} : i{8 * at[2]}, {labels[-1]} [{targets}]")
        for label, branch in zip(labels, branches):
            host.body.append(f"{label}:")
            branch.lower(host, loops)
            host.body.append(f"llvm.br {after}")
        host.body.append(f"{after}:")

    def simulate(self, machine: Machine) -> None:
        (index,) = slices(self, "reads")
        branches = list(self.branches.blocks[0].operations)
        number = int(machine.read(index, "the index of a case").view(f"i{index[2]}")[0])
        machine.step(branches[number if 0 <= number < len(branches) else -1])


class ThunkSequence(ThunkOp, name="sequence", traits=[ir.NoTerminatorTrait]):
    """Runs the ops of `body` one after the other."""

    body: ir.Region

    def lower(self, host: HostFunction, loops: int) -> None:
        host.region(self.body, loops)

    def simulate(self, machine: Machine) -> None:
        machine.run(self.body)


def _other_than(wanted: str, branches: ir.Region) -> Iterator[str]:
    inside = [inner.operation.name for block in branches.blocks for inner in block.operations]
    if not inside or any(name != wanted for name in inside):
        yield f"holds something else than one {wanted} or more"
