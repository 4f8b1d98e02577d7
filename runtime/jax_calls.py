"""Calls of a program for the CPU with JAX's arrays alone, which XLA makes: it looks at an array and makes a result in a tenth of the time
that Python needs for them.

    exe(x, y)      →      jax.jit(custom_call @hloom (x, y) {program = key})

The program's own call (cpu.py) tells what is wrong with inputs, and takes every call that this one declines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .dtypes import NARROW, dtype_name
from .tensors import JAX_64
from .xla_ffi import register, registered_target

if TYPE_CHECKING:
    from .cpu import CpuDevice


_LARGEST_RESULT = 256 << 10
"""Bytes. The C library gives the memory of larger ones back to the system when they go: sixteen of 1 MB, made and dropped in a loop, then
take 3.1 ms, and 0.8 where the device makes them in memory that it keeps (Zen 5)."""


class _DeclinedError(Exception):
    """JAX would see other shapes or types than the program's."""


class JaxCalls:
    """Of one program, from its second call with JAX's arrays on: XLA takes some ten milliseconds to compile its part."""

    def __init__(self) -> None:
        self._calls = 0
        """-1: none may be XLA's."""
        self._array: type | None = None
        self._function: Any = None

    def results(self, device: CpuDevice, inputs: Sequence[Any]) -> list[Any] | None:
        """None for a call that the device is to make itself."""
        if self._function is None and not self._starts(device, inputs):
            return None
        if {*map(type, inputs)} != {self._array}:
            return None
        try:
            results = self._function(*inputs)
            results[-1].block_until_ready()
        except _DeclinedError:
            self._function, self._calls = None, -1
            return None
        except Exception:  # an array was deleted, say: the device finds and tells it
            return None
        return results

    def _starts(self, device: CpuDevice, inputs: Sequence[Any]) -> bool:
        """Whether the function is there, which is made for the second call that may be XLA's."""
        jax = sys.modules.get("jax")
        if self._calls < 0 or jax is None or not inputs or not isinstance(inputs[0], jax.Array):
            return False
        self._calls = self._calls + 1 if _may_call(jax, device) else -1
        if self._calls < 2:
            return False
        self._array, self._function = type(jax.numpy.zeros(())), _function(jax, device)
        return True


def _may_call(jax: Any, device: CpuDevice) -> bool:
    """Not a program with large results, one whose results lie in the inputs' places, which would have to be copied, or one with elements
    that XLA packs."""
    signature = device.signature
    if not signature.outputs or device.program.in_place or device.calls_functions or not device.is_native():
        return False
    if any(spec.nbytes > _LARGEST_RESULT for spec in signature.outputs):
        return False
    if any(spec.dtype in NARROW for spec in (*signature.inputs, *signature.outputs)):
        return False
    return jax.default_backend() == "cpu" and jax.local_device_count() == 1


def _function(jax: Any, device: CpuDevice) -> Any:
    """XLA's program, which is nothing but a call of ours. It must not hold the device, which may go when nobody else holds it."""
    key, signature = register(device), device.signature
    target = registered_target(jax)
    shapes = [jax.ShapeDtypeStruct(spec.shape, spec.numpy_dtype) for spec in signature.outputs]
    wide = any(spec.numpy_dtype in JAX_64 for spec in signature.outputs)

    def call(*values: Any) -> Any:
        if wide and not jax.config.jax_enable_x64:
            raise _DeclinedError
        if any(value.shape != spec.shape or dtype_name(value.dtype) != spec.dtype for value, spec in zip(values, signature.inputs)):
            raise _DeclinedError
        return jax.ffi.ffi_call(target, shapes)(*values, program=np.int64(key))

    return jax.jit(call)
