"""Views, and what moves elements."""

from __future__ import annotations

from ...errors import Unsuitable
from ..builder import Builder, Made, Var, recipe


def one_slice(b: Builder, extent: int) -> str:
    if not extent or b.chance(0.3):
        return ":"
    start = b.number(0, extent - 1)
    match b.number(0, 5):
        case 0:
            return f"{start}:"
        case 1:
            return f"{start}:{b.number(start, extent)}"
        case 2:
            return f"{start}::{b.number(2, 3)}"
        case 3:
            return f":-{b.number(1, extent)}"
        case 4:
            return f"-{b.number(1, extent)}:"
        case _:
            return f"{start}:{start + 1}"


def subscript(b: Builder, x: Var) -> str:
    """Slices, numbers, new dimensions."""
    parts = []
    for extent in x.shape:
        if b.chance(0.1):
            parts.append("None")
        if extent and b.chance(0.15):
            parts.append(str(b.number(-extent, extent - 1)))
        else:
            parts.append(one_slice(b, extent))
    if not parts:
        raise Unsuitable
    cut = b.number(1, len(parts))
    return ", ".join(parts[:cut]) if b.chance(0.5) else ", ".join(["...", *parts[-cut:]])


def view_of(b: Builder, x: Var) -> str:
    """An expression of a view of it: of its own memory."""
    if not x.ndim:
        return b.one(f"{x}.unsqueeze(0)", f"{x}.view(1, 1)", f"{x}.expand(3)")
    dim, other = b.dim(x), b.dim(x)
    extent = x.shape[dim]
    start = b.number(0, max(0, extent - 1))
    texts = (
        f"transpose({dim}, {other})",
        f"permute({b.permutation(x.ndim)})",
        f"unfold({dim}, {b.number(1, max(1, extent))}, {b.number(1, 3)})",
        f"select({dim}, {start - extent if b.chance(0.5) else start})",
        f"narrow({dim}, {start}, {b.number(0, extent - start)})",
        f"unsqueeze({dim})",
        "squeeze()",
        f"diagonal({b.number(-1, 1)}, {dim}, {other})",
        f"movedim({dim}, {other})",
        f"unflatten({dim}, ({b.one(1, 2, 3, 4)}, -1))",
        f"view({b.one('-1', f'{x.shape[0]}, -1', f'-1, {x.shape[-1]}')})",
        f"unsqueeze({dim}).expand({', '.join(['-1'] * (x.ndim + 1))})",
        "mT",
    )
    return f"{x}[{subscript(b, x)}]" if b.chance(0.25) else f"{x}.{b.one(*texts)}"


@recipe
def view(b: Builder) -> Made:
    x = b.pick()
    return Made(view_of(b, x), x.exact)


@recipe
def several_views(b: Builder) -> Made:
    x = b.pick(full=True)
    dim = b.dim(x)
    extent = x.shape[dim]
    match b.number(0, 2):
        case 0 if extent > 1:
            first = b.number(1, extent - 1)
            return Made(f"{x}.split([{first}, {extent - first}], {dim})", x.exact, 2)
        case 1 if extent > 1:
            return Made(f"{x}.chunk(2, {dim})", x.exact, 2)
        case _ if extent <= 4:
            return Made(f"{x}.unbind({dim})" if extent > 1 else f"{x}.unbind({dim})[0]", x.exact, extent)
    raise Unsuitable


@recipe
def expanded(b: Builder) -> Made:
    x = b.pick(most=500)
    if b.chance(0.5):
        return Made(f"{x}.expand({b.number(1, 4)}, {', '.join(['-1'] * x.ndim)})" if x.ndim else f"{x}.expand(2, 3)", x.exact)
    shape = [b.number(2, 5) if extent == 1 else -1 for extent in x.shape]
    return Made(
        f"{x}.expand({shape})" if b.chance(0.7) else f"{x}.repeat({[b.number(1, 3) for _ in range(x.ndim + b.number(0, 1))]})", x.exact
    )


