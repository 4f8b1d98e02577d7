"""thunk.evaluate: what the native library interprets. CPUs have it; no GPU does."""

from __future__ import annotations

from ...schema import each, integer
from ...thunk_schema import NAMES, moving
from ...thunks import ThunkKind


class EvaluateKind(ThunkKind, kind="evaluate", fields={**moving(), "numbers": each(integer()), "source": NAMES}):
    """`numbers` are the programs of a CPU's code, which holds them once more."""
