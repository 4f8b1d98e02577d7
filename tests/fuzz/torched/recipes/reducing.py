"""Reductions, scans, sorts, norms."""

from __future__ import annotations

from ...errors import Unsuitable
from ..builder import Builder, Made, recipe


@recipe
def reduction(b: Builder) -> Made:
    x = b.pick()
    if not x.is_float and b.chance(0.6):
        return integer_reduction(b)
    name = b.one("sum", "mean", "amax", "amin", "sum", "mean", "var", "std", "logsumexp", "norm", "nansum", "var_mean")
    dims = b.dims(x) if x.ndim else []
    keep = f", keepdim={b.chance(0.5)}"
    where = f"{dims if b.chance(0.6) else dims[0]}" if dims else "()"
    match name:
        case "var" | "std":
            return Made(f"torch.{name}({x}, {where}, correction={b.number(0, 1)}{keep})")
        case "var_mean":
            return Made(f"torch.var_mean({x}, {where}, correction=0{keep})", count=2)
        case "norm":
            return Made(f"torch.linalg.vector_norm({x}, {b.one(2, 1, 3)}, {where}{keep})")
        case "sum" | "mean" if b.chance(0.3):
            return Made(f"{x}.{name}()")
        case _:
            return Made(f"torch.{name}({x}, {where}{keep})", x.exact and name in ("amax", "amin"))


def integer_reduction(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_integer or x.is_bool, full=True)
    dim = b.dim(x)
    keep = b.chance(0.5)
    texts = (
        f"{x}.sum({dim}, keepdim={keep})",
        f"{x}.sum()",
        f"{x}.prod({dim})",
        f"{x}.any({dim}, keepdim={keep})",
        f"{x}.all({dim})",
        f"{x}.all()",
        f"torch.count_nonzero({x}, {dim})",
        f"{x}.sum({dim}, dtype=torch.int32)",
        f"{x}.amax({b.dims(x)})",
        f"{x}.cumsum({dim})",
    )
    return Made(b.one(*texts), x.exact)


@recipe
def integer_mean(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_integer or x.is_bool, full=True)
    return Made(f"{x}.to(torch.float32).mean({b.dim(x)})" if b.chance(0.5) else f"{x}.sum({b.dim(x)}) / {b.number(2, 5)}")


@recipe
def product(b: Builder) -> Made:
    x = b.floats(full=True)
    return Made(f"torch.prod(torch.tanh({x}) + {b.one(0, 1)}, {b.dim(x)}, keepdim={b.chance(0.5)})")


@recipe
def scan(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float or x.is_integer, full=True)
    dim = b.dim(x)
    match b.number(0, 4):
        case 0:
            return Made(f"torch.cumsum({x}, {dim})", x.exact and x.is_integer)
        case 1:
            return Made(f"torch.cumprod({x} * 0.5, {dim})" if x.is_float else f"torch.cumprod({x}, {dim})", x.exact and x.is_integer)
        case 2 if x.is_float:
            return Made(f"torch.logcumsumexp({x}, {dim})")
        case _ if x.exact:
            return Made(f"torch.{b.one('cummax', 'cummin')}({x}, {dim})", True, 2)
    return Made(f"torch.diff({x}, {b.number(1, 2)}, {dim})", x.exact and x.is_integer)


@recipe
def argument(b: Builder) -> Made:
    """Places of the largest: of equal ones the first is torch's by documentation only where it is alone, so ties are left out."""
    x = b.pick(lambda x: x.is_float or x.is_integer, exact=True, full=True, most=3000)
    dim = b.dim(x)
    count = x.shape[dim]
    sizes = [-1 if n == dim % x.ndim else 1 for n in range(x.ndim)]
    if x.is_float or x.value.abs().max() > 100:
        return Made(f"torch.sort({x}, dim={dim}, descending={b.chance(0.5)}, stable=True)", True, 2)
    apart = b.let(f"{x}.to(torch.float64) * 1000 + torch.arange({x}.shape[{dim}]).flip(0).reshape({sizes})", True)
    match b.number(0, 5):
        case 0:
            return Made(f"{apart}.{b.one('argmax', 'argmin')}({dim}, keepdim={b.chance(0.5)})", True)
        case 1:
            return Made(f"torch.{b.one('max', 'min')}({apart}, {dim}, keepdim={b.chance(0.5)})", True, 2)
        case 2:
            return Made(f"torch.topk({apart}, {b.number(1, count)}, {dim}, largest={b.chance(0.6)})", True, 2)
        case 3:
            return Made(f"torch.kthvalue({apart}, {b.number(1, count)}, {dim})", True, 2)
        case 4:
            return Made(f"torch.median({apart}, {dim})", True, 2)
        case _:
            return Made(f"torch.argsort({apart}, {dim}, descending={b.chance(0.5)})", True)


