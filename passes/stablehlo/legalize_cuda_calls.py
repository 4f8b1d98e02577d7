"""legalize-cuda-calls: what JAX calls on CUDA, as calls of LAPACK: a program means the same whichever platform it was exported for.

Before:
    %0:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%a) {mhlo.backend_config = {compute_uv = true, full_matrices = false}, …}
        : (tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>, tensor<i32>)
    %1 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%p) : (tensor<4xi32>) -> tensor<5xi32>
After:
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}, …}
    %v = stablehlo.transpose %0#3, dims = [1, 0]            // gesvdj and gesvdp give V where LAPACK gives its adjoint
    %1 = stablehlo.while: swaps element i of 0, 1, … with element %p[i], one i after the other

The calls are those of cuSOLVER, cuBLAS and cuSPARSE in passes/common/calls/cuda.py, of f32, f64 and their complex numbers; syrk, the
pivots' permutation and the update of a factor become ops. Must hold: nothing. Declined: every other call. Refused: elements of another
type (InvalidProgramError).
"""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from hloom.runtime.custom_calls import is_registered
from hloom.runtime.lapack_routines import elements

from ..common.calls.config import config_of
from ..common.calls.cuda import CUDA_CALLS, ROWS, SAME
from ..common.calls.lapack import target_name
from ..common.calls.routine import Place, host_call
from ..common.custom_calls import target_of_call
from ..common.rewriting import attributes_of, create, element_of, walk
from ..registry import register_pass
from .support import build
from .support.column_major import ColumnMajor, call, letters, stored_types, transposed
from .support.driver import rewrite
from .support.factor_updates import permutation, updated

_LETTERS = {"f32": "s", "f64": "d", "complex<f32>": "c", "complex<f64>": "z"}


@register_pass("legalize-cuda-calls", "turns the calls that JAX writes for CUDA into calls of LAPACK", ops=("stablehlo.custom_call",))
def legalize_cuda_calls(module: ir.Operation) -> None:
    def legalize(op: ir.Operation) -> list[ir.Value] | None:
        target = target_of_call(op)
        if target not in CUDA_CALLS or is_registered(target):
            return None
        if target in ROWS:
            letter = "s" if target == "cu_lu_pivots_to_permutation" else _letter(op)
            host_call(ROWS[target], Place(op, target), elements(letter), {}, *stored_types(op))
        return _renamed(op, target) if target in SAME else _RULES[target](op)

    if walk(module, lambda op: op.name == "stablehlo.custom_call" and target_of_call(op) in CUDA_CALLS):
        rewrite(module, {"stablehlo.custom_call": [legalize]})


def _renamed(op: ir.Operation, target: str) -> list[ir.Value]:
    config, name = config_of(op), SAME[target]
    options = {}
    if name in ("potrf", "syevd", "sytrd"):
        options = letters(uplo="L" if config.get("lower") else "U")
    if name == "syevd":
        options |= letters(mode="V")
    if name == "ormqr":
        options = {option: ir.BoolAttr.get(bool(config.get(option))) for option in ("left", "transpose")}
    if name == "geev":
        options = letters(**{f"compute_{side}": "V" if config.get(side) else "N" for side in ("left", "right")})
    attributes = {key: value for key, value in attributes_of(op).items() if key.endswith("_layouts")}
    attributes["mhlo.backend_config"] = ir.DictAttr.get(options)
    attributes["call_target_name"] = ir.StringAttr.get(target_name(_letter(op), name))
    return list(create(op.name, [value.type for value in op.results], op.operands, **attributes).results)


def _letter(op: ir.Operation) -> str:
    element = str(element_of(op.operands[0])) if len(op.operands) else "nothing"
    if element not in _LETTERS:
        raise Place(op, target_of_call(op)).invalid(f"has elements of {element}, which should be {', '.join(_LETTERS)}")
    return _LETTERS[element]


def _gesvd(op: ir.Operation, adjoint: bool = False) -> list[ir.Value]:
    """`adjoint`: the call gives V; its batch is that of the operand, whatever results nobody computes look like."""
    config, letter, where = config_of(op), _letter(op), Place(op, target_of_call(op))
    if (len(op.operands), len(op.results)) != (1, 5) or op.operands[0].type.rank < 2:
        raise where.invalid("takes matrices and gives 5 results")
    seen = ColumnMajor(op, [2], [2, 1, 2, 2, 0])
    (a,) = seen.operands
    *batch, m, n = build.shape_of(a)
    least, wanted = min(m, n), bool(config.get("compute_uv"))
    full = bool(config.get("full_matrices"))
    kinds = list(seen.results)
    kinds[2:4] = (build.tensor([*batch, *shape], element_of(a)) for shape in ([m, m if full else least], [n if full else least, n]))
    found = call(target_name(letter, "gesdd"), [a], kinds, len(batch), letters(mode=("A" if full else "S") if wanted else "N"))
    if adjoint:
        found[3] = _conjugate(transposed(found[3]))
    if not wanted:  # nobody reads them, and nobody computed them
        found[2:4] = (build.zero(kind.shape, kind.element_type) for kind in seen.results[2:4])
    for value, kind in zip(found, seen.results):
        if value.type != kind:
            raise where.invalid(f"has a result of type {kind}, which should be {value.type}")
    return seen.given_back(found)


