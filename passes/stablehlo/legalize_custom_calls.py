"""legalize-custom-calls: calls of outside code on row-major tensors, with all that the host's function is told.

Before:
    %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[0, 1]> : …],
        result_layouts = […], output_operand_aliases = […]} : (tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xi32>, tensor<i32>)
After:
    %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
    %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%t) {hloom.numbers = array<i64: 1, 5, 4>,
        hloom.aliases = array<i64: 0, 0>, hloom.config = ""} : (tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4xi32>, tensor<i32>)
    %1 = stablehlo.transpose %0#0, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>

A value in another layout than row-major is a transposed one that lies row-major; such transposes fuse with what is around them.
`hloom.aliases` holds pairs (operand, result): that result's buffer holds the operand when the function begins.

Must hold: targets are known (the stage input checks that). Declined: annotations, which drop-annotations takes away, and calls that are
legal already. Refused: a call that is not as its library wants it (InvalidProgramError); on a CUDA target every call but LAPACK's, and
calls that say that they have a side effect (UnsupportedOpError).
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.dialects.target import target_of
from hloom.runtime.custom_calls import is_registered

from ..common.calls.lapack import lapack_call
from ..common.calls.registered import registered_call
from ..common.calls.routine import Place
from ..common.custom_calls import NUMBERS, target_of_call
from ..common.ops import ANNOTATIONS, PLANAR
from ..common.rewriting import create, i64_array
from ..errors import UnsupportedOpError
from ..registry import register_pass
from .support import build
from .support.column_major import row_major_orders
from .support.driver import rewrite


@register_pass("legalize-custom-calls", "makes calls of outside code calls on row-major tensors", ops=("stablehlo.custom_call",))
def legalize_custom_calls(module: ir.Operation) -> None:
    kind = target_of(module).kind

    def legalize(op: ir.Operation) -> list[ir.Value] | None:
        target = target_of_call(op)
        if target in ANNOTATIONS | PLANAR or NUMBERS in op.attributes:
            return None
        _refuse(op, target, kind)
        return _legal(op, target)

    rewrite(module, {"stablehlo.custom_call": [legalize]})


def _refuse(op: ir.Operation, target: str, kind: str) -> None:
    where = {"op": op.name, "loc": str(op.location), "stage": "stablehlo"}
    if kind == "cuda" and is_registered(target):
        remedy = 'compile the program for a CPU (target="cpu")'
        raise UnsupportedOpError(f"hloom compiles stablehlo.custom_call @{target} for CPUs alone", **where, remedy=remedy)
    if "has_side_effect" in op.attributes and ir.BoolAttr(op.attributes["has_side_effect"]).value:
        remedy = "leave has_side_effect out where the results are all that the call is for"
        raise UnsupportedOpError(f"stablehlo.custom_call @{target} has a side effect", **where, remedy=remedy)


def _legal(op: ir.Operation, target: str) -> list[ir.Value]:
    before, after = (row_major_orders(op, name, values) for name, values in (("operand", op.operands), ("result", op.results)))
    operands = [build.transpose(value, order) for value, order in zip(op.operands, before)]
    kinds = [_permuted(value.type, order) for value, order in zip(op.results, after)]
    make = registered_call if is_registered(target) else lapack_call
    call = make(Place(op, target), [value.type for value in operands], kinds)
    new = create(
        op.name, kinds, operands, call_target_name=op.attributes["call_target_name"], has_side_effect=ir.BoolAttr.get(False),
        **{NUMBERS: i64_array(call.numbers), "hloom.config": ir.StringAttr.get(call.config)},
        **{"hloom.aliases": i64_array(i for pair in call.aliases for i in pair)},
    )  # fmt: skip
    back = ([order.index(i) for i in range(len(order))] for order in after)
    return [build.transpose(value, order) for value, order in zip(new.results, back)]


def _permuted(kind: ir.Type, order: Sequence[int]) -> ir.Type:
    return build.tensor([kind.shape[d] for d in order], kind.element_type)
