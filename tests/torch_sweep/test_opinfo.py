"""Of torch's own database of operators no sample is wrong that runs here; all operators' run with HLOOM_SWEEP=all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("expecttest", reason="torch's own tests want it")

ALL = os.environ.get("HLOOM_SWEEP") == "all"
SHARE = r"^(expand|log10|std_mean|index_select|addmm|nn\.functional\.group_norm|as_strided\.partial_views)$"


def test_no_sample_is_wrong(tmp_path):
    """In a process of its own: torch's tests turn off for good what others change."""
    log, share = tmp_path / "log.json", [] if ALL else ["--only", SHARE, "--types", "float32", "--first"]
    subprocess.run([sys.executable, Path(__file__).parent / "opinfo.py", *share, "--workers", "1", "--json", log], check=True)
    found = [json.loads(line) for line in log.read_text().splitlines()]
    assert found and [line for line in found if "wrong" in line] == []
