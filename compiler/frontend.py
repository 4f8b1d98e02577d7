"""Front ends: whatever describes a program becomes a checked StableHLO module with one entry function.

    load_program(source, example_inputs) → SourceProgram

`source` is MLIR text or bytes, a path to .mlir, .mlirbc or .vhlo, a torch_mlir.ir.Module, a torch.nn.Module or ExportedProgram, a function
over torch tensors, a function to be traced by JAX, a jax.export.Exported, or what a front end has imported. The kind is told by the types'
modules, so nothing is imported to ask.

Parameters and buffers of a torch module are arguments of the program, not constants in it: `SourceProgram.bound` holds their arrays. The
entry is `@main`, its bound arguments carry the attribute `hloom.bound`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.init_function import mark_bound
from hloom.passes.errors import InvalidProgramError
from hloom.runtime.interrupts import uninterrupted
from hloom.runtime.open_shapes import Shape

from .frontends.approx_top_k import replace_approx_top_k
from .frontends.mhlo_calls import replace_mhlo_calls
from .frontends.mlir_text import FileText, import_mlir, import_module
from .frontends.replaced_calls import replace_calls
from .generator_state import add_generator
from .layouts import lay_out
from .open_module import OpenModule
from .open_program import OpenProgram
from .source_program import Imported, SourceProgram, main_function, tensor_spec
from .validate import check_names, check_structure, is_dynamic, make_entry, prepare, readable_names, validate

_JAX = {"jax", "jaxlib"}


def load_program(
    source: Any,
    example_inputs: Sequence[Any] = (),
    context: ir.Context | None = None,
    example_keywords: Mapping[str, Any] | None = None,
    function: str = "main",
) -> SourceProgram:
    """Reads a program and checks it. `function` is the entry where the source is a module that has several.

    Raises ParseError, InvalidProgramError or UnsupportedOpError before anything is compiled.
    """
    program = read_program(source, example_inputs, context, example_keywords, function)
    if isinstance(program, OpenProgram):
        raise InvalidProgramError(
            f"arguments of dynamic shape: {program.text}", remedy="say for which shapes: shapes= of hloom.compile, --shape of the tools"
        )
    return program


def read_program(
    source: Any,
    example_inputs: Sequence[Any] = (),
    context: ir.Context | None = None,
    example_keywords: Mapping[str, Any] | None = None,
    function: str = "main",
    dynamic_shapes: Any = None,
) -> SourceProgram | OpenProgram:
    """Reads a program whose shapes may be open; `dynamic_shapes`, torch.export's, says which of a torch module's arguments' are."""
    examples, keywords = tuple(example_inputs), dict(example_keywords or {})
    imported = _import(source, examples, keywords, context or make_context(), dynamic_shapes)
    if isinstance(imported, OpenProgram):
        return imported
    module = imported.module
    with module.context, ir.Location.unknown(), readable_names(), uninterrupted():
        enter(module, function)
        if any(is_dynamic(argument.type) for argument in main_function(module).regions[0].blocks[0].arguments):
            check_structure(module)
            check_names(module)
            return OpenModule.of(imported, examples)
        return _finished(imported)


def enter(module: ir.Module, function: str) -> None:
    """Makes `function` the entry @main, and calls that frameworks have their own words for StableHLO's. Raises InvalidProgramError."""
    if function != "main":
        make_entry(module, function)
    for make in (replace_calls, replace_approx_top_k, replace_mhlo_calls, prepare):
        make(module)


def specialised_program(program: OpenProgram, shapes: Sequence[Shape]) -> SourceProgram:
    """The program for these shapes of all its arguments, checked. Raises CompileErrors, ShapeError where it does not allow them."""
    imported = program.specialised(shapes, make_context())
    with imported.module.context, ir.Location.unknown(), readable_names(), uninterrupted():
        prepare(imported.module)
        return _finished(imported)


def _finished(imported: Imported) -> SourceProgram:
    if given_once := imported.bound.keys() - imported.updates.keys():
        mark_bound(main_function(imported.module), given_once)
    validate(imported.module)
    lay_out(main_function(imported.module), imported.orders, imported.result_orders)
    add_generator(imported)
    return _described(imported)


def name_of(source: object) -> str:
    """How a program is called in reports: its file, its function, or its class."""
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        return Path(source).name
    return getattr(source, "__name__", None) or ("main" if isinstance(source, (str, bytes, bytearray)) else type(source).__name__)


def _import(
    source: Any, examples: tuple[Any, ...], keywords: dict[str, Any], context: ir.Context, dynamic_shapes: Any
) -> Imported | OpenProgram:
    if isinstance(source, Imported):
        return source
    origins = {base.__module__.partition(".")[0] for base in type(source).__mro__}
    if isinstance(source, (str, bytes, bytearray, os.PathLike, FileText)):
        return import_mlir(source, context)
    if isinstance(source, (ir.Module, ir.Operation, ir.OpView)):
        return import_module(source, context)
    if "torch" in origins or (callable(source) and not origins & _JAX and _has_torch_tensor((examples, keywords))):
        from .frontends.torch import import_torch

        return import_torch(source, examples, keywords, context, dynamic_shapes)
    if dynamic_shapes is not None:
        raise InvalidProgramError("dynamic_shapes is for torch modules", remedy="give jax.ShapeDtypeStructs of jax.export.symbolic_shape")
    if origins & _JAX or callable(source):
        from .frontends.jax import import_jax

        return import_jax(source, examples, keywords, context)
    remedy = "give MLIR text, bytes or a path, a torch_mlir.ir.Module, a torch module or ExportedProgram, a JAX function or Exported"
    raise InvalidProgramError(f"a {type(source).__name__} is not a program", remedy=remedy)


def _has_torch_tensor(examples: Any) -> bool:
    if isinstance(examples, Mapping):
        examples = list(examples.values())
    if isinstance(examples, (tuple, list)):
        return any(map(_has_torch_tensor, examples))
    return any(base.__module__ == "torch" and base.__name__ == "Tensor" for base in type(examples).__mro__)


def _described(imported: Imported) -> SourceProgram:
    main = main_function(imported.module)
    signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    names = imported.names or [f"arg{i}" for i in range(len(signature.inputs))]
    given = enumerate(zip(names, signature.inputs, strict=True))
    inputs = tuple(tensor_spec(name, kind, imported.orders.get(i, ()), imported.narrows) for i, (name, kind) in given)
    outputs = tuple(tensor_spec(f"result{i}", kind, imported.result_orders.get(i, ())) for i, kind in enumerate(signature.results))
    return SourceProgram(**{**vars(imported), "shapes": None, "result_shapes": None}, inputs=inputs, outputs=outputs)
