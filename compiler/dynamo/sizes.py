"""Graphs whose sizes are numbers of the program: compiled for each set of sizes that they are called with.

Dynamo makes sizes that changed symbols (SymInt): operands of the graph, and in the shapes of others. At a call they are known. The graph is
traced again with them, and is then one of known shapes.

Sizes may go on to change: a cache that grows by a token a call, sounds whose lengths are drawn, tokens that a model drops. A program takes
a second to make and spares milliseconds a call, so few are made before sizes are seen again, and each program that was made then asks for
more calls of the next set of sizes before it is worth one; until then PyTorch computes them, by the ops of the graph:
    sets of sizes made     0 … 2   3 … 7    8    9   …   20
    calls before one           1       2    8   16   …  104

A nested tensor (`torch.jagged`) is its values, its offsets and a SymInt that stands for the lengths of its rows, of no value even at a
call. Such a one is traced as some number, and given back where the graph gives it back.
"""

from __future__ import annotations

import warnings
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
AT_ONCE = 3
"""Sets of sizes that are compiled when they are first called."""
AGAIN = 8
"""Sets of sizes, with those, that are compiled when they are called again."""
STEP = 8
"""Further calls that each program beyond asks for of the next set."""
_COUNTED = 1024
"""Sets of sizes whose calls are counted; of others nothing is known."""


def has_open_sizes(module: GraphModule) -> bool:
    """Whether an operand of the graph is a number, or a tensor of a size that is open."""
    return any(node.op == "placeholder" and is_open(node) for node in module.graph.nodes)


_CHANGING = (
    f"the sizes of a graph changed more than {AGAIN} times, and hloom compiles each set of sizes: PyTorch computes new ones until they "
    "were called often. Keep sizes few: pad to a multiple of some length, give a cache that does not grow"
)
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
        self.calls: OrderedDict[Any, int] = OrderedDict()
        """How often sets of sizes were called that have no program yet."""
        self.programs = 0
        """How many were made, with those that are kept no more."""
        self.has_warned = False
        self.torchs = None if _calls_functions(module) else module.forward

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
        if made is not None:
            self.made.move_to_end(key)
            return made(given)
        if self.torchs is not None and not self._is_worth_a_program(key):
            return self.torchs(*given)
        made = self.made[key] = self._specialised(given)
        self.programs += 1
        if len(self.made) > MOST:
            self.made.popitem(last=False)
        return made(given)

    def _is_worth_a_program(self, key: Any) -> bool:
        calls = self.calls.pop(key, 0) + 1
        if calls >= _calls_before(self.programs):
            return True
        self.calls[key] = calls
        if not self.has_warned and len(self.calls) + self.programs > AGAIN:
            self.has_warned = True
            warnings.warn(_CHANGING, stacklevel=2)
        if len(self.calls) > _COUNTED:
            self.calls.popitem(last=False)
        return False

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


def _calls_before(programs: int) -> int:
    """How often a set of sizes is called before it is worth a program, where so many were made."""
    if programs < AGAIN:
        return 1 if programs < AT_ONCE else 2
    return STEP * (programs - AGAIN + 1)


def _calls_functions(module: GraphModule) -> bool:
    """Whether an op of the graph calls another graph (`while_loop`, flex attention): PyTorch may not compute such as it stands."""
    return any(isinstance(node.target, torch._ops.HigherOrderOperator) for node in module.graph.nodes)


def _passed(module: GraphModule) -> dict[int, int]:
    """The graph's results that are operands as they are: which operand, by the result's number."""
    numbers = {node: number for number, node in enumerate(module.graph.find_nodes(op="placeholder"))}
    (output,) = module.graph.find_nodes(op="output")
    results = output.args[0] if isinstance(output.args[0], (list, tuple)) else ()
    return {place: numbers[node] for place, node in enumerate(results) if isinstance(node, torch.fx.Node) and node in numbers}
