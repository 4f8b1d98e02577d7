"""python docs/generate: writes what the code says into docs/: dialects.md, ops.md, passes.md and the table of codes in fusion.md.

--check writes nothing, names the pages that are not as the code says, and exits with 1 if there are any.
"""

from __future__ import annotations

import sys
from pathlib import Path

import codes_table
import ops

import dialects
import passes

DOCS = Path(__file__).parent.parent


def main() -> int:
    pages = {
        "dialects.md": dialects.text(),
        "ops.md": ops.text(),
        "passes.md": passes.text(),
        "fusion.md": codes_table.text(DOCS / "fusion.md"),
    }
    old = [name for name, text in pages.items() if not (DOCS / name).is_file() or (DOCS / name).read_text(encoding="utf-8") != text]
    for name in old:
        print(f"docs/{name} {'is not as the code says: run python docs/generate' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            (DOCS / name).write_text(pages[name], encoding="utf-8")
    return int("--check" in sys.argv and bool(old))


if __name__ == "__main__":
    sys.exit(main())
