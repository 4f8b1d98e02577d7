"""Functions of jax.numpy, jax.nn and jax.random, as people call them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_bool, is_complex, is_float, is_integer, is_number, recipe

ACTIVATIONS = (
    *(jax.nn.relu6, jax.nn.elu, jax.nn.leaky_relu, jax.nn.hard_swish, jax.nn.hard_sigmoid, jax.nn.soft_sign, jax.nn.mish),
    *(jax.nn.selu, jax.nn.celu, jax.nn.log_sigmoid, jax.nn.squareplus, jax.nn.hard_tanh, jax.nn.sparse_plus),
    lambda x: jax.nn.gelu(x, approximate=False),
)
FUNCTIONS = (
    *(jnp.sinc, jnp.sinh, jnp.arcsinh, jnp.arctan, jnp.exp2, jnp.cos, jnp.cosh, jnp.log2, jnp.tan, jnp.i0),
    lambda x: jnp.arccos(jnp.tanh(x) * 0.9),
    lambda x: jnp.arcsin(jnp.tanh(x) * 0.9),
    lambda x: jnp.arctanh(jnp.tanh(x) * 0.9),
    lambda x: jnp.arccosh(jnp.abs(x) + 1.5),
    lambda x: lax.erf_inv(jnp.tanh(x) * 0.9),
    lambda x: lax.erfc(x),
    lambda x: lax.lgamma(jnp.abs(x) + 0.5),
    lambda x: jnp.log10(jnp.abs(x) + 0.5),
    lambda x: jax.scipy.special.ndtr(x),
    lambda x: jax.scipy.special.i1e(x),
    lambda x: lax.integer_pow(jnp.tanh(x), -3 if x.dtype == jnp.float64 else 5),
)


@recipe
def activation(b: Builder) -> Made:
    return Made(b.one(*ACTIVATIONS)(b.pick(is_float).value))


@recipe
def function(b: Builder) -> Made:
    x = b.pick(is_float).value
    return Made(b.one(*FUNCTIONS)(jnp.clip(x, -4, 4)))


@recipe
def functions_of_two(b: Builder) -> Made:
    x = b.pick(is_float).value
    y = b.partner(x).value
    small = lambda v: jnp.abs(jnp.tanh(v)) + 0.1  # noqa: E731
    functions = (
        *(lambda f=f: f(x, y) for f in (jnp.hypot, jnp.logaddexp, jnp.copysign, jnp.logaddexp2, jnp.arctan2)),
        lambda: lax.igamma(small(x), small(y)) if x.shape == y.shape else x + y,
        lambda: jax.scipy.special.xlogy(x, small(y)),
        lambda: jnp.ldexp(x, jnp.int32(b.number(-3, 3))),
        lambda: jnp.where(x > y, x - y, y / (1 + x * x)),
    )
    return Made(b.one(*functions)())


@recipe
def exact_functions(b: Builder) -> Made:
    """What moves by more than a rounding where an input does."""
    made = b.pick(is_float, exact=True)
    x = made.value
    y = b.constant(x.shape, x.dtype)
    functions = (
        *(lambda f=f: f(x) for f in (jnp.trunc, jnp.signbit, jnp.rint, jnp.isfinite, jnp.nan_to_num, lambda x: jnp.frexp(x)[1])),
        *(lambda f=f: f(x, y) for f in (jnp.heaviside, jnp.nextafter, jnp.remainder, jnp.floor_divide, jnp.fmin, jnp.not_equal)),
        lambda: jnp.digitize(x, jnp.asarray(np.array([-1.0, 0.0, 0.5, 1.75]), x.dtype)),
        lambda: jnp.select([x > 1, x < -1], [y, -x], jnp.zeros((), x.dtype)),
        lambda: jnp.modf(x)[0],
        lambda: jnp.round(x, 1) if x.dtype == jnp.float64 else jnp.trunc(x),
    )
    y = jnp.where(y == 0, jnp.ones((), y.dtype), y)
    return Made(b.one(*functions)(), False)


@recipe
def integer_functions(b: Builder) -> Made:
    x = b.pick(lambda x: is_integer(x) and x.dtype not in ("int4", "uint4")).value
    x, y = jnp.broadcast_arrays(x, b.partner(x).value)
    functions = (
        *(lambda f=f: f(x, y) for f in (jnp.divmod, jnp.remainder, jnp.bitwise_xor, jnp.true_divide)),
        *(lambda f=f: f(x) for f in (jnp.bitwise_count, jnp.square, jnp.float32, jnp.float64, jnp.float16, jnp.bfloat16, jnp.bool_)),
        *(lambda f=f: f(x, y) for f in (lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical)),
        lambda: jnp.bincount(jnp.clip(x.reshape(-1), 0, 9).astype(jnp.int32), length=10),
        lambda: b.one(jnp.gcd, jnp.lcm)(x % 100, y % 100),  # of the least integer they take forever
        lambda: lax.div(x, y),
        lambda: lax.rem(x, y),
        lambda: jnp.unpackbits(x) if x.dtype == jnp.uint8 else jnp.packbits(x > y, axis=-1),
    )
    made = b.one(*functions)()
    if isinstance(made, tuple):
        made = b.one(*made)
    return Made(made, not is_float(made))


@recipe
def narrow_numbers(b: Builder) -> Made:
    """Through types of four and eight bits."""
    made = b.pick(is_number, exact=True)
    x = made.value
    if is_float(x):
        kind = b.one(jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e5m2fnuz)
        return Made(jnp.clip(x, -6, 6).astype(kind).astype(b.one(x.dtype, jnp.float32)), True)
    y = (x % 8).astype(b.one(jnp.int4, jnp.uint4))
    functions = (lambda: y + y, lambda: y * 3, lambda: jnp.maximum(y, 2), lambda: y)
    return Made(b.one(*functions)().astype(b.one(jnp.int8, jnp.int32)), True)


@recipe
def random_numbers(b: Builder) -> Made:
    seeds = [m.value for m in b.pool if is_integer(m.value) and m.exact and m.value.size]
    seed = b.one(*seeds).reshape(-1)[0].astype(jnp.int32) if seeds and b.chance(0.6) else b.number(0, 99)
    key = jax.random.key(seed)
    if b.chance(0.3):
        key = jax.random.split(key, 3)[1] if b.chance(0.5) else jax.random.fold_in(key, 7)
    shape = tuple(b.number(1, 9) for _ in range(b.number(1, 3)))
    exact = (
        lambda: jax.random.bits(key, shape, b.one(jnp.uint8, jnp.uint16, jnp.uint32)),
        lambda: jax.random.randint(key, shape, -3, b.number(4, 1000)),
        lambda: jax.random.permutation(key, shape[0] + 3),
        lambda: jax.random.uniform(key, shape, b.one(jnp.float32, jnp.bfloat16, jnp.float64)),
    )
    if b.chance(0.6):
        return Made(b.one(*exact)(), True)
    near = (jax.random.normal, jax.random.exponential, jax.random.gumbel, jax.random.truncated_normal, jax.random.dirichlet)
    name = b.one(*near[:3])
    return Made(name(key, shape))


@recipe
def statistics(b: Builder) -> Made:
    made = b.pick(is_float, exact=True, most=2000, full=True)
    x, axis = made.value, b.axis(made.value)
    functions = (
        lambda: jnp.median(x, axis),
        lambda: jnp.quantile(x.astype(jnp.float32), jnp.array([0.2, 0.5, 0.9], jnp.float32), axis),
        lambda: jnp.ptp(x, axis),
        lambda: jnp.average(x, axis, weights=jnp.abs(b.constant(x.shape[axis : axis + 1], x.dtype)) + 0.5),
        lambda: jnp.cov(x.reshape(-1, x.shape[-1])[:5]) if x.shape[-1] > 1 else x,
        lambda: jnp.std(x, axis, ddof=0),
        lambda: jnp.trapezoid(x, axis=axis),
        lambda: jnp.nanmean(jnp.where(x > 0, x, jnp.nan), axis),
        lambda: jnp.histogram(x.astype(jnp.float32), 5, (-2.0, 2.0))[0],
        lambda: jnp.gradient(x, axis=axis) if x.shape[axis] > 1 else x,
        lambda: jnp.interp(x.reshape(-1), jnp.asarray([-1.0, 0.0, 2.0], x.dtype), jnp.asarray([3.0, 1.0, 2.0], x.dtype)),
    )
    return Made(b.one(*functions)())


@recipe
def sized(b: Builder) -> Made:
    """Results whose size the data would say, of a size that is told."""
    x = b.pick(lambda x: not is_complex(x), exact=True, most=800, full=True).value
    size = b.number(1, 12)
    functions = (
        lambda: jnp.unique(x, size=size, fill_value=0),
        lambda: b.one(*jnp.unique(x.reshape(-1), size=size, return_index=True, return_inverse=True, return_counts=True)),
        lambda: b.one(*jnp.nonzero(x, size=size, fill_value=b.one(0, -1))),
        lambda: jnp.flatnonzero(x, size=size),
        lambda: b.one(*jnp.where(x.reshape(-1) > 0 if not is_bool(x) else x.reshape(-1), size=size, fill_value=3)),
        lambda: jnp.argwhere(x, size=size, fill_value=0),
        lambda: jnp.isin(x, x.reshape(-1)[:3]),
        lambda: jnp.union1d(x.reshape(-1)[:9], x.reshape(-1)[-9:], size=size, fill_value=0),
        lambda: jnp.lexsort((x.reshape(-1), x.reshape(-1)[::-1])),
        lambda: jnp.extract(jnp.ones(x.shape, bool), x, size=size, fill_value=1),
    )
    return Made(b.one(*functions)(), True)


@recipe
def rearranged(b: Builder) -> Made:
    made = b.pick(most=2000, full=True)
    x, axis = made.value, b.axis(made.value)
    spot = b.number(0, x.shape[axis])
    functions = (
        lambda: jnp.insert(x, spot, x.reshape(-1)[0], axis),
        lambda: jnp.delete(x, b.number(0, x.shape[axis] - 1), axis),
        lambda: jnp.rot90(x, b.number(1, 3)) if x.ndim > 1 else x[::-1],
        lambda: jnp.stack([x, x[..., ::-1]], b.number(0, x.ndim)),
        lambda: jnp.swapaxes(x, 0, axis),
        lambda: b.one(*jnp.array_split(x, b.number(1, x.shape[axis]), axis)),
        lambda: jnp.block([[x[..., None], x[..., None]], [x[..., None], x[..., None]]]) if x.ndim else x,
        lambda: jnp.hstack([x, x]),
        lambda: jnp.compress(np.arange(x.shape[axis]) % 2 == 0, x, axis),
        lambda: x.at[..., b.number(0, x.shape[-1] - 1)].set(x.reshape(-1)[0]),
        lambda: jnp.diag(x.reshape(-1)[:9], b.number(-2, 2)),
        lambda: jnp.fill_diagonal(x, x.reshape(-1)[0], inplace=False) if x.ndim > 1 and len(set(x.shape)) == 1 else jnp.ravel(x, order="F"),
    )
    return Made(b.one(*functions)(), made.exact)


@recipe
def resized(b: Builder) -> Made:
    x = b.pick(lambda x: is_float(x) and 2 <= x.ndim <= 4, most=1500, full=True).value
    shape = [b.number(1, 9) if n > x.ndim - 3 else extent for n, extent in enumerate(x.shape)]
    if np.prod(shape) > 4000:
        raise Unsuitable
    return Made(jax.image.resize(x, shape, b.one("nearest", "linear", "cubic"), antialias=b.chance(0.5)))


@recipe
def signals(b: Builder) -> Made:
    """Fourier transforms of all kinds."""
    x = b.pick(lambda x: x.dtype in (jnp.float32, jnp.complex64, jnp.float64, jnp.complex128), most=1200, full=True).value
    axis = b.axis(x)
    functions = [lambda: jnp.fft.fft(x, axis=axis), lambda: jnp.fft.ifft(x, axis=axis), lambda: jnp.fft.fft(x, b.number(1, 9), axis)]
    if x.ndim > 1:
        functions += [lambda: jnp.fft.fft2(x), lambda: jnp.fft.ifftn(x, axes=range(x.ndim)[-3:])]
    if is_float(x):
        functions += [lambda: jnp.fft.rfft(x, axis=axis), lambda: jnp.fft.rfftn(x, axes=range(x.ndim)[-2:])]
    functions += [lambda f=f: f(x, b.number(2, 9), axis) for f in (jnp.fft.irfft, jnp.fft.hfft)]
    return Made(b.one(*functions, lambda: jnp.fft.fftshift(x))() / x.shape[axis])
