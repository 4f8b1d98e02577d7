"""A graph of AOTAutograd's as an executable that takes and gives what the graph does.

The graph is functional, but for copies into operands that it changes, which are last; its placeholders are tensors. Its results may be
None, numbers, or operands handed through: those are put back at each call, and the program gives the others. What operands change to are
results of the program's, written into the operands' memory (runtime/state.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as torch_pytree
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Graph, GraphModule, Node

from hloom.dialects.context import make_context
from hloom.passes.errors import CompileError, UnsupportedOpError
from hloom.runtime import pytree

from ..compile import Compilation
from ..frontend import load_program
from ..frontends.torch_arrays import as_array
from ..frontends.torch_control_flow import is_control_flow
from ..frontends.torch_higher_order import without_higher_order
from ..frontends.torch_import import SMALL, line_of, stablehlo_of
from ..frontends.torch_items import ITEMS
from ..frontends.torch_layouts import order_of_value
from ..frontends.torch_nodes import module_of
from ..frontends.torch_sized_results import FIRST_ROWS
from ..source_program import Imported
from .call import CUT, GIVEN, ITEM, MADE, OPERANDS, PASSED, VIEW, Call, Frame, executable, keep, kept_call
from .keys import About, are_off, graph_key
from .shared_results import shared_results, view_of, views_of_operands, within

_WITHOUT = "without fullgraph=True, it stays with PyTorch"


def compiled_graph(
    module: GraphModule,
    static: Collection[int] = (),
    about: About | None = None,
    returned: int = 0,
    are_users: bool = False,
    tune: bool | float = False,
    **options: Any,
) -> Call:
    """The graph compiled. `static`: operands to bind; `about` names the options in keys (keys.py), which are hloom.compile's;
    `returned`: so many of its results, the first, go to the user; `are_users`: all do, and none wants a gradient; `tune`: whether its
    policy is found by measurement, where it can be.

    Raises CompileErrors.
    """
    with unset_fake_temporarily():
        graph = _Graph(module, returned, are_users)
        if not graph.makes:
            return Call(Frame(graph.taken, graph.results), None)
        key = graph.key(static, about)
        if (kept := kept_call(key)) is not None:
            return kept
        program = load_program(graph.imported())
        constants = {index: value for index, value in program.bound.items() if index not in program.state}
        operands = {index: graph.arguments.index(graph.operands[index]) for index in graph.taken if index in static}
        operands = {index: place for index, place in operands.items() if graph.operands[index] not in graph.changed}
        bind: dict[int | str, Any] = dict.fromkeys(operands.values())
        if tune is not False:
            from ..tuning.session import measured_policy  # few graphs are tuned

            options["policy"] = measured_policy(program, "graph", tune, bind=bind, **options)
        compilation = Compilation.of_program(program, "graph", bind=bind, kept=key is None and not are_off(), **options)
        artifact, frame = compilation.artifact(), Frame(graph.taken, graph.results, operands, constants)
        keep(key, artifact, frame, compilation.simulated, about)
        return Call(frame, executable(artifact, compilation.simulated), key)


def key_of_graph(module: GraphModule, about: About | None) -> str | None:
    """The key that the graph's program will have."""
    if about is None:
        return None
    with unset_fake_temporarily():
        try:
            graph = _Graph(module)
        except CompileError:
            return None
        return graph.key((), about) if graph.makes else None


def lowered_graph(module: GraphModule) -> None:
    """Takes the graph to StableHLO and no further. Raises CompileErrors for what has no form there."""
    with unset_fake_temporarily():
        graph = _Graph(module)
        if graph.makes:
            load_program(graph.imported())


def copied(module: GraphModule) -> tuple[Graph, Any]:
    """A copy of the graph, for AOTAutograd looks at its own again, without the output, and the values that this gave."""
    graph, copies = Graph(), dict[Node, Node]()
    values = graph.graph_copy(module.graph, copies)
    for node, copy in copies.items():
        copy.meta = dict(node.meta)
    return graph, values


def without_copies(graph: Graph, values: Any) -> tuple[list[Any], dict[Node, Any]]:
    """Takes copies into operands out of a graph. Gives the graph's values, such copies as the operands that they are, and what each
    operand is changed to."""
    results = list(values) if isinstance(values, (tuple, list)) else [values]
    changed: dict[Node, Any] = {}
    for node in [node for node in graph.nodes if node.target is torch.ops.aten.copy_.default]:
        operand, value = node.args[:2]
        if operand.op == "placeholder":
            changed[operand] = value
            results = [operand if each is node else each for each in results]
            node.replace_all_uses_with(value)
            graph.erase_node(node)
    return results, changed


