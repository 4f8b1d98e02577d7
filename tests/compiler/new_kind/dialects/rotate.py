"""rotate: the elements of a buffer, each `by` bytes further on in another, the last ones first."""

from collections.abc import Iterator

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from hloom.dialects._support import WRITES_OUTPUTS, DenseArray
from hloom.dialects.host_function import POINTER, HostFunction
from hloom.dialects.lhlo import LhloOp
from hloom.dialects.thunk import Machine, ThunkOp, slices


class LhloRotate(LhloOp, name="rotate", traits=[WRITES_OUTPUTS]):
    """Writes the bytes of `input` to `out`, `by` bytes further on."""

    input: Operand[ir.MemRefType]
    out: Operand[ir.MemRefType]
    by: ir.IntegerAttr


class ThunkRotate(ThunkOp, name="rotate"):
    """Writes the bytes of the slice in `reads` to the one in `writes`, `by` bytes further on."""

    reads: DenseArray
    writes: DenseArray
    by: ir.IntegerAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if not 0 <= self.by.value <= slices(self, "writes")[0][2]:
            yield f"rotates by {self.by.value} bytes"

    def lower(self, host: HostFunction, loops: int) -> None:
        ((source, begin, size),), ((target, place, _),), by = slices(self, "reads"), slices(self, "writes"), self.by.value
        for start, end, count in ((0, by, size - by), (size - by, 0, by)):
            to, origin = host.pointer((target, place + end, count)), host.pointer((source, begin + start, count))
            operands = f"{to}, {origin}, {host.constant(count)}"
            host.body.append(f'"llvm.intr.memcpy"({operands}) <{{isVolatile = false}}> : ({POINTER}, {POINTER}, i64) -> ()')

    def simulate(self, machine: Machine) -> None:
        (source,), (target,) = slices(self, "reads"), slices(self, "writes")
        machine.write(target)[:] = np.roll(machine.read(source, "what a rotation reads"), self.by.value)

    def describe(self) -> str:
        return f"rotation by {self.by.value} bytes"