def _conjugate(value: ir.Value) -> ir.Value:
    element = element_of(value)
    if not isinstance(element, ir.ComplexType):
        return value
    part = build.tensor(build.shape_of(value), element.element_type)
    re, im = (build.elementwise(name, value, result=part) for name in ("real", "imag"))
    return build.elementwise("complex", re, build.elementwise("negate", im), result=value.type)


def _geev(op: ir.Operation) -> list[ir.Value]:
    """cuSOLVER's gives a copy of the matrix, eigenvalues as complex numbers, and the vectors of a real matrix packed."""
    letter, config = _letter(op), config_of(op)
    seen = ColumnMajor(op, [2], [2, 1, 2, 2, 0])
    (a,) = seen.operands
    matrix, values, *_, info = seen.results
    *batch, n, _ = build.shape_of(a)
    options = letters(**{f"compute_{side}": "V" if config.get(side) else "N" for side in ("left", "right")})
    if letter in "cz":
        left_and_right = [matrix] * 2
        found = call(target_name(letter, "geev"), [a], [values, *left_and_right, info], len(batch), options)
        return seen.given_back([a, *found])
    part = build.tensor([*batch, n], element_of(a))
    vectors = [build.tensor([*batch, n, n], values.element_type)] * 2
    re, im, *sides, info_ = call(target_name(letter, "geev"), [a], [part, part, *vectors, info], len(batch), options)
    negative = build.compare("LT", build.broadcast(im, build.shape_of(a), [*range(len(batch)), len(batch) + 1]), build.full_like(a, 0))

    def packed(vector: ir.Value) -> ir.Value:
        real, imag = (build.elementwise(name, vector, result=matrix) for name in ("real", "imag"))
        return build.select(negative, build.elementwise("negate", imag), real)

    return seen.given_back([a, build.elementwise("complex", re, im, result=values), *map(packed, sides), info_])


def _gtsv(op: ir.Operation) -> list[ir.Value]:
    seen = ColumnMajor(op, [1, 1, 1, 2], [2])
    batch = build.shape_of(seen.operands[0])[:-1]
    info = build.tensor(batch, ir.IntegerType.get_signless(32))
    kinds = [value.type for value in seen.operands]
    return seen.given_back(call(target_name(_letter(op), "gtsv"), seen.operands, [*kinds, info], len(batch), {})[3:4])


def _syrk(op: ir.Operation) -> list[ir.Value]:
    """alpha·A·Aᵀ + beta·C, both triangles of it."""
    where = Place(op, target_of_call(op))
    if len(op.operands) != 4 or {element_of(value) for value in (*op.operands, *op.results)} != {element_of(op.operands[0])}:
        raise where.invalid("takes A, C, alpha and beta of one type, and gives C")
    a, c, alpha, beta = op.operands
    shape, turned = build.shape_of(c), bool(config_of(op).get("transpose"))
    batch, rows = shape[:-2], build.shape_of(a)[-1:] if turned else build.shape_of(a)[-2:-1]
    ranks = [value.type.rank for value in (a, alpha, beta)]
    if shape != [*batch, *rows, *rows] or ranks != [len(shape), 0, 0] or build.shape_of(a)[:-2] != batch or op.results[0].type != c.type:
        raise where.invalid(f"has an A of type {a.type} and a C of type {c.type}, or factors that are not scalars")
    contracted = [len(batch) + (0 if turned else 1)]
    together = list(range(len(batch)))
    dims = build.dot_dimensions(together, together, contracted, contracted)
    product = create("stablehlo.dot_general", [c.type], [a, a], dot_dimension_numbers=dims).results[0]
    scaled = (build.multiply(build.broadcast(factor, shape, []), value) for factor, value in ((alpha, product), (beta, c)))
    return [build.add(*scaled)]


_RULES: dict[str, Callable[[ir.Operation], list[ir.Value]]] = {
    "cusolver_gesvd_ffi": _gesvd,
    "cusolver_gesdd_ffi": _gesvd,
    "cusolver_gesvdj_ffi": lambda op: _gesvd(op, adjoint=True),
    "cusolver_gesvdp_ffi": lambda op: _gesvd(op, adjoint=True),
    "cusolver_geev_ffi": _geev,
    "cusparse_gtsv2_ffi": _gtsv,
    "cusolver_syrk_ffi": _syrk,
    "cu_lu_pivots_to_permutation": permutation,
    "cu_cholesky_update_ffi": updated,
}
