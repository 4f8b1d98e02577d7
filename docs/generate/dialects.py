"""docs/dialects.md, from the definitions of hloom's dialects."""

from __future__ import annotations

import inspect
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from hloom.dialects._support import WRITES_ANYTHING, WRITES_OUTPUTS, import_kinds
from hloom.dialects.lhlo import Lhlo
from hloom.dialects.thunk import Thunk

_HEAD = """# hloom's own dialects

Written by `python docs/generate` from the definitions in `dialects/`; a test compares them.
"""

_TRAITS = {
    id(WRITES_OUTPUTS): "reads its inputs, writes its outputs",
    id(WRITES_ANYTHING): "reads and writes the buffers that its slices or regions name",
    id(ext.Pure): "no memory effects",
    id(ir.NoTerminatorTrait): "regions without terminator",
}


def text() -> str:
    """All of docs/dialects.md."""
    import_kinds()
    return "\n".join([_HEAD, *(_dialect(dialect) for dialect in (Lhlo, Thunk))])


def _dialect(dialect: type[ext.Dialect]) -> str:
    parts = [f"## {dialect.DIALECT_NAMESPACE}", _doc(dialect)]
    for kind in dialect.types:
        parts.append(f"### `!{kind.type_name}`\n\n{_doc(kind)}")
    parts.extend(_operation(operation) for operation in sorted(dialect.operations, key=lambda operation: operation.OPERATION_NAME))
    return "\n\n".join(parts) + "\n"


def _operation(operation: Any) -> str:
    parts = [f"### `{operation.OPERATION_NAME}`", _doc(operation)]
    rows = [f"| `{field.name}` | {_role(field)} | {_constraint(field)} |" for field in operation._fields]
    if rows:
        parts.append("\n".join(["| name | role | type |", "|---|---|---|", *rows]))
    traits = [_TRAITS[id(trait)] for trait in operation._traits if id(trait) in _TRAITS]
    if traits:
        parts.append(f"Effects and traits: {'; '.join(traits)}.")
    return "\n\n".join(parts)


def _doc(definition: type) -> str:
    return inspect.cleandoc(definition.__doc__ or "")


def _role(field: Any) -> str:
    role = type(field).__name__.removesuffix("Def").lower()
    return f"{role}s" if field.variadicity is ext.Variadicity.variadic else role


def _constraint(field: Any) -> str:
    constraint = field.constraint
    if isinstance(field, ext.RegionDef):
        return ""
    if hasattr(constraint, "_dialect_name"):
        return f"`!{constraint.type_name}`"
    known = {"DenseArray": "array of integers", "MemRefType": "memref", "FlatSymbolRefAttr": "symbol", "ArrayAttr": "array"}
    return known.get(constraint.__name__, constraint.__name__.removesuffix("Attr").lower())
