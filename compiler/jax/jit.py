"""`hloom.jit`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from hloom.dialects.target import TargetView
from hloom.passes.errors import InvalidProgramError
from hloom.passes.fused.planner.policy import PolicySource

from .primitive import Options, bind

_PLACES = {"in_shardings", "out_shardings", "device", "backend"}


def jit(
    function: Callable[..., Any] | None = None,
    *,
    target: str | TargetView = "cpu",
    policy: PolicySource | None = None,
    fallback: bool = True,
    **keywords: Any,
) -> Any:
    """jax.jit, whose functions hloom compiles: a decorator, or called with a function.

    `keywords` are jax.jit's (static_argnums, static_argnames, donate_argnums, …), and what it returns is jax.jit's: calls take any pytrees,
    `.lower(…)` and `.trace(…)` are there, and jax.grad, jvp, vmap and scan take it as any function; their programs are hloom's too.
    `target` and `policy` are hloom.compile's. What hloom does not compile is left to XLA, with a warning; `fallback=False` makes it an
    error.
    """
    if function is None:
        return functools.partial(jit, target=target, policy=policy, fallback=fallback, **keywords)
    if refused := sorted(_PLACES & keywords.keys()):
        raise InvalidProgramError(f"hloom.jit has one device: no {', '.join(refused)}", remedy="leave them out, or use jax.jit")
    options = Options(target, policy, fallback)

    @functools.wraps(function)
    def whole(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = jax.tree.flatten((args, kwargs))
        traced = [index for index, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer)]
        made: Any = None

        def flat(*values: Any) -> list[Any]:
            nonlocal made
            given = list(leaves)
            for index, value in zip(traced, values):
                given[index] = value
            args, kwargs = jax.tree.unflatten(structure, given)
            results, made = jax.tree.flatten(function(*args, **kwargs))
            return results

        results = bind(flat, options, *[leaves[index] for index in traced])
        return jax.tree.unflatten(made, results)

    return jax.jit(whole, **keywords)
