"""A graph of AOTAutograd's as an executable that takes and gives what the graph does.

The graph is functional; its placeholders are tensors. Its results may be None, numbers, or operands handed through: those are put back at
each call, and the program gives the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as torch_pytree
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Graph, GraphModule, Node

from hloom.dialects.context import make_context
from hloom.passes.errors import UnsupportedOpError
from hloom.runtime import pytree
from hloom.runtime.executable import Executable
from hloom.runtime.program import GENERATOR

from ..compile import Compilation, simulator
from ..frontend import load_program
from ..frontends.torch_higher_order import without_higher_order
from ..frontends.torch_import import SMALL, as_array, line_of, stablehlo_of
from ..frontends.torch_layouts import order_of_value
from ..source_program import Imported
from .weights import Weights

_PASSED, _MADE, _GIVEN = "passed", "made", "given"
"""Where a result comes from: an operand, the program, or the graph itself, which has a value for it."""

_WITHOUT = "without fullgraph=True, it stays with PyTorch"


def compiled_graph(module: GraphModule, static: Collection[int] = (), **options: Any) -> Callable[..., Any]:
    """The graph compiled. `static`: operands to bind; `options` are hloom.compile's. Raises CompileErrors."""
    with unset_fake_temporarily():
        graph = _Graph(module)
        if not graph.made:
            return Call(graph, None)
        program = load_program(graph.imported())
        constants = {index: value for index, value in program.bound.items() if index not in program.state}
        operands = {index: graph.arguments.index(graph.operands[index]) for index in graph.taken if index in static}
        compilation = Compilation.of_program(program, "graph", bind=dict.fromkeys(operands.values()), **options)
        exe = Executable(compilation.artifact(), simulator() if compilation.simulated else None)
    return Call(graph, exe, Weights(exe, constants, operands) if constants or operands else None)


def lowered_graph(module: GraphModule) -> None:
    """Takes the graph to StableHLO and no further. Raises CompileErrors for what has no form there."""
    with unset_fake_temporarily():
        graph = _Graph(module)
        if graph.made:
            load_program(graph.imported())


def unboxed(operands: Sequence[Any]) -> list[Any]:
    """The operands of a call that gives them one by one, or in a list, which is emptied: nobody else holds them then."""
    if len(operands) != 1 or not isinstance(operands[0], list):
        return list(operands)
    given = list(operands[0])
    operands[0].clear()
    return given


def copied(module: GraphModule) -> tuple[Graph, Any]:
    """A copy of the graph, for AOTAutograd looks at its own again, without the output, and the values that this gave."""
    graph, copies = Graph(), dict[Node, Node]()
    values = graph.graph_copy(module.graph, copies)
    for node, copy in copies.items():
        copy.meta = dict(node.meta)
    return graph, values


class Call:
    """What AOTAutograd calls: with a list of the operands, which it may empty, or with the operands themselves."""

    def __init__(self, graph: _Graph, exe: Executable | None, weights: Weights | None = None):
        self._boxed_call = True  # torch copies what lies in the object itself
        self.exe = exe
        self.weights = weights
        bound = weights.operands if weights is not None else {}
        self.taken = [index for index in graph.taken if index not in bound]
        self.results = graph.results
        draws = exe is not None and any(spec.name == GENERATOR for spec in exe.program.signature.inputs)
        self.seed = exe.seed if exe is not None and draws else None
        self.is_plain = exe is not None and self.results == [(_MADE, index) for index in range(len(self.results))]

    def __call__(self, *operands: Any) -> list[Any]:
        given = unboxed(operands)
        if self.weights is not None:
            self.weights.bind(given)
        if self.seed is not None:
            self.seed(int(torch.empty((), dtype=torch.int64).random_()))
        made = self.exe.flat([given[index] for index in self.taken]) if self.exe is not None else []
        if self.is_plain:
            return made
        place = {_PASSED: given, _MADE: made}
        return [value if where == _GIVEN else place[where][value] for where, value in self.results]


class _Graph:
    """A copy of the graph that takes what its program reads and gives what it makes."""

    def __init__(self, module: GraphModule):
        self.module = without_higher_order(module)
        self.graph, values = copied(self.module)
        self.operands = [node for node in self.graph.nodes if node.op == "placeholder"]
        self.bound: dict[Node, torch.Tensor] = {}
        self._bind_constants()
        self.made: list[Node] = []
        self.results = [self._result(value) for value in (values if isinstance(values, (tuple, list)) else [values])]
        self.graph.output(tuple(self.made))
        self.graph.eliminate_dead_code()
        self.taken = [index for index, node in enumerate(self.operands) if node.users]
        for node in self.operands:
            if not node.users:
                self.graph.erase_node(node)
        self.arguments = [node for node in self.graph.nodes if node.op == "placeholder"]
        for node in self.graph.nodes:
            if is_open(node):
                why = "a number, or a size, that the program computes from its data"
                raise UnsupportedOpError(why, op=str(node.target), loc=line_of(node) or None, stage="input", remedy=_WITHOUT)

    def _bind_constants(self) -> None:
        """Tensors that the graph holds: small ones are constants of the program, others arguments that are bound."""
        for node in [node for node in self.graph.nodes if node.op == "get_attr"]:
            value = getattr(self.module, str(node.target))
            if not isinstance(value, torch.Tensor):
                op = next((str(user.target) for user in node.users), str(node.target))
                raise UnsupportedOpError("an op that calls functions", op=op, loc=line_of(node) or None, stage="input", remedy=_WITHOUT)
            if value.numel() <= SMALL:
                node.replace_all_uses_with(value)
            else:
                with self.graph.inserting_before(node):
                    argument = self.graph.placeholder(str(node.target))
                argument.meta = {"val": value}
                node.replace_all_uses_with(argument)
                self.bound[argument] = value
            self.graph.erase_node(node)

    def _result(self, value: Any) -> tuple[str, Any]:
        if not isinstance(value, Node):
            return _GIVEN, value
        if value in self.operands:
            return _PASSED, self.operands.index(value)
        if value not in self.made:
            self.made.append(value)
        return _MADE, self.made.index(value)

    def imported(self) -> Imported:
        program = GraphModule(self.module, self.graph)
        bound: dict[int, np.ndarray] = {n: as_array(self.bound[node]) for n, node in enumerate(self.arguments) if node in self.bound}
        return Imported(
            stablehlo_of(program, make_context()),
            "torch",
            pytree.flat(len(self.arguments) - len(bound)),
            pytree.flat(len(self.made)),
            bound=bound,
            names=[node.name for node in self.arguments],
            orders=_orders(self.arguments),
            result_orders=_orders(self.made),
        )


def is_open(node: Node) -> bool:
    """Whether the node gives a number, or a tensor of a size that is one of the program's."""
    return any(isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)) for each in _values(node) for size in each)


def _values(node: Node) -> Iterator[tuple[Any, ...]]:
    for value in torch_pytree.tree_leaves(node.meta.get("val")):
        yield (*value.shape, *value.stride()) if isinstance(value, torch.Tensor) else (value,)


def _orders(nodes: Sequence[Node]) -> dict[int, tuple[int, ...]]:
    """How the tensors lie that are dense and not row-major."""
    return {index: order for index, node in enumerate(nodes) if (order := order_of_value(node.meta["val"]))}
