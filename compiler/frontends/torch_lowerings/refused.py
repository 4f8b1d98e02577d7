"""Ops that are refused by name, as torch-mlir's own way fails later with an error that names none."""

from __future__ import annotations

from typing import Any, NoReturn

from ..torch_registry import TorchOp, torch_lowering


@torch_lowering("aten.stft", "aten.istft", "aten.fft_fft", "aten._fft_r2c", "aten._fft_c2c", "aten._fft_c2r")
def fourier(op: TorchOp, *_: Any, **options: Any) -> NoReturn:
    raise op.refused("hloom has no Fourier transform of torch")
