"""Fourier transforms by cuFFT: a custom call of arrays whose last dimension holds real and imaginary parts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_mlir import ir

from ..common.rewriting import create, i64_array, i64_attr, ops_in

TARGET = "hloom.cufft"


def transform_call(signal: ir.Value, result: ir.Type, transform: str, lengths: Sequence[int]) -> ir.Value:
    """The transform of the innermost dimensions: fft, ifft, rfft or irfft, none of them scaled."""
    given = {"transform": ir.StringAttr.get(transform), "lengths": i64_array(lengths)}
    attributes = {"call_target_name": ir.StringAttr.get(TARGET), TARGET: ir.DictAttr.get(given)}
    return create("stablehlo.custom_call", [result], [signal], **attributes).results[0]


def transform_in(function: ir.Operation) -> dict[str, ir.Attribute] | None:
    """The attributes of `lhlo.fft` where that is what a library group is."""
    op = ops_in(function.regions[0].blocks[0])[0]
    if TARGET not in op.attributes:
        return None
    given = ir.DictAttr(op.attributes[TARGET])
    lengths = list(ir.DenseI64ArrayAttr(given["lengths"]))
    whole = op.results[0] if given["transform"] == ir.StringAttr.get("irfft") else op.operands[0]
    kind = ir.RankedTensorType(whole.type)
    real = given["transform"].value in ("rfft", "irfft")
    return {
        "transform": given["transform"],
        "lengths": given["lengths"],
        "batch": i64_attr(prod(kind.shape) // (prod(lengths) * (1 if real else 2))),
    }