@recipe
def sorted_values(b: Builder) -> Made:
    """The values alone, which are what they are however equal ones lie."""
    x = b.pick(lambda x: x.is_float or x.is_integer, exact=True, full=True)
    dim = b.dim(x)
    texts = (
        f"torch.sort({x}, {dim}, descending={b.chance(0.5)})[0]",
        f"torch.topk({x}, {b.number(1, x.shape[dim])}, {dim})[0]",
        f"torch.argsort({x}, {dim}, stable=True)",
        f"torch.msort({x})",
        f"{x}.max({dim})[0]",
    )
    return Made(b.one(*texts), True)


@recipe
def quantiles(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.dtype.itemsize >= 4, full=True)
    return Made(
        b.one(f"torch.quantile({x}, {b.one(0.25, 0.5, 0.9)}, {b.dim(x)})", f"{x}.aminmax(dim={b.dim(x)})[1]", f"torch.nanmedian({x})")
    )


@recipe
def softmax(b: Builder) -> Made:
    x = b.floats()
    dim = b.dim(x)
    texts = (
        f"F.softmax({x}, {dim})",
        f"F.log_softmax({x}, {dim})",
        f"F.softmin({x}, {dim})",
        f"F.softmax({x}, {dim}, dtype=torch.float32)",
        f"F.normalize({x}, dim={dim})",
        f"torch.logsumexp({x}, {dim}, keepdim=True) - {x}",
        f"({x} - {x}.mean({dim}, keepdim=True)) / ({x}.var({dim}, keepdim=True, correction=0) + 1e-3).sqrt()",
    )
    return Made(b.one(*texts))


@recipe
def norm(b: Builder) -> Made:
    x = b.floats(full=True, most=5000)
    match b.number(0, 3):
        case 0:
            last = list(x.shape[-b.number(1, min(2, x.ndim)) :])
            affine = f", {b.same(last, x.dtype)}, {b.same(last, x.dtype)}" if b.chance(0.6) else ""
            return Made(f"F.layer_norm({x}, {last}{affine})")
        case 1:
            return Made(f"F.rms_norm({x}, [{x.shape[-1]}])")
        case 2 if x.ndim > 1:
            channels = x.shape[1]
            return Made(f"F.group_norm({x}, {b.one(*(n for n in range(1, channels + 1) if channels % n == 0))})")
        case _ if x.ndim > 2:
            return Made(f"F.instance_norm({x})")
    raise Unsuitable


@recipe
def losses(b: Builder) -> Made:
    x = b.floats(full=True, most=4000)
    y = b.same(x.shape, x.dtype)
    how = f"reduction={b.one('mean', 'sum', 'none')!r}"
    if x.ndim >= 2 and b.chance(0.4):
        wanted = b.indices(x.shape[1], [x.shape[0], *x.shape[2:]], negative=False)
        more = b.one("", ", ignore_index=0", ", label_smoothing=0.1")
        return Made(f"F.cross_entropy({x}, {wanted}, {how}{more})")
    texts = (
        f"F.mse_loss({x}, {y}, {how})",
        f"F.l1_loss({x}, {y}, {how})",
        f"F.smooth_l1_loss({x}, {y}, {how})",
        f"F.huber_loss({x}, {y}, {how}, delta=0.5)",
        f"F.binary_cross_entropy_with_logits({x}, torch.sigmoid({y}), {how})",
        f"F.kl_div(F.log_softmax({x}, -1), F.softmax({y}, -1), {how})",
        f"F.soft_margin_loss({x}, {y}, {how})",
        f"F.poisson_nll_loss({x}, {y}, {how})",
        f"F.gaussian_nll_loss({x}, {y}, {y} * {y} + 0.1, {how})",
        f"F.cosine_similarity({x}, {y}, {b.dim(x)})",
        f"F.pairwise_distance({x}, {y})",
    )
    return Made(b.one(*texts))
