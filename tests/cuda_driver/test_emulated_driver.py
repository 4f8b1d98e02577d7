"""What runs on the emulated driver, in processes of their own: NVIDIA's packages look for a driver once a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = HERE.parent
FILES = sorted((HERE / "on_it").glob("*.py"))
RUNTIME = {
    "test_cuda_order": ["the_threads_context_is_left_as_it_was"],
    "test_cuda_device": [],
    "test_cuda_control_flow": [],
    "test_cuda_libraries": [],
    "test_profile": [],
    "test_tensor_maps": ["they_follow_the_addresses"],
    "test_cuda_lapack": ["a_program_that_waits_is_enqueued_by_each_call", "loops_and_branches_around_solvers_are_the_hosts"],
}
"""Tests of the runtime, and those of them that look at the fake driver's own log or contexts."""


ON_A_GPU = "not linear_algebra and not tf32 and not 512 and not 4096 and not products_of_bytes or 48"
"""Of what a machine with a GPU runs: no library but the driver is emulated, and large products take minutes."""


def run(plugin: str, *options: str | Path, capability: int = 90) -> None:
    pytest.importorskip("cuda.core")
    path = os.pathsep.join(map(str, (TESTS.parent, TESTS, TESTS / "runtime", os.environ.get("PYTHONPATH", ""))))
    command = [sys.executable, "-m", "pytest", "-q", "-p", f"cuda_driver.{plugin}", "-p", "no:cacheprovider", *map(str, options)]
    # hypothesis, which none of them uses, takes a second to load
    environment = {**os.environ, "PYTHONPATH": path, "EMULATED_GPU": str(capability), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_on_the_emulated_driver(file):
    run("plugin", file)


def test_compiled_programs_on_an_older_gpu():
    run("plugin", HERE / "on_it" / "compiled.py", capability=80)


def test_the_runtimes_tests_on_the_emulated_driver():
    """With hloom's own driver.py and recorder.py, cuda-core and the emulated driver in the place of the fake one."""
    files = [TESTS / "runtime" / f"{name}.py" for name in RUNTIME]
    run("watched", *files, *(f"--deselect=tests/runtime/{name}.py::test_{each}" for name in RUNTIME for each in RUNTIME[name]))


def test_what_a_machine_with_a_gpu_runs():
    run("as_gpu", TESTS / "gpu", "-k", ON_A_GPU)
