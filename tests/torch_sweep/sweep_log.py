"""What both sweeps tell while they run, and keep: a line of JSON for each setting."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from sweep_workers import Setting, Told


def options(program: str) -> argparse.ArgumentParser:
    """A parser of the options that both have."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", type=Path, nargs="*")
    return parser


def teller(log: Path | None) -> Callable[[Setting, Told], None]:
    """Prints what is not right, and logs every verdict where there is a log."""
    file = log.open("w") if log else None

    def tell(setting: Setting, told: Told) -> None:
        if file:
            file.write(json.dumps([*setting, *told]) + "\n")
            file.flush()
        if told[0] != "right":
            print(f"{' '.join(setting)}: {told[0]}: {told[1]}", flush=True)

    return tell


def read(logs: Sequence[Path]) -> dict[Setting, Told]:
    """The last verdict on each setting."""
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    return {(name, text): (kind, why) for name, text, kind, why in lines}
