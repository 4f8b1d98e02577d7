"""thunk.profile_begin and thunk.profile_end: timing events that the graph records each time it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...schema import text
from ...thunk_schema import INSIDE
from ..step import BufferAddresses, Context, Step


class _EventStep(Step):
    def initialise(self, context: Context) -> None:
        self._driver, self.event = context.driver, context.driver.new_event(timing=True)

    def __del__(self) -> None:
        if event := getattr(self, "event", 0):
            self._driver.free_event(event)

    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        if not recorder.in_body:  # a conditional node's body may not record events: its thunks are measured as one
            recorder.record(self.event)


class ProfileBeginStep(_EventStep, kind="profile_begin", fields={"id": INSIDE, "label": text}):
    """Starts measurement `id`."""


class ProfileEndStep(_EventStep, kind="profile_end", fields={"id": INSIDE}):
    """Ends it."""


def measurements(driver: Any, steps: Iterable[Step]) -> list[tuple[int, int, int]]:
    """(id, begin, end) in nanoseconds since the first begin, of the last run of these steps, which must be over."""
    begins = {step.thunk["id"]: step.event for step in steps if isinstance(step, ProfileBeginStep)}
    ends = {step.thunk["id"]: step.event for step in steps if isinstance(step, ProfileEndStep)}
    if not begins:
        return []
    first = next(iter(begins.values()))
    found = [(id_, driver.elapsed_ns(first, begin), driver.elapsed_ns(first, ends[id_])) for id_, begin in begins.items() if id_ in ends]
    return sorted(found, key=lambda measured: measured[1])
