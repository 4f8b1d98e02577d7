"""For pytest: tests that want a GPU have the emulated one.

`python -m pytest -p cuda_driver.as_gpu tests/gpu` runs what a machine with a GPU is to run. Frameworks and libraries have no GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .executor import ByImage
from .plugin import pytest_configure as pytest_configure


@pytest.fixture(autouse=True)
def _machine(request: pytest.FixtureRequest) -> Iterator[None]:
    machine = request.config.machine  # type: ignore[attr-defined]
    machine.executor = ByImage()
    yield
    fault = machine.fault
    machine.begin_again(machine.schedule.draw(1000))
    assert fault is None, fault
