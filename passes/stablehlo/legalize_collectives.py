"""legalize-collectives: what several devices do together, done by the one that there is.

Before:
    %0 = stablehlo.replica_id : tensor<ui32>
    %1 = "stablehlo.all_reduce"(%x) ({ add }) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
After:
    %0 = stablehlo.constant dense<0> : tensor<ui32>
    // %x for %1
    %2 = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>

Started asynchronously (async_start, async_done) they are the same. In groups of one each device has what it had; a permutation gives zeros
to a device that none sends to. Must hold: nothing. Declined: nothing; groups, pairs and meshes of several devices raise UnsupportedOpError.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import quant

from ..common.rewriting import defining_op, element_of, value_of
from ..errors import UnsupportedOpError
from ..registry import register_pass
from .support import build
from .support.driver import Rule, clone_into, rewrite

_REMEDY = "compile the program for one device: export it without a mesh"


def _number(op: ir.Operation) -> list[ir.Value]:
    kind = ir.RankedTensorType(op.results[0].type)
    return [build.zero(kind.shape, kind.element_type)]


def _same(op: ir.Operation) -> list[ir.Value]:
    """The operands, in the type that a reduction computes in."""
    _check_groups(op)
    values = []
    for operand, result in zip(op.operands, op.results, strict=True):
        if build.shape_of(operand) != build.shape_of(result):
            raise _several(op, f"{operand.type} becomes {result.type}")
        values.append(build.convert(operand, element_of(result)))
    return values


def _permuted(op: ir.Operation) -> list[ir.Value]:
    pairs = [tuple(pair) for pair in _table(op, "source_target_pairs")]
    if any(device for pair in pairs for device in pair):
        raise _several(op, f"the pairs {', '.join(map(str, pairs))}")
    return list(op.operands) if pairs else [_zeros(v) for v in op.results]


def _zeros(value: ir.Value) -> ir.Value:
    """Of its type; quantized, the integers that stand for 0."""
    shape, element = build.shape_of(value), element_of(value)
    if not isinstance(element, quant.QuantizedType):
        return build.zero(shape, element)
    return value_of("stablehlo.uniform_quantize", value.type, [build.zero(shape, element.expressed_type)])


def _done(op: ir.Operation) -> list[ir.Value] | None:
    started = defining_op(op.operands[0])
    if started is None or started.name != "stablehlo.async_start":
        return None
    block = started.regions[0].blocks[0]
    return clone_into(block, dict(zip(block.arguments, started.operands)))


def _check_groups(op: ir.Operation) -> None:
    alone = [[device for device in group if device >= 0] for group in _table(op, "replica_groups")]  # -1 fills groups of different sizes
    if any(len(group) > 1 for group in alone):
        raise _several(op, f"the groups {', '.join(map(str, alone))}")


def _table(op: ir.Operation, name: str) -> list[list[int]]:
    attribute = op.attributes[name]
    if not isinstance(attribute, ir.DenseIntElementsAttr):
        raise _several(op, f"{name} over a mesh, {attribute},")
    rows, columns = ir.RankedTensorType(attribute.type).shape
    flat = list(attribute) if rows * columns else []
    return [flat[row * columns : (row + 1) * columns] for row in range(rows)]


def _several(op: ir.Operation, what: str) -> UnsupportedOpError:
    message = f"{op.name}: {what} need several devices"
    return UnsupportedOpError(message, op=op.name, loc=str(op.location), stage="stablehlo", remedy=_REMEDY)


_RULES: dict[str, list[Rule]] = {
    "stablehlo.replica_id": [_number],
    "stablehlo.partition_id": [_number],
    "stablehlo.collective_permute": [_permuted],
    "stablehlo.async_done": [_done],
    **{
        f"stablehlo.{name}": [_same]
        for name in "all_gather all_reduce all_to_all collective_broadcast collective_reduce cross-replica-sum reduce_scatter".split()
    },
}


@register_pass("legalize-collectives", "replaces collectives and device numbers by what they are on one device", ops=_RULES)
def legalize_collectives(module: ir.Operation) -> None:
    rewrite(module, _RULES)
