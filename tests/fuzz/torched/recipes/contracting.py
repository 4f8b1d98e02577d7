"""Products, attention, linear algebra, Fourier transforms."""

from __future__ import annotations

import torch

from ...errors import Unsuitable
from ..builder import Builder, Made, recipe


@recipe
def linear(b: Builder) -> Made:
    x = b.floats(full=True, most=5000)
    out = b.number(1, 9)
    w = b.same([out, x.shape[-1]], x.dtype)
    bias = f", {b.same([out], x.dtype)}" if b.chance(0.5) else ""
    return Made(f"F.linear({x}, {w}{bias})")


@recipe
def matmul(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float or x.is_complex, full=True, most=5000)
    if x.ndim == 1:
        y = b.same(x.shape, x.dtype)
        return Made(b.one(f"{x} @ {y}", f"torch.outer({x}, {y})", f"torch.dot({x}, {y})", f"torch.kron({x}, {y}[:3])"))
    shape = [x.shape[-1], b.number(1, 9)]
    texts = (f"{x} @ {b.same(shape, x.dtype)}", f"{x} @ {x}.mT", f"{x}.mT @ {x}", f"{x} @ {b.same(shape[:1], x.dtype)}")
    return Made(b.one(*texts))


@recipe
def products_added(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.ndim in (2, 3), full=True, most=4000)
    columns = b.number(1, 7)
    scale = f"beta={b.one(0, 1, 0.5)}, alpha={b.one(1, 2)}"
    if x.ndim == 3:
        y = b.same([x.shape[0], x.shape[2], columns], x.dtype)
        added = b.same(b.one([x.shape[1], columns], [x.shape[0], x.shape[1], columns], [1]), x.dtype)
        return Made(
            b.one(f"torch.baddbmm({added}, {x}, {y}, {scale})", f"torch.bmm({x}, {y})", f"torch.addbmm({x}[0, :, :1], {x}, {y}, {scale})")
        )
    y = b.same([x.shape[1], columns], x.dtype)
    added = b.same(b.one([columns], [x.shape[0], columns], [1], [x.shape[0], 1]), x.dtype)
    return Made(
        b.one(
            f"torch.addmm({added}, {x}, {y}, {scale})",
            f"torch.addmv({x}[:, 0], {x}, {y}[:, 0], {scale})",
            f"torch.addr({x}, {x}[:, 0], {x}[0], {scale})",
        )
    )


@recipe
def einsum(b: Builder) -> Made:
    x = b.pick(lambda x: (x.is_float or x.is_complex) and 1 < x.ndim < 5, full=True, most=3000)
    letters = "abcd"[: x.ndim]
    shape, second = [], ""
    for n, letter in enumerate(letters):
        if b.chance(0.5):
            second, shape = second + letter, [*shape, x.shape[n]]
    if b.chance(0.7):
        second, shape = second + "z", [*shape, b.number(1, 6)]
    order = b.permutation(len(second))
    second, shape = "".join(second[n] for n in order), [shape[n] for n in order]
    if not second:
        raise Unsuitable
    y = b.same(shape, x.dtype)
    out = "".join(letter for letter in dict.fromkeys(second + letters) if b.chance(0.6))
    return Made(f"torch.einsum('{letters},{second}->{out}', {x}, {y})")


@recipe
def tensordot(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.ndim >= 2, full=True, most=3000)
    y = b.same([*x.shape[-2:], b.number(1, 4)], x.dtype)
    return Made(
        b.one(
            f"torch.tensordot({x}, {y}, 2)",
            f"torch.cdist({x}, {x}[..., :2, :])",
            f"F.bilinear({x}, {x}, {b.same([2, x.shape[-1], x.shape[-1]], x.dtype)})",
        )
    )


