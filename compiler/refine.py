"""StableHLO of open shapes as StableHLO of known ones: upstream's passes carry the arguments' shapes through the program.

    func.func @main(%x: tensor<?x8xf32>) {                        // asked for tensor<5x8xf32>
      %n = stablehlo.get_dimension_size %x, dim = 0
      stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "…"}
      %0 = stablehlo.dynamic_iota %shape, dim = 0 : … -> tensor<?x8xf32>
After:
    func.func @main(%x: tensor<5x8xf32>) {
      %0 = stablehlo.iota dim = 0 : tensor<5x8xf32>

What jax.export calls a shape assertion is checked here, and its own message raised: also where other ops fail first, for
shapes that the program does not allow. The passes may abort on what they do not expect, so
all of it runs in a forked child (frontends/trial.py), which hands back bytecode.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.passmanager import PassManager

from hloom.passes.common.rewriting import functions, inner_ops, is_custom_call, update_signature
from hloom.passes.errors import ParseError
from hloom.passes.stablehlo.resolve_dynamic_calls import resolved
from hloom.runtime.errors import ShapeError
from hloom.runtime.open_shapes import Shape

from .frontends.trial import try_in_child
from .parsing import bytecode_of, parse_module
from .source_program import main_function

_BEGIN = (
    "builtin.module(func.func(stablehlo-legalize-composite-to-call),inline,stablehlo-refine-arguments{{types={types}}},stablehlo-refine-shapes,"
    "func.func(stablehlo-canonicalize-dynamism))"
)
_CHECK = "builtin.module(func.func(stablehlo-check-shape-assertions))"
_AGAIN = "builtin.module(stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism))"
_END = "builtin.module(canonicalize,cse,symbol-dce)"
_ASSERTION = b"A"
_MODULE = b"M"
_MORE_TIME = 100 << 20
"""A child has a second for each megabyte: these passes take longer than a parser."""


def refined(module: bytes, shapes: Sequence[Shape], context: ir.Context) -> ir.Module:
    """The module, given as bytecode, where the arguments of @main have these shapes.

    Raises ShapeError with the message of an assertion that does not hold, InvalidProgramError where shapes do not go together.
    """
    answer = try_in_child(lambda: _tried(module, shapes, context), len(module) + _MORE_TIME)
    if answer.startswith(_ASSERTION):
        raise ShapeError(answer.removeprefix(_ASSERTION).decode(), remedy="give arrays of shapes that the program allows")
    return parse_module(answer.removeprefix(_MODULE), context)


def without_bounds(module: ir.Module) -> dict[tuple[int, int], int]:
    """Takes the bounds of unknown sizes (`#stablehlo.bounds`) off all types. Those of @main's arguments, by argument and axis."""
    main = main_function(module)
    bounds = {}
    for number, argument in enumerate(main.regions[0].blocks[0].arguments):
        for axis, bound in enumerate(_bounds(argument.type)):
            if bound is not None:
                bounds[number, axis] = bound
    for function in functions(module.operation):
        for op in inner_ops(function):
            for value in (*op.results, *(argument for region in op.regions for block in region.blocks for argument in block.arguments)):
                _drop_bounds(value)
        for argument in function.regions[0].blocks[0].arguments if len(function.regions[0].blocks) else ():
            _drop_bounds(argument)
        update_signature(function)
    return bounds


def _bounds(kind: ir.Type) -> list[int | None]:
    if not isinstance(kind, ir.RankedTensorType) or kind.encoding is None:
        return []
    match = re.fullmatch(r"#stablehlo\.bounds<(.*)>", str(kind.encoding))
    return [None if word.strip() == "?" else int(word) for word in match[1].split(",")] if match else []


def _drop_bounds(value: ir.Value) -> None:
    if _bounds(value.type):
        kind = ir.RankedTensorType(value.type)
        value.set_type(ir.RankedTensorType.get(kind.shape, kind.element_type))


def _tried(text: bytes, shapes: Sequence[Shape], context: ir.Context) -> bytes:
    """What the child answers."""
    with context, ir.Location.unknown():
        module = parse_module(text, context)
        try:
            _run_for(module, shapes)
            failed = _failed_assertion(module)
            if failed is not None:
                return _ASSERTION + failed.encode()
            while resolved(module.operation):
                update_signature(main_function(module))
                _run(module, _AGAIN)
            _run(module, _END)
        except ir.MLIRError as error:
            if (failed := _failed_alone(parse_module(text, context), shapes)) is not None:
                return _ASSERTION + failed.encode()
            why = error.error_diagnostics[0].message if error.error_diagnostics else str(error)
            raise ParseError(why) from None
    return _MODULE + bytecode_of(module)


def _run_for(module: ir.Module, shapes: Sequence[Shape]) -> None:
    arguments = main_function(module).regions[0].blocks[0].arguments
    elements = [ir.RankedTensorType(argument.type).element_type for argument in arguments]
    types = ",".join(f"tensor<{'x'.join([*map(str, shape), str(element)])}>" for shape, element in zip(shapes, elements, strict=True))
    _run(module, _BEGIN.format(types=types))


def _failed_alone(module: ir.Module, shapes: Sequence[Shape]) -> str | None:
    """The message of an assertion that does not hold in a program whose other ops do not allow these shapes either: @main without them."""
    main = main_function(module)
    *ops, returned = [view.operation for view in main.regions[0].blocks[0].operations]
    func.ReturnOp([], ip=ir.InsertionPoint(returned))
    returned.erase()
    if "res_attrs" in main.attributes:
        del main.attributes["res_attrs"]
    update_signature(main)
    for op in reversed(ops):
        if not _is_assertion(op) and not any(True for result in op.results for _ in result.uses):
            op.erase()
    try:
        _run_for(module, shapes)
    except ir.MLIRError:
        return None
    return _failed_assertion(module)


def _is_assertion(op: ir.Operation) -> bool:
    return is_custom_call(op, "shape_assertion")


def _failed_assertion(module: ir.Module) -> str | None:
    """The message of a shape assertion that does not hold; those that hold go."""
    try:
        _run(module, _CHECK)
    except ir.MLIRError as error:
        return next((each.message for each in error.error_diagnostics), str(error))
    return None


def _run(module: ir.Module, pipeline: str) -> None:
    PassManager.parse(pipeline).run(module.operation)
