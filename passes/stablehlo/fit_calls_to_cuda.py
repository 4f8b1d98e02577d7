"""fit-calls-to-cuda: calls of LAPACK in the forms that CUDA's libraries have, where these are others.

Before:
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}, …} : (tensor<4x5xf32>) -> …
    %1:5 = stablehlo.custom_call @lapack_sgeev_ffi(%b) {…} : (tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, …)
After:
    %t = stablehlo.transpose %a, dims = [1, 0]             // cuSOLVER's gesvd wants no fewer rows than columns
    %0:5 = stablehlo.custom_call @lapack_sgesvd_ffi(%t) {…} : (tensor<5x4xf32>) -> …     and U is the transpose of its VT, VT that of its U
    %1:4 = stablehlo.custom_call @lapack_sxgeev_ffi(%b) {…} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xcomplex<f32>>, …)
    real parts, imaginary parts, and vectors that are put together of the columns of theirs

A tridiagonal system (gtsv) becomes cuSPARSE's gtsv2, of three rows at least, which says nothing of matrices without an inverse: info is 0.
Must hold: the target is a cuda one. Declined: calls of routines that the libraries have as they are, or that none has, which LAPACK
computes on the host: gees, gehrd, geqp3, a geev that wants left eigenvectors, a gtsv of which the factored diagonals are used.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.calls.config import config_of
from ..common.calls.lapack import routine_of, target_name
from ..common.custom_calls import target_of_call
from ..common.rewriting import element_of, is_used
from ..registry import register_pass
from .support import build
from .support.column_major import ColumnMajor, call, letters, routine_called, transposed
from .support.driver import rewrite

_LEAST = 3
"""gtsv2 takes no fewer rows."""


@register_pass("fit-calls-to-cuda", "gives calls of LAPACK the forms that CUDA's libraries have", ops=("stablehlo.custom_call",))
def fit_calls_to_cuda(module: ir.Operation) -> None:
    if target_of(module).kind != "cuda":
        return

    def fit(op: ir.Operation) -> list[ir.Value] | None:
        known = routine_called(op, _RULES)
        return _RULES[known[1]](op, known[0]) if known is not None else None

    rewrite(module, {"stablehlo.custom_call": [fit]})


def _gesvd(op: ir.Operation, letter: str) -> list[ir.Value] | None:
    wide, known = _is_wide(op), routine_of(target_of_call(op))
    if known == (letter, "gesvd") and not wide:
        return None
    seen = ColumnMajor(op, [2], [2, 1, 2, 2, 0])
    options = letters(mode=chr(config_of(op)["mode"]))
    (a,), kinds, batch = seen.operands, seen.results, seen.operands[0].type.rank - 2
    if not wide:
        return seen.given_back(call(target_name(letter, "gesvd"), [a], kinds, batch, options))
    flipped = [_flipped(kinds[place]) if place in (0, 2, 3) else kinds[place] for place in (0, 1, 3, 2, 4)]
    rest, s, vt, u, info = call(target_name(letter, "gesvd"), [transposed(a)], flipped, batch, options)
    return seen.given_back([transposed(rest), s, transposed(u), transposed(vt), info])


def _is_wide(op: ir.Operation) -> bool:
    (a,) = ColumnMajor(op, [2], [2, 1, 2, 2, 0]).operands
    *_, m, n = build.shape_of(a)
    return m < n


def _flipped(kind: ir.Type) -> ir.Type:
    *batch, m, n = kind.shape
    return build.tensor([*batch, n, m], kind.element_type)


def _geev(op: ir.Operation, letter: str) -> list[ir.Value] | None:
    is_real = letter in "sd"
    seen = ColumnMajor(op, [2], [1, *[1] * is_real, 2, 2, 0])
    config = config_of(op)
    if config.get("compute_left") == ord("V"):
        return None
    (a,), (*parts, left, right, info) = seen.operands, seen.results
    batch = a.type.rank - 2
    options = letters(mode=chr(config["compute_right"]))
    values = build.tensor(parts[0].shape, right.element_type)
    _, w, packed, told = call(target_name(letter, "xgeev"), [a], [a.type, values, a.type, info], batch, options)
    unused = build.zero(left.shape, left.element_type)
    if not is_real:
        return seen.given_back([w, unused, packed, told])
    re, im = (build.elementwise(name, w, result=kind) for name, kind in zip(("real", "imag"), parts))
    return seen.given_back([re, im, unused, _unpacked(packed, im, right), told])


def _unpacked(packed: ir.Value, im: ir.Value, kind: ir.Type) -> ir.Value:
    """Column i is a real vector, or the real parts of one whose imaginary parts are column i + 1, which stands for its conjugate."""
    *batch, _, _ = shape = build.shape_of(packed)
    last = len(batch) + 1
    sign, nothing = build.broadcast(im, shape, [*range(len(batch)), last]), build.full_like(packed, 0)
    first, second = (build.compare(order, sign, nothing) for order in ("GT", "LT"))
    rest = [0] * last
    before, after = (_moved(packed, rest, by) for by in (1, -1))
    real = build.select(second, before, packed)
    imaginary = build.select(first, after, build.select(second, build.elementwise("negate", packed), nothing))
    return build.elementwise("complex", real, imaginary, result=kind)


def _moved(value: ir.Value, rest: list[int], by: int) -> ir.Value:
    """The columns, moved by one; what comes in is zero."""
    return build.pad_with_zeros(value, [*rest, by], [*rest, -by])


def _gtsv(op: ir.Operation, letter: str) -> list[ir.Value] | None:
    if any(is_used(result) for result in list(op.results)[:3]):
        return None
    seen = ColumnMajor(op, [1, 1, 1, 2], [1, 1, 1, 2, 0])
    lower, diagonal, upper, right = seen.operands
    n, batch = build.shape_of(diagonal)[-1], diagonal.type.rank - 1
    more = max(0, _LEAST - n)
    lower, upper = _without(lower, 0), _without(upper, n - 1)
    lower, upper, right = (_longer(value, batch, more, 0) for value in (lower, upper, right))
    operands = [lower, _longer(diagonal, batch, more, 1), upper, right]
    (x,) = call(target_name(letter, "gtsv2"), operands, [right.type], batch, {})
    info = seen.results[-1]
    return seen.given_back([*seen.operands[:3], build.slice_dim(x, batch, 0, n), build.zero(info.shape, info.element_type)])


def _without(value: ir.Value, place: int) -> ir.Value:
    """A diagonal with zero at a place that is none of the matrix."""
    index = ir.IntegerType.get_signless(32)
    shape = build.shape_of(value)
    outside = build.compare("EQ", build.iota(shape, index, len(shape) - 1), build.full(build.tensor(shape, index), place))
    return build.select(outside, build.zero(shape, element_of(value)), value)


def _longer(value: ir.Value, batch: int, more: int, diagonal: int) -> ir.Value:
    """With as many more rows, those of a unit matrix."""
    if not more:
        return value
    shape = build.shape_of(value)
    shape[batch] = more
    element = element_of(value)
    part = element.element_type if isinstance(element, ir.ComplexType) else element
    rows = build.convert(build.full(build.tensor(shape, part), diagonal), element)
    return build.concatenate([value, rows], batch)


_RULES = {"gesdd": _gesvd, "gesvd": _gesvd, "geev": _geev, "gtsv": _gtsv}
