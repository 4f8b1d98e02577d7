"""The suite of JAX programs: hloom.jit beside jax.jit."""

from __future__ import annotations

import importlib.util
import time
import warnings

import numpy as np

from ..suite import Peer, Prepared, Suite
from . import numeric, solvers, training, transformed
from .program import Jit, Program

ROWS = {row.name: row for module in (numeric, solvers, training, transformed) for row in module.PROGRAMS}


def _prepared(row: Program, jit: Jit) -> Prepared:
    import jax

    start = time.perf_counter()
    function, inputs = row.made(jit)
    results = jax.tree.leaves(jax.block_until_ready(function(*inputs)))
    seconds = time.perf_counter() - start
    return Prepared(lambda: jax.block_until_ready(function(*inputs)), [np.asarray(result) for result in results], seconds)


def _hloom(row: Program, threads: int) -> Prepared:
    import hloom

    hloom.set_threads(threads)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "hloom leaves")
        return _prepared(row, hloom.jit)


def _jax(row: Program, threads: int) -> Prepared:
    import jax

    return _prepared(row, jax.jit)


def _installed(row: Program) -> bool:
    return all(map(importlib.util.find_spec, row.needs))


_HLOOM = ("hloom.compiler.compile", "hloom.compiler.codegen", "hloom.compiler.frontends.jax", "hloom.compiler.jax.jit", "jax.export")

PEERS = {
    peer.name: peer
    for peer in [
        Peer("hloom", "hloom.jit", ("jax", *_HLOOM), _hloom, takes=_installed),
        Peer("jax", "jax.jit", ("jax",), _jax, takes=_installed),
    ]
}
_CONDITIONS = """Both are called as functions of JAX's, with arrays of JAX's, and waited for: a call's dispatch is part of its time, but for
`transformed`, which has jax.jit around programs of hloom's. Results must be jax.jit's. Compile: the first call, tracing included."""
SUITES = {"jit": Suite("jit", ROWS, PEERS, reference="jax", best=("jax",), conditions=_CONDITIONS)}
