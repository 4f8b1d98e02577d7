"""docs/errors.md lists every error class with its code, and nothing else."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r'^class (\w+)\(\w+\):(?:(?!^class ).)*?^    code = "(HL\d+)"', re.MULTILINE | re.DOTALL)


def test_the_table_is_complete():
    defined = {}
    for folder in ("compiler", "dialects", "passes", "runtime", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            for name, code in CODE.findall(path.read_text()):
                assert code not in defined, f"{code} is both {name} and {defined[code]}"
                defined[code] = name
    rows = dict(re.findall(r"^\| (HL\d+) \| (\w+) \|", (ROOT / "docs" / "errors.md").read_text(), re.MULTILINE))
    assert rows == defined
