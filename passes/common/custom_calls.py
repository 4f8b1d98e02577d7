"""Custom calls: which targets hloom knows, and what the pass legalize-custom-calls notes on a call."""

from __future__ import annotations

from torch_mlir import ir

from hloom.runtime.custom_calls import is_registered, registered

from .calls.cuda import CUDA_CALLS
from .calls.lapack import is_lapack, targets
from .rewriting import integers, walk

NUMBERS = "hloom.numbers"
"""The attribute of a call that the pass legalize-custom-calls has made."""

EFFECT = "hloom.effect"
"""The target of calls that are made for their effects, each once and in their order (the pass thread-effects)."""

MHLO_TOP_K = "mhlo.topk"
MHLO_FUNCTIONS = {
    f"mhlo.{name}": f"{'stablehlo' if name == 'tan' else 'chlo'}.{name}"
    for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "erf_inv", "sinh", "tan")
}
"""Custom calls that stand for a function of each element, and the op that computes it."""


def target_of_call(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["call_target_name"]).value


def aliases(op: ir.Operation) -> list[tuple[int, int]]:
    """The pairs (operand, result) of a legal call."""
    flat = integers(op, "hloom.aliases")
    return list(zip(flat[::2], flat[1::2]))


def is_known(target: str) -> bool:
    """Whether hloom knows what to do for a custom call: it is LAPACK's, JAX writes it for CUDA, or a person has registered it."""
    return is_lapack(target) or target in CUDA_CALLS or target in registered()


def calls_registered(module: ir.Operation) -> bool:
    """Whether the module calls what a person has registered in this process."""
    return any(is_registered(target_of_call(op)) for op in walk(module, "stablehlo.custom_call"))


def known_targets() -> list[str]:
    """The targets that programs may call."""
    return [*targets(), *CUDA_CALLS, "ApproxTopK", MHLO_TOP_K, *MHLO_FUNCTIONS, *registered()]
