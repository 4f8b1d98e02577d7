"""drop-vectors: a factorization whose vectors nobody reads computes its values alone.

Before:
    %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, …}   // "V", "L"
        : (tensor<9x9xf32>) -> (tensor<9x9xf32>, tensor<9xf32>, tensor<i32>)                                          // of which #1 is read
After:
    %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8, uplo = 76 : ui8}, …}   // "N", "L"

eigvalsh asks for vectors in JAX and drops them, svdvals in a PyTorch program that may want gradients. Without them a call takes a third to
a half of its time. Dead ops go first, for they are readers too.

Must hold: legalize-cuda-calls has run. Declined: calls one of whose vectors somebody reads, but for those of one side of geev. Refused:
calls with other operands, results or options than the routine's (InvalidProgramError).
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.calls.config import config_of
from ..common.rewriting import is_used, walk
from ..registry import register_pass
from .support.column_major import letters, routine_called
from .support.driver import drop_dead

_VECTORS: dict[str, dict[str, tuple[int, ...]]] = {
    "gesdd": {"mode": (2, 3)},
    "gesvd": {"mode": (2, 3)},
    "syevd": {"mode": (0,)},
    "geev": {"compute_left": (-3,), "compute_right": (-2,)},
}
"""By routine the option that asks for vectors, and the results that they are."""


@register_pass("drop-vectors", "has factorizations compute no vectors that nobody reads", ops=("stablehlo.custom_call",))
def drop_vectors(module: ir.Operation) -> None:
    if not _calls(module):
        return
    drop_dead(module)
    for op in _calls(module):
        config = config_of(op)
        for option, places in _vectors_of(op).items():
            if config[option] != ord("N") and not any(is_used(op.results[place]) for place in places):
                _set(op, option)


def _calls(module: ir.Operation) -> list[ir.Operation]:
    return walk(module, lambda op: op.name == "stablehlo.custom_call" and bool(_vectors_of(op)))


def _vectors_of(op: ir.Operation) -> dict[str, tuple[int, ...]]:
    known = routine_called(op, _VECTORS)
    return _VECTORS[known[1]] if known is not None else {}


def _set(op: ir.Operation, option: str) -> None:
    name = next(name for name in ("mhlo.backend_config", "backend_config") if name in op.attributes)
    given = {each.name: each.attr for each in ir.DictAttr(op.attributes[name])}
    op.attributes[name] = ir.DictAttr.get(given | letters(**{option: "N"}))
