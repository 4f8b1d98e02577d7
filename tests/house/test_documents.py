"""The documents tell the truth: pages that are written from the code are as it says, and what they name is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_written_pages_are_as_the_code_says():
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "generate"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
