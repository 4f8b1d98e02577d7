"""Element by element: functions, integers, booleans, complex numbers, conversions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_bool, is_complex, is_float, is_integer, recipe

SAME = {
    "neg": jnp.negative,
    "abs": jnp.abs,
    "relu": jax.nn.relu,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.round,
    "sign": jnp.sign,
}
"""Exact ones."""
FUNCTIONS = {
    "tanh": jnp.tanh,
    "exp": lambda x: jnp.exp(jnp.minimum(x, 2)),
    "log": lambda x: jnp.log(jnp.abs(x) + 0.5),
    "sqrt": lambda x: jnp.sqrt(jnp.abs(x) + 0.5),
    "rsqrt": lambda x: lax.rsqrt(x * x + 1),
    "logistic": jax.nn.sigmoid,
    "sin": jnp.sin,
    "square": jnp.square,
    "erf": lax.erf,
    "gelu": jax.nn.gelu,
    "softplus": jax.nn.softplus,
    "log1p": lambda x: jnp.log1p(jnp.abs(x)),
    "expm1": lambda x: jnp.expm1(jnp.minimum(x, 2)),
    "cbrt": lambda x: jnp.cbrt(jnp.abs(x) + 0.25),
    "reciprocal": lambda x: 1 / (1 + x * x),
    "digamma": lambda x: lax.digamma(jnp.abs(x) + 1),
}
FLOATS = ("float32", "bfloat16", "float16", "float64")
TYPES = (*FLOATS, "float32", "int8", "uint8", "int16", "int32", "int64", "uint32", "bool", "complex64")


@recipe
def unary(b: Builder) -> Made:
    made = b.pick(is_float)
    name = b.one(*SAME, *FUNCTIONS)
    if name in FUNCTIONS:
        return Made(FUNCTIONS[name](made.value))
    if name not in ("neg", "abs", "relu") and not made.exact:
        raise Unsuitable
    return Made(SAME[name](made.value), made.exact)


@recipe
def binary(b: Builder) -> Made:
    made = b.pick(is_float)
    other = b.partner(made.value)
    x, y, exact = made.value, other.value, made.exact and other.exact
    name = b.one("add", "sub", "mul", "max", "min", "div", "pow", "rem", "atan2", "gt", "eq")
    if name in ("gt", "eq", "rem") and not exact:
        raise Unsuitable
    if name in ("max", "min", "gt", "eq"):
        return Made({"max": jnp.maximum, "min": jnp.minimum, "gt": jnp.greater, "eq": jnp.equal}[name](x, y), exact)
    functions = {
        "add": lambda: x + y,
        "sub": lambda: x - y,
        "mul": lambda: jnp.tanh(x) * y,
        "div": lambda: x / (1 + y * y),
        "pow": lambda: jnp.power(jnp.abs(x) + 0.5, jnp.tanh(y)),
        "rem": lambda: jnp.fmod(x, jnp.where(jnp.abs(y) < 0.1, jnp.asarray(1, y.dtype), y)),
        "atan2": lambda: jnp.arctan2(x, 1 + y * y),
    }
    return Made(functions[name]())


@recipe
def integers(b: Builder) -> Made:
    x = b.pick(is_integer).value
    x, y = jnp.broadcast_arrays(x, b.partner(x).value)
    shift = jnp.abs(y % 40).astype(x.dtype)
    functions = [
        *(lambda f=f: f(x, y) for f in (jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.less, jnp.equal)),
        *(lambda f=f: f(x, y) for f in (lax.div, lax.rem, jnp.mod, jnp.floor_divide, jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor)),
        *(lambda f=f: f(x, shift) for f in (lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical)),
        *(lambda f=f: f(x) for f in (jnp.negative, jnp.invert, jnp.abs, jnp.sign, lax.population_count, lax.clz)),
        lambda: lax.integer_pow(x, 3),
    ]
    return Made(b.one(*functions)(), True)


@recipe
def integers_and_constant(b: Builder) -> Made:
    x = b.pick(is_integer).value
    info = np.iinfo(x.dtype)
    signed = (-1, -3) if info.min else ()
    c = jnp.full_like(x, b.one(0, 1, 2, 3, 5, 7, 10, 16, 100, info.max, info.min, *signed))
    shifts = (lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical)
    return Made(b.one(lax.div, lax.rem, jnp.mod, jnp.floor_divide, jnp.multiply, jnp.greater_equal, *shifts)(x, c), True)


@recipe
def booleans(b: Builder) -> Made:
    x = b.pick(is_bool).value
    y = b.partner(x).value
    if x.ndim and b.chance(0.3):
        return Made(b.one(jnp.any, jnp.all)(x, b.axis(x), keepdims=b.chance(0.5)), True)
    return Made(b.one(lambda: x & y, lambda: x | y, lambda: x ^ y, lambda: ~x)(), True)


@recipe
def complex_numbers(b: Builder) -> Made:
    made = b.pick(is_complex)
    x = made.value
    name = b.one("same", "product", "abs", "exp", "angle", "sum", "dot")
    if name == "same":
        return Made(b.one(jnp.conj, jnp.real, jnp.imag, jnp.negative)(x), made.exact)
    functions = {
        "product": lambda: x * b.partner(x).value / (1 + jnp.abs(x)),
        "abs": lambda: jnp.abs(x),
        "exp": lambda: jnp.exp(x / (1 + jnp.abs(x))),
        "angle": lambda: jnp.angle(x * jnp.conj(x) + 40 + x / (1 + jnp.abs(x))),
        "sum": lambda: jnp.sum(x, b.axis(x)) if x.ndim else x,
        "dot": lambda: jnp.vdot(x.reshape(-1)[:6], x.reshape(-1)[:6]),
    }
    return Made(functions[name]())


@recipe
def parts_to_complex(b: Builder) -> Made:
    made = b.pick(lambda x: x.dtype == jnp.float32)
    other = b.partner(made.value)
    return Made(lax.complex(*jnp.broadcast_arrays(made.value, other.value)), made.exact and other.exact)


@recipe
def convert(b: Builder) -> Made:
    made = b.pick(lambda x: not is_complex(x))
    to = b.one(*TYPES)
    if not made.exact and to not in (*FLOATS, "complex64"):
        raise Unsuitable
    x = made.value
    if is_float(x) and "int" in to:
        x = jnp.clip(x, 0, 100)
    return Made(x.astype(to), made.exact and to not in FLOATS[:3])


@recipe
def bits(b: Builder) -> Made:
    made = b.pick(lambda x: x.dtype in (jnp.int32, jnp.uint32, jnp.int16), exact=True)
    to = {2: ("uint16", "int8"), 4: ("int32", "uint32", "int16", "uint8")}[made.value.dtype.itemsize]
    return Made(lax.bitcast_convert_type(made.value, jnp.dtype(b.one(*to))), True)


@recipe
def select(b: Builder) -> Made:
    where, made = b.pick(is_bool).value, b.pick()
    other = b.partner(made.value)
    if where.shape != made.value.shape and where.size:
        where = jnp.resize(where.reshape(-1)[:50], made.value.shape)
    return Made(jnp.where(where, made.value, other.value), made.exact and other.exact)


@recipe
def reduced_precision(b: Builder) -> Made:
    made = b.pick(lambda x: is_float(x) and x.dtype != jnp.float64, exact=True)
    return Made(lax.reduce_precision(made.value, *b.one((5, 3), (8, 7), (5, 10), (4, 3), (3, 2))), True)
