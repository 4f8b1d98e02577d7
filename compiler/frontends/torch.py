"""torch.nn.Module and ExportedProgram, through torch-mlir's fx importer.

The importer's usual way freezes parameters into constants, which takes minutes for a gigabyte of them. Here every placeholder of the
exported graph stays an argument: parameters, buffers and large constants come first and are bound to arrays that share the module's memory,
the user's inputs follow. Constants of up to `SMALL` elements become dense constants, which fold.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as torch_pytree
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch_mlir import ir

from hloom.passes.errors import CompileError, InvalidProgramError, UnsupportedOpError

from ..open_program import OpenProgram
from ..source_program import Imported
from . import torch_lowerings  # noqa: F401  registers hloom's own
from .torch_arrays import as_array
from .torch_decompose import decomposed
from .torch_export import exported_module, is_plain, one_at_a_time
from .torch_higher_order import without_higher_order
from .torch_import import SMALL, line_of, stablehlo_of
from .torch_items import without_items
from .torch_layouts import order_of_value, result_orders
from .torch_nodes import copied_graph, module_of
from .torch_open import OpenExport, has_open_shapes
from .torch_registry import own_decompositions_first
from .torch_selections import without_selections
from .torch_trees import input_trees, structure_of
from .torch_zero_points import make_zeros, zero_points


@one_at_a_time()
def import_torch(
    source: Any, examples: tuple[Any, ...], keywords: dict[str, Any], context: ir.Context, dynamic_shapes: Any = None
) -> Imported | OpenProgram:
    """`source` is a module, a function over tensors or an ExportedProgram; the examples are the arguments of a call of it.

    Raises InvalidProgramError where torch cannot export the module, UnsupportedOpError where an op has no StableHLO form.
    """
    if isinstance(source, torch.export.ExportedProgram):
        exported = source
    else:
        exported = exported_module(source, examples, keywords, dynamic_shapes)
    if has_open_shapes(exported):
        return OpenExport.of(exported, import_exported, dynamic_shapes)
    return import_exported(exported, context)


def import_exported(exported: torch.export.ExportedProgram, context: ir.Context) -> Imported:
    """A program whose shapes are all known."""
    _refuse_sparse(exported.graph)
    laid_out = result_orders(exported, _results(exported))
    try:
        with own_decompositions_first(), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of torch's own use of its pytrees
            exported = decomposed(without_items(_without_zero_points(_plain(exported))))
            without_selections(exported.graph_module)
    except CompileError:
        raise
    except Exception as error:
        raise InvalidProgramError(f"torch could not decompose the program: {type(error).__name__}: {error}") from error
    changed = _changed(exported)
    bound, names = _bind_state(exported, changed)
    in_tree, kwarg_tree = input_trees(exported)
    out_tree, count = _output_tree(exported, len(changed))
    updates = {names.index(name): count + number for number, name in enumerate(changed)}
    orders = _orders(exported, names, changed)
    module = stablehlo_of(exported.graph_module, context)
    return Imported(module, "torch", in_tree, out_tree, kwarg_tree, bound, names, updates, orders, laid_out if orders else {})


def _refuse_sparse(graph: torch.fx.Graph) -> None:
    for node in graph.nodes:
        for value in torch_pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and value.layout != torch.strided:
                raise UnsupportedOpError(
                    "a sparse tensor", op=str(node.target), loc=line_of(node) or None, stage="input", remedy="make it dense (to_dense())"
                )


def _plain(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Without ops of higher order that are defined by others."""
    module = without_higher_order(exported.graph_module)
    if module is exported.graph_module:
        return exported
    made = copy.copy(exported)
    made._graph_module = module
    return made


