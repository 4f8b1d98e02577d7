"""What runs on the emulated driver, each file in a process of its own: NVIDIA's packages look for a driver once a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = HERE.parent
FILES = sorted((HERE / "on_it").glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_on_the_emulated_driver(file):
    pytest.importorskip("cuda.core")
    path = os.pathsep.join(map(str, (TESTS, TESTS / "runtime", os.environ.get("PYTHONPATH", ""))))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "cuda_driver.plugin", "-p", "no:cacheprovider", "-p", "no:xdist", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONPATH": path}, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
