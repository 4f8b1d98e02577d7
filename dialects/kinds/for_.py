"""for: a loop whose trip count was known when the program was compiled."""

from collections.abc import Iterator

from torch_mlir import ir

from .._support import WRITES_ANYTHING
from ..host_function import HostFunction
from ..lhlo import LhloOp
from ..thunk import Machine, ThunkOp


class LhloFor(LhloOp, name="for", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs `body` a number of times that was known when the program was compiled."""

    trip_count: ir.IntegerAttr
    body: ir.Region

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        if self.trip_count.value < 0:
            yield f"trip count {self.trip_count.value} is negative"


class ThunkFor(ThunkOp, name="for", traits=[ir.NoTerminatorTrait]):
    """Runs `body` `trip_count` times."""

    trip_count: ir.IntegerAttr
    body: ir.Region

    def lower(self, host: HostFunction, loops: int) -> None:
        turn, close = host.open_loop(self.trip_count.value)
        host.turns.append(turn)
        host.region(self.body, loops + 1)
        host.turns.pop()
        host.body.extend(close)

    def simulate(self, machine: Machine) -> None:
        for _ in range(self.trip_count.value):
            machine.run(self.body)
