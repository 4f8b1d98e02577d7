"""fft: Fourier transforms by a library. No pass makes them yet."""

from torch_mlir import ir

from .._support import DenseArray
from ..thunk import ThunkOp


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
