"""With which arguments cuSOLVER's and cuBLAS's functions are called for a routine of LAPACK (kinds/lapack.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Call:
    """`size` gives the arguments of <name>_buffer_size behind the handle, `run` those of <name>.

    `k` holds the extents and options by name; lead(x) is a leading dimension; `p` the addresses of one matrix's operands and results (x),
    the workspace (w, of wn elements) and an info.
    """

    size: Callable[[Any], tuple[int, ...]]
    run: Callable[[Any, Any], tuple[int, ...]]


def lead(extent: int) -> int:
    return max(1, extent)


def triangle(k: Any) -> int:
    return int(k.uplo == ord("U"))


def vectors(k: Any) -> int:
    return int(k.mode == ord("V"))


def _reflected(k: Any) -> tuple[int, ...]:
    """side, trans, m, n, k of ormqr."""
    return (0 if k.left else 1, k.adjoint if k.transpose else 0, k.m, k.n, k.k)


CALLS = {
    "potrf": Call(
        lambda k: (triangle(k), k.n, 0, lead(k.n)),
        lambda k, p: (triangle(k), k.n, p.x[1], lead(k.n), p.w, p.wn, p.info),
    ),
    "getrf": Call(
        lambda k: (k.m, k.n, 0, lead(k.m)),
        lambda k, p: (k.m, k.n, p.x[1], lead(k.m), p.w, p.x[2], p.info),
    ),
    "geqrf": Call(
        lambda k: (k.m, k.n, 0, lead(k.m)),
        lambda k, p: (k.m, k.n, p.x[1], lead(k.m), p.x[2], p.w, p.wn, p.info),
    ),
    "orgqr": Call(
        lambda k: (k.m, k.n, k.k, 0, lead(k.m), 0),
        lambda k, p: (k.m, k.n, k.k, p.x[2], lead(k.m), p.x[1], p.w, p.wn, p.info),
    ),
    "ormqr": Call(
        lambda k: (*_reflected(k), 0, lead(k.a), 0, 0, lead(k.m)),
        lambda k, p: (*_reflected(k), p.x[0], lead(k.a), p.x[1], p.x[3], lead(k.m), p.w, p.wn, p.info),
    ),
    "syevd": Call(
        lambda k: (vectors(k), triangle(k), k.n, 0, lead(k.n), 0),
        lambda k, p: (vectors(k), triangle(k), k.n, p.x[1], lead(k.n), p.x[2], p.w, p.wn, p.info),
    ),
    "sytrd": Call(
        lambda k: (triangle(k), k.n, 0, lead(k.n), 0, 0, 0),
        lambda k, p: (triangle(k), k.n, p.x[1], lead(k.n), p.x[2], p.x[3], p.x[4], p.w, p.wn, p.info),
    ),
    "gesvd": Call(  # of a matrix with no fewer rows than columns; no room for a superdiagonal that did not converge
        lambda k: (k.m, k.n),
        lambda k, p: (k.mode, k.mode, k.m, k.n, p.x[1], lead(k.m), p.x[2], p.x[3], lead(k.m), p.x[4], lead(k.v), p.w, p.wn, 0, p.info),
    ),
}  # fmt: skip


def solving(k: Any) -> tuple[int, ...]:
    """side, uplo, trans and diag of trsm, and the extents of X."""
    return int(k.side == ord("R")), triangle(k), b"NTC".index(k.trans_x), int(k.diag == ord("U")), k.m, k.n


BATCHED: dict[str, tuple[str, Callable[[Any, Any], tuple[int, ...]]]] = {
    "potrf": ("cuSOLVER", lambda k, p: (triangle(k), k.n, p.all[1], lead(k.n), p.x[2], k.batch)),
    "getrf": ("cuBLAS", lambda k, p: (k.n, p.all[1], lead(k.n), p.x[2], p.x[3], k.batch)),
    "geqrf": ("cuBLAS", lambda k, p: (k.m, k.n, p.all[1], lead(k.m), p.all[2], p.host_info, k.batch)),
    "trsm": ("cuBLAS", lambda k, p: (*solving(k), p.one, p.all[0], lead(k.a), p.all[2], lead(k.m), k.batch)),
}
"""The library that has <name>_batched, and its arguments: `p.all` are addresses of arrays that hold the addresses of all matrices of an
operand or a result, `p.x` the addresses of the first ones."""
