"""What surrounds AOTAutograd: the key that it looks for, and what it needs to trace a graph that it has not kept.

A process that finds all that it needs loads neither hloom's compiler nor inductor's.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any
from unittest import mock

import torch._inductor.codecache
from torch._dynamo.callback import callback_handler
from torch.fx import GraphModule

from hloom.runtime.garbage import known_objects_kept

from ..frontends.torch_shapes import recurrent_shapes_at_once
from .torch_source import torch_key


class Tracing(contextlib.ExitStack):
    """hloom's decompositions, for as long as the stack is open, from when AOTAutograd begins to trace.

    It is what torch calls a pass before gradients: one over dynamo's graph, where nothing was kept of it. The graph stays as it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.decompositions: dict[Any, Callable[..., Any]] = {}
        """Given to AOTAutograd, which reads it when it traces."""

    def __call__(self, module: GraphModule, inputs: Sequence[Any]) -> GraphModule:
        from ..frontends import torch_lowerings  # noqa: F401  registers hloom's own
        from ..frontends.torch_checks import without_errors_of_linear_algebra
        from ..frontends.torch_decompose import without_onednn
        from ..frontends.torch_higher_order import stay_whole
        from ..frontends.torch_registry import all_decompositions, own_decompositions_first

        self.decompositions.update(stay_whole(all_decompositions()))
        for context in (own_decompositions_first(), without_onednn(), without_errors_of_linear_algebra()):
            self.enter_context(context)
        return module


@contextlib.contextmanager
def without_inductor() -> Iterator[None]:
    """AOTAutograd does not import inductor's code generators to know of what is inductor's alone.

    Its keys hold which passes others gave inductor for a device, and the source of Triton's kernels, of which graphs seldom have any, and
    of torch (torch_source.py); with TORCH_COMPILE_DEBUG it logs into inductor's folder.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(
            mock.patch.multiple(
                torch._inductor.codecache,
                init_backend_registration=lambda: None,
                custom_backend_passes={},
                custom_backend_codegen_configs={},
                torch_key=torch_key,
            )
        )
        if os.environ.get("TORCH_COMPILE_DEBUG") != "1":
            stack.enter_context(standing_in("torch._inductor.debug", enable_aot_logging=contextlib.nullcontext))
        asked = "user_defined_triton_kernel_transitive_closure_source_code"
        stack.enter_context(standing_in("torch._inductor.codegen.wrapper", **{asked: None}))
        yield


class _StandIn(ModuleType):
    """A module of which a few members are known. Whoever asks for another loads it, and whoever calls one that is given as None."""

    def __init__(self, name: str, members: Mapping[str, Any]):
        super().__init__(name)
        vars(self).update({member: value or self._late(member) for member, value in members.items()})

    def _late(self, name: str) -> Callable[..., Any]:
        return lambda *given, **named: self.__getattr__(name)(*given, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of Python's own machinery
            raise AttributeError(name)
        _leave(self)
        return getattr(importlib.import_module(self.__name__), name)


@contextlib.contextmanager
def standing_in(name: str, **members: Any) -> Iterator[None]:
    """Keeps a module from being loaded for the sake of those members."""
    if name in sys.modules:
        yield
        return
    module = sys.modules[name] = _StandIn(name, members)
    try:
        yield
    finally:
        _leave(module)


def _leave(module: ModuleType) -> None:
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]


class _Undisturbed:
    """Seldom collections (garbage.py) while dynamo traces, which it does not say for whom, and no run of a recurrent layer's steps for the
    shapes of its results."""

    def __init__(self) -> None:
        self.stack = contextlib.ExitStack()

    def begin(self, about: Any) -> None:
        self.stack.enter_context(known_objects_kept())
        self.stack.enter_context(recurrent_shapes_at_once())

    def end(self, about: Any) -> None:
        self.stack.close()


_undisturbed = _Undisturbed()


def trace_undisturbed() -> None:
    """From the next trace on, until torch._dynamo.reset()."""
    if _undisturbed.begin not in callback_handler.start_callbacks:
        callback_handler.register_start_callback(_undisturbed.begin)
        callback_handler.register_end_callback(_undisturbed.end)
