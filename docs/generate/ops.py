"""docs/ops.md, from the table of ops."""

from __future__ import annotations

from itertools import groupby
from textwrap import fill

import op_table

from hloom.passes.common.ops import ANY, BOOL, FLOAT, FULL, INTEGER, LEGALIZED, NUMBER, OPS, REMEDIES, SIGNED, Kind, OpInfo
from hloom.passes.stablehlo.complex.rules import CONVERSION
from hloom.runtime.lapack_routines import CUDA_FORMS, ON_HOST, ROUTINES

_HEAD = """# The ops that hloom compiles

Written by `python docs/generate` from the table in `passes/common/ops.py`; a test compares them. Values are tensors of static shape, of
elements of f64, f32, f16, bf16, i1, i8 to i64 and ui8 to ui64; narrower and quantized ones are computed with in these ([types](types.md)),
and complex<f32> and complex<f64> as pairs of floats. Work is what the planner takes for the work of a point, in f32 operations; that of a
reduction or a scatter is its body's. A folded op is computed by the compiler where its operands are constants.
"""
_SCATTER = """### Where the specification leaves it open

A scatter does as XLA does. A window of updates of which a part is out of bounds is dropped whole (the specification drops its elements
one by one); indices are compared as 64 bits, in their own signedness. Windows are applied one after the other, in the row-major order of
their indices, so that the last of several at one place stays, and a sum is the same bit for bit from run to run. On CPUs that holds
whatever `unique_indices` says; on GPUs it is believed. Where the body's elements are wider than the operands', these are converted first.
"""
_OTHERS = """
There is one device, and its number is 0: in groups of one a collective gives each device what it had, a permutation zeros where none sends.
Groups of several are refused. Annotations of Shardy and of GSPMD are dropped, in text and from JAX; a bare artifact with
Shardy's is read if jax is there. Tuples are their elements one after the other, as arguments and results too; tokens vanish, and ops whose
effects they order are refused. rng_bit_generator gives the bits that XLA gives on CPUs, DEFAULT those of PHILOX; rng
draws from a generator of hloom's own (docs/api.md, "Random numbers"). batch_norm_training takes
the variance around the mean, where XLA takes E[x²] - E[x]², which cancels. Ops named dynamic whose result has a known shape may compute
their padding, starts and strides; sizes beyond what that shape says are not read, and what a slice would read outside is clamped. An index
of torch_index_select is clamped too.
"""
_FOURIER = """### Fourier transforms

`stablehlo.fft` has all four types, one to three dimensions, any length and any batch, of f32 and f64; `fft_length` must be that of
the signal. On arrays of real and imaginary parts it may also be written as the custom call that the pass `legalize-fft` shows. Lengths
whose prime factors are at most 37 are kernels on CPUs (`hloom.dft`), other lengths convolutions by transforms of such a length. On CUDA
transforms of more than 64 elements are cuFFT's (`hloom.cufft`), shorter ones, and all but the last dimension of IRFFT, products with
matrices of roots of unity. An inverse transform divides by the product of its lengths. IRFFT reads half a spectrum: the
imaginary parts of its first element and, of an even length, of its last do not count, as in NumPy. Sums are in the element type.
"""
_ROUTINES = [name for name in ROUTINES if name not in CUDA_FORMS]
_LIBRARIES = [name for name in _ROUTINES if name not in ON_HOST]
_CALL = f"""A call of LAPACK, as JAX writes them for a CPU (`lapack_<letter><routine>_ffi`), of what JAX calls on CUDA instead
(`cusolver_*_ffi`, `cublas_*_batched_ffi`, `cusparse_gtsv2_ffi`, `cuhybrid_*`, `cu_lu_pivots_to_permutation`, `cu_cholesky_update_ffi`), or
of a target that was registered with `hloom.custom_call` ([api.md](api.md)); any other is refused by name. Programs for either platform
compile for both. The routines, of f32, f64 and their complex numbers, in batches:
{", ".join(_ROUTINES)}.

`stablehlo.cholesky` and `stablehlo.triangular_solve` become potrf and trsm. On CUDA targets
{", ".join(_LIBRARIES)}
are calls of cuSOLVER and cuBLAS: gesdd is gesvd, of the transpose where there are fewer rows than columns. Right eigenvectors alone (geev)
are cuSOLVER's Xgeev, solutions alone of gtsv cuSPARSE's gtsv2, which says of no matrix that it has no inverse. The rest
({", ".join(ON_HOST)}: left eigenvectors, `schur`, `sqrtm`, `hessenberg`, pivoted `qr` in JAX)
LAPACK computes on the host, which takes copies both ways. What runs on the GPU ran on an H200 ([cuda.md](cuda.md)). A complex Schur form is
determined up to the phases of its vectors: LAPACKs of different versions, such as JAX's and hloom's, choose others.
Where the specification leaves it open, a factor's other triangle is zero, and a matrix that is not positive definite has a factor of NaN.
In JAX's calls of gesdd, gesvd, syevd, geev and gees, on a CPU, a matrix that is not finite is not computed: `info` is -4, from which JAX
makes NaN. JAX's ApproxTopK is a sort and a slice, on any target that sorts.
"""
_NOTES = {Kind.SCATTER: _SCATTER, Kind.FOURIER: _FOURIER, Kind.CALL: _CALL}
_COMPLEX = """## Complex numbers

{ops}

Results are within 3 units in the last place of the magnitude (measured against 200 bits on 1,500 points; a power loses as many more as the
logarithm of its result has); the smaller part may have fewer digits. Zeros, infinities and NaN are C99's (Annex G) for abs, divide,
exponential, log and sqrt, branch cuts with signed zeros too. Where others differ:

| op | hloom | otherwise |
|---|---|---|
| multiply | NaN beside an infinity stays (as XLA) | C99 finds an infinity again |
| sqrt of -x-0i | -i·√x (as NumPy) | XLA: +i·√x |
| sine, cosine, tan, tanh, exponential_minus_one | overflow where the result does | XLA overflows earlier and loses digits |
| sine, cosine, tan, tanh, exponential_minus_one, logistic of infinities and NaN | NaN where C99 has an infinity or a zero beside NaN | |
| atan2 | -i·log((x + i·y)/√(x² + y²)), as XLA: within some units of 1 where it is near 0, infinity or NaN at poles | NumPy has none |
| power | 0^0 = 1, 0^y = 0 for y with a positive real part | XLA: NaN |
| maximum, minimum, clamp | by real parts, then by imaginary parts | |
| maximum, minimum where a NaN is compared | the first operand | XLA, the interpreter: the second; NumPy: the NaN |
| compare, and sorts by it | by real parts, then by imaginary ones (the specification) | XLA, the interpreter: refused but for EQ, NE |
| remainder | refused: the specification leaves it open | |
| convert from complex | the imaginary part is dropped; to i1 whether the real part is not 0 | |
"""
_ELEMENTS = {
    ANY: "all",
    NUMBER: "floats, integers",
    FLOAT: "floats",
    FULL: "f64, f32",
    INTEGER: "integers",
    INTEGER | BOOL: "integers, i1",
    SIGNED | FLOAT: "floats, signed integers",
}


