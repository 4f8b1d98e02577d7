"""python -m tests.op_table [--ops NAMES] [--types NAMES] [--refused]: writes docs/generate/op_table.json.

`python docs/generate` makes a table of it in docs/ops.md.
With names or --refused only those entries are found again. All of it takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

from .finding import TARGETS, entries, find

RIGHT = ["right"] * len(TARGETS)
Table = dict[str, dict[str, list[str]]]
"""What was found of an op and an element type on each target."""
FILE = Path(__file__).parents[2] / "docs" / "generate" / "op_table.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.op_table")
    parser.add_argument("--ops", default="", help="by commas")
    parser.add_argument("--types", default="", help="by commas; f8* is all of eight bits")
    parser.add_argument("--refused", action="store_true", help="find again only what was not right")
    parser.add_argument("--targets", default=",".join(TARGETS), help="by commas")
    parser.add_argument("--disputes", action="store_true", help="tell where an oracle says something else")
    options = parser.parse_args()
    ops, types = (set(names.split(",")) - {""} for names in (options.ops, options.types))
    everything = entries()
    wanted = [
        (name, element)
        for name, element in everything
        if (not ops or name in ops) and (not types or any(fnmatch(element, kind) for kind in types))
    ]
    old = stored()
    if options.refused:
        wanted = [(name, element) for name, element in wanted if old.get(name, {}).get(element) != RIGHT]
    found: Table = {}
    began, done = time.monotonic(), 0

    def tell(entry: tuple[str, str], target: str, what: str, disputed: str) -> None:
        nonlocal done
        done += 1
        name, element = entry
        before = old.get(name, {}).get(element, [""] * len(TARGETS))
        found.setdefault(name, {}).setdefault(element, list(before))[TARGETS.index(target)] = what
        if disputed and options.disputes:
            print(f"{name} of {element}, {target}, is right, but {disputed}", flush=True)
        if what.split(":")[0] in ("wrong", "failed", "crashed", "slow"):
            print(f"{name} of {element}, {target}: {what}", flush=True)
        if done % 100 == 0:
            print(f"{done} of {len(TARGETS) * len(wanted)} after {time.monotonic() - began:.0f} s", flush=True)
            write(found)

    alone = [(name, element) for name, element in wanted if old.get(name, {}).get(element, RIGHT) != RIGHT]
    find(wanted, tell, targets=options.targets.split(","), alone=alone)
    write(found)
    return 0


def write(found: Table) -> None:
    """Puts what was found into the table, a row a line, without entries of which a target is missing."""
    table = stored()
    for name, by_type in found.items():
        table[name] = table.get(name, {}) | {element: both for element, both in by_type.items() if all(both)}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(table[name])}" for name in sorted(table))
    FILE.write_text("{\n" + rows + "\n}\n", encoding="utf-8")


def stored() -> Table:
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}


if __name__ == "__main__":
    sys.exit(main())
