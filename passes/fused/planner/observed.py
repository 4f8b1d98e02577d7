"""A plan as somebody who looks on sees it: the ops by number, the calls that hold them, the records that name them.

    with observed_plans() as plans:
        plan_fusion(module)
    plans[0].calls[0].ops           # numbers of plans[0].program.ops

The IR that a plan leaves tells names and locations alone, and equal groups share one function: which op stands in which call is lost there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from .records import Decision, Program


@dataclass(frozen=True)
class Call:
    """A call of a group: its function, its location, the ops of the plan that it evaluates, the values that it reads and makes."""

    function: str
    location: str
    ops: Sequence[int]
    reads: Sequence[int]
    makes: Sequence[int]


@dataclass(frozen=True)
class Plan:
    """`records` are the last of the module's; `first` is the number of the first among them all."""

    program: Program
    records: Sequence[Decision]
    first: int
    calls: Sequence[Call]


_plans: ContextVar[list[Plan] | None] = ContextVar("observed plans", default=None)


@contextmanager
def observed_plans() -> Iterator[list[Plan]]:
    """Collects the plans that are made meanwhile, in this thread."""
    plans: list[Plan] = []
    token = _plans.set(plans)
    try:
        yield plans
    finally:
        _plans.reset(token)


def observe(plan: Plan) -> None:
    """Hands a plan to whoever looks on."""
    plans = _plans.get()
    if plans is not None:
        plans.append(plan)
