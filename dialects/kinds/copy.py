"""copy: the bytes of one buffer to another."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from .._support import WRITES_OUTPUTS, DenseArray
from ..host_function import POINTER, HostFunction
from ..lhlo import LhloOp
from ..thunk import Machine, ThunkOp, slices


class LhloCopy(LhloOp, name="copy", traits=[WRITES_OUTPUTS]):
    """Copies a buffer to another of the same type that does not overlap it."""

    input: Operand[ir.MemRefType]
    out: Operand[ir.MemRefType]

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if self.input.type != self.out.type:
            yield f"copies {self.input.type} to {self.out.type}"


class ThunkCopy(ThunkOp, name="copy"):
    """Copies the slice in `reads` to the one in `writes`, of the same size."""

    reads: DenseArray
    writes: DenseArray

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if [size for _, _, size in slices(self, "reads")] != [size for _, _, size in slices(self, "writes")]:
            yield "copies between slices of different sizes"

    def lower(self, host: HostFunction, loops: int) -> None:
        (source,), (target,) = slices(self, "reads"), slices(self, "writes")
        operands = f"{host.pointer(target)}, {host.pointer(source)}, {host.constant(target[2])}"
        host.body.append(f'"llvm.intr.memcpy"({operands}) <{{isVolatile = false}}> : ({POINTER}, {POINTER}, i64) -> ()')

    def simulate(self, machine: Machine) -> None:
        (source,), (target,) = slices(self, "reads"), slices(self, "writes")
        found = machine.read(source, "the source of a copy").copy()
        machine.write(target)[:] = found
