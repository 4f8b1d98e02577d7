"""Threads, forks, interrupts, and what compiling leaves behind. HLOOM_PROCESSES=full makes each as long as a campaign."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = os.environ.get("HLOOM_PROCESSES") == "full"
SCRIPT = Path(__file__).with_name("own_process.py")


@pytest.mark.parametrize(
    ("name", "count", "most"),
    [
        ("eight_threads_compile", 32, 500),
        ("one_executable_many_threads", 2, 50),
        ("torch_in_threads", 1, 10),
        ("forked", 2, 5),
        ("forked_amid_compiles", 4, 100),
        ("spawned", 2, 20),
        ("data_loader", 4, 100),
        ("dropped", 40, 1000),
        ("contexts", 6, 100),
        ("interrupted", 16, 500),
    ],
)
def test_process(name, count, most, tmp_path):
    environment = {**os.environ, "HLOOM_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, SCRIPT, name, str(most if FULL else count)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=3600 if FULL else 300)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
