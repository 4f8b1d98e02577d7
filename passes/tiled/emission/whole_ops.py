"""Which ops of a group each tile has whole: small reductions that tiles would repeat, each for its part.

    s[r] = sum over n < 32 of p[r, n];  y[r, c] = x[r, c] / s[r]        a tile has all s of 8 rows, and reads those of its own

A CPU's kernel computes what is the same in all tiles once (same_in_all_tiles.py of the stage vector), and not 8 × 32 sums for 1,000 tiles.
"""

from __future__ import annotations

from ...common.axes import Axes, TileOp, repeated_by_tiles


def whole_ops(axes: Axes) -> frozenset[int]:
    """Their numbers: reductions that lack an axis along which tiles may be cut, what they read of the group, and what reads nothing but
    them. None that another op goes on from, or that is returned."""
    returned = {made[0] for made in map(axes.producer, axes.results) if made is not None}
    found: set[int] = set()
    for number, op in enumerate(axes.ops):
        made = {maker[0] for maker in map(axes.producer, (*op.inputs, *op.inits)) if maker is not None}
        if number not in returned and repeated_by_tiles(op, axes) and made <= found:
            found.add(number)
    while bad := {n for n, op in enumerate(axes.ops) if n not in found and _goes_on_from(op, axes) & found}:
        found -= {n for each in bad for n in _goes_on_from(axes.ops[each], axes)}
        found = _closed(found, axes)
    reduces = any(not all(axes.ops[number].parallel) for number in found)
    return frozenset(found) if reduces else frozenset()


def _goes_on_from(op: TileOp, axes: Axes) -> set[int]:
    """The ops whose results it writes over."""
    return {made[0] for made in map(axes.producer, op.inits) if made is not None}


def _closed(found: set[int], axes: Axes) -> set[int]:
    """Without the ops that read what is not among them."""
    kept: set[int] = set()
    for number in sorted(found):
        op = axes.ops[number]
        if {made[0] for made in map(axes.producer, (*op.inputs, *op.inits)) if made is not None} <= kept:
            kept.add(number)
    return kept
