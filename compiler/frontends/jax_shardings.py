"""Artifacts of jax.export with annotations of Shardy (sdy): jaxlib's own MLIR, which has that dialect, reads and drops them.

On one device a constraint is its operand, and a computation by hand on each device its body.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from torch_mlir._mlir_libs import _stablehlo

from hloom.passes.errors import UnsupportedOpError

_DIALECT = b"sdy"
_SAME = {"sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier"}
_NOTES = {"sdy.mesh", "sdy.sharding_group"}


def without_shardings(artifact: bytes) -> bytes:
    """The artifact without annotations. Raises UnsupportedOpError on a computation for several devices."""
    if _DIALECT not in artifact:
        return artifact
    with mlir.make_ir_context() as context, ir.Location.unknown():
        context.enable_multithreading(False)  # jax's threads are not in a child that was forked (trial.py)
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        ops = list(_inside(module.operation))
        for op in ops:
            _plain(op)
        for op in ops:
            _drop(op)
        version = min(stablehlo.get_current_version(), _stablehlo.get_current_version(), key=lambda text: [int(n) for n in text.split(".")])
        text: Any = module.operation.get_asm(enable_debug_info=True)
        return stablehlo.serialize_portable_artifact_str(text, version)


def read_without_shardings(artifact: bytes) -> bytes | None:
    """The same of bytes that anyone wrote; None where they are no artifact."""
    try:
        return without_shardings(artifact)
    except (ValueError, ir.MLIRError):
        return None


def _inside(op: Any) -> Iterator[Any]:
    """All ops within, those in a region before the op that has it: a body holds nothing to drop when it takes the place of its op."""
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                yield from _inside(view.operation)
                yield view.operation


def _plain(op: Any) -> None:
    """Takes an op's attributes of Shardy away, and those of a function's arguments and results."""
    for name in [name for name in op.attributes if name.startswith("sdy.")]:
        del op.attributes[name]
    for name in ("arg_attrs", "res_attrs"):
        if name in op.attributes:
            op.attributes[name] = ir.ArrayAttr.get([_without(entry) for entry in ir.ArrayAttr(op.attributes[name])])


def _without(attributes: Any) -> Any:
    entries: Any = ir.DictAttr(attributes)
    return ir.DictAttr.get({entry.name: entry.attr for entry in entries if not entry.name.startswith("sdy.")})


def _drop(op: Any) -> None:
    if op.name in _NOTES:
        op.erase()
    elif op.name in _SAME:
        _replace(op, op.operands)
    elif op.name == "sdy.manual_computation":
        block = op.regions[0].blocks[0]
        *body, returned = [each.operation for each in block.operations]
        pairs = [*zip(block.arguments, op.operands, strict=True), *zip(op.results, returned.operands, strict=True)]
        if any(inner.type != outer.type for inner, outer in pairs):
            remedy = "export the program for one device, without a mesh"
            raise UnsupportedOpError("a computation on several devices", op=op.name, loc=str(op.location), stage="input", remedy=remedy)
        for argument, operand in zip(block.arguments, op.operands):
            argument.replace_all_uses_with(operand)
        for inner in body:
            inner.move_before(op)
        _replace(op, returned.operands)


def _replace(op: Any, values: Any) -> None:
    for result, value in zip(op.results, list(values)):
        result.replace_all_uses_with(value)
    op.erase()
