"""legalize-fft: Fourier transforms, of real and imaginary parts each in an array of its own, as ordinary ops.

Before:
    %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 6>}}
        : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
After (for CUDA; a CPU computes lengths with small factors in kernels of their own):
    %cos, %sin = stablehlo.constant : tensor<6x6xf32>
    %0 = dot_general(%re, %cos) - dot_general(%im, %sin), dot_general(%im, %cos) + dot_general(%re, %sin)

The form before is what split-complex makes of stablehlo.fft. RFFT takes reals, IRFFT gives reals. One dimension after another is
transformed, the last first: for IRFFT the last comes last. fourier/transform.py says how lengths are split, fourier/real.py what becomes
of reals. Inverse transforms are forward ones with the parts exchanged, and a multiplication.

Must hold: static shapes. Declined: other custom calls. Lengths that are not those of the operand are refused, with InvalidProgramError.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NoReturn

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.ops import FULL
from ..common.rewriting import is_custom_call, walk
from ..errors import CompileError, InvalidProgramError, UnsupportedOpError
from ..registry import register_pass
from .support import build
from .support.driver import rewrite

if TYPE_CHECKING:
    from .fourier.planar import Planar
    from .fourier.transform import Engine

TARGET = "hloom.fft"
_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")


@register_pass("legalize-fft", "turns Fourier transforms into ordinary ops", ops=("stablehlo.custom_call",))
def legalize_fft(module: ir.Operation) -> None:
    if not walk(module, lambda op: is_custom_call(op, TARGET)):
        return
    from .fourier.engines import engine_for  # what few programs need is imported when one does

    engine = engine_for(target_of(module))
    rewrite(module, {"stablehlo.custom_call": [lambda op: _Transforms(op, engine).values() if is_custom_call(op, TARGET) else None]})


class _Transforms:
    """One call."""

    def __init__(self, op: ir.Operation, engine: Engine):
        self.op, self.engine = op, engine
        given = ir.DictAttr(op.attributes[TARGET]) if TARGET in op.attributes else {}
        if "fft_type" not in given or "fft_length" not in given:
            self.refuse("a Fourier transform without its type and lengths", "give hloom.fft = {fft_type = …, fft_length = array<i64: …>}")
        self.kind = ir.StringAttr(given["fft_type"]).value
        self.lengths = list(ir.DenseI64ArrayAttr(given["fft_length"]))
        self.check()

    def refuse(self, message: str, remedy: str, kind: type[CompileError] = InvalidProgramError) -> NoReturn:
        raise kind(message, op="stablehlo.fft", loc=str(self.op.location), stage="stablehlo", remedy=remedy)

    def check(self) -> None:
        operands, results = list(self.op.operands), list(self.op.results)
        if self.kind not in _TYPES:
            self.refuse(f"a Fourier transform of type {self.kind!r}", f"the types are {', '.join(_TYPES)}")
        if not 1 <= len(self.lengths) <= 3:
            self.refuse(f"a Fourier transform along {len(self.lengths)} dimensions", "transform one to three dimensions at a time")
        if (len(operands), len(results)) != {"RFFT": (1, 2), "IRFFT": (2, 1)}.get(self.kind, (2, 2)):
            self.refuse(f"{self.kind} of {len(operands)} arrays into {len(results)}", "complex numbers are two arrays, reals one")
        element = build.element_of(operands[0])
        if str(element) not in FULL:
            self.refuse(f"a Fourier transform of {element}", "convert to f32 or f64", UnsupportedOpError)
        signal = build.shape_of(results[0] if self.kind == "IRFFT" else operands[0])
        if signal[-len(self.lengths) :] != self.lengths:
            message = f"{self.kind} of a signal of shape {signal} with fft_length = {self.lengths}"
            self.refuse(message, "fft_length is the last dimensions of the signal, one to three")
        half = [*signal[:-1], signal[-1] // 2 + 1 if signal[-1] else 0]
        shapes = {"RFFT": (signal, half), "IRFFT": (half, signal)}.get(self.kind, (signal, signal))
        for values, shape in zip((operands, results), shapes):
            wanted = build.tensor(shape, element)
            wrong = [value.type for value in values if value.type != wanted]
            if wrong:
                self.refuse(f"{self.kind} with fft_length = {self.lengths} and an array {wrong[0]}", f"it would be {wanted}")

    def values(self) -> list[ir.Value]:
        """What stands for the results."""
        from .fourier.planar import Planar
        from .fourier.real import from_real, to_real

        operands, engine = list(self.op.operands), self.engine
        if not all(build.count_of(value) for value in (*operands, *self.op.results)):
            return [build.constant(ir.Attribute.parse(f"dense<> : {result.type}")) for result in self.op.results]
        rank, factor = len(build.shape_of(operands[0])), 1 / prod(self.lengths)
        *others, last = range(rank - len(self.lengths), rank)
        if engine.library and prod(self.lengths) > engine.longest:
            return self.by_library(operands, others)
        if self.kind == "RFFT":
            z = self.along(others, from_real(engine, operands[0]))
        elif self.kind == "FFT":
            z = self.along([*others, last], Planar(*operands))
        elif self.kind == "IFFT":
            z = self.along([*others, last], Planar(*operands).swapped, factor).swapped
        else:
            z = self.along(others, Planar(*operands).swapped).swapped
            return [to_real(engine, z, self.lengths[-1], factor)]
        return [z.re, z.im]

    def by_library(self, operands: list[ir.Value], others: Sequence[int]) -> list[ir.Value]:
        """The same where a library does it: of IRFFT the last dimension, for it wants a spectrum that is half of one."""
        from .fourier.library import library_transform
        from .fourier.planar import Planar, scaled
        from .fourier.real import real_ends

        lengths = self.lengths
        if self.kind == "IRFFT":
            z = real_ends(self.along(others, Planar(*operands).swapped).swapped, lengths[-1])
            operands, lengths = [z.re, z.im], lengths[-1:]
        made = library_transform(self.kind, operands, self.op.results, lengths)
        return [scaled(value, 1 / prod(self.lengths)) for value in made] if self.kind.startswith("I") else made

    def along(self, dims: Sequence[int], z: Planar, factor: float = 1.0) -> Planar:
        """Forward transforms, the last dimension first, all together times `factor`."""
        from .fourier.transform import transform

        for dim in reversed(dims):
            z = transform(self.engine, z, dim, factor if dim == dims[0] else 1.0)
        return z
