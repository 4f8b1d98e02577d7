"""custom_call: outside code, a C function that the host calls."""

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from .._support import WRITES_OUTPUTS, DenseArray
from ..host_function import POINTER, HostFunction
from ..lhlo import Buffer, LhloOp
from ..thunk import ThunkOp, integers, slices

PREFIX = "hloom_call."
"""A target's symbol is its name after this."""


class LhloCustomCall(LhloOp, name="custom_call", traits=[WRITES_OUTPUTS]):
    """Calls the C function of the custom-call `target` on the inputs, which writes the outputs.

    `numbers` and `config` are handed on to it. An output may be an input's buffer where the target wants that; it then holds the input.
    """

    inputs: Sequence[Operand[Buffer]]
    outputs: Sequence[Operand[Buffer]]
    target: ir.StringAttr
    numbers: DenseArray
    config: ir.StringAttr
    source: ir.ArrayAttr


class ThunkCustomCall(ThunkOp, name="custom_call"):
    """Calls the C function of the custom-call `target`, on the CPU alone:

        void function(void **buffers, const int64_t *numbers, const char *config);

    `buffers` are the slices in `reads`, then those in `writes`; `numbers` and `config` are the op's. The object refers to the function as
    `hloom_call.<target>`, which is bound when the program is loaded: to LAPACK, or to what hloom.custom_call was given.
    """

    reads: DenseArray
    writes: DenseArray
    target: ir.StringAttr
    numbers: DenseArray
    config: ir.StringAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if not self.target.value:
            yield "calls a function without a name"

    def lower(self, host: HostFunction, loops: int) -> None:
        array = host.pointers(slices(self, "reads") + slices(self, "writes"), loops)
        numbers = b"".join(number.to_bytes(8, "little", signed=True) for number in integers(self.numbers))
        told = [host.data(numbers), host.data(self.config.value.encode() + b"\0")]
        host.call(PREFIX + self.target.value, [array, *told], ", ".join([POINTER] * 3))

    def describe(self) -> str:
        return f"calls {self.target.value}"
