"""An exported graph as StableHLO: torch-mlir's importer and pipelines, with the lowerings of torch_registry.py before torch-mlir's.

An op that has a lowering never becomes a torch op. What the lowering builds stands between casts, which torch-mlir's pipelines keep and
fold away in the end:

    %1 = torch_c.to_builtin_tensor %0 : !torch.vtensor<[4],f32> -> tensor<4xf32>
    %2 = stablehlo.… %1 : tensor<4xf32>
    %3 = torch_c.from_builtin_tensor %2 : tensor<4xf32> -> !torch.vtensor<[4],f32>
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Node
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import ContextCache, FxImporter, FxImporterHooks, GraphNodeImporter
from torch_mlir.passmanager import PassManager

from hloom.passes.common.rewriting import defining_op, value_of, walk
from hloom.passes.errors import CompileError, PassFailure, UnsupportedOpError
from hloom.passes.stablehlo.support import build, constants
from hloom.runtime.interrupts import uninterrupted

from ..extraction import extracted, outer_values
from .mlir_text import diagnostics
from .torch_arrays import as_array
from .torch_control_flow import ControlFlow, is_control_flow
from .torch_nodes import NOT_THE_USERS, of_error
from .torch_registry import FLOATS_OF_8_BITS, TorchOp, element_type, lowering_of
from .torch_scalars import give_scalars_a_dimension

SMALL = 1024
"""Constants of up to so many elements are dense attributes, which fold."""

_DYNAMO_ROOT = re.compile(r"[LG]\['(\w+)'\]\.?")
_LOADS_TORCH_CASTS = "builtin.module(torch-func-backend-type-conversion)"
_FRAME = re.compile(r'File "(.*)", line (\d+),')
_PIPELINE = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline,"
    "torch-backend-to-stablehlo-backend-pipeline{allow-non-finites=true})"
)


def stablehlo_of(program: torch.fx.GraphModule, context: ir.Context) -> ir.Module:
    """The program's graph as a module of StableHLO. Raises UnsupportedOpError for what has no StableHLO form."""
    give_scalars_a_dimension(program.graph)
    return _lower(_import(program, context))


def _import(program: torch.fx.GraphModule, context: ir.Context) -> ir.Module:
    torch_dialect.register_dialect(context)
    with context:
        PassManager.parse(_LOADS_TORCH_CASTS).run(ir.Module.parse("module {}").operation)
    importer = FxImporter(context=context, hooks=_SmallLiterals())
    importer._graph_node_importer_cls = _NodeImporter
    importer._cc = _Cache(context, py_attr_tracker=importer._py_attr_tracker)
    try:
        importer._import_all_child_modules(program, "main", False)
        importer.import_stateless_graph(program.graph, func_name="main")
    except (NotImplementedError, ValueError, TypeError, KeyError, RuntimeError, ir.MLIRError) as error:
        makers = (n for n in program.graph.nodes if error.args and getattr(n.meta.get("val"), "dtype", None) == error.args[0])
        maker = next(makers, None)
        node = maker or next(of_error(error, Node), None)
        name = "the program" if node is None else f"the result of {node.target}" if maker is not None else str(node.target)
        op, place = (None, None) if node is None else (str(node.target), line_of(node) or None)
        message, remedy = f"torch-mlir does not import {name}: {error}", "write the module with other torch ops"
        raise UnsupportedOpError(message, op=op, loc=place, stage="input", remedy=remedy) from error
    return importer.module


def _lower(module: ir.Module) -> ir.Module:
    context = module.context
    context.emit_error_diagnostics = True  # some of the passes emit an error and then succeed
    try:
        with context, diagnostics(context) as messages, uninterrupted():
            try:
                PassManager.parse(_PIPELINE).run(module.operation)
            except ir.MLIRError as error:
                raise _not_lowered(module, messages[0] if messages else str(error)) from None
    finally:
        context.emit_error_diagnostics = False
    return module


def _not_lowered(module: ir.Module, why: str) -> UnsupportedOpError:
    """The error for what the pipeline left. It leaves all ops where it fails on one, and complains of the first: often a constant."""
    remedy = "write the module with other torch ops"
    left = walk(module.operation, lambda op: op.name.startswith("torch.") and any(map(_is_tensor, op.results)))
    culprit = next((op for op in left if not _is_lowered_alone(op)), next(iter(left), None))
    if culprit is None:
        return UnsupportedOpError(f"torch-mlir does not lower the program to StableHLO: {why}", stage="input", remedy=remedy)
    location = culprit.location
    name = location.name_str.rpartition("/")[2] if isinstance(location, ir.NameLoc) else culprit.name
    place = _told_place(location)
    message = f"torch-mlir does not lower {name} to StableHLO: {str(culprit)[:300]}"
    return UnsupportedOpError(message, op=name, loc=place, stage="input", remedy=remedy)


