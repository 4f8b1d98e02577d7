"""How far a tuning is: a bar over its time, on stderr where somebody looks at it."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Of a budget in seconds; a bar where stderr is a terminal."""

    def __init__(self, seconds: float):
        self.seconds, self.told = seconds, sys.stderr.isatty()
        self._bar: Any = None

    def __enter__(self) -> Progress:
        self._began = time.perf_counter()
        if self.told:
            from tqdm import tqdm  # the bar alone needs it

            form = "{desc:<56.56} {percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} s"
            self._bar = tqdm(total=self.seconds, bar_format=form, file=sys.stderr, leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() - self._began > self.seconds

    def tell(self, what: str) -> None:
        """What is being done now."""
        if self._bar is not None:
            self._bar.set_description_str(what, refresh=False)
            self._bar.n = min(self.seconds, time.perf_counter() - self._began)
            self._bar.refresh()
