"""What a prepared folder needs on the machine with the GPU: an environment of Python, NumPy and cuda-python runs all of it to one page.

The GPU is the emulated one, whose own code comes from the checkout; hloom's comes from the folder.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from benchmarks.gpu import __main__ as command
from benchmarks.settings import ROOT

pytest.importorskip("cuda.core")

sys.path.append(str(ROOT / "tests"))
from cuda_driver.ptx import keep_conditions, keep_texts

PACKAGES = ("numpy", "cuda-bindings", "cuda-core", "cuda-pathfinder", "cuda-python")
TANH = """func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.tanh %x : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}"""
PRODUCT = """func.func @main(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}"""
TESTS = "a_kernel or a_while_loop or case or profile or conditional_handles or 48-96-80-False-i8 or torch_in_place"
# The simulator wants ml_dtypes, which hloom must do without: it is found once hloom's own table of types stands.
SWITCHED_ON = """
import sys
from pathlib import Path
if "benchmarks" in " ".join(sys.orig_argv):
    import benchmarks.gpu, hloom, hloom.runtime.dtypes
    assert hloom.__path__[-1] == {code!r} and hloom.runtime.dtypes.ml_dtypes is None
    hloom.__path__.append({root!r})
    sys.path += [{tests!r}, {narrow!r}]
    import cuda_driver
    from cuda_driver.executor import ByImage
    from cuda_driver.ptx import follow_programs
    machine = cuda_driver.load(90)
    machine.executor = ByImage()
    follow_programs(machine, Path({texts!r}))
    sys.path.remove({narrow!r})
"""


def link(name: str, into: Path) -> None:
    """A package's own files, as they are installed here."""
    for path in {str(file).split("/")[0] for file in importlib.metadata.files(name) or []} - {"..", "__pycache__"}:
        source = Path(str(importlib.metadata.distribution(name).locate_file(path)))
        for part in sorted(source.iterdir()) if path == "cuda" else [source]:
            target = into / path / part.name if path == "cuda" else into / path
            target.parent.mkdir(exist_ok=True)
            if not target.exists():
                target.symlink_to(part)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    programs, folder = tmp_path_factory.mktemp("programs"), tmp_path_factory.mktemp("prepared")
    for name, text in (("tanh", TANH), ("product", PRODUCT), ("unknown", "no program")):
        (programs / f"{name}.mlir").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", f"-k '{TESTS}'")
        assert command.main(["prepare", "--target=sm_90a", "-o", str(folder), f"--programs={programs}", "--only=tanh,product,unknown"]) == 0
    keep_texts(folder.rglob("*.hloom"), folder / "texts")
    keep_conditions(folder / "texts", "sm_90")
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory, folder):
    """An environment of those packages, and programs that say there is a GPU."""
    base = tmp_path_factory.mktemp("bare")
    venv.create(base, with_pip=False, symlinks=True)
    (site,) = base.glob("lib/python*/site-packages")
    for name in PACKAGES:
        link(name, site)
    narrow = base / "narrow"
    narrow.mkdir()
    link("ml_dtypes", narrow)
    places = {"code": folder / "code", "root": ROOT, "tests": ROOT / "tests", "narrow": narrow, "texts": folder / "texts"}
    (site / "sitecustomize.py").write_text(SWITCHED_ON.format(**{name: str(path) for name, path in places.items()}))
    (base / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 'Emulated, 580.00, 9.0'\n")
    (base / "bin" / "nvidia-smi").chmod(0o755)
    return base


def test_one_command_needs_nothing_else_and_tells_everything(folder, bare, tmp_path):
    python = bare / "bin" / "python"
    environment = {
        "PATH": f"{bare / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHON": str(python),
        "OUT": str(tmp_path / "out"),
    }
    environment["PYTEST_ADDOPTS"] = f"-k '{TESTS}'"
    done = subprocess.run(["sh", str(folder / "run.sh")], capture_output=True, text=True, timeout=600, env=environment, cwd=tmp_path)
    page = (tmp_path / "out" / "page.md").read_text()
    assert page.strip() in done.stdout, done.stdout + done.stderr
    assert "Emulated, 580.00" in page and "ml_dtypes absent, " in page and "torch absent" in page
    assert "2 of 3 programs give the expected results: product, tanh." in page
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert "skipped" in found["checks"]["unknown"] and found["device"]["l2_bytes"] > 0
    told = (tmp_path / "out" / "tests.txt").read_text()
    assert "failed" not in told and "error" not in told.lower() and "XPASS" in page and "passed" in told.splitlines()[-1], told
    look = "import importlib.util as u; print([n for n in ('torch', 'jax', 'ml_dtypes', 'torch_mlir') if u.find_spec(n)])"
    assert subprocess.run([str(python), "-c", look], capture_output=True, text=True, check=True).stdout.strip() == "[]"
