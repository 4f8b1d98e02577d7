"""The rules of a policy (docs/policy.md) that would change a decision of the planner, from the records that a report has of it.

    NO_GAIN            multiply, reduce    [[fuse]]   op = "multiply", with = {op = "reduce", …}, action = "force"
    FUSED_VERTICAL     exponential, add    [[fuse]]   …, action = "forbid"
    FUSED_DUPLICATED                       [[fuse]]   …, action = "once"
    FUSED_ATTENTION                        [[kernel]] op = "dot_general", …, use = "apart"
    KERNEL_CHOSEN      dot, convolution    [[kernel]] …, use = "library", "generated", "direct", "channels_first" or "channels_last"

No rule changes what legality decided: such records have none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .figures import time, with_times

_PRICED = ("NO_GAIN", "RECOMPUTE_TOO_HIGH")
"""Declined by price alone."""


class Op(NamedTuple):
    """As rules name it: the name without the dialect, the type of its first result without `tensor<>`, the place as reports print it."""

    name: str
    shape: str
    where: str


@dataclass(frozen=True)
class Rule:
    """An entry of a policy's table."""

    table: str
    entry: tuple[tuple[str, Any], ...]

    def entries(self) -> dict[str, Any]:
        """As a dictionary of a policy has it."""
        return {key: dict(value) if key == "with" else list(value) if key == "sizes" else value for key, value in self.entry}

    def toml(self) -> str:
        """As a policy's file has it."""
        return "\n".join([f"[[{self.table}]]", *(f"{key} = {toml(value)}" for key, value in self.entries().items())])


def flips(decision: Mapping[str, Any], group: Sequence[Op], place: Callable[[str], str], always_placed: bool = False) -> Iterator[Rule]:
    """The rules that ask for the opposite of a report's decision. `group`: the ops of its group, `place`: how reports print a location.

    A rule names ops by name and shape, and by their place where the group has several alike; with `always_placed` by any that they have.
    """
    code, ops = decision["code"], [_op(op, place) for op in decision["ops"]]
    if code == "FUSED_ATTENTION":
        dots = [op for op in group if op.name == "dot_general"]
        yield from (Rule("kernel", (*match(dot, group, always_placed), ("use", "apart"))) for dot in dots[:1])
    elif code == "KERNEL_CHOSEN" and ops:
        for use in _other_kernels(ops[0], str(decision["reason"]), "t_before_ps" in decision["figures"]):
            yield Rule("kernel", (*match(ops[0], group, always_placed), ("use", use)))
    elif len(ops) > 1 and (action := _action(decision)):
        second = match(ops[1], group, always_placed)
        yield Rule("fuse", (*match(ops[0], group, always_placed), ("with", second), ("action", action)))


def _action(decision: Mapping[str, Any]) -> str:
    """The action that changes a merge; empty where no price decided it."""
    if not decision["figures"].get("t_before_ps") or decision["figures"].get("policy_rule"):
        return ""
    if decision["verdict"] == "fused":
        return "once" if decision["code"] == "FUSED_DUPLICATED" else "forbid"
    return "force" if decision["code"] in _PRICED else ""


def _other_kernels(op: Op, reason: str, priced: bool) -> Iterator[str]:
    """What else could compute a contraction than what was chosen for that reason."""
    if op.name == "convolution":
        if reason.startswith("Winograd"):
            yield "direct"
        yield "channels_last" if reason.startswith("channels first") else "channels_first"
    elif priced:
        yield "generated" if not reason.startswith("generated") else "library"


def match(op: Op, group: Sequence[Op], always_placed: bool = False) -> tuple[tuple[str, str], ...]:
    """The keys that name the op."""
    alike = [each for each in group if each[:2] == op[:2]]
    placed = op.where != "unknown" and (always_placed or len(alike) > 1)
    return (("op", op.name), ("shape", op.shape), *((("loc", _glob(op.where)),) if placed else ()))


def suggestions(data: Mapping[str, Any]) -> dict[int, Rule]:
    """Of a report's data, by the number of the decision: the rule that changes it, where one could. Of a damaged report what is whole."""
    rows = [row for row in data.get("ops", ()) if {"location", "groups", "op"} <= set(row)]
    places = {row["location"]: row["from"] for row in rows if "from" in row}
    groups: dict[str, list[Op]] = {}
    for row in rows:
        for group in row["groups"]:
            groups.setdefault(group, []).append(Op(row["op"], row.get("type", ""), row.get("from", "unknown")))
    found = {}
    for number, decision in enumerate(data.get("decisions", ())):
        if not _is_whole(decision):
            continue
        inside = [op for group in decision["groups"][:1] for op in groups.get(group, ())]
        rule = next(flips(decision, inside, lambda location: places.get(_bare(location), "unknown"), always_placed=True), None)
        if rule is not None:
            found[number] = rule
    return found


def _is_whole(decision: Mapping[str, Any]) -> bool:
    known = {"code", "verdict", "groups", "ops", "reason", "figures"} <= set(decision)
    return known and all({"name", "type", "loc"} <= set(op) for op in decision["ops"])


def suggestions_text(data: Mapping[str, Any], about: str = "") -> str:
    """A policy's file with the rules that change decisions, the dearest first, each below what was decided and why. `about`: words that the
    record or the rule must hold."""
    decisions, told = data.get("decisions", ()), []
    rules = suggestions(data)
    for number in sorted(rules, key=lambda each: -abs(decisions[each]["figures"].get("gain_ps", 0))):
        decision = decisions[number]
        figures = decision["figures"]
        told_prices = rules[number].table == "fuse" and figures.get("t_before_ps")
        prices = f"; {time(figures['t_before_ps'])} apart, {time(figures['t_after_ps'])} as one" if told_prices else ""
        lines = [f"# {decision['code']} in {' '.join(decision['groups'])}: {with_times(decision['reason'])}{prices}", rules[number].toml()]
        if all(word in "\n".join(lines).lower() for word in about.lower().split()):
            told.append("\n".join(lines))
    return "\n\n".join(told) + "\n" if told else ""


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)  # texts, numbers, flags and lists of them are written alike


def _op(op: Mapping[str, str], place: Callable[[str], str]) -> Op:
    shape = op["type"].removeprefix("tensor<").removesuffix(">")
    return Op(op["name"].removeprefix("stablehlo."), shape, place(op["loc"]))


def _bare(location: str) -> str:
    return location.removeprefix("loc(").removesuffix(")")


def _glob(text: str) -> str:
    """A glob that matches the text alone."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)
