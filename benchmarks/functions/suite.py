"""The suite of JAX functions: hloom beside jax.jit."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from ..layers.limits import limits
from ..layers.table import Layer, read
from ..suite import Peer, Prepared, Suite

_FUNCTIONS = "benchmarks.functions.functions"


def _hloom(row: Layer, threads: int) -> Prepared:
    import hloom

    from .functions import arrays, make

    hloom.set_threads(threads)
    given = arrays(row)
    start = time.perf_counter()
    exe = hloom.compile(make(row), *given)
    seconds = time.perf_counter() - start
    results = exe.flat(given)
    return Prepared(lambda: exe.flat(given), [np.asarray(result) for result in results], seconds)


def _warm_hloom() -> None:
    """What it imports at the first program of a process."""
    from hloom.dialects.context import make_context
    from hloom.passes.registry import all_passes

    make_context()
    all_passes()


def _jax(row: Layer, threads: int) -> Prepared:
    import jax

    from .functions import arrays, make

    given = [jax.device_put(array) for array in arrays(row)]
    start = time.perf_counter()
    compiled = jax.jit(make(row)).lower(*given).compile()
    seconds = time.perf_counter() - start
    results = jax.tree_util.tree_leaves(compiled(*given))
    return Prepared(lambda: jax.block_until_ready(compiled(*given)), [np.asarray(result) for result in results], seconds)


_HLOOM = ("hloom.compiler.compile", "hloom.compiler.codegen", "hloom.compiler.frontends.jax", "jax.export")

PEERS = {
    peer.name: peer
    for peer in [
        Peer("hloom", "hloom", (_FUNCTIONS, *_HLOOM), _hloom, warm=_warm_hloom),
        Peer("jax", "JAX", (_FUNCTIONS,), _jax),
        *limits(_FUNCTIONS),
    ]
}
SUITES = {
    "functions": Suite("functions", read(Path(__file__).parent / "functions.txt", 16), PEERS, reference="jax", best=("jax",)),
}
