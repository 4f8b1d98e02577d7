"""Shared by all pytest tests: HLOOM_DEBUG of the caller's shell must not change what is tested; tests marked `cuda` want a GPU."""

import os
from pathlib import Path

import pytest


def pytest_configure(config):
    os.environ["HLOOM_TARGET"] = "cpu"  # what a test does must not depend on whether there is a GPU
    os.environ["HLOOM_CACHE_DIR"] = str(Path(__file__).parent.parent / "build" / "cache")
    config.addinivalue_line("markers", "cuda: needs an NVIDIA GPU")


def pytest_collection_modifyitems(items):
    if os.path.exists("/dev/nvidiactl"):
        return
    for item in items:
        if "cuda" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU"))


@pytest.fixture(autouse=True)
def _no_debug(monkeypatch):
    monkeypatch.delenv("HLOOM_DEBUG", raising=False)
