"""The options of torch.compile(…, backend="hloom", options={…})."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from hloom.passes.errors import InvalidProgramError

from .keys import About, about

if TYPE_CHECKING:
    from hloom.dialects.target import TargetView
    from hloom.passes.fused.planner.policy import PolicySource


@dataclass(frozen=True)
class Options:
    """What `torch.compile(…, options={…})` may hold: of hloom.compile's options, those that hold for any graph."""

    target: str | TargetView = "auto"
    policy: PolicySource | None = None
    bind: bool = True
    """Whether parameters are bound where no gradients are asked for (weights.py)."""

    @classmethod
    def of(cls, mode: str | None, options: Mapping[str, Any] | None) -> Options:
        """Raises InvalidProgramError for what there is not."""
        if mode not in (None, "default"):
            raise InvalidProgramError(f"torch.compile's mode {mode!r} is inductor's", remedy="leave it out; options= takes hloom's")
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(options or {}) - set(known))
        if unknown:
            raise InvalidProgramError(f"no option of hloom's: {', '.join(unknown)}", remedy=f"the options: {', '.join(known)}")
        return cls(**(options or {}))

    def about(self) -> About | None:
        return about(self.target, self.policy, self.bind)
