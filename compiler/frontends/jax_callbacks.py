"""Calls of Python from JAX's programs: pure_callback becomes a custom call, callbacks with effects are refused.

    y = jax.pure_callback(f, shape, x)   →   stablehlo.custom_call @jax.pure_callback(%x) {callback = "9f2c4e1b-0"}

JAX exports no callbacks, for the process that reads the export has no such functions. Programs that hloom compiles run in this one as a
rule. A name begins with digits drawn once a process, so that a saved program finds nothing in another process, rather than another
function. What programs may call is kept as long as the process.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from typing import Any

import jax
import jax.ffi
import numpy as np
from jax.experimental import io_callback
from jax.extend.source_info_util import SourceInfo, summarize

from hloom.passes.errors import UnsupportedOpError
from hloom.runtime.custom_calls import custom_call

TARGET = "jax.pure_callback"
_PROCESS = secrets.token_hex(4)
_functions: dict[str, Callable[..., Any]] = {}
_names: dict[Any, str] = {}


@custom_call(TARGET)
def _call(*operands: np.ndarray, callback: str) -> tuple[np.ndarray, ...]:
    """Operands are copied: what the function keeps of them outlives the program's buffers."""
    if callback not in _functions:
        raise LookupError("the program calls a Python function of the process that it was compiled in (jax.pure_callback)")
    cpu = jax.local_devices(backend="cpu")[0]
    with jax.default_device(cpu):
        return tuple(map(np.asarray, _functions[callback](*jax.device_put([operand.copy() for operand in operands], cpu))))


def _name(callback: Callable[..., Any]) -> str:
    if callback not in _names:
        _names[callback] = f"{_PROCESS}-{len(_names)}"
        _functions[_names[callback]] = callback
    return _names[callback]


def _pure(context: Any, *operands: Any, callback: Callable[..., Any], **_: Any) -> Any:
    return jax.ffi.ffi_lowering(TARGET)(context, *operands, callback=_name(callback))


def _with_effects(context: Any, *_: Any, **__: Any) -> Any:
    raise UnsupportedOpError(
        "hloom does not compile a callback to Python that has effects (jax.debug.print, jax.debug.callback, io_callback)",
        op=str(context.primitive),
        loc=summarize(SourceInfo(context.traceback, context.name_stack)),
        stage="input",
        remedy="take it out, or have jax.pure_callback give what the program needs of it",
    )


def _primitive(function: Callable[[Any], Any]) -> Any:
    """What JAX calls a callback."""
    return jax.make_jaxpr(function)(np.float32(0)).eqns[0].primitive


@functools.cache
def lowering_rules() -> tuple[tuple[Any, Callable[..., Any]], ...]:
    """JAX's primitives with what lowers them, for jax.export."""
    effects = (
        lambda x: jax.debug.print("{}", x),
        lambda x: jax.debug.callback(print, x),
        lambda x: io_callback(print, None, x),
    )
    pure = _primitive(lambda x: jax.pure_callback(abs, x, x))
    return (pure, _pure), *((_primitive(function), _with_effects) for function in effects)