@recipe
def reshaped(b: Builder) -> Made:
    x = b.pick()
    if not x.ndim:
        return Made(f"{x}.reshape(1, 1)", x.exact)
    text = b.one(
        "flatten()", f"flatten({b.number(0, x.ndim - 1)})", f"reshape(-1, {x.shape[b.dim(x)]})", "reshape(-1)", "ravel()", "contiguous()"
    )
    return Made(f"{x}.{text}", x.exact)


@recipe
def moved(b: Builder) -> Made:
    """Copies in another order."""
    x = b.pick(full=True)
    dim = b.dim(x)
    extent = x.shape[dim]
    texts = (
        f"torch.flip({x}, {b.dims(x)})",
        f"torch.roll({x}, {b.number(-extent, extent + 1)}, {dim})",
        f"torch.roll({x}, {b.number(-3, 3)})",
        f"torch.roll({x}, (1, -2), (0, {x.ndim - 1}))",
        f"torch.rot90({x}, {b.number(1, 3)}, (0, {x.ndim - 1}))",
        f"torch.repeat_interleave({x}, {b.number(1, 3)}, {dim})",
        f"torch.tile({x}, ({b.number(1, 2)}, {b.number(1, 3)}))",
        f"torch.tril({x}, {b.number(-2, 2)})",
        f"torch.triu({x}, {b.number(-2, 2)})",
        f"torch.diag_embed({x}, {b.number(-1, 1)})",
        f"{x}.clone()",
        f"{x}.clone(memory_format=torch.contiguous_format)",
    )
    return Made(b.one(*texts), x.exact)


@recipe
def joined(b: Builder) -> Made:
    x = b.pick(full=True, most=6000)
    dim = b.dim(x)
    place = dim % x.ndim
    others = [
        v for v in b.pool if v.ndim == x.ndim and v.is_small and all(n == place or d == e for n, (d, e) in enumerate(zip(v.shape, x.shape)))
    ]
    parts = [x, *(b.one(*others) for _ in range(b.number(1, 3)))]
    exact = all(v.exact and v.dtype == x.dtype for v in parts)
    listed = ", ".join(map(str, parts))
    if all(v.shape == x.shape for v in parts) and b.chance(0.4):
        return Made(f"torch.stack([{listed}], {dim})", exact)
    return Made(f"torch.cat([{listed}], {dim})", exact)


@recipe
def padded(b: Builder) -> Made:
    mode = b.one("constant", "constant", "reflect", "replicate", "circular")
    if mode == "constant":
        x = b.pick(full=True)
        pads = [b.number(-1, 3) for _ in range(2 * b.number(1, x.ndim))]
        return Made(f"F.pad({x}, {pads}, value={b.one(0, 1, -2)})", x.exact)
    x = b.image(b.one(3, 4, 5))
    pads = [b.number(0 if mode == "reflect" else -1, 2) for _ in range(2 * (x.ndim - 2))]
    return Made(f"F.pad({x}, {pads}, mode={mode!r})", x.exact)


@recipe
def cast(b: Builder) -> Made:
    x = b.pick(lambda x: not x.is_complex)
    if x.is_float:
        dtype = b.one("torch.float32", "torch.float64", "torch.bfloat16", "torch.float16")
        return Made(f"{x}.to({dtype})", x.exact and (dtype == "torch.float64" or dtype == str(x.dtype)))
    dtype = b.one("float32", "float64", "bfloat16", "int32", "int64", "uint8", "int8", "bool")
    return Made(f"{x}.to(torch.{dtype})", x.exact and dtype not in ("float32", "bfloat16"))


@recipe
def as_integers(b: Builder) -> Made:
    """Of an integer or an exact float that is small."""
    x = b.pick(lambda x: x.is_integer or x.is_bool or (x.is_float and x.dtype.itemsize >= 4 and x.value.numel()), exact=True)
    if x.is_float and x.value.abs().max() > 100:
        raise Unsuitable
    return Made(f"{x}.to({b.one('torch.int32', 'torch.int64', 'torch.int8', 'torch.int16', 'torch.bool')})", True)
