"""tests/gpu on a machine with a GPU, where a test may hang, end its process, or leave a GPU that fails at everything after it.

pytest runs in a process of its own, which tells of each test in a file (this module is its plugin too). After a fault of the GPU it ends;
where it says nothing for a while it is ended. Another then runs what is left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ..settings import ROOT

PAGE, LOG, FAILURES = "tests.txt", "tests.log", "failures.txt"
_QUIET = 60.0
"""Seconds without a word after which a test is said to hang."""
_TOLD = "HLOOM_GPU_TOLD"
_FAULTS = ("CUDA_ERROR", "cudaError", "CUDA error", "CUBLAS_STATUS_EXECUTION_FAILED")

Told = dict[str, tuple[str, str]]
"""By test its outcome and why."""


def run_tests(out: Path, deadline: float = float("inf"), arguments: tuple[str, ...] = ("tests/gpu",)) -> bool:
    """Runs them until `deadline`, by time.monotonic, and writes the page of what each said. True where none failed."""
    out.mkdir(parents=True, exist_ok=True)
    told: Told = {}
    left = _collected(out, arguments)
    count = len(left)
    while left and time.monotonic() < deadline:
        ended = _round(out, left, told, deadline)
        left = [test for test in left if test not in told]
        if left and ended:
            told[left.pop(0)] = ("failed", ended)
    told |= {test: ("skipped", "no time was left") for test in left}
    (out / PAGE).write_text(_page(told, count))
    return not any(outcome in ("failed", "error") for outcome, _ in told.values())


def _pytest(out: Path, arguments: list[str], **more: Any) -> subprocess.Popen[str]:
    plugins = ["-p", "benchmarks.gpu", "-p", "benchmarks.gpu.tests", "-p", "no:cacheprovider"]
    # The folder may lie in a checkout, whose root pytest would take: tests would be named from there, and not be found here.
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", f"--rootdir={ROOT}", *plugins, *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, env={**os.environ, _TOLD: str(out / "told.jsonl")}, **more)


def _collected(out: Path, arguments: tuple[str, ...]) -> list[str]:
    process = _pytest(out, ["--collect-only", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    words, _ = process.communicate()
    (out / LOG).write_text(words)
    (out / FAILURES).write_text("")
    return [line.strip() for line in words.splitlines() if "::" in line and not line.startswith(("ERROR", "SKIPPED"))]


def _round(out: Path, tests: list[str], told: Told, deadline: float) -> str:
    """Runs these in one process and adds what it told. Why it ended at a test of which nothing was told, empty where it did not."""
    report = out / "told.jsonl"
    report.write_text("")
    with (out / LOG).open("a") as log:
        process = _pytest(out, tests, stdout=log, stderr=subprocess.STDOUT)
        size, since, why = 0, time.monotonic(), ""
        while process.poll() is None:
            time.sleep(0.1)
            now = time.monotonic()
            if report.stat().st_size != size:
                size, since = report.stat().st_size, now
            if now - since > _QUIET or now > deadline:
                why = f"it hangs: nothing for {_QUIET:.0f} s" if now - since > _QUIET else ""
                process.kill()
                process.wait()
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    told |= {line["test"]: (line["outcome"], line["why"]) for line in lines}
    fault = bool(lines) and lines[-1].get("fault", False)
    if why or fault or time.monotonic() > deadline:
        return why
    return f"the process ended with status {process.returncode}"


def pytest_runtest_logreport(report: Any) -> None:
    """Tells of a test that is over; ends the process where the GPU fails on."""
    place = os.environ.get(_TOLD)
    if place is None or (report.when != "call" and report.passed) or (report.when == "teardown" and not report.failed):
        return
    outcome, why = report.outcome, ""
    if hasattr(report, "wasxfail"):
        outcome = "xpassed" if report.passed else "xfailed"
    if report.failed:
        why = getattr(getattr(report.longrepr, "reprcrash", None), "message", "") or str(report.longrepr)
    elif report.skipped and isinstance(report.longrepr, tuple):
        why = report.longrepr[2]
    text = str(report.longrepr or "")
    fault = not report.passed and any(words in text for words in _FAULTS)
    with open(place, "a") as file:
        file.write(json.dumps({"test": report.nodeid, "outcome": outcome, "why": " ".join(why.split())[:400], "fault": fault}) + "\n")
    if report.failed or outcome == "xfailed":
        with open(Path(place).with_name(FAILURES), "a") as file:
            file.write(f"== {report.nodeid}: {outcome}\n{text[-6000:]}\n")
    if fault:
        os._exit(1)


def _page(told: Told, count: int) -> str:
    """As pytest's own summary has it."""
    words = {"failed": "FAILED", "xfailed": "XFAIL", "xpassed": "XPASS", "skipped": "SKIPPED"}
    lines = [f"{words[outcome]} {test} - {why}" for test, (outcome, why) in told.items() if outcome in words]
    counts = Counter(outcome for outcome, _ in told.values())
    lines.append(", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items())) + f", of {count}")
    return "\n".join(lines) + "\n"
