"""Dynamo's own work, kept across processes by torch (TORCH_CACHING_PRECOMPILE=1, torch._dynamo.config.caching_precompile).

torch writes it when it is told to (`torch.compiler.save_cache_artifacts()`); for programs of hloom's that is when the process ends, too. It
reads it inside torch.compile, by the function's name and line alone, whatever the backend and its options are. Those are looked up here, so
that what was kept for others is traced anew.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import logging
import secrets
import sys
from typing import Any

import torch
from torch._dynamo import bytecode_transformation
from torch._dynamo.eval_frame import _TorchDynamoContext, innermost_backend

from .keys import About, are_off
from .options import Options

_READS = _TorchDynamoContext.__call__.__code__
"""What reads what was kept for a function: the method's `self` has the backend."""

_ours: list[Any] = []


def serves_hloom(backend: Any) -> Any:
    """Of a backend of torch.compile: it reads what hloom's programs were kept for."""
    _ours.append(backend)
    return backend


def is_on() -> bool:
    return bool(torch._dynamo.config.caching_precompile)


def holds(made_by: About) -> bool:
    """Whether a program that was made by that serves here and now: where torch reads dynamo's work, who it reads for."""
    context = reading()
    if context is None:
        return made_by.holds()
    asked = innermost_backend(context.callback)
    if getattr(asked, "compiler_fn", asked) not in _ours:
        return False
    given = getattr(asked, "kwargs", {})  # of what torch.compile wraps a backend in
    return made_by.serves(Options.of(given.get("mode"), given.get("options")).about())


def reading() -> Any:
    """What reads dynamo's work on behalf of torch.compile, if anything does."""
    frame = sys._getframe()
    while is_on() and frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code is _READS:
            return frame.f_locals["self"]
    return None


@functools.cache
def write_at_exit() -> None:
    """Has what torch recorded written, if it records."""
    atexit.register(_write)


def name_apart() -> None:
    """Dynamo's names of globals have numbers, from 0 in each process. It refuses one that came with what another process kept."""
    if is_on():
        bytecode_transformation._unique_id_counter = itertools.count(secrets.randbits(40))


def _write() -> None:
    if not is_on() or are_off():
        return
    from torch._dynamo.package import DynamoCache
    from torch._dynamo.precompile_context import PrecompileContext

    entries, _ = PrecompileContext.create_cache_entries()
    for key, entry in entries.items():
        try:
            DynamoCache.write(entry, key)
        except RuntimeError as error:  # of a folder that cannot be written, or something in a guard that cannot be
            logging.getLogger(__name__).warning("dynamo's work is not kept: %s", error)
