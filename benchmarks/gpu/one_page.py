"""One page of all that was found on a machine with a GPU: the machine, what tests/gpu said, and the tables of the benchmarks."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import subprocess
from pathlib import Path

from .report import TABLE

PAGE = "page.md"
_PACKAGES = "numpy cuda-python cuda-core ml_dtypes nvmath-python nvidia-cudnn-frontend nvidia-cudnn-cu13 torch jax".split()
_MOST = 60


def write_page(out: Path) -> str:
    """Writes OUT/page.md of what the other files there hold, whichever there are; gives it."""
    parts = ["# hloom on a GPU: please send this page back", _machine(), "## tests/gpu", _tests(out / "tests.txt")]
    found = out / TABLE
    parts.append(found.read_text().strip() if found.exists() else f"## Benchmarks\n\n{_end_of(out / 'benchmarks.txt')}")
    text = "\n\n".join(parts) + "\n"
    (out / PAGE).write_text(text)
    return text


def _machine() -> str:
    asked = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"]
    try:
        gpus = subprocess.run(asked, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        gpus = f"nvidia-smi: {error}"
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return f"{gpus or 'nvidia-smi says nothing'}\n\n{platform.platform()}, Python {platform.python_version()}, {versions}"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def _tests(log: Path) -> str:
    """Pytest's summary: how many passed, what failed, what was skipped and why, and the questions' answers (XPASS is yes, XFAIL no)."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    told = [line[:200] for line in lines if re.match(r"(FAILED|ERROR|SKIPPED|XFAIL|XPASS|INTERNALERROR)", line)]
    if not told:
        return _end_of(log)
    more = [f"… and {len(told) - _MOST} more" for _ in told[_MOST:][:1]]
    return "\n".join(["```", *told[:_MOST], *more, *lines[-1:], "```"])


def _end_of(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else ["it did not run"]
    return "\n".join(["```", *(line[:200] for line in lines[-15:]), "```"])
