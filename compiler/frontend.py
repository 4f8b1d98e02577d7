"""Front ends: whatever describes a program becomes a checked StableHLO module with one entry function.

    load_program(source, example_inputs) → Program

`source` is MLIR text or bytes, a path to .mlir, .mlirbc or .vhlo, a torch_mlir.ir.Module, a torch.nn.Module or ExportedProgram, a function
over torch tensors, a function to be traced by JAX, or a jax.export.Exported. The kind is told by the types' modules, so nothing is imported
to ask.

Parameters and buffers of a torch module are arguments of the program, not constants in it: `Program.bound` holds their arrays by argument
index, sharing memory with the module. The entry is `@main`, its bound arguments carry the attribute `hloom.bound`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import functions
from hloom.passes.errors import InvalidProgramError
from hloom.runtime import pytree
from hloom.runtime.interrupts import uninterrupted
from hloom.runtime.signature import TensorSpec

from .frontends.imported import Imported
from .validate import prepare, readable_names, validate

_JAX = {"jax", "jaxlib"}


@dataclass
class Program:
    """A program as the stage `input` wants it.

    `inputs` lists all arguments of @main, bound ones too. `in_tree` is the structure of the positional arguments of a call, its leaves
    being the arguments that are not bound, in order; `kwarg_tree` that of the keyword arguments, whose leaves follow (see
    runtime/pytree.py). `kind` is the kind of array that a call gives and gets: "numpy", "torch" or "jax".
    """

    module: ir.Module
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    in_tree: pytree.Structure
    out_tree: pytree.Structure
    kwarg_tree: pytree.Structure = field(default_factory=lambda: {"dict": []})
    bound: dict[int, np.ndarray] = field(default_factory=dict)
    kind: str = "numpy"
    entry: str = "main"
    updates: dict[int, int] = field(default_factory=dict)
    """Arguments that a call changes, by the results that are their new values: the last ones, which `out_tree` does not count. Those that
    are in `bound` are the program's state (runtime/state.py)."""

    @property
    def state(self) -> set[int]:
        return self.updates.keys() & self.bound.keys()

    def flatten_inputs(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The leaves of a call's arguments, in the order of the arguments that are not bound."""
        return pytree.flatten(self.in_tree, args) + pytree.flatten(self.kwarg_tree, kwargs, "keywords")

    def unflatten_outputs(self, leaves: list[Any]) -> Any:
        return pytree.builder(self.out_tree)(leaves)


def load_program(
    source: Any,
    example_inputs: Sequence[Any] = (),
    context: ir.Context | None = None,
    example_keywords: Mapping[str, Any] | None = None,
) -> Program:
    """Reads a program and checks it. Raises ParseError, InvalidProgramError or UnsupportedOpError before anything is compiled."""
    context = context or make_context()
    imported = _import(source, tuple(example_inputs), dict(example_keywords or {}), context)
    with imported.module.context, ir.Location.unknown(), readable_names(), uninterrupted():
        prepare(imported.module)
        for index in sorted(imported.bound.keys() - imported.updates.keys()):
            _mark_bound(imported.module, index)
        validate(imported.module)
        return _described(imported)


def _import(source: Any, examples: tuple[Any, ...], keywords: dict[str, Any], context: ir.Context) -> Imported:
    origins = {base.__module__.partition(".")[0] for base in type(source).__mro__}
    if isinstance(source, (str, bytes, bytearray, os.PathLike)):
        from .frontends.mlir_text import import_mlir

        return Imported(import_mlir(source, context))
    if isinstance(source, (ir.Module, ir.Operation, ir.OpView)):
        from .frontends.mlir_text import import_module

        return Imported(import_module(source, context))
    if "torch" in origins or (callable(source) and not origins & _JAX and _has_torch_tensor((examples, keywords))):
        from .frontends.torch import import_torch

        return import_torch(source, examples, keywords, context)
    if origins & _JAX or callable(source):
        from .frontends.jax import import_jax

        return import_jax(source, examples, keywords, context)
    raise InvalidProgramError(
        f"a {type(source).__name__} is no program",
        remedy="give MLIR text, bytes or a path, a torch_mlir.ir.Module, a torch module or ExportedProgram, a JAX function or Exported",
    )


def _has_torch_tensor(examples: Any) -> bool:
    if isinstance(examples, Mapping):
        examples = list(examples.values())
    if isinstance(examples, (tuple, list)):
        return any(map(_has_torch_tensor, examples))
    return any(base.__module__ == "torch" and base.__name__ == "Tensor" for base in type(examples).__mro__)


def main_function(module: ir.Module) -> ir.Operation:
    return next(op for op in functions(module.operation) if ir.StringAttr(op.attributes["sym_name"]).value == "main")


def _mark_bound(module: ir.Module, index: int) -> None:
    main = main_function(module)
    count = len(main.regions[0].blocks[0].arguments)
    old = list(ir.ArrayAttr(main.attributes["arg_attrs"])) if "arg_attrs" in main.attributes else [ir.DictAttr.get({})] * count
    given = ir.DictAttr(old[index])
    old[index] = ir.DictAttr.get({**{given[i].name: given[i].attr for i in range(len(given))}, "hloom.bound": ir.UnitAttr.get()})
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(old)


def _described(imported: Imported) -> Program:
    signature = ir.FunctionType(ir.TypeAttr(main_function(imported.module).attributes["function_type"]).value)
    names = imported.names or [f"arg{i}" for i in range(len(signature.inputs))]
    inputs = tuple(_spec(name, kind) for name, kind in zip(names, signature.inputs, strict=True))
    outputs = tuple(_spec(f"result{i}", kind) for i, kind in enumerate(signature.results))
    in_tree = imported.in_tree if imported.in_tree is not None else pytree.flat(len(inputs) - len(imported.bound))
    out_tree = imported.out_tree
    if out_tree is None and imported.kind == "numpy":
        out_tree = pytree.LEAF if len(outputs) == 1 else pytree.flat(len(outputs))
    kwarg_tree = imported.kwarg_tree if imported.kwarg_tree is not None else {"dict": []}
    return Program(imported.module, inputs, outputs, in_tree, out_tree, kwarg_tree, imported.bound, imported.kind, updates=imported.updates)


def _spec(name: str, kind: ir.Type) -> TensorSpec:
    tensor = ir.RankedTensorType(kind)
    return TensorSpec(name, str(tensor.element_type), tuple(tensor.shape))
