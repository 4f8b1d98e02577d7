"""Graphs whose sizes are numbers of the program: compiled for each set of sizes that they are called with.

Dynamo makes sizes that changed symbols (SymInt): operands of the graph, and in the shapes of others. At a call they are known. The graph is
traced again with them, and is then one of known shapes.

A nested tensor (`torch.jagged`) is its values, its offsets and a SymInt that stands for the lengths of its rows, of no value even at a
call. Such a one is traced as some number, and given back where the graph gives it back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from ..frontends.torch_control_flow import know_numbers
from .call import Code, unboxed
from .graph import is_open

MOST = 64
"""Sets of sizes that are kept; the one that was used longest ago goes first."""


def has_open_sizes(module: GraphModule) -> bool:
    """Whether an operand of the graph is a number, or a tensor of a size that is open."""
    return any(node.op == "placeholder" and is_open(node) for node in module.graph.nodes)


_SOME_LENGTH = 2
"""In the stead of a nested tensor's lengths. 0 and 1 are what torch decides by."""


class BySizes(Code):
    """What AOTAutograd calls: the program for the operands' sizes, made by `compiled` where there is none yet."""

    def __init__(self, module: GraphModule, compiled: Callable[[GraphModule], Callable[..., Any]]):
        super().__init__()
        self.module = module
        self.compiled = compiled
        self.made: OrderedDict[Any, Callable[..., Any]] = OrderedDict()
        self.passed = _passed(module)
        placeholders = module.graph.find_nodes(op="placeholder")
        self.open = [(number, isinstance(node.meta.get("val"), torch.Tensor)) for number, node in enumerate(placeholders) if is_open(node)]
        """Operands that sizes are known by, and which are tensors; the others are the same at every call, as dynamo saw to."""

    def __call__(self, *operands: Any) -> Any:
        given = unboxed(operands)
        lengths = {number: given[number] for number, _ in self.open if isinstance(given[number], torch.SymInt)}
        if not lengths:
            return self._of_numbers(given)
        made = list(self._of_numbers([_SOME_LENGTH if number in lengths else each for number, each in enumerate(given)]))
        for place, number in self.passed.items():
            made[place] = lengths.get(number, made[place])
        return made

    def _of_numbers(self, given: list[Any]) -> Any:
        key = tuple([(each.shape, each.stride()) if tensor else each for n, tensor in self.open for each in (given[n],)])
        made = self.made.get(key)
        if made is None:
            made = self.made[key] = self._specialised(given)
            if len(self.made) > MOST:
                self.made.popitem(last=False)
        self.made.move_to_end(key)
        return made(given)

    def _specialised(self, operands: Sequence[Any]) -> Callable[..., Any]:
        with unset_fake_temporarily(), torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv()):
            empty = [
                torch.empty_strided(each.shape, each.stride(), dtype=each.dtype, device=each.device)
                if isinstance(each, torch.Tensor)
                else each
                for each in operands
            ]
            module = make_fx(torch.fx.Interpreter(self.module).run)(*empty)
        know_numbers(module)
        return self.compiled(module)


def _passed(module: GraphModule) -> dict[int, int]:
    """The graph's results that are operands as they are: which operand, by the result's number."""
    numbers = {node: number for number, node in enumerate(module.graph.find_nodes(op="placeholder"))}
    (output,) = module.graph.find_nodes(op="output")
    results = output.args[0] if isinstance(output.args[0], (list, tuple)) else ()
    return {place: numbers[node] for place, node in enumerate(results) if isinstance(node, torch.fx.Node) and node in numbers}
