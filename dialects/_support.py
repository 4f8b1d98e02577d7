"""What hloom's own dialects share: memory effects, the kinds of work, and what their verifiers report."""

from __future__ import annotations

import functools
import importlib
import io
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext, irdl

from hloom.runtime.forking import process_lock

from . import kinds


@dataclass(frozen=True)
class Violation:
    """Something that does not hold: in which op, where in the source program, and what was expected."""

    op: str
    loc: str
    message: str


class DenseArray(ir.Attribute):
    """Constrains an attribute to `array<…>`; the bindings' own classes for it lack the name that a constraint needs."""

    attr_name = "builtin.dense_array"


def violation(op: ir.Operation, message: str) -> Violation:
    return Violation(op.name, str(op.location), message)


class DestinationEffects(ir.MemoryEffectsOpInterface):
    """Reads the operands of an op but the last ones, of which it says that they are `written`; writes those."""

    @staticmethod
    def get_effects(op: ir.Operation, effects: Any) -> None:
        operands = list(op.operation.op_operands)
        first = len(operands) - op.opview.written
        for number, operand in enumerate(operands):
            effects.append(ir.MemoryEffect.Read if number < first else ir.MemoryEffect.Write, operand)


class AnyEffects(ir.MemoryEffectsOpInterface):
    """Reads and writes buffers that the op does not name as operands: what its regions or its slices say."""

    @staticmethod
    def get_effects(op: ir.Operation, effects: Any) -> None:
        effects.append(ir.MemoryEffect.Read)
        effects.append(ir.MemoryEffect.Write)


class WithEffects:
    """A trait that attaches memory effects when the dialect is loaded."""

    def __init__(self, effects: type):
        self.effects = effects

    def attach(self, op_name: str) -> None:
        self.effects.attach(op_name)  # type: ignore[attr-defined]


WRITES_OUTPUTS = WithEffects(DestinationEffects)
WRITES_ANYTHING = WithEffects(AnyEffects)


@functools.cache
def import_kinds() -> None:
    """Imports the files of dialects/kinds, each of which defines the ops of a kind of work."""
    with process_lock:
        for module in pkgutil.iter_modules(kinds.__path__):
            importlib.import_module(f"{kinds.__name__}.{module.name}")


_definitions: dict[tuple[type, ...], bytes] = {}
"""The bytecode of dialects' definitions, by the dialect and its ops."""


def load(dialect: type[ext.Dialect]) -> None:
    """Loads one of hloom's dialects into the current context. The first time is the definition language's own `load`, which writes the
    definitions op by op and gives the classes to the bindings for good; later contexts read what it wrote, in a fifth of the time."""
    key = (dialect, *dialect.operations)
    if key not in _definitions:
        dialect.load()
        written = io.BytesIO()
        dialect._mlir_module.operation.write_bytecode(written)
        del dialect._mlir_module  # which would keep its context
        _definitions[key] = written.getvalue()
        return
    irdl.load_dialects(ir.Module.parse(_definitions[key]))
    for op in dialect.operations:
        op._attach_traits()
    for type_ in dialect.types:  # a type's number is of the context
        ir.register_type_caster(ir.DynamicType.lookup_typeid(type_.type_name), replace=True)(type_)


def numbers_of(array: ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr) -> list[int]:
    """The values of an array attribute. As the bindings' own iterator ends by an exception, it takes five times as long."""
    return [array[i] for i in range(len(array))]


def walk(root: ir.Operation, prefix: str | tuple[str, ...]) -> Iterator[ir.Operation]:
    """The ops under `root` whose names start with `prefix`, or one of several, in program order."""
    for region in root.regions:
        for block in region.blocks:
            for view in block.operations:
                op = view.operation
                if op.name.startswith(prefix):
                    yield op
                if len(op.regions):
                    yield from walk(op, prefix)


def symbols(module: ir.Operation) -> dict[str, ir.Operation]:
    """The module's top-level ops that have a name, and the kernels of its gpu.modules, by name."""
    top = [view.operation for view in module.regions[0].blocks[0].operations]
    kernels = [op for holder in top if holder.name == "gpu.module" for op in walk(holder, "gpu.func")]
    return {ir.StringAttr(op.attributes["sym_name"]).value: op for op in [*top, *kernels] if "sym_name" in op.attributes}
