"""fill: a pattern of bytes, repeated over a buffer."""

from collections.abc import Iterator

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from .._support import WRITES_OUTPUTS, DenseArray
from ..host_function import POINTER, HostFunction
from ..lhlo import LhloOp, element_width
from ..thunk import Machine, ThunkOp, slices


class LhloFill(LhloOp, name="fill", traits=[WRITES_OUTPUTS]):
    """Sets every element of a buffer to the bytes of `pattern` (one element's bytes)."""

    out: Operand[ir.MemRefType]
    pattern: DenseArray

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        width, pattern = element_width(self.out.type), len(ir.DenseI8ArrayAttr(self.pattern))
        if width != pattern:
            yield f"pattern of {pattern} bytes for elements of {width}"


class ThunkFill(ThunkOp, name="fill"):
    """Repeats the bytes of `pattern` over the slice in `writes`."""

    writes: DenseArray
    pattern: DenseArray

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        width, writes = len(ir.DenseI8ArrayAttr(self.pattern)), slices(self, "writes")
        if not width or len(writes) != 1 or writes[0][2] % width:
            yield f"a pattern of {width} bytes does not fill the slice"

    def lower(self, host: HostFunction, loops: int) -> None:
        (target,) = slices(self, "writes")
        pattern = [byte & 255 for byte in ir.DenseI8ArrayAttr(self.pattern)]
        start = host.pointer(target)
        if len(set(pattern)) == 1:
            operands = f"{start}, {host.constant(_signed(pattern[:1]), 'i8')}, {host.constant(target[2])}"
            host.body.append(f'"llvm.intr.memset"({operands}) <{{isVolatile = false}}> : ({POINTER}, i8, i64) -> ()')
            return
        kind = f"i{8 * len(pattern)}"
        value = host.constant(_signed(pattern), kind)
        index, close = host.open_loop(target[2] // len(pattern))
        place = host.value(f"llvm.getelementptr {start}[{index}] : ({POINTER}, i64) -> {POINTER}, {kind}")
        # A result is where its caller put it: no more than the element's own alignment is known, and for i128 not even that.
        host.body.append(f"llvm.store {value}, {place} {{alignment = {min(len(pattern), 8)} : i64}} : {kind}, {POINTER}")
        host.body.extend(close)

    def simulate(self, machine: Machine) -> None:
        (target,) = slices(self, "writes")
        pattern = np.array(list(ir.DenseI8ArrayAttr(self.pattern)), np.int8).view(np.uint8)
        machine.write(target).reshape(-1, len(pattern))[:] = pattern


def _signed(pattern: list[int]) -> int:
    return int.from_bytes(bytes(pattern), "little", signed=True)
