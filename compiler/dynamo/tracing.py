"""What surrounds AOTAutograd: the key that it looks for, and what it needs to trace a graph that it has not kept.

A process that finds all that it needs loads neither hloom's compiler nor inductor's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch._inductor.codecache
from torch.fx import GraphModule


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
        from ..frontends.torch_registry import all_decompositions, own_decompositions_first

        self.decompositions.update(all_decompositions())
        for context in (own_decompositions_first(), without_onednn(), without_errors_of_linear_algebra()):
            self.enter_context(context)
        return module


@contextlib.contextmanager
def keys_without_inductor() -> Iterator[None]:
    """Leaves out of AOTAutograd's keys which passes others gave inductor for a device: they run in inductor alone, and to know of its own
    devices torch would import all of it."""
    with mock.patch.multiple(
        torch._inductor.codecache, init_backend_registration=lambda: None, custom_backend_passes={}, custom_backend_codegen_configs={}
    ):
        yield
