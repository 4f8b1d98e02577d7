"""A row's JAX function, made from its text, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy
import numpy as np
from jax import lax

from ..layers.table import Layer


def make(row: Layer) -> Callable[..., Any]:
    return eval(f"lambda {', '.join('xyz'[: len(row.inputs)])}: {row.module}", {"jax": jax, "jnp": jnp, "lax": lax})


def arrays(row: Layer) -> list[np.ndarray]:
    """JAX computes with 32 bits."""
    return [array.astype(np.int32) if array.dtype == np.int64 else array for array in row.arrays()]


def cost(row: Layer) -> tuple[int, int, int]:
    """Floating-point operations of the products and convolutions, bytes read and bytes written at least: inputs and results once each."""
    given = arrays(row)
    jaxpr = jax.make_jaxpr(make(row))(*given)
    return _flops(jaxpr.jaxpr), sum(array.nbytes for array in given), sum(each.size * each.dtype.itemsize for each in jaxpr.out_avals)


def _flops(jaxpr: Any) -> int:
    total = 0
    for equation in jaxpr.eqns:
        result, operands = equation.outvars[0].aval, [each.aval for each in equation.invars]
        if equation.primitive.name == "dot_general":
            summed = equation.params["dimension_numbers"][0][0]
            total += 2 * result.size * prod(operands[0].shape[axis] for axis in summed)
        if equation.primitive.name == "conv_general_dilated":
            features = operands[1].shape[equation.params["dimension_numbers"].rhs_spec[0]]
            total += 2 * result.size * operands[1].size // features
        total += sum(map(_flops, _inner(equation))) * equation.params.get("length", 1)
    return total


def _inner(equation: Any) -> Iterator[Any]:
    """The functions that an equation calls."""
    for value in equation.params.values():
        for each in value if isinstance(value, (tuple, list)) else [value]:
            if hasattr(each, "eqns") or hasattr(each, "jaxpr"):
                yield getattr(each, "jaxpr", each)
