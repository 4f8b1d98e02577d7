"""Loops and branches while code is emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import scf

from .index_emitter import emitting
from .linear_index import LinearIndex
from .rewriting import create, index_constant

LoopBound: TypeAlias = "int | ir.Value"
Body = Callable[[LinearIndex, list[ir.Value]], list[ir.Value]]
"""Emits what a loop does at an index, given the values carried so far; returns those to carry on."""
NestBody = Callable[[list[LinearIndex], list[ir.Value]], list[ir.Value]]
"""The same of several loops, outermost first."""


def bound_of(index: LinearIndex) -> LoopBound:
    """The index as a loop's bound: a number where it is known."""
    return index.constant if index.is_constant else index.value()


def loop(lower: LoopBound, upper: LoopBound, step: int, carried: Sequence[ir.Value], body: Body) -> list[ir.Value]:
    """An scf.for over lower, lower + step, … below `upper`; returns the values carried last."""
    made = scf.ForOp(LinearIndex.of(lower).value(), LinearIndex.of(upper).value(), LinearIndex(constant=step).value(), carried)
    with emitting(made.body):
        scf.yield_(body(LinearIndex.of(made.induction_variable), list(made.inner_iter_args)))
    return list(made.results_)


def for_loop(lower: LoopBound, upper: LoopBound, step: int, carried: Sequence[ir.Value], body: Body) -> list[ir.Value]:
    """The same, but a range that is known to be one step or none makes no loop."""
    if isinstance(lower, int) and isinstance(upper, int):
        if lower >= upper:
            return list(carried)
        if lower + step >= upper:
            return body(LinearIndex(constant=lower), list(carried))
    return loop(lower, upper, step, carried, body)


def for_each(lower: LoopBound, upper: LoopBound, step: int, body: Callable[[LinearIndex], None]) -> None:
    """`for_loop` for a body that carries no values from one iteration to the next."""

    def at(index: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
        body(index)
        return carried

    for_loop(lower, upper, step, [], at)


def nest(extents: Sequence[LoopBound], carried: list[ir.Value], body: NestBody) -> list[ir.Value]:
    """Loops over all of `extents`, the first outermost; `body(indices, carried)` returns what is carried on."""
    return nest_between([(0, extent) for extent in extents], carried, body)


def nest_between(bounds: Sequence[tuple[LoopBound, LoopBound]], carried: list[ir.Value], body: NestBody) -> list[ir.Value]:
    """`nest` with a lower and an upper bound for each loop."""
    if not bounds:
        return body([], carried)
    (lower, upper), *others = bounds
    return for_loop(
        lower, upper, 1, carried, lambda index, values: nest_between(others, values, lambda inner, last: body([index, *inner], last))
    )


def nest_each(extents: Sequence[LoopBound], body: Callable[[list[LinearIndex]], None]) -> None:
    """`nest` for a body that carries no values from one iteration to the next."""

    def at(indices: list[LinearIndex], carried: list[ir.Value]) -> list[ir.Value]:
        body(indices)
        return carried

    nest(extents, [], at)


def each_value(lower: ir.Value, upper: ir.Value, body: Callable[[ir.Value], None], step: ir.Value | None = None) -> None:
    """An scf.for whose bounds and index are plain values, for a body that carries nothing on; the step is 1 where none is given."""
    made = scf.ForOp(lower, upper, index_constant(1) if step is None else step)
    with emitting(made.body):
        body(made.induction_variable)
        scf.yield_([])


def while_loop(starts: Sequence[ir.Value], goes_on: Callable[..., ir.Value], body: Callable[..., Sequence[ir.Value]]) -> list[ir.Value]:
    """An scf.while: runs `body`, which gives the next values, as long as `goes_on` holds of them; returns the last values."""
    types = [value.type for value in starts]
    made = create("scf.while", types, starts, regions=2)
    before, after = (region.blocks.append(*types) for region in made.regions)
    with emitting(before):
        create("scf.condition", [], [goes_on(*before.arguments), *before.arguments])
    with emitting(after):
        scf.yield_(body(*after.arguments))
    return list(made.results)


@contextmanager
def if_then(condition: ir.Value | None) -> Iterator[None]:
    """Emits what follows under `condition`; unconditionally where it is None."""
    if condition is None:
        yield
        return
    with emitting(scf.IfOp(condition).then_block):
        yield
        scf.yield_([])


LIKELY = "hloom.likely"
"""On an scf.if: its condition holds but in rare cases (expect-branches)."""


def if_else(
    condition: ir.Value,
    types: Sequence[ir.Type],
    then: Callable[[], Sequence[ir.Value]],
    otherwise: Callable[[], Sequence[ir.Value]],
    *,
    likely: bool = False,
) -> list[ir.Value]:
    """The values of `types` that `then` emits where `condition` holds, those of `otherwise` elsewhere; only one of them runs. `likely`: it
    holds but in rare cases."""
    branch = scf.IfOp(condition, types, has_else=True)
    if likely:
        branch.operation.attributes[LIKELY] = ir.UnitAttr.get()
    for block, side in ((branch.then_block, then), (branch.else_block, otherwise)):
        with emitting(block):
            scf.yield_(side())
    return list(branch.results_)


def either(condition: ir.Value | None, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """The same of bodies that give nothing; a condition that is None does not hold."""
    if condition is None:
        otherwise()
        return
    branch = scf.IfOp(condition, has_else=True)
    for block, side in ((branch.then_block, then), (branch.else_block, otherwise)):
        with emitting(block):
            side()
            scf.yield_([])
