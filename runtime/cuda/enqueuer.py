"""Programs with steps that no graph holds, since they wait for the GPU, as cuSOLVER's may: all is enqueued anew by each call.

The host runs their loops and chooses their branches, for which it waits for what they go by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .recorder import Recorder


class Enqueuer(Recorder):
    """Enqueues on a stream what a Recorder would record."""

    is_direct = True

    def __init__(self, driver: Any, stream: int):
        super().__init__(driver, driver.core.Stream.from_handle(stream))
        self._stream = stream

    @property
    def stream(self) -> int:
        return self._stream

    def record(self, event: int) -> None:
        self._driver.record(event, self._stream)

    def read(self, address: int, nbytes: int) -> int:
        """A number in the GPU's memory; the host waits for it."""
        found = np.empty(nbytes, np.uint8)
        self._driver.download(found, address, self._stream)
        return int.from_bytes(found.tobytes(), "little", signed=True)
