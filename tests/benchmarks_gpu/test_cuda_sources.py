"""The hand-written kernels compile without spills and have the functions that are called."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from benchmarks.gpu.cuda_programs import FUNCTIONS, SOURCES


@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
@pytest.mark.parametrize("file", sorted(path.name for path in SOURCES.glob("*.cu")))
def test_compiles(file, tmp_path):
    command = ["nvcc", "-O3", "-arch=sm_90", "-Xptxas", "-v", "-cubin", str(SOURCES / file), "-o", str(tmp_path / "cubin")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", done.stdout + done.stderr)
    assert spills and set(spills) == {("0", "0")}


@pytest.mark.parametrize(("file", "name"), sorted(set(FUNCTIONS.values())))
def test_functions_are_there(file, name):
    assert re.search(rf'extern "C" int {name}\(', (SOURCES / file).read_text())
