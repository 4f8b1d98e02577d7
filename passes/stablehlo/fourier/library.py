"""Transforms by a library, which wants real and imaginary parts side by side."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...library_calls.fft import transform_call
from ..support import build
from .planar import Planar


def library_transform(kind: str, operands: Sequence[ir.Value], results: Sequence[ir.Value], lengths: Sequence[int]) -> list[ir.Value]:
    """What stands for the results of a transform of that kind, unscaled."""
    signal = operands[0] if len(operands) == 1 else _joined(Planar(*operands))
    shape, element = build.shape_of(results[0]), build.element_of(results[0])
    made = transform_call(signal, build.tensor(shape if len(results) == 1 else [*shape, 2], element), kind.lower(), lengths)
    if len(results) == 1:
        return [made]
    return [build.reshape(build.slice_dim(made, len(shape), part, part + 1), shape) for part in range(2)]


def _joined(z: Planar) -> ir.Value:
    return build.concatenate([build.reshape(part, [*z.shape, 1]) for part in (z.re, z.im)], len(z.shape))
