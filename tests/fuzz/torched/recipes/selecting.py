"""What a mask selects, computed with, written back or reduced."""

from __future__ import annotations

from ..builder import Builder, Made, Var, recipe

ELEMENTWISE = (
    "{x} * 2",
    "{x} + 1",
    "-{x}",
    "{x}.clamp(min=0)",
    "{x} * {x}",
    "{x} - {x}.sum() * 0.01",
    "torch.where({x} > 0, {x}, {x} * 3)",
)
REDUCED = (
    "{x}.sum(0)",
    "{x}.mean(0)",
    "({x} > 0).any()",
    "({x} > 1).all()",
    "{x}.square().mean()",
    "{x}.norm()",
    "{x}.sum() / max({x}.shape[0], 1)",
    "{x}.softmax(0).square().sum(0)",
    "{x}.reshape(-1).square().sum()",
    "torch.cat([{x} * 3, {x} * 2]).square().sum()",
    "({x}.sort(0)[0] * 0.5).sum()",
    "{x}[{x} > 0].sum()",
    "{x}.cumsum(0).square().mean()",
)


def mask_of(b: Builder, x: Var) -> tuple[str, str]:
    """A mask over the first dimensions of a value, and what stands before it in an index."""
    count = b.number(1, x.ndim)
    begin = b.number(0, x.ndim - count) if b.chance(0.3) else 0
    whole = b.pick(lambda y: y.shape == x.shape, exact=True)
    kept = f"{whole}{''.join(f'.select({x.ndim - 1 - n}, 0)' for n in range(x.ndim - begin - count))}"
    first = f"{kept}{'.select(0, 0)' * begin}"
    return b.let(f"{first} > 0" if not whole.is_bool else f"~{first}", True).name, ":, " * begin


@recipe
def selected(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.dtype.itemsize >= 4, full=True, most=2000)
    mask, before = mask_of(b, x)
    if b.chance(0.4):
        before, mask = "", b.let(f"{b.pick(lambda y: y.shape == x.shape and not y.is_complex, exact=True)} > 0", True).name
        some = b.one(f"torch.masked_select({x}, {mask})", f"{x}[torch.where({mask})]", f"{x}[{mask}]")
    else:
        some = f"{x}[{before}{mask}]"
    made = b.one("{x}", *ELEMENTWISE).format(x="s")
    total = b.one(*REDUCED[:5]) if before else b.one(*REDUCED)
    return Made(f"(lambda s: (lambda s: {total.format(x='s')})({made}))({some})")


@recipe
def selected_write(b: Builder) -> Made:
    x = b.let(f"{b.pick(lambda x: x.is_float and x.dtype.itemsize >= 4, full=True, most=2000)}.clone()")
    mask, before = mask_of(b, x)
    made = b.one(*ELEMENTWISE).format(x=f"{x}[{before}{mask}]")
    b._run(Made(b.one(f"{x}[{before}{mask}] = {made}", f"{x}[{before}{mask}] += {made}", f"{x}[{before}{mask}] *= 2"), writes=x), "")
    return Made(f"{x} * 1")
