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
        return int.from_bytes(self.fetch(address, nbytes).tobytes(), "little", signed=True)

    def fetch(self, address: int, nbytes: int) -> np.ndarray:
        """Bytes of the GPU's memory; the host waits for them."""
        found = np.empty(nbytes, np.uint8)
        self._driver.download(found, address, self._stream)
        return found

    def send(self, address: int, data: np.ndarray) -> None:
        """Bytes of the host's memory, which may be reused when this returns."""
        self._driver.upload(address, data, self._stream)
