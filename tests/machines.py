"""The CPUs that tests compile for: this machine's as it is, and those it can run of tests/targets, whose caches are small.

A test in a folder whose conftest.py takes `any_cpu` from here compiles for one of them, chosen by the test's name; `pytest --cpu=NAME`
chooses one for all. So a suite sees each instruction set and both sides of every threshold, in the time of one.
"""

from __future__ import annotations

import functools
import zlib
from pathlib import Path

import aarch64
import pytest

from hloom.compiler.target import Target, load_target
from hloom.runtime.errors import CpuFeatureError
from hloom.runtime.linking import require

_FOLDER = Path(__file__).parent / "targets"


@functools.cache
def runnable() -> dict[str, str]:
    """What `hloom.compile` takes as target, by name."""
    files = {path.stem: str(path) for path in sorted(_FOLDER.glob("*.toml"))}
    return {"cpu": "cpu", **{name: path for name, path in files.items() if runs_here(load_target(path))}}


def runs_here(target: Target) -> bool:
    """What a load of a program for it asks of this machine."""
    try:
        require({"triple": target.triple, "features": target.required_features})
    except CpuFeatureError:
        return False
    return True


@pytest.fixture(autouse=True)
def any_cpu(request, monkeypatch):
    """Names the target of `target="auto"`; it is printed where the test fails."""
    chosen = str(_FOLDER / f"{request.config.getoption('--cpu')}.toml")
    if request.config.getoption("--cpu") not in (None, "cpu") and aarch64.is_emulated(chosen):
        monkeypatch.setenv("HLOOM_TARGET", chosen)
        if aarch64.MISSING:
            pytest.skip(aarch64.MISSING)
        with aarch64.emulated():
            yield
        return
    names = list(runnable())
    name = request.config.getoption("--cpu") or names[zlib.crc32(request.node.nodeid.encode()) % len(names)]
    if request.node.get_closest_marker("host_cpu"):
        name = "cpu"
    monkeypatch.setenv("HLOOM_TARGET", runnable()[name])
    print(f"compiled for {name}: pytest --cpu={name}")
    yield