def _told_place(location: ir.Location) -> str:
    """A node's place, with the source of the line where there is one: "file:line: source"."""
    inner = location.child_loc if isinstance(location, ir.NameLoc) else location
    if not isinstance(inner, ir.FileLineColLoc):
        return str(location)
    source = linecache.getline(inner.filename, inner.start_line).strip()
    return f"{inner.filename}:{inner.start_line}: {source}" if source else str(location)


def _is_lowered_alone(op: ir.Operation) -> bool:
    """Whether torch-mlir lowers the op, in a program of its own with the numbers and lists that it reads."""
    ops = [op]
    for each in ops:  # grows
        ops += [owner for v in each.operands if not _is_tensor(v) and (owner := defining_op(v)) is not None and owner not in ops]
    ops.reverse()
    with op.location:
        alone = extracted(ops, outer_values(ops), list(op.results))
        try:
            PassManager.parse(_PIPELINE).run(alone.operation)
        except ir.MLIRError:
            return False
    return True


def _is_tensor(value: ir.Value) -> bool:
    return str(value.type).startswith("!torch.vtensor")


class _Cache(ContextCache):
    """torch-mlir's cache, which also knows the nodes' locations: `layers.0.q_proj/aten.linear.default`, the module and the op of the user's
    program."""

    def get_node_location(self, node: Node) -> ir.Location:
        line = _place_of(node)
        place = ir.Location.file(*line[:2], 0, context=self._c) if line else ir.Location.unknown(context=self._c)
        if node.op != "call_function":
            return place
        scope = _module_path(node)
        op = str(node.meta.get("original_aten") or node.target)
        return ir.Location.name(f"{scope}/{op}" if scope else op, childLoc=place, context=self._c)


def _module_path(node: Node) -> str:
    """The path of the innermost module that the node is of, as `named_modules` tells it; of a gradient, the module's that it is for."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    path = str(next(reversed(stack.values()), ("",))[0])
    return _DYNAMO_ROOT.sub(lambda root: "" if root[1] == "self" else root[0][3:].replace("']", ""), path, count=1)


class _NodeImporter(GraphNodeImporter):
    """torch-mlir's importer of nodes, which asks for a lowering first."""

    _has_f64 = False
    """Whether the node that is imported takes a tensor of f64."""

    def _import_torch_op_overload(self, loc: ir.Location, node: Node, concrete_target: Any = None) -> None:
        if node.target is torch.ops.aten._assert_tensor_metadata.default:
            return  # export's check of a type that it knows; torch-mlir drops those of real numbers alone
        of_sizes = isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool))
        lowering = None if of_sizes else lowering_of(concrete_target or node.target, _has_complex(node))
        if lowering is not None and self._lower_node(loc, node, lowering):
            return
        self._has_f64 = any(each.meta["val"].dtype == torch.float64 for each in node.all_input_nodes if _is_torch_tensor(each))
        try:
            super()._import_torch_op_overload(loc, node, concrete_target)
        except (NotImplementedError, ValueError, TypeError, KeyError) as error:
            name = str(node.target)
            why = f"torch-mlir does not import {name}: {error}"
            raise UnsupportedOpError(
                why, op=name, loc=_told_place(loc), stage="input", remedy="write the module with other torch ops"
            ) from error

    def _import_scalar_as_tensor(self, loc: ir.Location, arg: Any) -> ir.Value:
        """torch-mlir has a float where a tensor is asked for (`1.1 - x`) in f32, which rounds what goes with f64."""
        if not (self._has_f64 and isinstance(arg, float)):
            return super()._import_scalar_as_tensor(loc, arg)
        with loc:
            number = build.full(build.tensor([], ir.F64Type.get()), arg)
            return value_of("torch_c.from_builtin_tensor", self._cc.get_vtensor_type(torch.Size([]), torch.float64), [number])

    def _import_hop(self, loc: ir.Location, node: Node, hop: Any) -> None:
        if not is_control_flow(hop):
            super()._import_hop(loc, node, hop)
            return
        with loc:
            flow = ControlFlow(self, loc, node, _type_of)
            made = getattr(flow, hop.name())(*node.args, **node.kwargs)
        self._multi_result_nodes.add(node)
        for index, (result, value) in enumerate(zip(made, node.meta["val"])):
            with loc:
                self.bind_node_value(node, flow.torch_value(result, value), index)

    def _lower_node(self, loc: ir.Location, node: Node, lowering: Callable[..., Any]) -> bool:
        """Builds what the lowering gives for the node; False where it leaves the op to torch-mlir."""
        values = node.meta["val"]
        several = isinstance(values, (tuple, list))
        with loc:
            op = _described(node, list(values) if several else [values])
            args, keywords = self._arguments(op, loc, node)
            try:
                made = lowering(op, *args, **keywords)
            except CompileError:
                raise
            except Exception as error:
                why = f"the lowering of {op.name} failed: {type(error).__name__}: {error}"
                raise PassFailure(why, op=op.name, loc=op.where, stage="input") from error
            if made is NotImplemented:
                return False
            results = list(made) if isinstance(made, (tuple, list)) else [made]
            _check_results(op, results)
            if several:
                self._multi_result_nodes.add(node)
            for index, (result, value) in enumerate(zip(results, values if several else [values])):
                if result is not None:
                    kind = self._cc.tensor_to_vtensor_type(value)
                    self.bind_node_value(node, _torch_value(kind, result), index)
        return True

    def _arguments(self, op: TorchOp, loc: ir.Location, node: Node) -> tuple[list[Any], dict[str, Any]]:
        """The arguments by the op's schema, defaults filled in: positional ones in order, keyword-only ones by name."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for index, parameter in enumerate(node.target._schema.arguments):  # type: ignore[union-attr]
            given = node.args[index] if index < len(node.args) else node.kwargs.get(parameter.name, parameter.default_value)
            value = self._argument(op, loc, given)
            if parameter.kwarg_only:
                keywords[parameter.name] = value
            else:
                positional.append(value)
        return positional, keywords

    def _argument(self, op: TorchOp, loc: ir.Location, given: Any) -> Any:
        if isinstance(given, (tuple, list)):
            return [self._argument(op, loc, each) for each in given]
        tensor = given.meta.get("val") if isinstance(given, Node) else given
        if isinstance(tensor, torch.Tensor):
            value = self._import_argument(loc, given)
            return value_of("torch_c.to_builtin_tensor", _type_of(tensor), [value])
        if isinstance(given, Node):
            raise op.refused(f"the argument {given.name} is a number that the program computes", "make it a constant")
        return given


def _has_complex(node: Node) -> bool:
    """Whether the node takes or gives complex tensors."""
    return any(each.meta["val"].is_complex() for each in (node, *node.all_input_nodes) if _is_torch_tensor(each))


def _is_torch_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _described(node: Node, values: Sequence[torch.Tensor | None]) -> TorchOp:
    """What torch does not give (a gradient that is not asked for) is a result that is not used, of some type."""
    results = tuple(_type_of(value) if value is not None else build.tensor([], element_type(torch.bool)) for value in values)
    several = isinstance(node.meta["val"], (tuple, list))
    used = {user.args[1] for user in node.users} if several else {0}
    return TorchOp(str(node.target), results, tuple(n in used and value is not None for n, value in enumerate(values)), line_of(node))


def _type_of(value: torch.Tensor) -> ir.RankedTensorType:
    return build.tensor(list(value.shape), element_type(value.dtype))


def line_of(node: Node) -> str:
    """The line of the user's program that the node comes from, as "file:line: source"; empty where torch does not tell."""
    place = _place_of(node)
    return ":".join(map(str, place[:2])) + f": {place[2]}" if place else ""


