"""The buffers that a sort needs beside its results, on a CPU.

A sort of long rows of several arrays by one key of at most 32 bits is a sort of words of 64 (vector/sorting/words.py): it needs two buffers
of those, which rows that are not very long have on the stack. Any other needs a second buffer for each operand.
"""

from __future__ import annotations

from torch_mlir import ir

from ..rewriting import element_of
from .comparator import Comparator, key_of
from .runs import FIRST

SHORT, LONG = 256, 1 << 31
"""Rows up to the first length are ranked; rows of the second or more have more elements than a count holds, and are merged."""
WORD_BITS, LOW_BITS = 64, 32
ON_STACK = 4096
"""The longest row whose words lie on the stack."""


def is_of_words(sort: ir.Operation) -> bool:
    """Whether the rows of a sort along its last dimension are sorted by words."""
    *_, length = ir.RankedTensorType(sort.operands[0].type).shape
    if len(sort.operands) == 1 or FIRST in sort.attributes or not SHORT < length < LONG:
        return False
    key = key_of(Comparator(sort.regions[0].blocks[0], {}))
    return key is not None and key.bits <= WORD_BITS - LOW_BITS


def scratch_of(sort: ir.Operation) -> list[ir.RankedTensorType]:
    """The tensors that have the shapes and elements of these buffers."""
    shape = ir.RankedTensorType(sort.operands[0].type).shape
    if not is_of_words(sort):
        return [ir.RankedTensorType.get(shape, element_of(value)) for value in sort.operands]
    word = ir.IntegerType.get_signless(WORD_BITS)
    return [ir.RankedTensorType.get(shape, word)] * 2 if shape[-1] > ON_STACK else []
