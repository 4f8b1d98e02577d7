"""What makes hloom-explain fail, for CI: `--fail-on=spills,NO_GAIN`, with `--diff` also `--fail-on=price:5,groups`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hloom.passes.errors import PipelineError
from hloom.passes.fused.planner.codes import DecisionCode
from hloom.passes.fused.planner.rules import all_rules
from hloom.runtime.report_diff import Change, changes

SPILLS = "spills"
_GROWS = ("price", "groups", "launches", "memory")
_GROWTH = re.compile(rf"({'|'.join(_GROWS)})(?::(\d+(?:\.\d+)?)%?)?")
_LEAST = 1.0
"""Percent by which a figure may grow where the condition does not say."""

HELP = (
    f"exit 1 where a condition holds: the code of a decision, {SPILLS} (a GPU's registers), "
    f"or with --diff what grew by more than PERCENT (1): "
    f"{', '.join(f'{each}[:PERCENT]' for each in _GROWS)}"
)


def failures(conditions: str, data: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[str]:
    """What holds of a report's data, told. Raises PipelineError for what is no condition."""
    for condition in filter(None, map(str.strip, conditions.split(","))):
        if condition == SPILLS:
            yield from (f"{row['name']} spills {row['spills']} bytes" for row in data.get("kernels", ()) if row.get("spills"))
        elif growth := _GROWTH.fullmatch(condition):
            if old is None:
                raise PipelineError(f"--fail-on={condition} compares two compiles", remedy="add --diff=old.json")
            least = float(growth[2] or _LEAST)
            grown = [change for change in changes(old, data) if change.name.startswith(growth[1])]
            yield from (_told(change) for change in grown if 100 * change.growth > least)
        elif condition in _codes():
            told = [decision for decision in data.get("decisions", ()) if decision["code"] == condition]
            yield from (f"{condition} in {' '.join(decision['groups'])}: {decision['reason']}" for decision in told)
        else:
            remedy = f"give the code of a decision (docs/fusion.md), {SPILLS}, {', '.join(_GROWS[:-1])} or {_GROWS[-1]}"
            raise PipelineError(f"--fail-on={condition}: no such condition", remedy=remedy)


def _told(change: Change) -> str:
    name, before, after, grown = change.row()
    return f"{name} grew from {before} to {after} ({grown})"


def _codes() -> set[str]:
    all_rules()  # imports the rules, which may have codes of their own
    return {code.name for codes in DecisionCode.__subclasses__() for code in codes}
