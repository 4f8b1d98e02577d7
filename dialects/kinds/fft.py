"""fft: Fourier transforms by a library."""

from collections.abc import Iterator

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from hloom.runtime.cuda.kinds.fft import tensors

from .._support import WRITES_OUTPUTS, DenseArray
from ..lhlo import LhloOp
from ..library_call import past_slices, views
from ..storage import byte_size
from ..thunk import Machine, ThunkOp, integers
from ..thunk_json import plain


class LhloFft(LhloOp, name="fft", traits=[WRITES_OUTPUTS]):
    """A batch of Fourier transforms over the innermost dimensions by a library; see `thunk.fft`."""

    signal: Operand[ir.MemRefType]
    out: Operand[ir.MemRefType]
    transform: ir.StringAttr
    lengths: DenseArray
    batch: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        op = {"transform": self.transform.value, "lengths": integers(self.lengths), "batch": self.batch.value, "element": self._element}
        buffers = (0, 0, byte_size(self.signal.type)), (0, 0, byte_size(self.out.type))
        yield from past_slices(tensors({**op, "reads": buffers[:1], "writes": buffers[1:]}))

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        return {"element": ir.TypeAttr.get(ir.MemRefType(self.signal.type).element_type)}

    @property
    def _element(self) -> str:
        return str(ir.MemRefType(self.signal.type).element_type)


class ThunkFft(ThunkOp, name="fft"):
    """A batch of Fourier transforms over the innermost dimensions by a library, on CUDA alone.

    `transform` is fft, ifft, rfft or irfft; inverse ones are not scaled. `lengths` are the extents of the transformed dimensions of the
    signal, one to three; `element` is f32 or f64, of which a complex number is a pair.
    """

    reads: DenseArray
    writes: DenseArray
    transform: ir.StringAttr
    lengths: DenseArray
    batch: ir.IntegerAttr
    element: ir.TypeAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        op = plain(self)
        if len(op["reads"]) != 1 or len(op["writes"]) != 1 or not 1 <= len(op["lengths"]) <= 3:
            yield "wants a slice to read, one to write, and one to three lengths"
            return
        yield from past_slices(tensors(op))

    def simulate(self, machine: Machine) -> None:
        op = plain(self)
        found = views(machine, op, tensors(op))
        signal, lengths = found["the signal"], op["lengths"]
        axes = range(1, 1 + len(lengths))
        values = signal if op["transform"] == "rfft" else signal[..., 0] + 1j * signal[..., 1]
        made = getattr(np.fft, f"{op['transform']}n")(values, s=lengths, axes=axes)
        if op["transform"] in ("ifft", "irfft"):
            made = made * np.prod(lengths)
        found["the result"][:] = made if op["transform"] == "irfft" else np.stack([made.real, made.imag], -1)

    def describe(self) -> str:
        return f"library {self.transform.value} {self.batch.value}x{'x'.join(map(str, integers(self.lengths)))} {self.element}"
