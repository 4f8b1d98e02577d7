"""Gathers, scatters and what advanced indices take and write."""

from __future__ import annotations

from ...errors import Unsuitable
from ..builder import Builder, Made, Var, recipe
from .movement import one_slice
from .writing import written


@recipe
def index_select(b: Builder) -> Made:
    x = b.pick(full=True)
    dim = b.dim(x)
    found = b.indices(x.shape[dim], [b.number(1, 6)], negative=False)
    texts = (f"torch.index_select({x}, {dim}, {found})", f"torch.take({x}, {b.indices(x.value.numel(), [b.number(1, 3), 2])})")
    return Made(b.one(*texts), x.exact)


@recipe
def gather(b: Builder) -> Made:
    x = b.pick(full=True, most=3000)
    dim = b.dim(x)
    shape = [b.number(1, extent) for extent in x.shape]
    if b.chance(0.4):
        shape = [1 if b.chance(0.3) else extent for extent in x.shape]
        shape[dim] = b.number(1, 4)
        return Made(f"torch.take_along_dim({x}, {b.indices(x.shape[dim], shape, negative=False)}, {dim})", x.exact)
    return Made(f"torch.gather({x}, {dim}, {b.indices(x.shape[dim], shape, negative=False)})", x.exact)


def advanced(b: Builder, x: Var) -> str:
    """A subscript of indices that broadcast, slices and new dimensions."""
    count = b.number(1, 4)
    shapes = b.one([[count]], [[count], [count]], [[count], [1]], [[count, 1], [2]], [[count], [2, 1]], [[2, count]])
    parts, taken = [], 0
    for extent in x.shape:
        if taken < len(shapes) and (b.chance(0.6) or len(x.shape) <= len(shapes)):
            parts.append(b.indices(extent, shapes[taken]))
            taken += 1
        elif b.chance(0.15) and extent:
            parts.append(str(b.number(-extent, extent - 1)))
        else:
            parts.append(one_slice(b, extent))
        if b.chance(0.05):
            parts.append("None")
    if not taken:
        raise Unsuitable
    return ", ".join(parts)


@recipe
def index(b: Builder) -> Made:
    x = b.pick(full=True)
    return Made(f"{x}[{advanced(b, x)}]", x.exact)


@recipe
def index_of_list(b: Builder) -> Made:
    x = b.pick(full=True)
    rows = [b.number(-x.shape[0], x.shape[0] - 1) for _ in range(b.number(1, 4))]
    return Made(f"{x}[{rows}]" if b.chance(0.5) else f"{x}[..., {[n % x.shape[-1] for n in rows]}]", x.exact)


@recipe
def index_write(b: Builder) -> Made:
    x = written(b)
    where = advanced(b, x)
    y = b.let(f"{x}[{where}]", x.exact)
    match b.number(0, 3):
        case 0 if not x.is_bool:
            other = b.same(y.shape, y.dtype)
            return Made(f"{x}[{where}] += {other}", x.exact and other.exact and x.is_integer, writes=x)
        case 1:
            return Made(f"{x}[{where}] = {b.one(1, 0)}", x.exact, writes=x)
        case 2 if not x.is_bool:
            count = b.number(1, 5)
            found = b.indices(x.shape[0], [count])
            other = b.same([count, *x.shape[1:]], x.dtype)
            return Made(f"{x}.index_put_(({found},), {other}, accumulate=True)", x.exact and other.exact and x.is_integer, writes=x)
        case _:
            rows = [b.number(0, 1), *(range(2, x.shape[0]))][: x.shape[0]]
            other = b.same([len(set(rows)), *x.shape[1:]], x.dtype)
            return Made(f"{x}[{sorted(set(n for n in rows if n < x.shape[0]))}] = {other}", x.exact and other.exact, writes=x)


