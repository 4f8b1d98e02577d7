"""lower-to-linalg: the bodies of group functions from stablehlo to linalg on tensors, one generic an op.

Before:
    func.func private @fusion_0(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> attributes {hloom.kind = "loop"} {
      %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
      %1 = stablehlo.add %x, %0 : tensor<8x4xf32>
      return %1 : tensor<8x4xf32>
    }
After:
      %e = tensor.empty() : tensor<8x4xf32>
      %0 = linalg.generic {maps [(d0, d1) -> (d1), (d0, d1) -> (d0, d1)], parallel} ins(%b) outs(%e) { yield %in }
      %1 = linalg.generic {maps [(d0, d1) -> (d0, d1), …], parallel} ins(%x, %0) outs(%e) { arith.addf }

StableHLO's own lowering is not in the wheel. It also makes pads and slices separate ops, and no producer is inlined past those.
Nothing is fused here: `inline-producers` composes the maps and inlines the bodies. `lowering/` has what each op becomes, a file for each
family of ops. Every private function with `hloom.kind` other than library is lowered; in a module without such functions, all are. Unsigned
types lose their sign, in the signature too. Must hold: the lhlo stage, or stablehlo in one block. Declined, with UnsupportedOpError: ops
that have no lowering (control flow, calls, complex).
"""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from ..common.byte_floats import MULTIPLIED
from ..common.nibbles import NIBBLE_TYPES
from ..common.ops import ANY, emit_scalar, is_elementwise, name_in_table
from ..common.rewriting import functions, ops_in, update_signature
from ..common.scalars import signless
from ..errors import UnsupportedOpError
from ..registry import register_pass
from .lowering import computed_reads, constants, contraction, fourier, generic, loop, movement, reduction, scatter, sort, window
from .lowering.lowering import Lowering, elements, unsupported
from .lowering.window_update import insert_window, window_updates

LOWERINGS: dict[str, Callable[[Lowering, ir.Operation], None]] = {
    **constants.LOWERINGS,
    **movement.LOWERINGS,
    **computed_reads.LOWERINGS,
    **reduction.LOWERINGS,
    **contraction.LOWERINGS,
    **window.LOWERINGS,
    **sort.LOWERINGS,
    **fourier.LOWERINGS,
    **scatter.LOWERINGS,
    **loop.LOWERINGS,
}


@register_pass("lower-to-linalg", "lowers the bodies of group functions from stablehlo to linalg on tensors")
def lower_to_linalg(module: ir.Operation) -> None:
    for function in group_functions(module):
        with module.context, function.location:
            _lower_function(function)


def group_functions(module: ir.Operation) -> list[ir.Operation]:
    """The functions that become kernels: those with `hloom.kind` but library ones; all that have a body if the module has no groups."""
    bodies = [f for f in functions(module) if len(f.regions[0].blocks)]
    kinds = [ir.StringAttr(f.attributes["hloom.kind"]).value if "hloom.kind" in f.attributes else None for f in bodies]
    if not any(kinds):
        return bodies
    return [f for f, kind in zip(bodies, kinds) if kind not in (None, "library")]


def _lower_function(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    low = Lowering(function)
    for argument in block.arguments:
        low.set(argument, argument)
    ops = ops_in(block)
    windows = window_updates(function)
    for op in ops[:-1]:
        with ir.InsertionPoint(ops[-1]), op.location:
            insert_window(low, op) if op in windows else _lower_op(low, op)
    terminator = ops[-1]
    with ir.InsertionPoint(terminator):
        for i, old in enumerate(list(terminator.operands)):
            if isinstance(old.type, ir.RankedTensorType):
                terminator.operands[i] = low.returned(old)
    for op in reversed(ops[:-1]):
        if op.name.startswith("stablehlo."):
            op.erase()
    _drop_signs(function)


def _lower_op(low: Lowering, op: ir.Operation) -> None:
    if not op.name.startswith("stablehlo."):
        for result in op.results:
            low.set(result, result)
        return
    _check_types(op)
    if all(elements(r.type) == 0 for r in op.results):
        for result in op.results:
            low.set(result, generic.empty(list(result.type.shape), signless(result.type.element_type)))
    elif is_elementwise(op):
        low.set(op.results[0], _elementwise(low, op))
    elif (name := name_in_table(op)) in LOWERINGS:
        LOWERINGS[name](low, op)
    else:
        raise UnsupportedOpError(
            f"{op.name} has no lowering to linalg", op=op.name, loc=str(op.location), stage="linalg", remedy="keep it out of fusion groups"
        )


def _elementwise(low: Lowering, op: ir.Operation) -> ir.Value:
    """One parallel generic; a rank-0 operand (select's predicate, clamp's bounds) is read at every element."""
    kind = op.results[0].type
    rank = len(kind.shape)
    identity, scalar = generic.identity(rank), generic.affine_map(rank, [])
    reads = [(v, identity if len(v.type.shape) == rank else scalar) for v in op.operands]
    return low.parallel(kind, reads, lambda scalars: emit_scalar(low.scalars, op, scalars))


def _check_types(op: ir.Operation) -> None:
    for value in (*op.operands, *op.results):
        if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
            raise unsupported(op, f"{op.name} has a value of type {value.type}; only static ranked tensors are compiled")
        element = value.type.element_type
        if str(element) not in (*ANY, *MULTIPLIED, *NIBBLE_TYPES):
            raise unsupported(op, f"{op.name} has elements of type {element}, which is not compiled")


def _drop_signs(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    for argument in block.arguments:
        if isinstance(argument.type, ir.RankedTensorType):
            argument.set_type(signless(argument.type))
    update_signature(function)
