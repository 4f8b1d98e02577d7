"""One process of the reference interpreter for all conformance tests."""

import pytest
from machines import any_cpu as any_cpu

from hloom.compiler.interpreter import Interpreter


@pytest.fixture(scope="session")
def interpreter():
    with Interpreter() as started:
        yield started
