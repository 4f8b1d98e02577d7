"""What two reports tell differently: `hloom-explain --diff=old.json`.

    price of a call      8.77 ms → 9.62 ms  +9.7%
    groups               12 → 14  +16.7%
    …
    groups that are new, gone, or priced otherwise; decisions that are new or gone

Groups have numbers for names, which any change may move: they are told apart by their kind, their ops and where these come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import figures

_LEAST = 0.01
"""A price that changed by less is told as unchanged."""
_MEMORY = ("arena", "constants", "bound", "packed", "code")

Data = Mapping[str, Any]
Key = tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A figure of the whole program."""

    name: str
    before: float
    after: float

    @property
    def growth(self) -> float:
        """As a part of what it was; infinite where nothing became something."""
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / self.before if self.before else float("inf")

    def row(self) -> list[str]:
        tell = figures.time if self.name == "price" else figures.count if self.name in ("groups", "launches") else figures.size
        grown = "" if self.before == self.after else "new" if not self.before else f"{self.growth:+.1%}"
        return [self.name, tell(self.before), tell(self.after), grown]


def changes(old: Data, new: Data) -> list[Change]:
    """Of the figures that tell a program's cost: price of a call (ps), groups, launches a call, bytes of each kind of memory."""
    before, after = _totals(old), _totals(new)
    return [Change(name, before[name], after[name]) for name in after if before[name] or after[name]]


def diff_text(old: Data, new: Data) -> str:
    """Aligned tables."""
    lines = figures.aligned([["", "before", "after", ""], *(change.row() for change in changes(old, new))])
    before, after = _groups(old), _groups(new)
    rows = [["new", *_group_row(after[key])] for key in after if key not in before]
    rows += [["gone", *_group_row(before[key])] for key in before if key not in after]
    for key in after:
        if key in before and _differ(before[key]["price"], after[key]["price"]):
            rows.append(["priced", f"{figures.time(before[key]['price'])} →", *_group_row(after[key])[1:]])
    lines += _section("groups", ["", "priced", "kind", "ops", "from"], rows)
    decided = [_decisions(data) for data in (old, new)]
    rows = [["new", *key] for key in (decided[1] - decided[0])]
    rows += [["gone", *key] for key in (decided[0] - decided[1])]
    lines += _section("decisions", ["", "code", "ops", "from"], rows)
    return "\n".join(lines) + "\n"


def _totals(data: Data) -> dict[str, float]:
    main = [group for group in data.get("groups", ()) if group.get("entry", "main") == "main"]
    memory = data.get("memory", {})
    return {
        "price": sum(group.get("calls", 1) * group.get("cost_ps", 0) for group in main),
        "groups": len(main),
        "launches": sum(group.get("calls", 1) for group in main),
        **{f"memory: {name}": memory.get(name, 0) for name in _MEMORY},
    }


def _groups(data: Data) -> dict[Key, dict[str, Any]]:
    """By what tells a group apart: its price of all calls."""
    found: dict[Key, dict[str, Any]] = {}
    for group in data.get("groups", ()):
        ops = " ".join(f"{name}×{count}" if count > 1 else name for name, count in sorted(group.get("ops", {}).items()))
        key = (group.get("entry", "main"), group.get("kind", ""), ops, " … ".join(group.get("from", [])[:1]))
        row = found.setdefault(key, {"price": 0, "key": key})
        row["price"] += group.get("calls", 1) * group.get("cost_ps", 0)
    return found


def _group_row(group: Mapping[str, Any]) -> list[str]:
    _, kind, ops, origin = group["key"]
    return [figures.time(group["price"]), kind, ops, origin]


def _differ(before: float, after: float) -> bool:
    return abs(after - before) > _LEAST * max(before, after)


def _decisions(data: Data) -> Counter[Key]:
    places = {row.get("location"): row.get("from", "") for row in data.get("ops", ())}
    found: Counter[Key] = Counter()
    for decision in data.get("decisions", ()):
        ops = decision.get("ops") or []
        if ops:
            origin = places.get(ops[0]["loc"].removeprefix("loc(").removesuffix(")"), "")
            found[decision["code"], ", ".join(_named(ops)), origin] += 1
    return found


def _named(ops: Iterable[Mapping[str, str]]) -> Iterator[str]:
    for op in ops:
        yield f"{op['name'].removeprefix('stablehlo.')} {op['type'].removeprefix('tensor<').removesuffix('>')}".strip()


def _section(title: str, header: list[str], rows: list[list[str]]) -> list[str]:
    return ["", f"{title} ({len(rows)})", *figures.aligned([header, *rows])] if rows else []
