"""split-complex: every complex value becomes two real ones, its real and its imaginary part.

Before:
    func.func @main(%z: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
      %0 = stablehlo.multiply %z, %z : tensor<8xcomplex<f32>>
      return %0 : tensor<8xcomplex<f32>>
    }
After:
    func.func @main(%z: tensor<8x2xf32>) -> tensor<8x2xf32> {
      %re = stablehlo.reshape (stablehlo.slice %z [0:8, 0:1]) : tensor<8xf32>
      %im = stablehlo.reshape (stablehlo.slice %z [0:8, 1:2]) : tensor<8xf32>
      %0 = %re * %re - %im * %im, %1 = %re * %im + %im * %re
      %2 = stablehlo.concatenate %0, %1, dim = 1               // of reshapes to tensor<8x1xf32>
      return %2 : tensor<8x2xf32>
    }

No later stage knows of complex numbers. Arguments and results of the entries keep their bytes: an array of complex numbers is one of pairs,
and so the artifact's signature says complex. Ops that move elements, and control flow, take both parts; functions are in the files of
`complex`, dots and convolutions four real ones. A reduction, scatter or sort has two operands for one; a sum is two sums.

A custom call sees the bytes too: an operand or result of complex numbers has a last dimension of two, the fastest in its layout, and the
attribute `hloom.types` holds the function type with the types that it had. stablehlo.fft becomes `stablehlo.custom_call @hloom.fft` on
planar parts (C2C: re, im to re, im; R2C: x to re, im; C2R: re, im to x) with `hloom.fft = {fft_type = "FFT", fft_length = array<i64: 8>}`.
The real part of a real value is that value, its imaginary part 0.

Must hold: no calls are left, and neither chlo ops nor ops that a legalization takes apart (select_and_scatter, cholesky). Declined, with
UnsupportedOpError: ops that complex numbers do not have (remainder, bitcasts).
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import element_of, functions, walk
from ..registry import register_pass
from .complex.edges import is_complex
from .support import build
from .support.driver import Rule, rewrite
from .support.type_conversion import convert_types

_SOURCES = {f"stablehlo.{name}" for name in ("complex", "constant", "convert", "custom_call", "dynamic_iota", "fft", "iota")}
"""Ops whose results may be complex where no value before them is."""


def _real_of_real(op: ir.Operation) -> list[ir.Value] | None:
    return None if is_complex(op.operands[0].type) else list(op.operands)


def _imag_of_real(op: ir.Operation) -> list[ir.Value] | None:
    (value,) = op.operands
    return None if is_complex(value.type) else [build.zero(build.shape_of(value), element_of(value))]


_PARTS: dict[str, list[Rule]] = {"stablehlo.real": [_real_of_real], "stablehlo.imag": [_imag_of_real]}


@register_pass("split-complex", "makes two real values of every complex one")
def split_complex(module: ir.Operation) -> bool:
    changed = bool(walk(module, lambda op: op.name in _PARTS)) and rewrite(module, _PARTS)
    if not _has_complex(module):
        return changed
    from .complex.products import mark_products, unmark_long_products  # most programs need none of it
    from .complex.rules import CONVERSION
    from .complex.separation import separate

    mark_products(module)
    convert_types(module, CONVERSION)
    unmark_long_products(module)
    separate(module)
    return True


def _has_complex(module: ir.Operation) -> bool:
    for function in functions(module):
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        if any(map(is_complex, (*kind.inputs, *kind.results))):
            return True
    return any(is_complex(result.type) for op in walk(module, lambda op: op.name in _SOURCES) for result in op.results)
