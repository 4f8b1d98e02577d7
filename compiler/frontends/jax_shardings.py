"""Shardings in a program that JAX exported, taken out: StableHLO's own bindings do not know the dialect sdy, jaxlib's do.

One device holds everything, so a sharding says nothing: its attributes and meshes go, and a constraint is its operand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

DIALECT = b"sdy"
_IDENTITIES = ("sdy.sharding_constraint", "sdy.reshard")


def without_shardings(artifact: bytes) -> bytes:
    """The StableHLO artifact without attributes, meshes and constraints of sdy; as it is where it names none."""
    if DIALECT not in artifact:
        return artifact
    with make_ir_context() as context, ir.Location.unknown():
        module = stablehlo.deserialize_portable_artifact(context, artifact)
        for op in list(_inside(module.operation)):
            if op.name in _IDENTITIES:
                op.results[0].replace_all_uses_with(op.operands[0])
            if op.name in (*_IDENTITIES, "sdy.mesh"):
                op.erase()
                continue
            _strip(op.attributes)
            for name in ("arg_attrs", "res_attrs"):
                if name in op.attributes:
                    op.attributes[name] = ir.ArrayAttr.get([_stripped(ir.DictAttr(each)) for each in ir.ArrayAttr(op.attributes[name])])
        return stablehlo.serialize_portable_artifact_str(str(module), stablehlo.get_current_version())


def _inside(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from _inside(view.operation)


def _strip(attributes: Any) -> None:
    for name in [name for name in attributes if name.startswith("sdy.")]:
        del attributes[name]


def _stripped(attributes: Any) -> Any:
    return ir.DictAttr.get({each.name: each.attr for each in attributes if not each.name.startswith("sdy.")})
