"""torch's ops of higher order that choose and repeat, as StableHLO's: torch.cond, while_loop, scan and map.

Before:
    while_loop(condition, body, (i, x), (n,))
After:
    %3:2 = stablehlo.while(%a = %i, %b = %x)
      cond { %4 = func.call @condition(%a, %b, %n)  stablehlo.return %4 }
      do   { %5:2 = func.call @body(%a, %b, %n)     stablehlo.return %5#0, %5#1 }

The graphs that they are given are functions of the module, which torch-mlir's importer makes of them, and which are inlined later. A scan
counts: each step reads its slice of what is scanned, and writes its slice of what is stacked. Declined: graphs that take or give numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch_mlir import ir

from hloom.passes.common.rewriting import create, value_of
from hloom.passes.errors import UnsupportedOpError
from hloom.passes.stablehlo.support import build

Values = list[ir.Value]
_OPS = ("cond", "while_loop", "scan", "map_impl")


class ControlFlow:
    """Builds the op for one node. Values are StableHLO's tensors."""

    def __init__(self, importer: Any, loc: ir.Location, node: Node, type_of: Callable[[torch.Tensor], ir.RankedTensorType]):
        self.importer, self.loc, self.node, self.type_of = importer, loc, node, type_of

    def cond(self, chosen: Node, yes: Node, no: Node, operands: Sequence[Any]) -> Values:
        given = self.tensors(operands)
        kinds = [self.type_of(value) for value in self.node.meta["val"]]
        choice = create("stablehlo.if", kinds, [build.reshape(self.tensor(chosen), [])], regions=2)
        for region, branch in zip(choice.regions, (yes, no)):
            with ir.InsertionPoint(region.blocks.append()):
                create("stablehlo.return", [], self.called(branch, given))
        return list(choice.results)

    def while_loop(self, condition: Node, body: Node, carried: Sequence[Any], more: Sequence[Any]) -> Values:
        begin, known = self.tensors(carried), self.tensors(more)
        return build.while_loop(
            begin, lambda *values: self.called(condition, [*values, *known])[0], lambda *values: self.called(body, [*values, *known])
        )

    def scan(self, body: Node, begin: Sequence[Any], scanned: Sequence[Any], more: Sequence[Any] = ()) -> Values:
        """What is carried at the end, and what each step gives, stacked."""
        carried, rows, known = self.tensors(begin), self.tensors(scanned), self.tensors(more)
        return self.counted(carried, rows, lambda values, slices: self.called(body, [*values, *slices, *known]))

    def map_impl(self, body: Node, mapped: Sequence[Any], more: Sequence[Any]) -> Values:
        rows, known = self.tensors(mapped), self.tensors(more)
        return self.counted([], rows, lambda _, slices: self.called(body, [*slices, *known]))

    # Loops.

    def counted(self, begin: Values, rows: Values, step: Callable[[Values, Values], Values]) -> Values:
        """A step for each row: gives what is carried and its rows of the results, which `self.node` tells."""
        index, count = ir.IntegerType.get_signless(32), len(begin)
        stacked = [self.type_of(value) for value in self.node.meta["val"][count:]]
        empty = [build.zero(list(kind.shape), kind.element_type) for kind in stacked]
        origin = build.zero([], index)

        def at(number: ir.Value, value: ir.Value) -> Values:
            return [number, *[origin] * (len(build.shape_of(value)) - 1)]

        def body(number: ir.Value, *values: ir.Value) -> Values:
            carried, made = list(values[:count]), values[count:]
            results = step(carried, [_row(value, at(number, value)) for value in rows])
            kept = [_with_row(whole, row, at(number, whole)) for whole, row in zip(made, results[count:])]
            return [*results[:count], *kept]

        return build.count_loop(build.shape_of(rows[0])[0], [*begin, *empty], body, index)

    # Graphs and their operands.

    def called(self, graph: Node, operands: Values) -> Values:
        """The results of a graph, by a call of its function."""
        module = getattr(self.node.graph.owning_module, str(graph.target))
        assert isinstance(module, GraphModule)
        output = next(node for node in module.graph.nodes if node.op == "output").args[0]
        results = list(output) if isinstance(output, (tuple, list)) else [output]
        inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
        cache, name = self.importer._cc, self.importer.fx_importer._graph_module_to_func_name[id(module)]
        given = [self.torch_value(value, self.known(node)) for node, value in zip(inputs, operands, strict=True)]
        kinds = [cache.tensor_to_vtensor_type(self.known(each)) for each in results]
        call = create("func.call", kinds, given, callee=ir.FlatSymbolRefAttr.get(name))
        return [self.builtin_value(value, self.known(each)) for value, each in zip(call.results, results)]

    def torch_value(self, value: ir.Value, tensor: torch.Tensor) -> ir.Value:
        return value_of("torch_c.from_builtin_tensor", self.importer._cc.tensor_to_vtensor_type(tensor), [value])

    def builtin_value(self, value: ir.Value, tensor: torch.Tensor) -> ir.Value:
        return value_of("torch_c.to_builtin_tensor", self.type_of(tensor), [value])

    def tensors(self, operands: Sequence[Any]) -> Values:
        return [self.tensor(operand) for operand in operands]

    def tensor(self, operand: Any) -> ir.Value:
        return self.builtin_value(self.importer._import_argument(self.loc, operand), self.known(operand))

    def known(self, operand: Any) -> torch.Tensor:
        """The tensor that stands for a node, or a constant."""
        value = operand.meta.get("val") if isinstance(operand, Node) else operand
        if not isinstance(value, torch.Tensor):
            op = str(self.node.target)
            why, remedy = f"{op}: it takes or gives {operand}, which is not a tensor", "make it one: torch.tensor(…)"
            raise UnsupportedOpError(why, op=op, loc=str(self.loc), stage="input", remedy=remedy)
        return value


def is_control_flow(op: Any) -> bool:
    """Whether the op is one of those that ControlFlow builds, by its name."""
    return isinstance(op, torch._ops.HigherOrderOperator) and op.name() in _OPS


def know_numbers(module: GraphModule) -> None:
    """Numbers that the ops hand on to their graphs, as sizes that have become known, are constants there. It changes the module."""
    for node in [node for node in module.graph.nodes if is_control_flow(node.target)]:
        *_, more = node.args
        graphs = [getattr(module, str(each.target)) for each in node.all_input_nodes if each.op == "get_attr"]
        for graph in [each for each in graphs if isinstance(each, GraphModule)]:
            inputs = graph.graph.find_nodes(op="placeholder")
            for given, number in zip(inputs[len(inputs) - len(more) :], more):
                if _is_number(number):
                    given.replace_all_uses_with(number)
                    graph.graph.erase_node(given)
            know_numbers(graph)
            graph.recompile()
        node.args = (*node.args[:-1], tuple(each for each in more if not _is_number(each)))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _row(value: ir.Value, at: Values) -> ir.Value:
    _, *shape = build.shape_of(value)
    return build.reshape(build.dynamic_slice(value, at, [1, *shape]), shape)


def _with_row(whole: ir.Value, row: ir.Value, at: Values) -> ir.Value:
    return build.dynamic_update_slice(whole, build.reshape(row, [1, *build.shape_of(row)]), at)
