"""An ExportedProgram with open shapes (torch.export's Dim): it is exported again for every set of shapes.

    torch.export.export(exported.module(), tensors of these shapes)

torch-mlir's own way with unknown sizes leaves ops that no pass resolves; an export of known shapes has none of them. Parameters and
buffers are the same tensors in every export.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
import torch.utils._pytree as torch_pytree
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch_mlir import ir

from hloom.passes.errors import InvalidProgramError
from hloom.runtime.errors import ShapeError
from hloom.runtime.open_shapes import OpenSpec, Shape, Size
from hloom.runtime.tensors import torch_name

from ..open_program import OpenProgram
from ..source_program import Imported
from .torch_export import exported_module, one_at_a_time
from .torch_trees import input_trees, user_inputs

_STATE = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def has_open_shapes(exported: torch.export.ExportedProgram) -> bool:
    """Whether the size of an argument is a symbol."""
    return any(_expression(size) is not None for value in _placeholders(exported).values() for size in getattr(value, "shape", ()))


@dataclass
class OpenExport(OpenProgram):
    """The arguments are the module's state, which is bound, and the tensors of a call."""

    exported: Any = None
    finish: Callable[[torch.export.ExportedProgram, ir.Context], Imported] | None = None
    """Imports an export of known shapes."""

    @staticmethod
    def of(exported: torch.export.ExportedProgram, finish: Callable[..., Imported], dynamic_shapes: Any) -> OpenExport:
        """`dynamic_shapes` is what it was exported with here: its dimensions have names, and the example inputs are to be compiled for."""
        in_tree, kwarg_tree = input_trees(exported)
        values = {node.name: node.meta.get("val") for node in exported.graph.nodes}
        specs = exported.graph_signature.input_specs
        state = {str(spec.target): spec for spec in specs if spec.kind in _STATE}
        held = {**exported.constants, **exported.state_dict}
        given = [argument for argument in user_inputs(exported) if isinstance(argument, TensorArgument)]
        results = [spec.arg for spec in exported.graph_signature.output_specs if spec.kind is OutputKind.USER_OUTPUT]
        tensors = [argument for argument in results if isinstance(argument, TensorArgument)]
        names = {} if dynamic_shapes is None else _names_of(exported, dynamic_shapes)
        limits = {_text(symbol, names): _limits(known) for symbol, known in exported.range_constraints.items()}
        examples = None
        if dynamic_shapes is not None and exported.example_inputs is not None:
            leaves = torch_pytree.tree_leaves(exported.example_inputs)
            examples = [tuple(leaf.shape) for leaf in leaves if isinstance(leaf, torch.Tensor)]
        return OpenExport(
            "torch",
            tuple([*(_spec(name, held[name], names) for name in state), *(_spec(one.name, values[one.name], names) for one in given)]),
            tuple(_spec(f"result{index}", values[one.name], names) for index, one in enumerate(tensors)),
            in_tree,
            kwarg_tree,
            bound={index: held[name] for index, name in enumerate(state)},
            limits=limits,
            examples=examples,
            exported=exported,
            finish=finish,
        )

    @one_at_a_time()
    def specialised(self, shapes: Sequence[Shape], context: ir.Context) -> Imported:
        assert self.finish is not None
        free = list(shapes)[len(self.bound) :]
        values = _placeholders(self.exported)
        tensors = [values[argument.name] for argument in user_inputs(self.exported) if isinstance(argument, TensorArgument)]
        _check_sizes(list(zip(self.arguments[len(self.bound) :], tensors, free, strict=True)))
        given = iter([torch.zeros(shape, dtype=tensor.dtype) for tensor, shape in zip(tensors, free)])
        arguments = user_inputs(self.exported)
        leaves = [argument.value if isinstance(argument, ConstantArgument) else next(given) for argument in arguments]
        args, kwargs = torch_pytree.tree_unflatten(leaves, self.exported.call_spec.in_spec)
        try:
            return self.finish(exported_module(self.exported.module(), args, kwargs), context)
        except InvalidProgramError as error:
            if guard := re.search(r"Guard failed: (.*)", error.message):
                raise ShapeError(f"the exported program holds where {guard[1]}", remedy=_OTHER_SHAPES) from error
            raise


