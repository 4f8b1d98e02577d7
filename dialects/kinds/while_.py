"""while: a loop that runs as long as its condition writes 1."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from .._support import WRITES_ANYTHING, DenseArray
from ..host_function import POINTER, HostFunction
from ..lhlo import LhloOp
from ..thunk import Machine, ThunkOp, slices


class LhloWhile(LhloOp, name="while", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs `cond`, which writes `pred`; as long as that holds 1, runs `body` and starts over. Carries are buffers that `body` updates."""

    pred: Operand[ir.MemRefType]
    cond: ir.Region
    body: ir.Region

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if str(self.pred.type) != "memref<i8>":
            yield f"the predicate is {self.pred.type}, not memref<i8>"


class ThunkWhile(ThunkOp, name="while", traits=[ir.NoTerminatorTrait]):
    """Runs `cond`, then `body` and again, as long as the byte in the slice `reads` is 1 after `cond`."""

    reads: DenseArray
    cond: ir.Region
    body: ir.Region

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if [size for _, _, size in slices(self, "reads")] != [1]:
            yield "the predicate is no slice of one byte"

    def lower(self, host: HostFunction, loops: int) -> None:
        test, inside, after = host.label(), host.label(), host.label()
        (pred,) = slices(self, "reads")
        pointer, zero = host.pointer(pred), host.constant(0, "i8")
        host.body.extend([f"llvm.br {test}", f"{test}:"])
        host.region(self.cond, loops + 1)
        loaded = host.value(f"llvm.load {pointer} : {POINTER} -> i8")
        holds = host.value(f'llvm.icmp "ne" {loaded}, {zero} : i8')
        host.body.extend([f"llvm.cond_br {holds}, {inside}, {after}", f"{inside}:"])
        host.region(self.body, loops + 1)
        host.body.extend([f"llvm.br {test}", f"{after}:"])

    def simulate(self, machine: Machine) -> None:
        (predicate,) = slices(self, "reads")
        machine.run(self.cond)
        while machine.read(predicate, "the predicate of a while loop")[0]:
            machine.run(self.body)
            machine.run(self.cond)
