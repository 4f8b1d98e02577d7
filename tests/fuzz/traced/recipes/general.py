"""lax's most general ops, with their dimension numbers drawn: gathers, scatters, products, reductions, windows, sorts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...errors import Unsuitable
from ..builder import Builder, Made, is_bool, is_complex, is_float, is_integer, is_number, recipe

MODES = (lax.GatherScatterMode.CLIP, lax.GatherScatterMode.FILL_OR_DROP)


def places(b: Builder, extents: list[int], shape: list[int]) -> jax.Array:
    """Index vectors, some beyond the extents."""
    drawn = [b.rng.randint(-2, extent + 2, size=shape) for extent in extents]
    return jnp.asarray(np.stack(drawn, -1).astype(b.one("int32", "int64")))


@recipe
def gather(b: Builder) -> Made:
    made = b.pick(most=3000, full=True)
    x = made.value
    indexed = list(b.rng.permutation(x.ndim)[: b.number(1, x.ndim)])
    batched = [indexed.pop()] if len(indexed) > 1 and b.chance(0.4) else []
    collapsed = sorted(b.some(indexed))
    windows = [1 if d in collapsed or d in batched else b.number(1, extent) if d in indexed else extent for d, extent in enumerate(x.shape)]
    lead = [x.shape[d] for d in batched] + [b.number(1, 4) for _ in range(b.number(0, 2))]
    kept = [d for d in range(x.ndim) if d not in collapsed and d not in batched]
    offsets = tuple(sorted(b.rng.permutation(len(kept) + len(lead))[: len(kept)].tolist()))
    of_batch = tuple(map(int, batched)), (0,) if batched else ()
    numbers = lax.GatherDimensionNumbers(offsets, tuple(collapsed), tuple(map(int, indexed)), *of_batch)
    indices = places(b, [x.shape[d] for d in indexed], lead)
    return Made(lax.gather(x, indices, numbers, windows, mode=b.one(*MODES), fill_value=0), made.exact)


@recipe
def general_scatter(b: Builder) -> Made:
    made = b.pick(lambda x: not is_bool(x) and not is_complex(x), most=3000, full=True)
    x = made.value
    indexed = list(b.rng.permutation(x.ndim)[: b.number(1, x.ndim)])
    inserted = sorted(b.some(indexed))
    lead = [b.number(1, 4) for _ in range(b.number(0, 2))]
    kept = [d for d in range(x.ndim) if d not in inserted]
    places_of = sorted(b.rng.permutation(len(kept) + len(lead))[: len(kept)].tolist())
    windows, leads = iter(b.number(1, x.shape[d]) if d in indexed else x.shape[d] for d in kept), iter(lead)
    shape = [next(windows) if n in places_of else next(leads) for n in range(len(kept) + len(lead))]
    numbers = lax.ScatterDimensionNumbers(tuple(places_of), tuple(inserted), tuple(map(int, indexed)))
    indices = places(b, [x.shape[d] for d in indexed], lead)
    update = b.constant(shape, x.dtype)
    name = b.one("add", "max", "min", "mul", "sub")
    if name == "mul" and is_float(x):
        update = jnp.tanh(update)
    y = getattr(lax, f"scatter_{name}")(x, indices, update, numbers, mode=b.one(*MODES))
    return Made(y, is_integer(x) or (made.exact and name in ("max", "min")))


@recipe
def scatter_window(b: Builder) -> Made:
    """One window that is set, or one for each of a batch."""
    made = b.pick(full=True, most=3000)
    x = made.value
    count = b.number(1, x.ndim)
    shape = [b.number(1, extent) if d < count else extent for d, extent in enumerate(x.shape)]
    numbers = lax.ScatterDimensionNumbers(tuple(range(x.ndim)), (), tuple(range(count)))
    update = b.constant(shape, x.dtype)
    return Made(lax.scatter(x, places(b, list(x.shape[:count]), []), update, numbers, mode=b.one(*MODES)), made.exact)


@recipe
def mapped_indexing(b: Builder) -> Made:
    """Gathers and updates with a batch."""
    made = b.pick(lambda x: x.ndim >= 2 and not is_bool(x) and not is_complex(x), most=2000, full=True)
    x = made.value
    rows, extent, count = *x.shape[:2], b.number(1, 5)
    at = jnp.asarray(b.rng.randint(-1, extent + 1, size=(rows, count)))
    piece = b.constant((rows, b.number(1, extent), *x.shape[2:]), x.dtype)
    values = b.constant((rows, count, *x.shape[2:]), x.dtype)
    functions = (
        (lambda x, i, p, v: x[i], True),
        (lambda x, i, p, v: lax.dynamic_slice_in_dim(x, i[0], p.shape[0]), True),
        (lambda x, i, p, v: lax.dynamic_update_slice_in_dim(x, p, i[0], 0), True),
        (lambda x, i, p, v: x.at[i].max(v), True),
        (lambda x, i, p, v: x.at[i].add(v, mode="drop"), is_integer(x)),
        (lambda x, i, p, v: x.at[i[0]].set(v[0]), True),
    )
    function, exact = b.one(*functions)
    return Made(jax.vmap(function)(x, at, piece, values), made.exact and exact)


@recipe
def general_dot(b: Builder) -> Made:
    """Batch dimensions in odd orders, results wider than the operands."""
    x = b.pick(is_number, most=1500, full=True).value
    dims = b.rng.permutation(x.ndim).tolist()
    batch, contracted = dims[: b.number(0, min(2, x.ndim - 1))], []
    contracted = dims[len(batch) : len(batch) + b.number(0, 2)]
    shared = [(d, True) for d in batch] + [(d, False) for d in contracted]
    order = b.rng.permutation(len(shared) + 1).tolist()
    extents = [x.shape[d] for d, _ in shared] + [b.one(1, 2, 5, 9)]
    y = b.constant([extents[n] for n in order], x.dtype)
    there = {d: order.index(n) for n, (d, _) in enumerate(shared)}
    if is_float(x):
        x = jnp.tanh(x)
    numbers = (contracted, [there[d] for d in contracted]), (batch, [there[d] for d in batch])
    wide = {"int8": jnp.int32, "uint8": jnp.int32, "bfloat16": jnp.float32, "float16": jnp.float32, "int16": jnp.int32}
    return Made(lax.dot_general(x, y, numbers, preferred_element_type=b.one(None, wide.get(x.dtype.name))), is_integer(x))


@recipe
def reduce_several(b: Builder) -> Made:
    """One reduction of several arrays."""
    made = b.pick(is_number, exact=True, most=3000, full=True)
    x, axis = made.value, b.axis(made.value)
    at = lax.broadcasted_iota(jnp.int32, x.shape, axis)
    least = jnp.asarray(-jnp.inf if is_float(x) else np.iinfo(x.dtype).min, x.dtype)

    def larger(p, q):
        first = (p[0] > q[0]) | ((p[0] == q[0]) & (p[1] < q[1]))
        return jnp.where(first, p[0], q[0]), jnp.where(first, p[1], q[1])

    def both(p, q):
        return jnp.maximum(p[0], q[0]), p[1] + q[1]

    over, start = b.one((larger, np.int32(2**31 - 1)), (both, np.int32(0)))
    return Made(b.one(*lax.reduce((x, at), (least, start), over, [axis])), True)


@recipe
def bitwise_reduction(b: Builder) -> Made:
    x = b.pick(lambda x: is_integer(x) or is_bool(x), most=3000, full=True).value
    over = sorted(set(b.some(range(x.ndim)))) or [0]
    return Made(b.one(lax.reduce_and, lax.reduce_or, lax.reduce_xor)(x, over), True)


@recipe
def sort_by(b: Builder) -> Made:
    """By a key of their own, several keys, one of them what is sorted along."""
    made = b.pick(lambda x: is_number(x) or is_bool(x), exact=True, most=2000, full=True)
    x, axis = made.value, b.axis(made.value)
    key = jnp.abs(x) if is_number(x) else ~x
    other = b.constant(x.shape, b.one("int8", "float32", "bool", "int64", "bfloat16"))
    operands = [x, key, other, lax.broadcasted_iota(jnp.int32, x.shape, axis)]
    operands = [operands[n] for n in b.rng.permutation(3)] + operands[3:]
    return Made(b.one(*lax.sort(operands, dimension=axis, num_keys=b.number(1, 4), is_stable=True)), True)


@recipe
def windows_of_pairs(b: Builder) -> Made:
    """Windowed sums and extremes of integers and floats, and of two arrays at once."""
    made = b.pick(is_number, exact=True, most=1500, full=True)
    x = made.value
    window, strides = [b.one(1, 2, 3) for _ in x.shape], [b.one(1, 2) for _ in x.shape]
    at = lax.iota(jnp.int32, x.size).reshape(x.shape)
    least = np.asarray(-np.inf if is_float(x) else np.iinfo(x.dtype).min).astype(x.dtype)

    def larger(p, q):
        first = (p[0] > q[0]) | ((p[0] == q[0]) & (p[1] < q[1]))
        return jnp.where(first, p[0], q[0]), jnp.where(first, p[1], q[1])

    return Made(b.one(*lax.reduce_window((x, at), (least, np.int32(2**31 - 1)), larger, window, strides, b.one("SAME", "VALID"))), True)


@recipe
def halves_and_wholes(b: Builder) -> Made:
    """The bits of wide numbers as narrow ones, and back."""
    made = b.pick(lambda x: not is_bool(x) and not is_complex(x), exact=True, most=2000, full=True)
    x = made.value
    size = x.dtype.itemsize
    if size not in (1, 2, 4, 8):
        raise Unsuitable
    narrow = lax.bitcast_convert_type(x, b.one(*(f"uint{8 * n}" for n in (1, 2, 4, 8) if n <= size)))
    if b.chance(0.4):
        return Made(narrow, True)
    whole = lax.bitcast_convert_type(narrow ^ b.one(0, 1), f"uint{8 * size}") if narrow.ndim > x.ndim else narrow ^ b.one(0, 1)
    return Made(whole if is_float(x) else whole.astype(x.dtype), True)
