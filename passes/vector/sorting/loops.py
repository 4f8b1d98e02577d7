"""Loops and branches around code that Python emits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import scf

from ...common.rewriting import create, index_constant


def for_(lower: ir.Value, upper: ir.Value, body: Callable[[ir.Value], None], step: ir.Value | None = None) -> None:
    """Runs `body` at each index."""
    op = scf.ForOp(lower, upper, index_constant(1) if step is None else step)
    with ir.InsertionPoint(op.body):
        body(op.induction_variable)
        scf.yield_([])


def while_(starts: Sequence[ir.Value], goes_on: Callable[..., ir.Value], body: Callable[..., Sequence[ir.Value]]) -> list[ir.Value]:
    """Runs `body`, which gives the next values, as long as `goes_on` holds of them; the last values."""
    kinds = [value.type for value in starts]
    op = create("scf.while", kinds, starts, regions=2)
    before, after = (region.blocks.append(*kinds) for region in op.regions)
    with ir.InsertionPoint(before):
        create("scf.condition", [], [goes_on(*before.arguments), *before.arguments])
    with ir.InsertionPoint(after):
        create("scf.yield", [], body(*after.arguments))
    return list(op.results)


def if_(condition: ir.Value, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    op = create("scf.if", [], [condition], regions=2)
    for region, emit in zip(op.regions, (then, otherwise)):
        with ir.InsertionPoint(region.blocks.append()):
            emit()
            create("scf.yield")
