"""A thunk kind is two files: what CONTRIBUTING.md says of adding one, done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_a_kind_of_two_files():
    """In a process of its own: a kind stays as long as its process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent / "runtime")))}
    command = [sys.executable, str(HERE / "new_kind" / "run.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
