"""update-arguments: a part of an argument that a call changes is written where it is, not put between what stands around it.

Before, as `cache[:, 5:6] = row` arrives:
    func.func public @main(%cache: tensor<8x512xf32> {hloom.updated_by = 0 : i64}, %row: tensor<8x1xf32>) -> tensor<8x512xf32> {
      %0 = stablehlo.slice %cache [0:8, 0:5]
      %1 = stablehlo.slice %cache [0:8, 6:512]
      %2 = stablehlo.concatenate %0, %row, %1, dim = 1
      return %2
After:
      %0 = stablehlo.dynamic_update_slice %cache, %row, %c0, %c5
      return %0

The new value lies in the argument's memory (assign-buffers), where its kernel writes the part and leaves the rest. A concatenation is
computed whole. What reads a piece of the concatenation that has parts of its own reads, behind it, that of the new value.

Must hold: nothing. Declined: arguments of which no part stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ..common.init_function import argument_attributes, entry, updates
from ..common.rewriting import has_one_use, holder, integer, integers, ops_in, producer
from ..fused.planner.access import GROWS
from ..registry import register_pass
from .support import build
from .support.driver import drop_dead

Place = tuple[int, ...]
Part = tuple[ir.Value, Place]
"""A value, and where in the argument it begins."""


@register_pass("update-arguments", "writes parts of arguments that a call changes in place", ops=("stablehlo.concatenate",))
def update_arguments(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None:
        return
    block = main.regions[0].blocks[0]
    for argument, result in updates(argument_attributes(main)).items():
        array, value = block.arguments[argument], ops_in(block)[-1].operands[result]
        pieces: list[Part] = []
        parts = _parts(array, value, (0,) * array.type.rank, pieces) if array.type == value.type else None
        if parts and pieces:
            _write(array, parts, pieces)
    drop_dead(module)


def _parts(array: ir.Value, value: ir.Value, at: Place, pieces: list[Part]) -> list[Part] | None:
    """What stands in the value, which begins at a place of the array, instead of the array's own elements; None where none of these are.

    `pieces` gets the concatenations that have both, the inner ones first.
    """
    sliced = producer(value, "stablehlo.slice")
    if sliced is not None and sliced.operands[0] == array and tuple(integers(sliced, "start_indices")) == at:
        return [] if all(step == 1 for step in integers(sliced, "strides")) else None
    op = producer(value, "stablehlo.concatenate")
    if op is None:
        return None
    axis, parts, keeps = integer(op, "dimension"), [], False
    for piece in op.operands:
        inner = _parts(array, piece, at, pieces)
        keeps |= inner is not None
        parts.extend([(piece, at)] if inner is None else inner)
        at = _further(at, axis, build.shape_of(piece)[axis])
    if not keeps:
        return None
    pieces.append((value, _further(at, axis, -build.shape_of(value)[axis])))
    return parts


def _further(at: Place, axis: int, by: int) -> Place:
    return tuple(place + by if d == axis else place for d, place in enumerate(at))


def _write(array: ir.Value, parts: Sequence[Part], pieces: Sequence[Part]) -> None:
    whole = pieces[-1][0].owner
    with whole.location, ir.InsertionPoint(whole):
        index = ir.IntegerType.get_signless(64)
        new = array
        for part, at in parts:
            new = build.dynamic_update_slice(new, part, [build.full(build.tensor([], index), place) for place in at])
        for value, at in pieces:
            piece = build.slice_(new, at, [start + size for start, size in zip(at, build.shape_of(value))])
            for use in [use for use in value.uses if whole.is_before_in_block(holder(use.owner.operation, value))]:
                use.owner.operands[use.operand_number] = piece
    _alone(new, array)


def _alone(new: ir.Value, array: ir.Value) -> None:
    """Has kernels of their own write the parts where something reads the new value: what it shares one with writes all of it."""
    if has_one_use(new):
        return
    while new != array:
        new.owner.attributes[GROWS] = ir.UnitAttr.get(new.context)
        new = new.owner.operands[0]
