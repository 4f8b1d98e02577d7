"""What else the machine with the GPU needs goes into the prepared folder: hloom's runtime, these benchmarks, tests/gpu, pytest.

    DIR/run.sh      the one command there
    DIR/code        hloom, runtime (with its native library), benchmarks, tests/gpu as in a checkout, and packages, pytest's own
    DIR/tests       the programs of tests/gpu

So Python (3.11 or later), NumPy and cuda-python are enough there.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from hloom.runtime.library import native

from ..settings import ROOT

_CODE = ("hloom", "runtime", "benchmarks", "tests/gpu")
_FILES = ("tests/while_program.py", "tests/chain_program.py", "tests/numerics/test_linear_algebra_on_cuda.py")
_PACKAGES = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")
"""pytest, and what it needs: Python alone."""
_RUN = """#!/bin/sh
# On the machine with the GPU: checks and measures what was compiled for it, and prints a page to send back. Needs Python with NumPy and
# cuda-python; torch, JAX, nvidia-cudnn and nvmath-python are used where they are there. $PYTHON names the interpreter, $OUT the folder for
# results; $SECONDS_LEFT bounds the whole.
exec sh "$(dirname "$0")/code/tests/gpu/run.sh" "$(dirname "$0")"
"""


def pack(folder: Path, target: str) -> None:
    """Writes all of it. Raises SystemExit where the tests' programs cannot be made."""
    code = folder / "code"
    shutil.rmtree(code, ignore_errors=True)
    for name in _CODE:
        shutil.copytree(ROOT / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, code / name)
    shutil.copy(str(native()._name), code / "runtime")
    (code / "packages").mkdir()
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None
        if spec.submodule_search_locations is None:
            shutil.copy(spec.origin, code / "packages")
        else:
            shutil.copytree(Path(spec.origin).parent, code / "packages" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "run.sh").write_text(_RUN)
    _make_tests(folder / "tests", target)


def _make_tests(folder: Path, target: str) -> None:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "HLOOM_GPU_TESTS": str(folder.resolve()), "HLOOM_GPU_TARGET": target}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/gpu"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the programs of tests/gpu are not made:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    print(f"{len(list(folder.glob('*.hloom')))} programs of tests/gpu")
