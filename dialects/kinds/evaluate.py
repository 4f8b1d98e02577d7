"""evaluate: copies in another order and arithmetic on elements that the native library interprets, on a CPU."""

from collections.abc import Iterator, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from .._support import WRITES_OUTPUTS, DenseArray
from ..evaluation import at_slices, decoded, packed
from ..host_function import POINTER, HostFunction
from ..lhlo import Buffer, LhloOp, referenced
from ..storage import byte_size
from ..thunk import ThunkOp, integers, slices


class LhloEvaluate(LhloOp, name="evaluate", traits=[WRITES_OUTPUTS]):
    """Runs the programs that `numbers` hold (dialects/evaluation.py) on the inputs and the outputs, of which no two share memory."""

    inputs: Sequence[Operand[Buffer]]
    outputs: Sequence[Operand[Buffer]]
    numbers: DenseArray
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        yield from _faults(self, [byte_size(referenced(ref).type) for ref in (*self.inputs, *self.outputs)], len(self.inputs))


class ThunkEvaluate(ThunkOp, name="evaluate"):
    """Runs the programs that `numbers` hold (dialects/evaluation.py) on the slices in `reads` and `writes`, on a CPU alone.

    The native library interprets them, which takes less time than compiling them where they run once.
    """

    reads: DenseArray
    writes: DenseArray
    numbers: DenseArray
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        reads = slices(self, "reads")
        yield from _faults(self, [size for _, _, size in (*reads, *slices(self, "writes"))], len(reads))

    def lower(self, host: HostFunction, loops: int) -> None:
        numbers = at_slices(integers(self.numbers), slices(self, "reads") + slices(self, "writes"))
        host.call("hloom_evaluate", ["%buffers", host.data(packed(numbers))], f"{POINTER}, {POINTER}")

    def describe(self) -> str:
        return "interpreted"

    def flops(self) -> int:
        return sum(program.flops() for program in decoded(integers(self.numbers)))


def _faults(op: Any, sizes: Sequence[int], inputs: int) -> Iterator[str]:
    try:
        programs = decoded(integers(op.numbers))
    except ValueError as error:
        yield f"its numbers are not programs: {error}"
        return
    for program in programs:
        yield from program.faults(sizes, inputs)
