"""python tests/torch_sweep/opinfo.py [--only REGEX] [--share N] [--types NAME] [--first] [--workers N] [--json LOG] [--write [LOG …]]

Runs samples of torch's database of operators (opinfo_verdict.py) and prints what is not right. --share takes every Nth operator, --types
samples of one type, --first the first sample of each. --write puts the table into docs/torch.md, from what earlier runs logged if logs are
given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import sweep_log
from opinfo_verdict import operators, settings_of
from sweep_table import replace
from sweep_workers import Setting, Told, run

BEGIN, END = "<!-- the operators' table: written by tests/torch_sweep/opinfo.py -->", "<!-- the end of the operators' table -->"


def main() -> None:
    parser = sweep_log.options("python tests/torch_sweep/opinfo.py")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--types", default="")
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    if options.write:
        return replace(table(sweep_log.read(options.write)), BEGIN, END)
    settings = chosen(options.only, options.share, options.types, options.first)
    found = run(settings, options.workers, sweep_log.teller(options.json), "opinfo_verdict")
    print(Counter(kind for kind, _ in found.values()))
    if options.write is not None:
        replace(table(found), BEGIN, END)


def chosen(only: str = "", share: int = 1, types: str = "", first: bool = False) -> list[Setting]:
    names = [name for name in operators() if re.search(only, name)][::share]
    return [setting for name in names for setting in settings_of(name, types, first)]


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


if __name__ == "__main__":
    main()
