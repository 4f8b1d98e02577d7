"""torch.fft, stft and istft: three ops of torch's, each a stablehlo.fft over its last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod, sqrt
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch_mlir import ir

from hloom.passes.common.rewriting import element_of, value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, overloads, torch_decomposition, torch_lowering

_MOST_DIMENSIONS = 3  # of one stablehlo.fft
_KINDS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_NAMES = [f"aten.fft_{kind}{suffix}" for kind in _KINDS for suffix in ("", "2", "n")] + [
    "aten.fft_fftshift",
    "aten.fft_ifftshift",
    "aten.stft",
]


def _as_torch_writes_it(name: str) -> None:
    """torch's own kernel of the op calls simpler ones, which are traced instead."""
    for op in overloads(name):
        torch_decomposition(str(op))(partial(op._op_dk, DispatchKey.CompositeImplicitAutograd))


for _name in _NAMES:
    _as_torch_writes_it(_name)


@torch_lowering("aten._fft_c2c")
def complex_to_complex(op: TorchOp, x: ir.Value, dims: Sequence[int], normalization: int, forward: bool) -> ir.Value:
    shape = build.shape_of(x)
    dims = [d % len(shape) for d in dims]
    for first in range(0, len(dims), _MOST_DIMENSIONS):
        x = _transformed("FFT" if forward else "IFFT", x, dims[first : first + _MOST_DIMENSIONS])
    return _scaled(x, prod(shape[d] for d in dims), normalization, forward)


@torch_lowering("aten._fft_r2c")
def real_to_complex(op: TorchOp, x: ir.Value, dims: Sequence[int], normalization: int, onesided: bool) -> ir.Value:
    shape = build.shape_of(x)
    dims = [d % len(shape) for d in dims]
    if not onesided:
        real = value_of("stablehlo.complex", build.tensor(shape, op.element), [x, build.zero(shape, element_of(x))])
        return complex_to_complex(op, real, dims, normalization, True)
    result = _transformed("RFFT", x, dims[-_MOST_DIMENSIONS:])
    if rest := dims[:-_MOST_DIMENSIONS]:
        result = complex_to_complex(op, result, rest, 0, True)
    return _scaled(result, prod(shape[d] for d in dims), normalization, True)


@torch_lowering("aten._fft_c2r")
def complex_to_real(op: TorchOp, x: ir.Value, dims: Sequence[int], normalization: int, last_size: int) -> ir.Value:
    shape = list(op.result.shape)
    dims = [d % len(shape) for d in dims]
    if rest := dims[:-_MOST_DIMENSIONS]:
        x = complex_to_complex(op, x, rest, 2, False)
    result = _transformed("IRFFT", x, dims[-_MOST_DIMENSIONS:], last_size)
    return _scaled(result, prod(shape[d] for d in dims), normalization, False)


def _transformed(kind: str, x: ir.Value, dims: Sequence[int], last_size: int | None = None) -> ir.Value:
    """stablehlo.fft along any dimensions; for IRFFT `last_size` is the result's size along the last."""
    shape = build.shape_of(x)
    order = [d for d in range(len(shape)) if d not in dims] + list(dims)
    lengths = [shape[d] for d in dims]
    if last_size is not None:
        lengths[-1] = last_size
    moved = build.transpose(x, order)
    sizes, element = build.shape_of(moved), element_of(x)
    if kind == "RFFT":
        sizes[-1], element = lengths[-1] // 2 + 1, ir.ComplexType.get(element)
    elif kind == "IRFFT":
        sizes[-1], element = lengths[-1], element.element_type
    attributes = {"fft_type": ir.Attribute.parse(f"#stablehlo<fft_type {kind}>"), "fft_length": ir.DenseI64ArrayAttr.get(lengths)}
    result = value_of("stablehlo.fft", build.tensor(sizes, element), [moved], **attributes)
    return build.transpose(result, [order.index(d) for d in range(len(order))])


def _scaled(x: ir.Value, count: int, normalization: int, forward: bool) -> ir.Value:
    """torch divides by 1, the root of `count` or `count`; stablehlo.fft by `count` where it goes back."""
    divisor = (1.0, sqrt(count), float(count))[normalization]
    factor = (1 if forward else count) / divisor if count else 1.0
    if factor == 1:
        return x
    shape, element = build.shape_of(x), element_of(x)
    if not isinstance(element, ir.ComplexType):
        return build.multiply(x, build.full_like(x, factor))
    kind = build.tensor(shape, element.element_type)
    parts = [value_of(f"stablehlo.{part}", kind, [x]) for part in ("real", "imag")]
    return value_of("stablehlo.complex", build.tensor(shape, element), [build.multiply(part, build.full(kind, factor)) for part in parts])


@torch_decomposition("aten.istft")
def istft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None, center: bool = True,
    normalized: bool = False, onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """Frames that are added where they lie, over the sum of their squared windows. torch refuses windows of which that is 0 somewhere."""
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    window = torch.ones(width, dtype=x.real.dtype) if window is None else window
    left = (n_fft - width) // 2
    window = torch.nn.functional.pad(window, (left, n_fft - width - left))
    batched = x if x.ndim == 3 else x[None]
    count = batched.shape[2]
    spectra, norm = batched.transpose(1, 2), "ortho" if normalized else None
    onesided = x.shape[-2] != n_fft if onesided is None else onesided
    frames = torch.fft.irfft(spectra, n_fft, norm=norm) if onesided else torch.fft.ifft(spectra, norm=norm)
    frames = (frames if return_complex or onesided else frames.real) * window
    whole = n_fft + hop * (count - 1)
    places = (torch.arange(count)[:, None] * hop + torch.arange(n_fft)).reshape(-1)
    signal = torch.zeros(batched.shape[0], whole, dtype=frames.dtype).index_add(1, places, frames.reshape(batched.shape[0], -1))
    weight = torch.zeros(whole, dtype=window.dtype).index_add(0, places, (window * window).repeat(count))
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - start if center else whole
    signal = signal[:, start:end] / weight[start:end]
    signal = torch.nn.functional.pad(signal, (0, max(end - whole, 0)))
    return signal if x.ndim == 3 else signal[0]


@torch_decomposition("aten.fft_fftfreq")
def fftfreq(n: int, d: float = 1.0, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    places = torch.cat([torch.arange((n - 1) // 2 + 1), torch.arange(-(n // 2), 0)])
    return places.to(dtype or torch.get_default_dtype()) * (1.0 / (n * d))


@torch_decomposition("aten.fft_rfftfreq")
def rfftfreq(n: int, d: float = 1.0, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.arange(n // 2 + 1).to(dtype or torch.get_default_dtype()) * (1.0 / (n * d))
