"""Graphs of which hloom compiles parts: what it does not compile stays with PyTorch.

    fused_0 = …                       # what comes before, one program
    nonzero = aten.nonzero(fused_0)   # as PyTorch runs it
    fused_1 = …

The first try is the whole graph. Where it is refused, the op that the error names goes, with all of its name, and the rest is tried again
up to StableHLO, which takes a fraction of a compile. A part that fails later stays with PyTorch as a whole.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
import torch.utils._pytree as torch_pytree
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from hloom.passes.common.places import place
from hloom.passes.errors import CompileError

from .call import OPERANDS, Code, result_of, unboxed
from .graph import compiled_graph, copied, lowered_graph, stays, without_copies
from .shared_results import views_of_operands, within


def compiled_where_possible(
    module: GraphModule, static: Collection[int] = (), returned: int = 0, are_users: bool = False, **options: Any
) -> Code:
    """The graph, compiled as far as hloom can, with a warning that names what stays with PyTorch. `options` are hloom.compile's."""
    try:
        return compiled_graph(module, static, returned=returned, are_users=are_users, **options)
    except CompileError as error:
        parts = _Parts(module, error, returned)
    if told := parts.compiled(options):
        warnings.warn(told, stacklevel=2)
    return parts


class _Parts(Code):
    def __init__(self, module: GraphModule, error: CompileError, returned: int):
        super().__init__()
        self.source = module
        self.returned = returned
        self.why = str(error)
        self.eager = _Eager()
        self.count = len(_names(module))
        self.module = self._parted()

    def _parted(self) -> GraphModule:
        """The graph with the parts that have a form in StableHLO as children of their own."""
        while True:
            graph, values = copied(self.source)
            values, changed = without_copies(graph, values)
            operands, views = _operands(graph), views_of_operands(values[: self.returned], changed)
            self.changed = [index for index, node in enumerate(operands) if node in changed]
            self.views = {place: within(value, views[value], operands) for place, value in enumerate(values) if value in views}
            graph.output((*values, *(changed[operands[index]] for index in self.changed)))
            partitioner = CapabilityBasedPartitioner(GraphModule(self.source, graph), self.eager, allows_single_node_partition=True)
            parted = partitioner.fuse_partitions(partitioner.propose_partitions())
            if all(self._lowers(part) for part in _parts_of(parted).values()):
                return parted

    def _lowers(self, part: GraphModule) -> bool:
        try:
            lowered_graph(part)
        except CompileError as error:
            if not self.eager.learns(error, part):
                self.eager.ops.update(str(node.target) for node in _calls(part))
            return False
        return True

    def compiled(self, options: Mapping[str, Any]) -> str:
        """Compiles the parts; says what is left, if anything is."""
        left = _names(self.module)
        for name, part in _parts_of(self.module).items():
            try:
                setattr(self.module, name, _Part(compiled_graph(part, **options), part))
            except CompileError:
                left += _names(part)
        if not left:
            return ""
        names = ", ".join(sorted(set(left)))
        return f"hloom leaves {len(left)} of {self.count} ops of a graph to PyTorch: {names}. The first reason: {self.why}"

    def __call__(self, *operands: Any) -> Any:
        given = unboxed(operands)
        results = self.module(*given)
        seen = len(results) - len(self.changed)
        with torch.no_grad():
            for index, value in zip(self.changed, results[seen:]):
                given[index].copy_(value)
        return [result_of(OPERANDS, self.views[n], given, ()) if n in self.views else each for n, each in enumerate(results[:seen])]


class _Part(torch.nn.Module):
    """A part that is compiled, with its results as fx gives those of a child: a lone one without a tuple."""

    def __init__(self, call: Callable[..., Any], part: GraphModule):
        super().__init__()
        self.call = call
        (output,) = (node for node in part.graph.nodes if node.op == "output")
        self.is_lone = isinstance(output.args[0], Node)

    def forward(self, *operands: Any) -> Any:
        made = self.call(*operands)
        return made[0] if self.is_lone else tuple(made)


class _Eager(OperatorSupportBase):
    """Which ops stay with PyTorch, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.ops: set[str] = set()

    def learns(self, error: CompileError, part: GraphModule) -> bool:
        """Whether the error names ops of the part; they stay from here on."""
        named = {
            str(node.target) for node in _calls(part) if _names_it(error, node.target) or _names_it(error, node.meta.get("original_aten"))
        }
        self.ops |= named
        return bool(named)

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        if node.op != "call_function":
            return False
        if node.target is operator.getitem:
            return self.is_node_supported(submodules, node.args[0]) if isinstance(node.args[0], Node) else False
        if any(stays(each) for each in (node, *node.all_input_nodes)):
            return False
        return isinstance(node.target, torch._ops.OpOverload) and str(node.target) not in self.ops


def _names_it(error: CompileError, op: Any) -> bool:
    """Whether the error is of the torch op, or of what its lowering made: the op's name ends the scope."""
    return str(op) in (error.op, place(error.loc or "").scope.rpartition("/")[2])


def _operands(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "placeholder"]


def _parts_of(module: GraphModule) -> dict[str, GraphModule]:
    found = [str(node.target) for node in module.graph.nodes if node.op == "call_module"]
    return {name: getattr(module, name) for name in found}


def _calls(module: GraphModule) -> list[Node]:
    return [node for node in module.graph.nodes if node.op == "call_function" and node.target is not operator.getitem]


def _names(module: GraphModule) -> list[str]:
    """The ops that give tensors, by name."""
    given = ((node.target, torch_pytree.tree_leaves(node.meta.get("val"))) for node in _calls(module))
    return [str(target) for target, values in given if any(isinstance(value, torch.Tensor) for value in values)]
