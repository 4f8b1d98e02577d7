"""For pytest, in a process of its own: the emulated driver is the one that NVIDIA's packages find.

`gpu` is the machine, with an order of what may run that the test's seed draws; each test that wants it runs with several.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from . import load
from .executor import ByImage
from .machine import Machine
from .ptx import follow_programs

SEEDS = range(6)


def pytest_configure(config: pytest.Config) -> None:
    config.machine = load(int(os.environ.get("EMULATED_GPU", "90")))  # type: ignore[attr-defined]
    follow_programs(config.machine)  # type: ignore[attr-defined]


@pytest.fixture(params=SEEDS)
def gpu(request: pytest.FixtureRequest) -> Iterator[Machine]:
    machine = request.config.machine  # type: ignore[attr-defined]
    machine.begin_again(request.param)
    machine.executor = ByImage()
    yield machine
    fault = machine.fault
    machine.begin_again(0)
    machine.thread = threading.local()
    assert fault is None, fault
