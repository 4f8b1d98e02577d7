"""Loops that go on until the last element of an array is done; those that are done before stay what they are."""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from hloom.passes.stablehlo.complex.numbers import Mask, Real
from hloom.passes.stablehlo.support import build

_STEPS = 5000
"""No element takes more."""


def repeated(state: list[Real], step: Callable[[Real, list[Real]], tuple[list[Real], Mask]], wanted: Mask | None = None) -> list[Real]:
    """The state after as many steps, from 1 on, as each element needs, and none where it is not wanted."""
    like = state[0]
    shape, index = build.shape_of(like.value), build.tensor([], build.element_of(like.value))
    flag = ir.IntegerType.get_signless(1)
    start, done = build.full(index, 1), build.full(build.tensor(shape, flag), False) if wanted is None else (~wanted).value

    def goes_on(number: ir.Value, done: ir.Value, *_: ir.Value) -> ir.Value:
        true = build.full(build.tensor([], flag), True)
        (all_,) = build.reduce([done], [true], range(len(shape)), lambda x, y: [build.elementwise("and", x, y)])
        few = build.compare("LT", number, build.full(index, _STEPS))
        return build.elementwise("and", few, build.elementwise("not", all_))

    def stepped(number: ir.Value, done: ir.Value, *before: ir.Value) -> list[ir.Value]:
        after, exact = step(Real(build.broadcast(number, shape, [])), [Real(each) for each in before])
        kept = [build.select(done, old, new.value) for old, new in zip(before, after)]
        return [build.add(number, build.full(index, 1)), build.elementwise("or", done, exact.value), *kept]

    return [Real(value) for value in build.while_loop([start, done, *(each.value for each in state)], goes_on, stepped)[2:]]
