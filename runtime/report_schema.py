"""What a report in a file holds (report.py says what it means). Read when the report is asked for: a program runs without."""

from __future__ import annotations

from typing import Any

from .schema import Schema, each, flag, integer, maybe, number, record, row, table, text

_COUNTS = table(integer(0))
_NUMBERS = (
    *("calls", "reads", "writes", "flops", "cost_ps", "tiles", "grain"),
    *("registers", "spills", "stack", "shared", "occupancy", "blocks", "read", "written"),
    *("moved", "least", "wide", "roofline_ps"),
)
_LIBRARY_NUMBERS = ("calls", "least", "flops", "roofline_ps")
_TEXTS = ("entry", "kind", "kernel", "limit", "bound", "reason", "type", "from", "location", "verdict", "code")


def _anything(value: Any) -> None:
    """Told as it is."""


_OPTIONAL: dict[str, Schema] = {
    **dict.fromkeys(_NUMBERS, number),
    **dict.fromkeys(_TEXTS, text),
    **dict.fromkeys(("grid", "block"), each(integer(0))),
    "ops": _COUNTS,
    "groups": each(text),
}


_UNKNOWN_ON_THE_SIMULATOR: dict[str, Schema] = {
    **dict.fromkeys(("registers", "occupancy", "shared", "moved", "least", "wide", "flops", "roofline_ps", "calls"), maybe(number)),
    **dict.fromkeys(("limit", "bound"), maybe(text)),
    "widths": maybe(table(_COUNTS)),
}


def _rows(required: dict[str, Schema], **other: Schema) -> Schema:
    return each(record(required, {**_OPTIONAL, **other}, more=True))


_NUMBERS_OF_OPS = each(integer(0))

GRAPH = record(
    {
        "ops": each(
            record(
                {"op": text, "type": text, "at": integer(0), "reads": each(integer(0)), "makes": each(integer(0))},
                {"free": flag},
            )
        ),
        "places": each(row(text, text)),
        "values": each(integer(0)),
        "calls": each(
            record(
                {"group": text, "ops": _NUMBERS_OF_OPS, "reads": each(integer(0)), "makes": each(integer(0))},
                {"gone": flag},
            )
        ),
        "hosts": _NUMBERS_OF_OPS,
        "decisions": each(_NUMBERS_OF_OPS),
        "lost": each(integer(0)),
    }
)
"""What compiler/explorer/graph.py tells."""

REPORT = record(
    {},
    {
        "program": table(_anything),
        "memory": table(number),
        "groups": _rows({"name": text}, **{"from": each(text)}),
        "kernels": _rows({"name": text}, **_UNKNOWN_ON_THE_SIMULATOR),
        "libraries": _rows({**dict.fromkeys(("call", "bound", "reason"), text), **dict.fromkeys(_LIBRARY_NUMBERS, number)}),
        "ops": _rows({"op": text, "groups": each(text)}),
        "decisions": _rows({}, figures=table(_anything), ops=_anything),
        "threads": each(record(dict.fromkeys(("threads", "cost_ps", "alone_ps"), number), {}, more=True)),
        "graph": GRAPH,
        "tuning": record({"policy": text}, {"groups": _rows({"name": text}), "trials": _rows({"what": text}, group=text)}, more=True),
        "timing": each(row(text, number)),
    },
)
