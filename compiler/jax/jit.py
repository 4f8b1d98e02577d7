"""`hloom.jit`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax

from hloom.dialects.target import TargetView
from hloom.passes.errors import InvalidProgramError
from hloom.passes.fused.planner.policy import PolicySource

from .primitive import Options, bind

_CONFIG: Any = jax.config
_PLACES = {"in_shardings", "out_shardings", "device", "backend"}


def jit(
    function: Callable[..., Any] | None = None,
    *,
    target: str | TargetView = "cpu",
    policy: PolicySource | None = None,
    fallback: bool = True,
    tune: bool | float = False,
    **keywords: Any,
) -> Any:
    """jax.jit, whose functions hloom compiles: a decorator, or called with a function.

    `keywords` are jax.jit's (static_argnums, static_argnames, donate_argnums, …), and what it returns is jax.jit's: calls take any pytrees,
    `.lower(…)` and `.trace(…)` are there, and jax.grad, jvp, vmap and scan take it as any function; their programs are hloom's too.
    `target`, `policy` and `tune` are hloom.compile's. What hloom does not compile is left to XLA, with a warning; `fallback=False` makes
    it an error.
    """
    if function is None:
        return functools.partial(jit, target=target, policy=policy, fallback=fallback, tune=tune, **keywords)
    if refused := sorted(_PLACES & keywords.keys()):
        raise InvalidProgramError(f"hloom.jit has one device: no {', '.join(refused)}", remedy="leave them out, or use jax.jit")
    options = Options(target, policy, fallback, tune)
    donated = _Donated(function, keywords)

    @functools.wraps(function)
    def whole(*args: Any, **kwargs: Any) -> Any:
        if _CONFIG.jax_disable_jit:
            return function(*args, **kwargs)
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

        given = donated.leaves(args, kwargs)
        results = bind(flat, options, *[leaves[i] for i in traced], donated=[n for n, i in enumerate(traced) if given[i]])
        return jax.tree.unflatten(made, results)

    return jax.jit(whole, **keywords)


class _Donated:
    """Which arguments a caller of the function gives up (donate_argnums, donate_argnames), by name where they have one, as JAX has it."""

    def __init__(self, function: Callable[..., Any], keywords: Mapping[str, Any]):
        numbers, names = keywords.get("donate_argnums"), keywords.get("donate_argnames")
        self.numbers = {numbers} if isinstance(numbers, int) else set(numbers or ())
        self.names = {names} if isinstance(names, str) else set(names or ())
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return
        positional = [each.name for each in parameters if each.kind == each.POSITIONAL_OR_KEYWORD]
        if names is None:
            self.names |= {positional[number] for number in self.numbers if -len(positional) <= number < len(positional)}
        if numbers is None:
            self.numbers |= {positional.index(name) for name in self.names if name in positional}

    def leaves(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[bool]:
        """Of each leaf of a call's arguments, whether it is given up."""
        positional = [number in self.numbers or number - len(args) in self.numbers for number in range(len(args))]
        given = [jax.tree.map(lambda _, up=up: up, arg) for up, arg in zip(positional, args)]
        named = {name: jax.tree.map(lambda _, up=name in self.names: up, value) for name, value in kwargs.items()}
        return jax.tree.leaves((tuple(given), named))
