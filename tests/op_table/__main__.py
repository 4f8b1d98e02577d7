"""python -m tests.op_table [--ops NAMES] [--types NAMES] [--refused]: writes docs/generate/op_table.json.

`python docs/generate` makes a table of it in docs/ops.md.
With names or --refused only those entries are found again. All of it takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from .finding import TARGETS, entries, find

FILE = Path(__file__).parents[2] / "docs" / "generate" / "op_table.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.op_table")
    parser.add_argument("--ops", default="", help="by commas")
    parser.add_argument("--types", default="", help="by commas; their beginnings do")
    parser.add_argument("--refused", action="store_true", help="find again only what was not right")
    options = parser.parse_args()
    ops, types = (set(names.split(",")) - {""} for names in (options.ops, options.types))
    everything = entries()
    wanted = [
        (name, element) for name, element in everything if (not ops or name in ops) and (not types or element.startswith(tuple(types)))
    ]
    old = stored() if ops or types or options.refused else {}
    if options.refused:
        wanted = [(name, element) for name, element in wanted if old.get(name, {}).get(element) != ["right"] * len(TARGETS)]
    found = {name: dict(old.get(name, {})) for name in sorted({name for name, _ in everything})}
    began, done = time.monotonic(), 0

    def tell(entry: tuple[str, str], target: str, what: str) -> None:
        nonlocal done
        done += 1
        name, element = entry
        found[name].setdefault(element, [""] * len(TARGETS))[TARGETS.index(target)] = what
        if what.split(":")[0] in ("wrong", "failed", "crashed", "slow"):
            print(f"{name} of {element}, {target}: {what}", flush=True)
        if done % 100 == 0:
            print(f"{done} of {len(TARGETS) * len(wanted)} after {time.monotonic() - began:.0f} s", flush=True)
            write(found)

    find(wanted, tell)
    write(found)
    return 0


def write(found: dict[str, dict[str, list[str]]]) -> None:
    """A row a line, without entries of which a target is missing."""
    whole = {name: {element: both for element, both in by_type.items() if all(both)} for name, by_type in found.items()}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(by_type)}" for name, by_type in whole.items())
    FILE.write_text("{\n" + rows + "\n}\n", encoding="utf-8")


def stored() -> dict[str, dict[str, list[str]]]:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}


if __name__ == "__main__":
    sys.exit(main())
