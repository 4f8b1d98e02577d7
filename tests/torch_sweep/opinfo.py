"""python tests/torch_sweep/opinfo.py [--only REGEX] [--share N] [--types NAME] [--first] [--workers N] [--json LOG] [--write [LOG …]]

Runs samples of torch's database of operators (opinfo_verdict.py) and prints what is not right. --share takes every Nth operator, --types
samples of one type, --first the first sample of each. --write puts the table into docs/torch.md, from what earlier runs logged if logs are
given.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from opinfo_verdict import operators, settings_of
from sweep_table import DOCS
from sweep_workers import Setting, Told, run

BEGIN, END = "<!-- the operators' table: written by tests/torch_sweep/opinfo.py -->", "<!-- the end of the operators' table -->"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python tests/torch_sweep/opinfo.py")
    parser.add_argument("--only", default="")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--types", default="")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", type=Path, nargs="*")
    options = parser.parse_args()
    if options.write:
        return write(_logged(options.write))
    log = options.json.open("w") if options.json else None

    def tell(setting: Setting, told: Told) -> None:
        if log:
            log.write(json.dumps([*setting, *told]) + "\n")
            log.flush()
        if told[0] != "right":
            print(f"{' '.join(setting)}: {told[0]}: {told[1]}", flush=True)

    found = run(chosen(options.only, options.share, options.types, options.first), options.workers, tell, "opinfo_verdict")
    print(Counter(kind for kind, _ in found.values()))
    if options.write is not None:
        write(found)


def chosen(only: str = "", share: int = 1, types: str = "", first: bool = False) -> list[Setting]:
    names = [name for name in operators() if re.search(only, name)][::share]
    return [setting for name in names for setting in settings_of(name, types, first)]


def _logged(logs: list[Path]) -> dict[Setting, Told]:
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    return {(name, text): (kind, why) for name, text, kind, why in lines}


def table(found: Mapping[Setting, Told]) -> str:
    kinds = Counter(kind for kind, _ in found.values())
    count = len({name for name, _ in found})
    lines = [
        BEGIN,
        f"Of {len(found)} samples of {count} operators {kinds['right']} are right, {kinds['refused']} refused by name,",
        f"{kinds['wrong']} wrong; {kinds['torch'] + kinds['invalid']} torch's own backend `aot_eager` does not do like eager.",
        "",
        "| refused op | samples of |",
        "|---|---|",
    ]
    ops = Counter(why for kind, why in found.values() if kind == "refused")
    for op, _ in ops.most_common():
        askers = dict.fromkeys(name for (name, _), told in found.items() if told == ("refused", op))
        lines.append(f"| {op} | {', '.join(askers)} |")
    wrong = [f"`{name}`, {text}: {why}" for (name, text), (kind, why) in found.items() if kind == "wrong"]
    lines += ["", "Wrong:", "", *(f"- {each}" for each in wrong)] if wrong else []
    return "\n".join([*lines, END])


def write(found: Mapping[Setting, Told]) -> None:
    """Puts the table in place of the one that is in docs/torch.md."""
    text = DOCS.read_text()
    start, end = text.index(BEGIN), text.index(END) + len(END)
    DOCS.write_text(text[:start] + table(found) + text[end:])


if __name__ == "__main__":
    main()
