"""python tests/torch_sweep [--only REGEX] [--setting N] [--workers N] [--json LOG] [--write [LOG …]]

Compiles the cases and prints what is not right. --write puts the table into docs/torch.md, from what earlier runs logged if logs are given.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from cases import CASES
from sweep_table import write
from sweep_workers import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python tests/torch_sweep")
    parser.add_argument("--only", default="")
    parser.add_argument("--setting", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", type=Path, nargs="*")
    options = parser.parse_args()
    if options.write:
        return write(_logged(options.write), sum(map(len, CASES.values())))
    settings = [
        (name, text)
        for name, texts in CASES.items()
        if re.search(options.only, name)
        for number, text in enumerate(texts)
        if options.setting in (None, number)
    ]
    log = options.json.open("w") if options.json else None

    def tell(setting, told):
        kind, why = told
        if log:
            log.write(json.dumps([*setting, kind, why]) + "\n")
            log.flush()
        if kind != "right":
            print(f"{setting[0]}{setting[1]}: {kind}: {why}", flush=True)

    found = run(settings, options.workers, tell)
    print(Counter(kind for kind, _ in found.values()))
    if options.write is not None:
        write({setting: found[setting] for setting in settings}, sum(map(len, CASES.values())))


def _logged(logs):
    """The last verdict on each setting that there still is, in the order of the cases."""
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    last = {(name, text): (kind, why) for name, text, kind, why in lines}
    return {(name, text): last[name, text] for name, texts in CASES.items() for text in texts if (name, text) in last}


if __name__ == "__main__":
    main()