class _Graph:
    """A copy of the graph that takes what its program reads and gives what it makes."""

    def __init__(self, module: GraphModule, returned: int = 0, are_users: bool = False):
        self.module = without_higher_order(module, parted=True)
        self.graph, values = copied(self.module)
        self.operands = [node for node in self.graph.nodes if node.op == "placeholder"]
        self.bound: dict[Node, torch.Tensor] = {}
        self._bind_constants()
        values, changed = without_copies(self.graph, values)
        self.made: list[Node] = []
        self.shared = shared_results(values) if are_users else {}
        self.views = views_of_operands(values[:returned], changed)
        self.results = [self._result(value) for value in values]
        self.graph.output((*self.made, *changed.values()))
        self.graph.eliminate_dead_code()
        self.taken = [index for index, node in enumerate(self.operands) if node.users or node in changed]
        for index, node in enumerate(self.operands):
            if index not in self.taken:
                self.graph.erase_node(node)
        self.arguments = [node for node in self.graph.nodes if node.op == "placeholder"]
        self.changed = list(changed)
        """Operands, whose new values are the program's last results."""
        for node in self.graph.nodes:
            if why := stays(node):
                raise UnsupportedOpError(why, op=str(node.target), loc=line_of(node) or None, stage="input", remedy=_WITHOUT)

    @property
    def makes(self) -> bool:
        """Whether there is anything to compute."""
        return bool(self.made or self.changed)

    def _bind_constants(self) -> None:
        """Tensors that the graph holds: small ones are constants of the program, others arguments that are bound."""
        for node in [node for node in self.graph.nodes if node.op == "get_attr"]:
            value = getattr(self.module, str(node.target))
            if isinstance(value, GraphModule) and all(is_control_flow(user.target) for user in node.users):
                continue
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
            return GIVEN, value
        if value in self.operands:
            return PASSED, self.operands.index(value)
        if value in self.views:
            return OPERANDS, within(value, self.views[value], self.operands)
        if value in self.shared:
            return VIEW, (self._result(self.shared[value])[1], *view_of(value))
        if value.target is FIRST_ROWS:
            arguments: Any = value.args
            of, dims, counts, order = arguments
            return CUT, (self._result(of), dims, [self._result(count) for count in counts], order)
        if value.target in ITEMS:
            return ITEM, self._result(value.args[0])
        if value not in self.made:
            self.made.append(value)
        return MADE, self.made.index(value)

    def key(self, static: Collection[int], about: About | None) -> str | None:
        """The name of the program in the cache, None where it is not kept."""
        return graph_key(self.graph, self.bound, (self.taken, self.results, self.changed, sorted(static)), about)

    def imported(self) -> Imported:
        program = module_of(self.module, self.graph)
        bound: dict[int, np.ndarray] = {n: as_array(self.bound[node]) for n, node in enumerate(self.arguments) if node in self.bound}
        return Imported(
            stablehlo_of(program, make_context()),
            "torch",
            pytree.flat(len(self.arguments) - len(bound)),
            pytree.flat(len(self.made)),
            bound=bound,
            names=[node.name for node in self.arguments],
            updates={self.arguments.index(node): number for number, node in enumerate(self.changed, len(self.made))},
            orders=_orders(self.arguments),
            result_orders=_orders([*self.made, *self.changed]),
        )


def stays(node: Node) -> str:
    """Why what the node gives is none of a program's values; empty where it is one."""
    values = torch_pytree.tree_leaves(node.meta.get("val"))
    if any(isinstance(value, torch.Tensor) and value.layout != torch.strided for value in values):
        return "a sparse tensor"
    return "a number, or a size, that the program computes from its data" if is_open(node) else ""


def is_open(node: Node) -> bool:
    """Whether the node gives a number, or a tensor of a size that is one of the program's."""
    return any(isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)) for each in _values(node) for size in each)


def _values(node: Node) -> Iterator[tuple[Any, ...]]:
    for value in torch_pytree.tree_leaves(node.meta.get("val")):
        if not isinstance(value, torch.Tensor):
            yield (value,)
        else:
            yield (*value.shape, *value.stride()) if value.layout == torch.strided else tuple(value.shape)


def _orders(nodes: Sequence[Node]) -> dict[int, tuple[int, ...]]:
    """How the tensors lie that are not row-major."""
    return {index: order for index, node in enumerate(nodes) if (order := order_of_value(node.meta["val"]))}
