"""`import hloom` is cheap, and what it offers is where it says."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest

import hloom


def test_everything_offered_is_there():
    from hloom import _HOME

    for name in _HOME:
        assert name in ("Target", "__version__") or getattr(hloom, name).__name__ == name
    assert hloom.__version__ == importlib.metadata.version("hloom")
    assert set(_HOME) <= set(dir(hloom))
    assert all(issubclass(getattr(hloom, name), hloom.ExecutionError) for name in hloom._RUNTIME_ERRORS)
    assert all(issubclass(getattr(hloom, name), hloom.CompileError) for name in hloom._COMPILE_ERRORS)


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="nothing"):
        hloom.nothing  # noqa: B018


def test_import_brings_nothing_in():
    code = "import sys, hloom; print([n for n in ('torch_mlir', 'llvmlite', 'numpy', 'torch', 'jax') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stdout == "[]\n"
