"""The script of the explorer's page is what its sources and its libraries make."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES, BUNDLE = ROOT / "tools" / "explorer", ROOT / "runtime" / "explorer"


def test_the_script_is_of_these_sources():
    said = re.search(r"sources ([0-9a-f]{64})", (BUNDLE / "explorer.js").read_text(encoding="utf-8"))
    digest = hashlib.sha256()
    for name in ["package-lock.json", "build.mjs", *(f"src/{path.name}" for path in sorted((SOURCES / "src").iterdir()))]:
        digest.update(f"{name}\n".encode() + (SOURCES / name).read_bytes())
    assert said and said[1] == digest.hexdigest(), "build it: cd tools/explorer && npm ci && npm run build"


def test_the_build_makes_the_script(tmp_path: Path):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: whether the script is what its sources make was told by their hash alone")
    copy = tmp_path / "explorer"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("node_modules"))
    fetched = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=copy, capture_output=True, text=True, timeout=300)
    if fetched.returncode != 0:
        pytest.skip(f"npm cannot fetch the libraries: {fetched.stderr.strip().splitlines()[-1:]}")
    subprocess.run([npm, "run", "check"], cwd=copy, check=True, capture_output=True, timeout=300)
    subprocess.run(["node", "build.mjs", str(tmp_path / "made")], cwd=copy, check=True, timeout=300)
    for name in ("explorer.js", "LICENSES.txt"):
        assert (tmp_path / "made" / name).read_bytes() == (BUNDLE / name).read_bytes(), name


def test_licences_of_all_that_is_bundled_are_there():
    text = (BUNDLE / "LICENSES.txt").read_text(encoding="utf-8")
    for name in ("cytoscape", "@dagrejs/dagre", "@dagrejs/graphlib"):
        assert re.search(rf"^{re.escape(name)} [\d.]+ \(MIT\)$", text, re.M), name
    assert text.count("Permission is hereby granted") == 3