@recipe
def scatter(b: Builder) -> Made:
    x = b.pick(lambda x: not x.is_bool and not x.is_complex, full=True, most=3000)
    dim = b.dim(x)
    place = dim % x.ndim
    shape = [b.number(1, extent) for extent in x.shape]
    other = b.same(shape, x.dtype)
    found = b.indices(x.shape[dim], shape, negative=False)
    exact = x.exact and other.exact
    match b.number(0, 4):
        case 0:
            unique = b.rng.permutation(x.shape[dim])[: shape[place]].tolist()
            sizes = [-1 if n == place else 1 for n in range(x.ndim)]
            return Made(f"torch.scatter({x}, {dim}, torch.tensor({unique}).reshape({sizes}).expand({shape}), {other})", exact)
        case 1:
            how = b.one("amax", "amin", "sum", "mean", "prod")
            include = b.chance(0.6)
            whole = exact and (how in ("amax", "amin") or (how == "sum" and x.is_integer))
            return Made(f"torch.scatter_reduce({x}, {dim}, {found}, {other}, {how!r}, include_self={include})", whole)
        case 2:
            return Made(f"{x}.clone().scatter_add_({dim}, {found}, {other})", exact and x.is_integer)
        case _:
            return Made(f"torch.scatter_add({x}, {dim}, {found}, {other})", exact and x.is_integer)


@recipe
def index_functions(b: Builder) -> Made:
    x = b.pick(lambda x: not x.is_bool, full=True, most=3000)
    dim = b.dim(x)
    place = dim % x.ndim
    count = b.number(1, x.shape[dim])
    shape = [count if n == place else extent for n, extent in enumerate(x.shape)]
    other = b.same(shape, x.dtype)
    found = b.indices(x.shape[dim], [count], negative=False)
    exact = x.exact and other.exact
    unique = f"torch.tensor({b.permutation(x.shape[dim])[:count]})"
    texts = (
        (f"torch.index_add({x}, {dim}, {found}, {other})", exact and x.is_integer),
        (f"torch.index_copy({x}, {dim}, {unique}, {other})", exact),
        (f"torch.index_fill({x}, {dim}, {found}, 2)", x.exact),
        (f"torch.index_reduce({x}, {dim}, {found}, {other}, {b.one('amax', 'mean')!r})", False),
        (f"torch.slice_scatter({x}, {other}, {dim}, 0, {count})", exact),
        (f"torch.select_scatter({x}, {other}.select({dim}, 0), {dim}, {b.number(0, x.shape[dim] - 1)})", exact),
        (f"torch.diagonal_scatter({x}, {x}.diagonal() + 1)", exact and x.is_integer),
    )
    text, is_exact = b.one(*texts)
    return Made(text, is_exact)


@recipe
def embedding(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.ndim == 2, full=True, most=3000)
    shape = [b.number(1, 4), b.number(1, 5)]
    found = b.indices(x.shape[0], shape, negative=False)
    padding = b.one("", f", padding_idx={b.number(-x.shape[0], x.shape[0] - 1)}")
    if b.chance(0.5):
        mode = b.one("sum", "mean", "max")
        if b.chance(0.5):
            weights = f", per_sample_weights={b.same(shape, x.dtype)}" if mode == "sum" and b.chance(0.5) else ""
            return Made(f"F.embedding_bag({found}, {x}, mode={mode!r}{padding}{weights})")
        flat = b.indices(x.shape[0], [6], negative=False)
        offsets = b.one("torch.tensor([0, 2, 2])", "torch.tensor([0, 3, 6]), include_last_offset=True", "torch.tensor([0, 0, 5])")
        return Made(f"F.embedding_bag({flat}, {x}, {offsets}, mode={mode!r}{padding})")
    if b.chance(0.2):
        return Made(f"F.embedding({found}, {x}.detach().clone(), max_norm={b.one(0.5, 1.0, 2.0)}, norm_type={b.one(1.0, 2.0)}{padding})")
    counted = b.one("", ", scale_grad_by_freq=True")
    return Made(f"F.embedding({found}, {x}{padding}{counted})", x.exact)


@recipe
def searched(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float or x.is_integer, exact=True, full=True)
    line = f"torch.arange(-2, 3).to({x.dtype})"
    texts = (
        f"torch.searchsorted({line}, {x}.contiguous(), right={b.chance(0.5)})",
        f"torch.bucketize({x}, {line})",
        f"F.one_hot(({x}.to(torch.int64)) % 4, 5)",
    )
    return Made(b.one(*texts), True)
