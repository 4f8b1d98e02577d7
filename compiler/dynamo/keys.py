"""The names that programs of graphs have in the cache: what was compiled before, in this process or another, is read (call.py).

A key holds all that a program follows from: every op with its arguments, the operands' types and strides, the values of constants, the
target, and the versions of torch, hloom and its tools. A graph has none where that does not tell all: with a policy, which may go by lines
of the source; with lowerings that a user registered; with HLOOM_DEBUG; where torch's caches are off. torch keeps AOTAutograd's work under a
key of its own, and `about`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from ..cache import entries_folder, is_off, key_of
from ..frontends.torch_arrays import as_array
from ..simulation import split_target
from ..versions import versions

KIND = "graphs"
"""The kind of the cache's entries."""
_PLAIN = (bool, int, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format, torch._ops.OpOverload)
_OWN_OPS = {"aten", "prims", "prim"}


class _NotKept(Exception):
    """A graph with something in it that a key does not hold."""


@dataclasses.dataclass(frozen=True)
class About:
    """What programs follow from beside their graphs."""

    target: Any
    bind: bool
    tune: bool | float
    """The options, as they are given."""
    parts: tuple[str, ...]
    """Of a key."""

    def holds(self) -> bool:
        """Whether it is the same here and now."""
        return about(self.target, None, self.bind, self.tune) == self

    def serves(self, other: About | None) -> bool:
        """Whether programs are the same with other options."""
        return other is not None and other.parts == self.parts


def about(target: Any, policy: Any, bind: bool, tune: bool | float) -> About | None:
    """Of programs that have these options. None where that cannot be told."""
    registry = sys.modules.get("hloom.compiler.frontends.torch_registry")
    others = registry is not None and registry.has_others()
    if policy is not None or others or os.environ.get("HLOOM_DEBUG") or are_off():
        return None
    entries_folder(KIND)  # refuses one that was named and cannot be trusted
    from ..target import resolve  # LLVM tells what the processor has

    name, simulated = split_target(target)
    machine = resolve(name)
    of_torch = torch.__version__, torch.backends.cpu.get_cpu_capability()  # by which torch's kernels pack weights
    parts = (*versions(), *of_torch, repr(bind), repr(tune), repr(dataclasses.astuple(machine)), simulated)
    return About(target, bind, tune, parts)


def are_off() -> bool:
    """Whether the user wants no caches."""
    return is_off() or bool(torch.compiler.config.force_disable_caches)


def is_told_by_torch(module: GraphModule) -> bool:
    """Whether torch's key holds all of dynamo's graph: not the values of its tensors, nor what a library's custom op does."""
    for part in module.modules():
        if not isinstance(part, GraphModule):
            continue
        for node in part.graph.nodes:
            if node.op == "get_attr" and isinstance(getattr(part, str(node.target), None), torch.Tensor):
                return False
            if getattr(node.target, "namespace", "aten") not in _OWN_OPS:
                return False
    return True


def graph_key(graph: Graph, constants: Mapping[Node, torch.Tensor], frame: Any, about: About | None) -> str | None:
    """The name of the graph's program; None where there is none. `constants`: values of placeholders; `frame`: how it stands in its own."""
    if about is None:
        return None
    try:
        told = [_told(frame), *(text for node in graph.nodes for text in _told_of(node, constants))]
    except _NotKept:
        return None
    return key_of((*about.parts, *told))


def _told_of(node: Node, constants: Mapping[Node, torch.Tensor]) -> Iterator[str]:
    yield f"{node.op} {node.name}"
    yield _told(node.target) if node.op == "call_function" else ""
    yield _told((node.args, node.kwargs))
    yield _told(constants[node]) if node in constants else _shapes(node.meta.get("val"))


def _shapes(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"({' '.join(map(_shapes, value))})"
    if not isinstance(value, torch.Tensor):
        return _told(value)
    return f"{value.dtype} {tuple(value.shape)} {value.stride()} {value.device}"


def _told(value: Any) -> str:
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!s}"
    if isinstance(value, (float, complex)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_told, value))})"
    if isinstance(value, Mapping):
        return _told([*value.items()])
    if isinstance(value, slice):
        return _told((value.start, value.stop, value.step))
    if isinstance(value, torch.Tensor):
        return f"{_shapes(value)} {hashlib.sha256(as_array(value).tobytes()).hexdigest()}"
    if getattr(value, "__module__", "") == "_operator":
        return value.__name__
    raise _NotKept