def _place_of(node: Node) -> tuple[str, int, str] | None:
    """The file, number and text of the innermost line that is not torch's own, where there is one."""
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines() if line.strip()]
    frames = [(*found.groups(), source) for line, source in zip(lines, [*lines[1:], ""]) if (found := _FRAME.match(line))]
    users = [frame for frame in frames if not frame[0].startswith(NOT_THE_USERS)]
    file, number, source = (users or frames or [(None, 0, "")])[-1]
    return None if file is None else (file, int(number), source)


def _check_results(op: TorchOp, results: Sequence[ir.Value | None]) -> None:
    if len(results) != len(op.results):
        raise PassFailure(f"the lowering of {op.name} gives {len(results)} results, not {len(op.results)}", op=op.name, stage="input")
    for result, kind, used in zip(results, op.results, op.used):
        if result is None and not used:
            continue
        found = result.type if isinstance(result, ir.Value) else type(result).__name__
        if found != kind:
            raise PassFailure(f"the lowering of {op.name} gives {found}, where torch has {kind}", op=op.name, stage="input")


class _SmallLiterals(FxImporterHooks):
    """Small constants as dense attributes: the importer's own are resource blobs, which nothing folds."""

    def resolve_literal(self, gni: Any, literal: Any, info: Any) -> ir.Value | None:
        if not isinstance(literal, torch.Tensor) or literal.numel() > SMALL or literal.dtype in FLOATS_OF_8_BITS:
            return None
        return _torch_value(gni._cc.tensor_to_vtensor_type(literal), _constant(literal))


def _torch_value(kind: ir.Type, value: ir.Value) -> ir.Value:
    """A value of StableHLO for torch-mlir. Constants stand behind a barrier: torch-mlir folds them to literals of its own, of which it
    lowers not every type, and which some of its folds read wrongly or do not survive."""
    owner = defining_op(value)
    if owner is not None and owner.name == "stablehlo.constant":
        value = value_of("stablehlo.optimization_barrier", value.type, [value])
    return value_of("torch_c.from_builtin_tensor", kind, [value])


def _constant(literal: torch.Tensor) -> ir.Value:
    kind = _type_of(literal)
    if literal.is_complex():
        return value_of("stablehlo.complex", kind, [_constant(part) for part in torch.view_as_real(literal.resolve_conj()).unbind(-1)])
    return constants.write(as_array(literal), kind)