_OTHER_SHAPES = "give arrays of such shapes, or export it with example inputs of other sizes"


def _placeholders(exported: torch.export.ExportedProgram) -> dict[str, Any]:
    return {node.name: node.meta.get("val") for node in exported.graph.nodes if node.op == "placeholder"}


Names = dict[sympy.Symbol, str]
"""What the user calls torch's symbols."""


def _names_of(exported: torch.export.ExportedProgram, dynamic_shapes: Any) -> Names:
    """By the Dims in `dynamic_shapes`, a tuple or dictionary of arguments; of one that is no tensor torch's own names stay."""
    values = _placeholders(exported)
    given = [(argument.name, values[argument.name]) for argument in user_inputs(exported) if isinstance(argument, TensorArgument)]
    if not isinstance(dynamic_shapes, dict):
        dynamic_shapes = dict(zip((name for name, _ in given), dynamic_shapes))
    names: Names = {}
    for name, tensor in given:
        axes = dynamic_shapes.get(name)
        pairs = axes.items() if isinstance(axes, dict) else enumerate(axes) if isinstance(axes, (tuple, list)) else ()
        for axis, dim in pairs:
            symbol = _expression(tensor.shape[axis]) if axis in range(tensor.dim()) else None
            if isinstance(symbol, sympy.Symbol) and isinstance(dim, torch.export.Dim):
                names[symbol] = dim.__name__
    return names


def _spec(name: str, tensor: torch.Tensor, names: Names) -> OpenSpec:
    return OpenSpec(name, torch_name(tensor.dtype), tuple(_size(size, names) for size in tensor.shape))


def _size(size: int | torch.SymInt, names: Names) -> Size:
    expression = _expression(size)
    return int(size) if expression is None else _text(expression, names)


def _text(expression: sympy.Expr, names: Names) -> str:
    return str(expression.subs({symbol: sympy.Symbol(name) for symbol, name in names.items()}))


def _expression(size: int | torch.SymInt) -> sympy.Expr | None:
    return size.node.expr if isinstance(size, torch.SymInt) and not size.node.expr.is_number else None


def _limits(known: Any) -> tuple[int, int | None]:
    """A value range of torch's; no program has sizes above 2^47."""
    least, most = known.lower, known.upper
    return max(0, int(least)) if least.is_finite else 0, int(most) if most.is_finite and most < 1 << 47 else None


def _check_sizes(given: Sequence[tuple[OpenSpec, torch.Tensor, Shape]]) -> None:
    """Raises ShapeError where sizes such as 2*b fit no b, or not the b that others tell."""
    known: dict[sympy.Symbol, Any] = {}
    sizes = [(spec, axis, _expression(size), shape) for spec, tensor, shape in given for axis, size in enumerate(tensor.shape)]
    for spec, axis, expression, shape in sorted(sizes, key=lambda each: 0 if each[2] is None else each[2].count_ops()):
        if expression is None:
            continue
        open_ = expression.subs(known)
        if len(open_.free_symbols) == 1:
            (symbol,) = open_.free_symbols
            free = sympy.Symbol("n")  # torch's own are positive: a size of 0 would have no solution
            solved = [value for value in sympy.solve(open_.subs(symbol, free) - shape[axis], free) if value.is_integer and value >= 0]
            fits = bool(solved)
            known |= dict(zip([symbol], solved))
        else:
            fits = bool(open_.free_symbols) or open_ == shape[axis]
        if not fits:
            raise ShapeError(f"{spec.name}[{axis}] should be {spec.shape[axis]}, as the other sizes are, got shape {shape}")