def _without_zero_points(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Those of weights, where they are buffers that no call changes."""
    changed, specs = _changed(exported), exported.graph_signature.input_specs
    state = {spec.arg.name: spec.target for spec in specs if spec.kind is InputKind.BUFFER and spec.target not in changed}
    points = zero_points(exported.graph, lambda node: _state_of(exported, state[node.name]) if node.name in state else None)
    if not points:
        return exported
    made, graph = copy.copy(exported), copied_graph(exported.graph)
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    for point, value in points.items():
        make_zeros(graph, placeholders[point.name], value)
    made._graph_module = module_of(exported.graph_module, graph)
    return made


def _orders(exported: torch.export.ExportedProgram, names: Sequence[str], changed: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """How the user's inputs lie that are not row-major (channels_last), by their index among the arguments."""
    placeholders = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    found = {
        index: order_of_value(placeholders[name].meta.get("val"))
        for index, name in enumerate(names)
        if name in placeholders and name not in changed
    }
    return {index: order for index, order in found.items() if order}


def _results(exported: torch.export.ExportedProgram) -> list[torch.fx.Node]:
    """The tensors that the user's program returns."""
    output = next(node for node in exported.graph.nodes if node.op == "output")
    specs = exported.graph_signature.output_specs
    kept = (spec.kind is OutputKind.USER_OUTPUT and isinstance(spec.arg, TensorArgument) for spec in specs)
    return [value for value, is_result in zip(output.args[0], kept) if is_result]


_CHANGES = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


def _changed(exported: torch.export.ExportedProgram) -> list[str]:
    """What a call changes, by the names of buffers, parameters and inputs: the first results of the graph."""
    specs = exported.graph_signature.output_specs
    other = next((spec for spec in specs if spec.kind not in (*_CHANGES, OutputKind.USER_OUTPUT)), None)
    if other is not None:
        raise InvalidProgramError(f"the program has a result of kind {other.kind.name}", remedy="export the module for inference")
    return [str(spec.target) for spec in specs if spec.kind in _CHANGES]


def _bind_state(exported: torch.export.ExportedProgram, changed: Sequence[str]) -> tuple[dict[int, np.ndarray], list[str]]:
    """Arrays by argument index, and all arguments' names. Small constants, state that is not read and arguments that are no tensors go."""
    placeholders = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    bound: dict[int, np.ndarray] = {}
    names: list[str] = []
    for spec in exported.graph_signature.input_specs:
        node = placeholders[spec.arg.name]
        if isinstance(spec.arg, ConstantArgument):
            node.replace_all_uses_with(spec.arg.value)
            exported.graph.erase_node(node)
            continue
        if not isinstance(spec.arg, TensorArgument):
            raise InvalidProgramError(
                f"the argument {spec.arg.name} is not a tensor of known shape", remedy="export without dynamic shapes"
            )
        if spec.kind is InputKind.USER_INPUT:
            names.append(spec.arg.name)
            continue
        value = _state_of(exported, spec.target)
        if spec.target not in changed:
            if not node.users:
                exported.graph.erase_node(node)
                continue
            if value.numel() <= SMALL and (spec.kind is InputKind.CONSTANT_TENSOR or is_plain(value)):
                node.replace_all_uses_with(value)
                exported.graph.erase_node(node)
                continue
        bound[len(names)] = as_array(value)
        names.append(spec.target)
    return bound, names


def _state_of(exported: torch.export.ExportedProgram, name: str) -> torch.Tensor:
    value = exported.state_dict.get(name, exported.constants.get(name))
    if not isinstance(value, torch.Tensor):
        raise InvalidProgramError(f"the program has no tensor {name}", remedy="keep its state dictionary complete")
    return value


def _output_tree(exported: torch.export.ExportedProgram, changes: int) -> tuple[Any, int]:
    """The structure of the results, and how many are tensors. The graph keeps those, and behind them the changes, which were first."""
    arguments = [spec.arg for spec in exported.graph_signature.output_specs][changes:]
    structure = structure_of(arguments, exported.call_spec.out_spec)
    output = next(node for node in exported.graph.nodes if node.op == "output")
    values = [value for value, arg in zip(output.args[0][changes:], arguments) if isinstance(arg, TensorArgument)]
    output.args = ((*values, *output.args[0][:changes]),)
    return structure, len(values)
