"""Zero points of a quantised module's weights (torch_zero_points.py) in graphs of dynamo's, where they are operands.

A graph whose zero points are all 0 is compiled for that. Each call looks whether they are still; what they change to PyTorch computes.
"""

from __future__ import annotations

import copy
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.fx import GraphModule, Node

from ..frontends.torch_zero_points import make_zeros, zero_points
from .weights import version_of

_STATIC = "_dynamo_static_input_type"
"""dynamo marks parameters and buffers so."""

_Function = Callable[..., Any]


def compiled_for_zero_points(module: GraphModule, inputs: Sequence[Any], compile_graph: Callable[[GraphModule], _Function]) -> _Function:
    """What `compile_graph` makes of the graph, which loses its zero points where all are 0."""
    given = dict(zip((node for node in module.graph.nodes if node.op == "placeholder"), inputs))

    def value_of(node: Node) -> torch.Tensor | None:
        value = given.get(node)
        return value if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor) and hasattr(value, _STATIC) else None

    points = zero_points(module.graph, value_of)
    if not points:
        return compile_graph(module)
    original = copy.deepcopy(module.graph)
    for point, value in points.items():
        make_zeros(module.graph, point, value)
    module.recompile()
    operands = list(given)
    return _Guarded(compile_graph(module), GraphModule(module, original), [operands.index(point) for point in points])


class _Guarded:
    """`compiled` while the operands at `places` are zeros, else `original`."""

    def __init__(self, compiled: _Function, original: GraphModule, places: Sequence[int]):
        self.compiled, self.original, self.places = compiled, original, places
        self.known: dict[int, list[tuple[weakref.ref[torch.Tensor], int]]] = {}
        """Zeros, each with its version, by the first one's identity: layers that are alike share a graph."""

    def __call__(self, *operands: Any) -> Any:
        points: list[torch.Tensor] = [operands[place] for place in self.places]
        known = self.known.get(id(points[0]), ())
        if known and all(kept() is point and version == version_of(point) for (kept, version), point in zip(known, points)):
            return self.compiled(*operands)
        if any(point.count_nonzero() for point in points):
            warnings.warn(
                "hloom leaves a quantised module to PyTorch: its weights' zero points, all 0 when it was compiled, changed; "
                "torch._dynamo.reset() has it compiled anew",
                stacklevel=2,
            )
            return self.original(*operands)
        self.known[id(points[0])] = [(weakref.ref(point), version_of(point)) for point in points]
        return self.compiled(*operands)
