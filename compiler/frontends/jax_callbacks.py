"""Calls of Python from JAX's programs are custom calls.

    y = jax.pure_callback(f, shape, x)   →   stablehlo.custom_call @jax.pure_callback(%x) {callback = "9f2c4e1b-0"}
    jax.debug.print("{}", x)             →   stablehlo.custom_call @hloom.effect(%x) {callback = "9f2c4e1b-1", has_side_effect = true}
    y = io_callback(f, shape, x)         →   the same, with a result

JAX exports no callbacks, for the process that reads the export has no such functions. Programs that hloom compiles run in this one as a
rule. A name begins with digits drawn once a process, so that a saved program finds nothing in another process, rather than another
function. What programs may call is kept as long as the process.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.ffi
import numpy as np
from jax.experimental import io_callback

from hloom.passes.common.custom_calls import EFFECT
from hloom.runtime.custom_calls import custom_call

TARGET = "jax.pure_callback"
_PROCESS = secrets.token_hex(4)
_functions: dict[str, Callable[..., Any]] = {}
_names: dict[Any, str] = {}


@custom_call(TARGET)
def _call(*operands: np.ndarray, callback: str) -> tuple[np.ndarray, ...]:
    return tuple(map(np.asarray, _called(callback, operands)))


@custom_call(EFFECT)
def _effect(number: np.ndarray, *operands: np.ndarray, callback: str) -> tuple[np.ndarray, ...]:
    """Gives the number that the next such call takes (passes/stablehlo/thread_effects.py), and what the function gives."""
    return (np.zeros_like(number), *map(np.asarray, _called(callback, operands)))


def _called(callback: str, operands: Sequence[np.ndarray]) -> Any:
    """Operands are copied: what the function keeps of them outlives the program's buffers."""
    if callback not in _functions:
        raise LookupError("the program calls a Python function of the process that it was compiled in")
    cpu = jax.local_devices(backend="cpu")[0]
    with jax.default_device(cpu):
        return _functions[callback](*jax.device_put([operand.copy() for operand in operands], cpu))


def _name(callback: Callable[..., Any]) -> str:
    if callback not in _names:
        _names[callback] = f"{_PROCESS}-{len(_names)}"
        _functions[_names[callback]] = callback
    return _names[callback]


def _pure(context: Any, *operands: Any, callback: Callable[..., Any], **_: Any) -> Any:
    return jax.ffi.ffi_lowering(TARGET)(context, *operands, callback=_name(callback))


def _effects(context: Any, *operands: Any, **parameters: Any) -> Any:
    """A callback with effects. All are called in their order, so that those to which JAX gives tokens have no need of them."""
    if context.tokens_in.effects():
        context.set_tokens_out(context.tokens_in)
    call = functools.partial(context.primitive.impl, **parameters)
    return jax.ffi.ffi_lowering(EFFECT, has_side_effect=True)(context, *operands, callback=_name(call))


def _printing(x: Any) -> None:
    jax.debug.print("{}", x)


def _asking(x: Any) -> Any:
    return io_callback(np.asarray, x, x)


def _traced(function: Callable[[Any], Any]) -> Any:
    return jax.make_jaxpr(function)(np.float32(0))


@functools.cache
def compiled_effects() -> frozenset[Any]:
    """Those of jax.debug.print, jax.debug.callback and io_callback without an order."""
    return frozenset(_traced(_printing).effects | _traced(_asking).effects)


@functools.cache
def lowering_rules() -> tuple[tuple[Any, Callable[..., Any]], ...]:
    """JAX's primitives with what lowers them, for jax.export."""
    rules: list[tuple[Callable[[Any], Any], Callable[..., Any]]] = [
        (lambda x: jax.pure_callback(abs, x, x), _pure),
        (_printing, _effects),
        (lambda x: jax.debug.callback(print, x), _effects),
        (_asking, _effects),
    ]
    return tuple((_traced(function).eqns[0].primitive, rule) for function, rule in rules)
