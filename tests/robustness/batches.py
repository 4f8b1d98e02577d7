"""Batches of mutants, each in a process of its own: `failures(kind, first, last)`; `python batches.py KIND FIRST LAST` prints them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")


def failures(kind: str, first: int, last: int) -> list[str]:
    """What went wrong with mutants first…last-1: each with the number of the mutant, how the process ended, and what it said."""
    found = []
    while first < last:
        done = subprocess.run([sys.executable, str(WORKER), kind, str(first), str(last)], capture_output=True, text=True, errors="replace")
        begun = re.findall(r"^begin (\d+)", done.stdout, re.MULTILINE)
        ended = re.findall(r"^end (\d+)", done.stdout, re.MULTILINE)
        if done.returncode == 0 and len(ended) == last - first:
            break
        culprit = int(begun[-1]) if begun else first
        found.append(f"{kind} {culprit}: exit status {done.returncode}\n{done.stderr[-4000:]}")
        first = culprit + 1
    return found


if __name__ == "__main__":
    for failure in failures(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])):
        print(failure, flush=True)
