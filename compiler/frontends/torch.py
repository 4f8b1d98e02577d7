"""torch.nn.Module and ExportedProgram, through torch-mlir's fx importer.

The importer's usual way freezes parameters into constants, which takes minutes for a gigabyte of them. Here every placeholder of the
exported graph stays an argument: parameters, buffers and large constants come first and are bound to arrays that share the module's memory,
the user's inputs follow. Constants of up to `SMALL` elements become dense constants, which fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch
import torch.utils._pytree as torch_pytree
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter, FxImporterHooks
from torch_mlir.passmanager import PassManager

from hloom.passes.errors import InvalidProgramError, UnsupportedOpError

from ..frontend import Imported
from .mlir_text import diagnostics
from .trees import described

SMALL = 1024
_PIPELINE = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline,"
    "torch-backend-to-stablehlo-backend-pipeline{allow-non-finites=true})"
)


def import_torch(source: Any, examples: tuple[Any, ...], context: ir.Context) -> Imported:
    """Raises InvalidProgramError where torch cannot export the module, UnsupportedOpError where an op has no StableHLO form."""
    exported = source if isinstance(source, torch.export.ExportedProgram) else _export(source, examples)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of torch's own use of its pytrees
            exported = exported.run_decompositions(get_decomposition_table())
    except Exception as error:
        raise InvalidProgramError(f"torch could not decompose the program: {type(error).__name__}: {error}") from error
    _refuse_mutation(exported)
    bound, names = _bind_state(exported)
    in_tree, kwarg_tree = _input_trees(exported)
    out_tree = _output_tree(exported)
    module = _lower(_import_graph(exported, context))
    return Imported(module, "torch", in_tree, out_tree, kwarg_tree, bound, names)


def _export(module: Any, examples: tuple[Any, ...]) -> torch.export.ExportedProgram:
    if not isinstance(module, torch.nn.Module):
        raise InvalidProgramError(f"a {type(module).__name__} is no torch module", remedy="give a torch.nn.Module or ExportedProgram")
    tensors = torch_pytree.tree_map(lambda x: torch.from_numpy(x) if isinstance(x, np.ndarray) else x, examples)
    try:
        with torch.no_grad():
            return torch.export.export(module, tensors, strict=False)
    except Exception as error:
        raise InvalidProgramError(
            f"torch.export failed: {type(error).__name__}: {error}",
            remedy="give example inputs for which torch.export.export(module, inputs) works",
        ) from error


def _refuse_mutation(exported: torch.export.ExportedProgram) -> None:
    changed = [spec for spec in exported.graph_signature.output_specs if spec.kind is not OutputKind.USER_OUTPUT]
    if changed:
        raise InvalidProgramError(
            f"the program changes {changed[0].target or changed[0].arg.name} in place",
            remedy="call module.eval() before, or return the new value",
        )


def _bind_state(exported: torch.export.ExportedProgram) -> tuple[dict[int, np.ndarray], list[str]]:
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
            raise InvalidProgramError(f"the argument {spec.arg.name} is no tensor of a known shape", remedy="export without dynamic shapes")
        if spec.kind is InputKind.USER_INPUT:
            names.append(spec.arg.name)
            continue
        if not node.users:
            exported.graph.erase_node(node)
            continue
        value = _state_of(exported, spec.target)
        if spec.kind is InputKind.CONSTANT_TENSOR and value.numel() <= SMALL:
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


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """A NumPy view of a tensor's memory; a copy only if it is not contiguous or not on the CPU."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _input_trees(exported: torch.export.ExportedProgram) -> Sequence[Any]:
    users = [spec.arg for spec in exported.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]
    return described(torch_pytree.tree_unflatten(_numbered(users, "argument"), exported.call_spec.in_spec), keyword=True)


def _output_tree(exported: torch.export.ExportedProgram) -> Any:
    """The structure of the results; those that are no tensors leave the graph."""
    arguments = [spec.arg for spec in exported.graph_signature.output_specs]
    structure = described(torch_pytree.tree_unflatten(_numbered(arguments, "result"), exported.call_spec.out_spec))
    output = next(node for node in exported.graph.nodes if node.op == "output")
    output.args = (tuple(value for value, arg in zip(output.args[0], arguments) if isinstance(arg, TensorArgument)),)
    return structure


def _numbered(arguments: Sequence[Any], what: str) -> list[int | None]:
    """Leaves: the tensors' numbers, and None for None."""
    leaves: list[int | None] = []
    count = 0
    for argument in arguments:
        if isinstance(argument, ConstantArgument) and argument.value is not None:
            raise InvalidProgramError(
                f"an {what} of the module is {argument.value!r}, not a tensor", remedy="close over it, or make it a tensor"
            )
        leaves.append(None if isinstance(argument, ConstantArgument) else count)
        count += leaves[-1] is not None
    return leaves


class _SmallLiterals(FxImporterHooks):
    """Small constants as dense attributes: the importer's own are resource blobs, which nothing folds."""

    def resolve_literal(self, gni: Any, literal: Any, info: Any) -> ir.Value | None:
        if not isinstance(literal, torch.Tensor) or not 0 < literal.numel() <= SMALL:
            return None
        element = {
            torch.float32: ir.F32Type, torch.float64: ir.F64Type, torch.float16: ir.F16Type, torch.bfloat16: ir.BF16Type,
        }.get(literal.dtype)  # fmt: skip
        if element is None and literal.dtype not in (torch.int32, torch.int64):
            return None
        data = as_array(literal)
        if element is None:
            attribute = ir.DenseElementsAttr.get(data, signless=False, type=ir.IntegerType.get_signed(data.itemsize * 8))
        elif literal.dtype == torch.bfloat16:
            attribute = ir.DenseElementsAttr.get(data.view(np.uint16), type=element.get(), shape=list(data.shape))
        else:
            attribute = ir.DenseElementsAttr.get(data, type=element.get())
        kind = gni._cc.tensor_to_vtensor_type(literal)
        return ir.Operation.create("torch.vtensor.literal", results=[kind], attributes={"value": attribute}).results[0]


def _import_graph(exported: torch.export.ExportedProgram, context: ir.Context) -> ir.Module:
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context, hooks=_SmallLiterals())
    try:
        importer._import_all_child_modules(exported.graph_module, "main", False)
        importer.import_stateless_graph(exported.graph, func_name="main")
    except (NotImplementedError, ValueError, TypeError, ir.MLIRError) as error:
        raise UnsupportedOpError(
            f"torch-mlir does not import the program: {error}", stage="input", remedy="write the module with other torch ops"
        ) from error
    return importer.module


def _lower(module: ir.Module) -> ir.Module:
    context = module.context
    context.emit_error_diagnostics = True  # some of the passes emit an error and then succeed
    try:
        with context, diagnostics(context) as messages:
            try:
                PassManager.parse(_PIPELINE).run(module.operation)
            except ir.MLIRError as error:
                why = messages[0] if messages else str(error)
                raise UnsupportedOpError(
                    f"torch-mlir does not lower the program to StableHLO: {why}",
                    stage="input",
                    remedy="write the module with other torch ops",
                ) from None
    finally:
        context.emit_error_diagnostics = False
    return module
