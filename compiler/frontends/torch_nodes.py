"""What torch keeps of a graph that it traces, where the compiler needs less of it."""

from __future__ import annotations

import contextlib
import copy
import functools
import sys
import traceback
from collections.abc import Callable, Iterator
from keyword import iskeyword
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import torch
from torch._C import DisableTorchFunction  # type: ignore[attr-defined]
from torch.fx import Graph, GraphModule, proxy
from torch.fx import graph as fx_graph
from torch.fx._lazy_graph_module import _LazyGraphModule, _use_lazy_graph_module
from torch.fx.experimental import proxy_tensor
from torch.fx.experimental.symbolic_shapes import uninteresting_files
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_leaves

NOT_THE_USERS = (str(Path(torch.__file__).parent), str(Path(__file__).parents[1]), "<")
"""What the files of torch and of the compiler begin with, and code that is in no file."""

_T = TypeVar("_T")


@contextlib.contextmanager
def without_code() -> Iterator[None]:
    """While torch exports: graph modules write their Python code when somebody asks for it, and not whenever their graph changes."""
    with _use_lazy_graph_module(True):
        yield


@contextlib.contextmanager
def code_of_any_name() -> Iterator[None]:
    """While torch writes a graph's Python code: `torch.ops.aten.random_.from` is none, as `from` is a word of Python's own."""
    before = fx_graph._get_qualified_name

    def qualified_name(function: Callable[..., Any]) -> str:
        first, *others = before(function).split(".")
        return functools.reduce(lambda of, name: f'getattr({of}, "{name}")' if iskeyword(name) else f"{of}.{name}", others, first)

    fx_graph._get_qualified_name = qualified_name  # type: ignore[assignment]
    try:
        yield
    finally:
        fx_graph._get_qualified_name = before


def module_of(root: GraphModule, graph: Graph) -> GraphModule:
    """The graph as a module without code, with what it reads of `root`."""
    return _LazyGraphModule(root, graph)


def copied_graph(graph: Graph) -> Graph:
    """A copy whose nodes have their names: a signature knows them by these, and fx gives none that Python has taken (`input`)."""
    made = copy.deepcopy(graph)
    for node, mine in zip(graph.nodes, made.nodes, strict=True):
        mine.name = node.name
    return made


@contextlib.contextmanager
def short_stacks() -> Iterator[None]:
    """While torch exports: of each node's stack those frames are read that torch keeps. It reads all, sixty and more, and drops most."""
    before = proxy.CapturedTraceback
    proxy.CapturedTraceback = _Stack  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        proxy.CapturedTraceback = before  # type: ignore[misc]


@contextlib.contextmanager
def quiet_notes() -> Iterator[None]:
    """While torch exports: its modes watch what forward does, and not what torch asks of a result to note its shape, strides and layout.

    Each of these forty questions a result went through three modes in Python, a fifth of an export. Of a tensor that is made of others
    (torchao's weights) a mode must see which are asked for.
    """
    before = proxy_tensor.track_tensor_tree

    def noted(result: Any, *args: Any, **keywords: Any) -> Any:
        made_of_others = any(map(is_traceable_wrapper_subclass, tree_leaves(result)))
        with contextlib.nullcontext() if made_of_others else DisableTorchFunction():
            return before(result, *args, **keywords)

    proxy_tensor.track_tensor_tree = noted  # type: ignore[assignment]
    try:
        yield
    finally:
        proxy_tensor.track_tensor_tree = before


class _Stack:
    """Stands for torch's CapturedTraceback."""

    @staticmethod
    def extract() -> _Stack:
        return _Stack()

    def summary(self) -> traceback.StackSummary:
        """The outermost `forward`, behind which torch looks for the user's code, and what is there beside torch's own tracing. The
        innermost line of the user's is told as one: torch may keep no others."""
        frames: list[FrameType] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            frames.append(frame)
            frame = frame.f_back
        users = next((each for each in frames if not each.f_code.co_filename.startswith(NOT_THE_USERS)), None)
        frames.reverse()
        first = next((place for place, each in enumerate(frames) if each.f_code.co_name == "forward"), len(frames))
        unwanted = uninteresting_files()
        kept = [each for each in frames[first + 1 :] if each.f_code.co_filename not in unwanted]
        told = (
            (each.f_code, each.f_lineno, "forward" if each is users else each.f_code.co_name)
            for each in (*frames[first : first + 1], *kept)
        )
        return traceback.StackSummary(traceback.FrameSummary(code.co_filename, line, name) for code, line, name in told)


def of_error(error: Exception, kind: type[_T]) -> Iterator[_T]:
    """What was at hand where an error was raised, the innermost first."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        yield from (value for value in frame.f_locals.values() if isinstance(value, kind))
