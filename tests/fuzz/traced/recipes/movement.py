"""Elements moved: reshapes, slices, concatenations, pads, and what is drawn from nothing."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from ..builder import Builder, Made, is_bool, is_complex, is_integer, recipe


@recipe
def reshape(b: Builder) -> Made:
    made = b.pick()
    left, shape = made.value.size, []
    if not left:
        return Made(made.value.reshape(0, *(extent for extent in made.value.shape if extent)), made.exact)
    while left > 1 and len(shape) < 4:
        shape.append(b.one(*(d for d in range(1, left + 1) if left % d == 0)))
        left //= shape[-1]
    return Made(made.value.reshape([*shape, left] if left > 1 else shape or [1]), made.exact)


@recipe
def transpose(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim > 1)
    return Made(jnp.transpose(made.value, b.rng.permutation(made.value.ndim)), made.exact)


@recipe
def slices(b: Builder) -> Made:
    made = b.pick(full=True)
    low = [b.number(0, extent - 1) for extent in made.value.shape]
    high = [b.number(start + 1, extent) for start, extent in zip(low, made.value.shape)]
    return Made(lax.slice(made.value, low, high, [b.one(1, 1, 1, 2, 3) for _ in low]), made.exact)


@recipe
def reverse(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim > 0)
    return Made(lax.rev(made.value, b.some(range(made.value.ndim))), made.exact)


@recipe
def broadcast(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim < 4, most=300)
    axis = b.number(0, made.value.ndim)
    return Made(jnp.repeat(jnp.expand_dims(made.value, axis), b.number(1, 4), axis=axis), made.exact)


@recipe
def repeat(b: Builder) -> Made:
    made = b.pick(most=900, full=True)
    axis, x = b.axis(made.value), made.value
    return Made(b.one(lambda: jnp.repeat(x, b.number(2, 3), axis), lambda: jnp.tile(x, [b.number(1, 3) for _ in x.shape]))(), made.exact)


@recipe
def concatenate(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim > 0)
    axis = b.axis(made.value)
    others = lambda x: [extent for d, extent in enumerate(x.shape) if d != axis]  # noqa: E731
    fits = lambda y: y.dtype == made.value.dtype and y.ndim == made.value.ndim and others(y) == others(made.value)  # noqa: E731
    second = b.pick(fits)
    parts = [made.value, second.value] if b.chance(0.7) else [second.value, made.value, made.value]
    return Made(jnp.concatenate(parts, axis), made.exact and second.exact)


@recipe
def pad(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim and not is_bool(x), most=3000)
    edges = lambda extent: b.number(-1, 3) if extent > 2 else b.number(0, 2)  # noqa: E731
    config = [(edges(extent), edges(extent), b.one(0, 0, 0, 1, 2)) for extent in made.value.shape]
    return Made(lax.pad(made.value, jnp.asarray(b.one(0, 1, 2), made.value.dtype), config), made.exact)


@recipe
def pad_with_elements(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim > 0 and all(extent > 3 for extent in x.shape), most=3000)
    widths = [(b.number(0, 3), b.number(0, 3)) for _ in made.value.shape]
    return Made(jnp.pad(made.value, widths, mode=b.one("edge", "reflect", "wrap", "symmetric")), made.exact)


@recipe
def roll(b: Builder) -> Made:
    made = b.pick(full=True)
    return Made(jnp.roll(made.value, b.number(-3, 5), b.axis(made.value)), made.exact)


@recipe
def triangles(b: Builder) -> Made:
    made = b.pick(lambda x: x.ndim >= 2 and x.size)
    x, k = made.value, b.number(-1, 2)
    return Made(b.one(lambda: jnp.tril(x, k), lambda: jnp.triu(x, k), lambda: jnp.diagonal(x, 0, -2, -1))(), made.exact)


@recipe
def trace(b: Builder) -> Made:
    x = b.pick(lambda x: x.ndim >= 2 and x.size and not is_bool(x)).value
    return Made(jnp.trace(x, axis1=0, axis2=1), is_integer(x))


@recipe
def difference(b: Builder) -> Made:
    x = b.pick(lambda x: x.ndim and not is_bool(x) and x.shape[-1] > 1).value
    return Made(jnp.diff(x, axis=-1), is_integer(x))


@recipe
def iota(b: Builder) -> Made:
    shape = [b.number(1, 6) for _ in range(b.number(1, 3))]
    return Made(lax.broadcasted_iota(b.one("int32", "float32", "int8", "uint8", "bfloat16"), shape, b.number(0, len(shape) - 1)), True)


@recipe
def splat(b: Builder) -> Made:
    """A constant that nothing else enters."""
    shape = [b.one(1, 2, 3, 7, 33) for _ in range(b.number(1, 2))]
    return Made(jnp.full(shape, b.one(0, 1, 2), b.one("float32", "int32", "bfloat16", "int8")), True)


@recipe
def fft(b: Builder) -> Made:
    x = b.pick(lambda x: x.dtype in (jnp.float32, jnp.complex64), most=2000, full=True).value
    if is_complex(x) and b.chance(0.3):
        return Made(jnp.fft.ifft(x, axis=-1))
    return Made((jnp.fft.fft(x, axis=-1) / x.shape[-1]).astype(jnp.complex64))
