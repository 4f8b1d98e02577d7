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


_MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "reduce-overhead": {},
    "max-autotune": {"tune": True},
    "max-autotune-no-cudagraphs": {"tune": True},
}
"""What torch's names for modes stand for. "reduce-overhead" asks for no Python between kernels, and no program of hloom's has any."""


@dataclass(frozen=True)
class Options:
    """What `torch.compile(…, options={…})` may hold: of hloom.compile's options, those that hold for any graph."""

    target: str | TargetView = "auto"
    policy: PolicySource | None = None
    bind: bool = True
    """Whether parameters are bound where no gradients are asked for (weights.py)."""
    tune: bool | float = False
    """Whether each graph's policy is found by measurement, or the seconds that it may take (docs/tuning.md)."""

    @classmethod
    def of(cls, mode: str | None, options: Mapping[str, Any] | None) -> Options:
        """Raises InvalidProgramError for what there is not."""
        if mode is not None and mode not in _MODES:
            raise InvalidProgramError(f"torch.compile has no mode {mode!r}", remedy=f"the modes: {', '.join(_MODES)}")
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(options or {}) - set(known))
        if unknown:
            raise InvalidProgramError(f"no option of hloom's: {', '.join(unknown)}", remedy=f"the options: {', '.join(known)}")
        return cls(**(_MODES[mode or "default"] | dict(options or {})))

    def about(self) -> About | None:
        return about(self.target, self.policy, self.bind, self.tune)
