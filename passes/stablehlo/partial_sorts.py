"""partial-sorts: a sort of which only the first elements are read says how many, in `hloom.first`.

Before:
    %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1}> ({ comparator }) : (tensor<4x50000xf32>, tensor<4x50000xi32>) -> …
    %1 = stablehlo.slice %0#0 [0:4, 0:40]; %2 = stablehlo.slice %0#1 [0:4, 0:40]
After:
    %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1}> ({ comparator }) {hloom.first = 40 : i64} : …
    … as before

What is behind the first elements of such a sort's results is anything: sort-rows selects instead of sorting. So top_k, which is a sort and
slices of it, costs little more than reading its operand. Must hold: nothing. Declined: sorts of which anything but slices from the
front is read, or more than a quarter; those along another dimension than the last.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import i64_attr, integer, integers, walk
from ..common.sorting.runs import FIRST
from ..registry import register_pass

_SHARE, _ALL = 4, 1 << 62


@register_pass("partial-sorts", "says of a sort how many elements are read, where they are few", ops=("stablehlo.sort",))
def partial_sorts(module: ir.Operation) -> None:
    for sort in walk(module, "stablehlo.sort"):
        if FIRST in sort.attributes:
            del sort.attributes[FIRST]
        shape = ir.RankedTensorType(sort.operands[0].type).shape
        if integer(sort, "dimension", -1) % max(len(shape), 1) != len(shape) - 1:
            continue
        length = shape[-1]
        first = max((_read(use.owner.operation) for result in sort.results for use in result.uses), default=length)
        if first * _SHARE <= length:
            with module.context:
                sort.attributes[FIRST] = i64_attr(max(first, 1))


def _read(user: ir.Operation) -> int:
    """How many elements from the front an op reads of each row."""
    if user.name != "stablehlo.slice" or integers(user, "start_indices")[-1]:
        return _ALL
    return integers(user, "limit_indices")[-1]
