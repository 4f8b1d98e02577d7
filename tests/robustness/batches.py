"""Batches of mutants, each in a process of its own: `failures(kind, first, last)`; `python batches.py KIND FIRST LAST` prints them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

STEP = {"file-cpu": 10_000, "file-cuda": 10_000}
"""Mutants of a process of a long run, 1000 of other kinds: its memory grows."""
WORKER = Path(__file__).with_name("worker.py")


def failures(kind: str, first: int, last: int, outcomes: Counter[str] | None = None) -> list[str]:
    """What went wrong with mutants first…last-1: each with the number of the mutant, how the process ended, and what it said.

    `outcomes` is given how often each outcome was there.
    """
    found = []
    while first < last:
        done = subprocess.run([sys.executable, str(WORKER), kind, str(first), str(last)], capture_output=True, text=True, errors="replace")
        begun = re.findall(r"^begin (\d+)", done.stdout, re.MULTILINE)
        ended = re.findall(r"^end (\d+)", done.stdout, re.MULTILINE)
        if outcomes is not None:
            outcomes.update(re.findall(r"^end \d+ (.*)", done.stdout, re.MULTILINE))
        if done.returncode == 0 and len(ended) == last - first:
            break
        culprit = int(begun[-1]) if begun else first
        found.append(f"{kind} {culprit}: exit status {done.returncode}\n{done.stderr[-4000:]}")
        first = culprit + 1
    return found


if __name__ == "__main__":
    kind, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    tally: Counter[str] = Counter()
    step = STEP.get(kind, 1000)
    for start in range(first, last, step):
        for failure in failures(kind, start, min(start + step, last), tally):
            print(failure, flush=True)
            tally["failed"] += 1
        print(f"{kind} {first} to {min(start + step, last)}: {dict(tally.most_common())}", flush=True)
