"""What programs that are grown step by step draw."""

from __future__ import annotations

from typing import Any

import numpy as np


class Draws:
    rng: np.random.RandomState

    def chance(self, probability: float) -> bool:
        return bool(self.rng.rand() < probability)

    def one(self, *among: Any) -> Any:
        return among[self.rng.randint(len(among))]

    def number(self, low: int, high: int) -> int:
        """The ends may be drawn, too."""
        return int(self.rng.randint(low, high + 1))
