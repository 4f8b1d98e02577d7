"""What a compiled program is compared with, and what is said of the first thing that differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Culprit:
    """What differs first. `op` names an op, a group or a pass, `loc` its place in the source, `stage` where it went wrong."""

    op: str
    loc: str | None = None
    stage: str | None = None


@dataclass
class Reference:
    """What computes the expected results.

    `run` takes the program's inputs (all arguments but those that the front end bound) in order, and gives the program's results: the
    new values of what a call changes come last. It changes nothing that it is given.
    """

    name: str
    inputs: list[np.ndarray]
    run: Callable[[Sequence[np.ndarray]], list[np.ndarray]]
    blame: Callable[[], Culprit | None] = lambda: None
    """Finds the op that the front end translated wrongly."""
