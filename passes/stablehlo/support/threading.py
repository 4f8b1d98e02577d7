"""A value that passes from op to op in their order, through loops and branches too.

    after = Thread(is_wanted, step, refused).through(block, before)

`step` takes the place of a wanted op and gives what the next one gets: the state of a generator (legalize-rng), the order of calls
(thread-effects). A loop carries the value, a branch gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from ...common.rewriting import attributes_of, create, ops_in, replace, walk

_BRANCHES = ("stablehlo.if", "stablehlo.case")


@dataclass(frozen=True)
class Thread:
    """Which ops the value passes by, and what becomes of them."""

    wanted: Callable[[ir.Operation], bool]
    step: Callable[[ir.Operation, ir.Value], ir.Value]
    """Replaces a wanted op, at whose place it builds; gives the value after it."""
    refused: Callable[[ir.Operation, str], Exception]
    """For an op where it cannot pass, and the words for that place."""

    def through(self, block: ir.Block, value: ir.Value) -> ir.Value:
        """Gives back the value after the block."""
        for op in ops_in(block):
            if self.wanted(op):
                with op.location, ir.InsertionPoint(op):
                    value = self.step(op, value)
            elif len(op.regions) and walk(op, self.wanted):
                value = self._through(op, value)
        return value

    def _through(self, op: ir.Operation, value: ir.Value) -> ir.Value:
        """An op with wanted ones in its regions, which gives the value back."""
        loop = op.name == "stablehlo.while"
        if not loop and op.name not in _BRANCHES:
            raise self.refused(op, op.name)
        if loop and any(self.wanted(inner) or walk(inner, self.wanted) for inner in ops_in(op.regions[0].blocks[0])):
            raise self.refused(op, "the condition of a loop")
        kinds, operands = [r.type for r in op.results], list(op.operands)
        with op.location, ir.InsertionPoint(op):
            new = create(op.name, [*kinds, value.type], [*operands, value] if loop else operands, len(op.regions), **attributes_of(op))
        for old, region in zip(op.regions, new.regions):
            block = old.blocks[0]
            block.append_to(region)
            before = block.add_argument(value.type, op.location) if loop else value
            if not loop or region == new.regions[1]:
                _return(block, self.through(block, before))
        replace(op, list(new.results)[:-1])
        return new.results[len(kinds)]


def _return(block: ir.Block, value: ir.Value) -> None:
    *_, returned = ops_in(block)
    with returned.location, ir.InsertionPoint(returned):
        create("stablehlo.return", [], [*returned.operands, value])
    returned.erase()
