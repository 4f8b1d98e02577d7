"""What a group's tiles are, for whoever measures others: `hloom.tiled`, a size for each dimension of its first result, 0 for one that is
whole; and a record of the rule that asked for them."""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ..common.axes import Axes
from ..common.rewriting import i64_array, symbol_name
from ..fused.planner.codes import Code
from ..fused.planner.decisions import append_note
from ..fused.planner.policy import required
from .schedules.tile_sizes import choose_tile_sizes, scheduled
from .schedules.wanted import TILE_REQUIRED, TILE_RULE, dimension_axes, retiled, wanted, wanted_of_blocks

TILED = "hloom.tiled"
NO_BLOCKS = "its kernel is none of a GPU that computes a product in tiles"


def tell_tiles(function: ir.Operation, axes: Axes, target: TargetView) -> None:
    """Writes what the tiles are; and what became of a policy's rule about them. Raises PolicyError where a required one is not met."""
    found = dimension_axes(axes)
    if found is None:
        return
    sizes = choose_tile_sizes(axes, target)
    function.attributes[TILED] = i64_array([0 if axis is None else sizes.get(axis, 0) for axis in found])
    edge = str(axes.results[0].type)
    if wanted_of_blocks(function):
        tell_rule(function, Code.POLICY_UNMET, NO_BLOCKS, edge)
    asked = wanted(function)
    if asked is None:
        return
    made = retiled(axes, scheduled(axes, target), target, asked)
    code, reason = (Code.POLICY_UNMET, made) if isinstance(made, str) else (Code.POLICY_FORCED, f"tiles of {asked}")
    tell_rule(function, code, reason, edge)


def tell_rule(function: ir.Operation, code: Code, reason: str, edge: str = "") -> None:
    """What became of the rule about a group's tiles. Raises PolicyError where it is required, and not met."""
    rule = ir.StringAttr(function.attributes[TILE_RULE]).value
    if code is Code.POLICY_UNMET:
        required(rule, TILE_REQUIRED in function.attributes, reason, loc=str(function.location))
    append_note(function.parent.operation, code, [symbol_name(function)], reason, edge, rule=rule)
