"""The suite of training steps."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..layers.peers import DYNAMO_PEERS
from ..layers.table import Input, Layer, read
from ..suite import Peer, Prepared, Suite
from .gradients import TRIES, difference, relative

_STEPS = "benchmarks.training.steps"


def _torch(row: Layer, threads: int, backend: str = "") -> Prepared:
    """What is timed as compiling is the first step."""
    import torch

    import hloom

    from .steps import Training, gradient_errors

    torch.set_num_threads(threads)
    hloom.set_threads(threads)
    compiled = partial(torch.compile, backend=backend, dynamic=False) if backend else lambda loss: loss
    step = Training(row, compiled)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        seconds = _seconds(step)
    left = [str(each.message).split(". The first")[0] for each in told if "hloom leaves" in str(each.message)]
    found = gradient_errors(row, step, 0 if backend else TRIES)
    return Prepared(step, found, seconds, note="; ".join([_told(found), *left]))


def _told(found: list[np.ndarray]) -> str:
    """The median error of the steps' gradients."""
    return f"{np.median(relative(*found)):.1e} from f64"


def _seconds(step: Callable[[], object]) -> float:
    """Of the first step, of the processor's time, also of processes that it starts: inductor's are compilers of C++."""
    before = os.times()
    step()
    return sum(os.times()[:4]) - sum(before[:4])


def _jax(row: Layer, threads: int, ours: bool = False) -> Prepared:
    import jax

    import hloom

    from .flax_steps import Training, gradient_errors

    hloom.set_threads(threads)
    step = Training(row, hloom.jit if ours else jax.jit)
    seconds = _seconds(step)
    found = gradient_errors(row, step, 0 if ours else TRIES)
    return Prepared(step, found, seconds, note=_told(found))


def _hloom(row: Layer, threads: int) -> Prepared:
    return _jax(row, threads, ours=True) if _is_flax(row) else _torch(row, threads, "hloom")


def _is_flax(row: Layer) -> bool:
    return row.family == "flax"


def _is_torch(row: Layer) -> bool:
    return not _is_flax(row)


def _warm(backend: str) -> None:
    """What a compiler imports and finds out at the first program of a process, it has then done for every row's."""
    _torch(Layer("", "", "Linear(4, 4)", (Input((2, 4), "f32"),)), 1, backend)


def _peer(name: str, **options: Any) -> Peer:
    """A peer of the zoo's, with its imports."""
    known = DYNAMO_PEERS[name]
    return Peer(name, known.title, (*known.modules, _STEPS), **options)


PEERS = {
    peer.name: peer
    for peer in [
        _peer("hloom", prepare=_hloom, warm=partial(_warm, "hloom")),
        _peer("eager", prepare=_torch, takes=_is_torch),
        _peer("compile", prepare=partial(_torch, backend="inductor"), takes=_is_torch, warm=partial(_warm, "inductor")),
        Peer("jax", "JAX", ("jax", "jax.numpy", "flax.linen", "benchmarks.training.flax_steps"), _jax, takes=_is_flax),
    ]
}
SUITES = {
    "training": Suite(
        "training",
        read(Path(__file__).parent / "training.txt", 8),
        PEERS,
        reference="eager",
        references={"flax": "jax"},
        best=("eager",),
        best_too={"flax": ("jax",)},
        difference=difference,
    )
}
