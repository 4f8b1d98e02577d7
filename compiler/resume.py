"""A program that is past the stage `input` already, read back from a dump of that stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.common.init_function import origin
from hloom.passes.common.rewriting import ops_in, symbol_name
from hloom.passes.errors import InvalidProgramError
from hloom.runtime.signature import TensorSpec

from .frontends.trial import parse_tried
from .parsing import UNNAMED
from .pipeline import stage_number
from .source_program import SourceProgram, tensor_spec
from .stage_rules import StageError, verify_stage

_ENTRIES = ("main", "init")


def load_stage(source: str | bytes, stage: str, name: str = UNNAMED) -> tuple[SourceProgram, list[int]]:
    """The program in MLIR text or bytecode of a stage between `stablehlo` and `thunk`, and which of its arguments are bound.

    `name` is that of its file, in locations. Raises CompileErrors.
    """
    if stage_number(stage) > stage_number("thunk"):
        raise InvalidProgramError(f"at stage {stage} nothing tells a program's arguments any more", remedy="start from thunk or before")
    with make_context() as context, ir.Location.unknown(), _as_stage_errors(stage):
        module = parse_tried(source, context, name=name)
        verify_stage(module.operation, stage)
        arguments: dict[int, TensorSpec] = {}
        bound: set[int] = set()
        outputs: tuple[TensorSpec, ...] = ()
        for op in ops_in(module.body):
            if "sym_name" not in op.attributes or symbol_name(op) not in _ENTRIES:
                continue
            kind = _signature(op)
            for position, attributes in enumerate(_attributes(op, len(kind.inputs))):
                what, index = origin(position, attributes)
                if what == "argument":
                    arguments[index] = tensor_spec(f"arg{index}", kind.inputs[position])
                    if "hloom.bound" in attributes or symbol_name(op) == "init":
                        bound.add(index)
            if symbol_name(op) == "main":
                outputs = tuple(tensor_spec(f"result{index}", type_) for index, type_ in enumerate(kind.results))
        if sorted(arguments) != list(range(len(arguments))):
            raise InvalidProgramError("the program's arguments are not numbered from 0", stage=stage)
        inputs = tuple(arguments[index] for index in sorted(arguments))
        return SourceProgram(module, inputs=inputs, outputs=outputs), sorted(bound)


@contextmanager
def _as_stage_errors(stage: str) -> Iterator[None]:
    """Attributes of hloom that were edited by hand may be of any type: what reads them then raises whatever it does."""
    try:
        yield
    except (TypeError, ValueError, KeyError, StopIteration, RuntimeError) as error:
        raise StageError(f"an attribute is not what hloom writes: {error}", stage=stage, remedy="edit the dump again") from error


def _signature(op: ir.Operation) -> ir.FunctionType:
    name = next(name for name in ("hloom.signature", "signature", "function_type") if name in op.attributes)
    return ir.FunctionType(ir.TypeAttr(op.attributes[name]).value)


def _attributes(op: ir.Operation, count: int) -> Iterator[ir.DictAttr]:
    """The attributes of each argument."""
    given = next((op.attributes[name] for name in ("value_attributes", "arg_attrs") if name in op.attributes), None)
    listed = list(given) if given is not None else []
    for position in range(count):
        yield ir.DictAttr(listed[position]) if position < len(listed) else ir.DictAttr.get({})