@recipe
def attention(b: Builder) -> Made:
    x = b.floats(full=True, most=2500)
    if x.ndim < 3:
        raise Unsuitable
    *batch, rows, width = x.shape
    keys = b.number(1, 9)
    heads = batch[-1] if len(batch) == 2 else 0
    shared = heads and b.chance(0.3)
    groups = b.one(*(n for n in range(1, heads + 1) if heads % n == 0)) if shared else 0
    kv = [*batch[:-1], groups, keys, width] if shared else [*batch, keys, width]
    k, v = b.same(kv, x.dtype), b.same(kv, x.dtype)
    more = b.one("", ", is_causal=True", "mask", "bias", ", scale=0.5")
    if more == "mask":
        more = f", attn_mask=({b.constant([rows, keys], torch.bool)} | (torch.arange({keys}) == 0))"
    if more == "bias":
        more = f", attn_mask={b.same(b.one([rows, keys], [*batch, rows, keys], [1, keys]), x.dtype)}"
    return Made(f"F.scaled_dot_product_attention({x}, {k}, {v}{more}{', enable_gqa=True' if shared else ''})")


@recipe
def written_attention(b: Builder) -> Made:
    x = b.floats(full=True, most=2500)
    if x.ndim < 2:
        raise Unsuitable
    y = b.same(x.shape, x.dtype)
    scores = f"({x} @ {y}.mT) * {b.one(0.5, 0.25)}"
    if b.chance(0.4):
        scores = f"({scores}).masked_fill(torch.ones({x.shape[-2]}, {x.shape[-2]}, dtype=torch.bool).triu(1), float('-inf'))"
    return Made(f"torch.softmax({scores}, -1) @ {x}")


@recipe
def linear_algebra(b: Builder) -> Made:
    x = b.pick(lambda x: x.is_float and x.ndim >= 2 and x.dtype.itemsize >= 4 and max(x.shape[-2:]) <= 12, full=True, most=1500)
    n = x.shape[-2]
    good = b.let(f"{x} @ {x}.mT + {n + 1} * torch.eye({n}, dtype={x.dtype})")
    texts = (
        f"torch.linalg.cholesky({good})",
        f"torch.linalg.solve({good}, {x})",
        f"torch.linalg.inv({good})",
        f"torch.linalg.det({good} / {n + 5})",
        f"torch.linalg.slogdet({good})[1]",
        f"torch.linalg.solve_triangular({good}, {x}, upper={b.chance(0.5)})",
        f"torch.cholesky_solve({x}, {good})",
        f"torch.linalg.matrix_power({good} / {3 * n + 9}, {b.number(0, 4)})",
        f"torch.linalg.eigvalsh({good})",
        f"torch.linalg.qr({good})[1].abs()",
        f"torch.trace({good}.flatten(0, -2)[:{n}])",
        f"torch.linalg.matrix_norm({good})",
        f"torch.linalg.svdvals({good})",
        f"torch.cross({x}[..., :3], {x}[..., :3] + 1, dim=-1)",
    )
    return Made(b.one(*texts))


@recipe
def fourier(b: Builder) -> Made:
    x = b.pick(lambda x: (x.is_float or x.is_complex) and x.dtype.itemsize >= 4, full=True, most=3000)
    dim, norm = b.dim(x), b.one("backward", "ortho", "forward")
    if x.is_complex:
        n = b.number(1, 12)
        return Made(
            b.one(
                f"torch.fft.ifft({x}, dim={dim}, norm={norm!r})",
                f"torch.fft.irfft({x}, n={n}, dim={dim})",
                f"torch.fft.fftshift({x})",
                f"torch.fft.fft2({x})",
            )
        )
    texts = (
        f"torch.fft.rfft({x}, dim={dim}, norm={norm!r})",
        f"torch.fft.fft({x}, {b.number(1, 12)}, {dim})",
        f"torch.fft.rfft2({x})",
        f"torch.fft.irfft(torch.fft.rfft({x}, dim={dim}), n={x.shape[dim]}, dim={dim})",
        f"torch.fft.fftn({x}).real",
        f"torch.fft.ifft({x}, dim={dim}).imag",
    )
    return Made(b.one(*texts))
