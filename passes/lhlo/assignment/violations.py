"""Turns what a dialect's verifier found into an error."""

from __future__ import annotations

from hloom.dialects._support import Violation

from ...errors import PassFailure


def raise_first(violations: list[Violation], stage: str) -> None:
    if not violations:
        return
    first, others = violations[0], len(violations) - 1
    message = f"{first.message} (and {others} more)" if others else first.message
    raise PassFailure(message, op=first.op, loc=first.loc, stage=stage)
