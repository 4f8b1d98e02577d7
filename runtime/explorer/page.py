"""The explorer: one HTML page that holds a report, the program that shows it (explorer.js, built from tools/explorer) and tables for who
runs no scripts. It asks the network for nothing, and its content policy forbids that it could.

Texts (IR by stage, machine code) are compressed a group at a time, and unpacked when they are looked at.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
_STYLE = (
    "body{font:14px/1.4 system-ui,sans-serif;margin:0}#tables{padding:1em;max-width:90em}table{border-collapse:collapse}"
    "td,th{padding:2px 10px 2px 0;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 1em}dt{font-weight:600}dd{margin:0}"
)

Section = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A title, the names of columns, and rows."""


def page(
    data: Mapping[str, Any], texts: Mapping[str, Mapping[str, str]], facts: Sequence[tuple[str, str]], sections: Iterable[Section]
) -> str:
    """`data` is what the page's program reads; `facts` and `sections` what stands in its tables."""
    title = _escape(data.get("program", {}).get("name", "program"))
    packed = {group: _packed(stages) for group, stages in texts.items()}
    parts = [
        f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title} · hloom</title>",
        f'<meta http-equiv=Content-Security-Policy content="{_POLICY}"><style>{_STYLE}</style>',
        f"<div id=app></div><div id=tables><h1>{title}</h1>",
        f"<dl>{''.join(f'<dt>{_escape(key)}</dt><dd>{_escape(value)}</dd>' for key, value in facts)}</dl>",
    ]
    for name, header, rows in sections:
        body = "".join(_row(row) for row in rows)
        parts.append(f"<h2>{_escape(name)} ({len(rows)})</h2><table>{_row(header, 'th')}{body}</table>")
    script = resources.files("hloom.runtime.explorer").joinpath("explorer.js").read_text(encoding="utf-8")
    parts += ["</div>", _data("report", data), _data("texts", packed), f"<script>{script}</script>"]
    return "\n".join(parts) + "</html>\n"


def _data(name: str, value: Any) -> str:
    """JSON in which no text can end the element that holds it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id={name}>{text}</script>'


def _packed(stages: Mapping[str, str]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(stages).encode(), 9)).decode()


def _row(cells: Sequence[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{_escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _escape(value: Any) -> str:
    return html.escape(str(value))
