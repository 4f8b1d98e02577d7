"""Modes of torch's, buffers that are written, and, on the road where graphs break, what depends on data."""

from __future__ import annotations

from dataclasses import replace

import torch

from ...errors import Unsuitable
from ..builder import RECIPES, Builder, Made, recipe

WITHIN = (
    "linear",
    "matmul",
    "attention",
    "convolution",
    "unary",
    "binary",
    "norm",
    "softmax",
    "view",
    "reduction",
    "losses",
    "written_attention",
)


@recipe
def autocast(b: Builder) -> Made:
    made = RECIPES[b.one(*WITHIN)](b)
    if made.writes is not None:
        raise Unsuitable
    return replace(made, exact=False, within=f"with torch.autocast('cpu', dtype={b.one('torch.bfloat16', 'torch.float16')})")


@recipe
def without_gradients(b: Builder) -> Made:
    made = RECIPES[b.one("unary", "binary", "view", "reduction", "moved", "write")](b)
    return replace(made, within=b.one("with torch.no_grad()", "with torch.enable_grad()", "with torch.set_grad_enabled(False)"))


@recipe
def detached(b: Builder) -> Made:
    x = b.floats()
    texts = (
        (f"{x}.detach()", x.exact),
        (f"{x} + ({x}.tanh() - {x}).detach()", False),
        (f"torch.utils.checkpoint.checkpoint(lambda x: torch.sin(x) * x.sum(), {x}, use_reentrant=False)", False),
    )
    text, exact = b.one(*texts)
    return Made(text, exact)


@recipe
def buffers(b: Builder) -> Made:
    """A cache, a count, a running mean."""
    x = b.pick(lambda x: not x.is_bool and not x.is_complex, full=True, most=2000)
    name = b.module(f"Buffer(torch.zeros({list(x.shape)}, dtype={x.dtype}))")
    row = b.number(-x.shape[0], x.shape[0] - 1)
    value = f"{x}.detach()" if x.is_float else str(x)
    places = b.permutation(x.shape[0])[: b.number(1, x.shape[0])]
    texts = (
        f"{name}.add_({value})",
        f"{name}.copy_({value})",
        f"{name}[{row}] = {value}[{row}] + 1",
        f"{name}[{b.number(0, x.shape[0] - 1)}:] += 1",
        f"{name}.index_copy_(0, torch.tensor({places}), {value}[: {len(places)}])",
        f"{name}.transpose(0, -1)[0] = 2",
    )
    b.statement(b.one(*texts))
    own = () if b.road == "export" else (f"{name}[1:]", name)  # what hloom.compile makes gives copies
    return Made(b.one(f"{name} * 1", f"{name} + {x}", f"{name}.clone()", *own), x.exact and x.is_integer)


@recipe
def broken(b: Builder) -> Made:
    """What needs values while the program runs: only where graphs may break."""
    if b.road != "parts":
        raise Unsuitable
    x = b.pick(lambda x: not x.is_complex and not x.is_bool, exact=True, full=True)
    texts = (
        (f"{x}[{x} > 0]", True),
        (f"{x}.nonzero()", True),
        (f"torch.unique({x})", True),
        (f"torch.masked_select({x}, {x} < 1)", True),
        (f"({x} + 1 if {x}.flatten()[0].item() > 0 else {x} - 1)", x.is_integer),
        (f"torch.tensor({x}.flatten()[:3].tolist()).to({x.dtype})", True),
        (f"{x} * float({x}.flatten()[0])", False),
        (f"torch.repeat_interleave({x}, torch.arange({x}.shape[0]) % 3, 0)", True),
    )
    if b.chance(0.3):
        b.statement("torch._dynamo.graph_break()")
    text, exact = b.one(*texts)
    return Made(text, exact)


@recipe
def several_types(b: Builder) -> Made:
    """Bits of one type read as another's, and narrow floats."""
    x = b.pick(lambda x: x.dtype in (torch.float32, torch.int32, torch.int64, torch.float64), exact=True, full=True)
    same = {torch.float32: "torch.int32", torch.int32: "torch.float32", torch.int64: "torch.float64", torch.float64: "torch.int64"}[x.dtype]
    if x.is_float:
        return Made(f"{x}.view({same}) & 255", False)
    return Made(b.one(f"{x}.view(torch.uint8)", f"({x} & 7).to(torch.int16).view(torch.uint8)"), True)