def text() -> str:
    """All of docs/ops.md."""
    parts = [_HEAD]
    for kind, rows in groupby(OPS.items(), key=lambda row: row[1].kind):
        parts.append(f"## {kind.label.capitalize()}\n\nIterates over and reads: {kind.reads}.\n")
        parts.append("| op | elements | work | folded |\n|---|---|---|---|\n" + "".join(_row(name, info) for name, info in rows))
        parts += [_NOTES[kind]] if kind in _NOTES else []
    names = ", ".join(sorted(name.removeprefix("stablehlo.") for name in CONVERSION.rules))
    sentence = f"At the stage stablehlo `split-complex` makes two real ones of each. Besides what moves elements or has regions: {names}."
    parts.append(_COMPLEX.format(ops=fill(sentence, 140, break_on_hyphens=False)))
    others = ", ".join(sorted(name.removeprefix("stablehlo.") for name in LEGALIZED))
    sentence = f"At the stage stablehlo these become ops of the tables, or nothing, and so do those of CHLO: {others}."
    parts.append("## Become others\n\n" + fill(sentence, 140, break_on_hyphens=False) + "\n")
    parts.append(_OTHERS.lstrip())
    refused = "".join(f"| {name} | {remedy} |\n" for name, remedy in REMEDIES.items())
    parts.append("## Refused\n\nWhat is in no list is refused with HL101. To do instead:\n\n| op | remedy |\n|---|---|\n" + refused)
    return "\n".join([*parts, op_table.text()])


def _row(name: str, info: OpInfo) -> str:
    computes = info.kind not in (Kind.CONTROL, Kind.TERMINATOR)
    work = "its body's" if info.kind in (Kind.REDUCE, Kind.WINDOW, Kind.SCATTER) else info.work if computes else ""
    shown = name.removeprefix("stablehlo.") + (", on CPUs" if info.cpu_only else "")
    return f"| {shown} | {_ELEMENTS[info.elements]} | {work} | {'yes' if info.fold else ''} |\n"
