"""Custom calls of targets that a person registered with hloom.custom_call: the function is told all about its buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...errors import UnsupportedOpError
from .config import config_text
from .routine import HostCall, Place

_INTEGER, _UNSIGNED, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
"""DLPack's type codes."""


def registered_call(place: Place, operands: Sequence[ir.Type], results: Sequence[ir.Type]) -> HostCall:
    """Its numbers are the counts of operands and results, then the type code, bits, rank and extents of each (runtime/custom_calls.py)."""
    numbers = [len(operands), len(results)]
    for kind in (*operands, *results):
        numbers += [*_code(place, kind.element_type), kind.rank, *kind.shape]
    return HostCall(tuple(numbers), tuple(_aliases(place, operands, results)), config_text(place.op))


def _code(place: Place, element: ir.Type) -> tuple[int, int]:
    if isinstance(element, ir.ComplexType):
        return _COMPLEX, 2 * element.element_type.width
    if isinstance(element, ir.BF16Type):
        return _BFLOAT, 16
    if isinstance(element, ir.F16Type | ir.F32Type | ir.F64Type):
        return _FLOAT, element.width
    if isinstance(element, ir.IntegerType) and element.width == 1:
        return _BOOL, 8
    if isinstance(element, ir.IntegerType) and element.width % 8 == 0:
        return (_UNSIGNED if element.is_unsigned else _INTEGER), element.width
    where = {"op": place.op.name, "loc": str(place.op.location), "stage": "stablehlo"}
    raise UnsupportedOpError(f"@{place.target} takes or gives elements of type {element}", **where, remedy="convert them beside the call")


def _aliases(place: Place, operands: Sequence[ir.Type], results: Sequence[ir.Type]) -> Iterator[tuple[int, int]]:
    """The pairs that output_operand_aliases names. StableHLO's verifier has compared their types."""
    if "output_operand_aliases" not in place.op.attributes:
        return
    taken = set()
    for attribute in ir.ArrayAttr(place.op.attributes["output_operand_aliases"]):
        alias = _stablehlo.OutputOperandAlias(attribute)
        operand, result = alias.operand_index, ([*alias.output_tuple_indices] or [0])[0]
        if operands[operand] != results[result] or result in taken:
            raise place.invalid(f"has result {result} that cannot begin as operand {operand}")
        taken.add(result)
        yield operand, result
