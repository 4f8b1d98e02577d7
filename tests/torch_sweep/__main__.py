"""python tests/torch_sweep [--only REGEX] [--setting N] [--workers N] [--json LOG] [--write [LOG …]]

Compiles the cases and prints what is not right. --write puts the table into docs/torch.md, from what earlier runs logged if logs are given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import sweep_log
from cases import CASES
from sweep_table import write
from sweep_workers import Setting, Told, run


def main() -> None:
    parser = sweep_log.options("python tests/torch_sweep")
    parser.add_argument("--setting", type=int)
    options = parser.parse_args()
    total = sum(map(len, CASES.values()))
    if options.write:
        return write(_in_order(sweep_log.read(options.write)), total)
    settings = [
        (name, text)
        for name, texts in CASES.items()
        if re.search(options.only, name)
        for number, text in enumerate(texts)
        if options.setting in (None, number)
    ]
    found = run(settings, options.workers, sweep_log.teller(options.json))
    print(Counter(kind for kind, _ in found.values()))
    if options.write is not None:
        write(_in_order(found), total)


def _in_order(found: Mapping[Setting, Told]) -> dict[Setting, Told]:
    """What was found of the settings that there are, in the order of the cases."""
    return {(name, text): found[name, text] for name, texts in CASES.items() for text in texts if (name, text) in found}


if __name__ == "__main__":
    main()
