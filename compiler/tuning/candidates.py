"""What else could be decided about the groups that cost most: rules of a policy, those first that the planner priced closest.

Read from a program at the stages fused and tiled: other kernels (a library or not, Winograd or direct, channels first or last, attention or
not), merges that were made or not, and tiles of twice and half the size. A rule names ops by name and shape, with the place where a group
has several of them: what is measured is the rule as it is written, whatever it matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from hloom.passes.common.ops import OPS
from hloom.passes.common.places import place
from hloom.passes.common.rewriting import body_ops, functions, integer, symbol_name
from hloom.passes.fused.planner.decisions import ATTRIBUTE
from hloom.passes.tiled.tiles_told import TILED
from hloom.runtime.suggestions import Op, Rule, flips, match

from ..report import decision_of

_FAR = 0.5
"""A merge is left as it is where the price says that the other way costs so much more, of the time of both."""
_LEAST_TILE = 4


@dataclass(frozen=True)
class Candidate:
    """A rule of a policy, about a group. `before`, `after`: prices in picoseconds of what it is about, 0 where there is none."""

    rule: Rule
    group: str
    what: str
    before: int = 0
    after: int = 0

    @property
    def distance(self) -> float:
        """How much worse the price says it is, as a part of the time that it is about; 0 for what is not priced."""
        return (self.after - self.before) / self.before if self.before else 0.0


@dataclass
class Known:
    """A group: its price, its ops, and its tiles."""

    cost_ps: int
    ops: list[Op]
    tiles: list[int]


def known_groups(fused: ir.Operation) -> dict[str, Known]:
    """The groups of a module at the stage fused."""
    found = {}
    for function in functions(fused):
        if "hloom.kind" in function.attributes:
            ops = list(map(_op, body_ops(function)))
            found[symbol_name(function)] = Known(integer(function, "hloom.cost_ps", 0), ops, [])
    return found


def add_tiles(tiled: ir.Operation, groups: Mapping[str, Known]) -> None:
    """Adds what the stage tiled knows."""
    for function in functions(tiled):
        if TILED in function.attributes and symbol_name(function) in groups:
            groups[symbol_name(function)].tiles = list(ir.DenseI64ArrayAttr(function.attributes[TILED]))


def candidates(module: ir.Operation, groups: Mapping[str, Known]) -> Iterator[Candidate]:
    """Of a module at the stage fused or tiled; `groups`: those that are worth it."""
    for record in module.attributes[ATTRIBUTE] if ATTRIBUTE in module.attributes else ():
        decision = decision_of(ir.DictAttr(record))
        about = next((group for group in decision["groups"] if group in groups), None)
        if about is not None:
            yield from _of_record(decision, about, groups[about])
    for name, known in groups.items():
        yield from _of_tiles(name, known)


def _of_record(decision: Mapping[str, Any], group: str, known: Known) -> Iterator[Candidate]:
    """What changes the decision, with both prices: as it is, and otherwise. Of a record the prices are those of two kernels and of one."""
    figures = decision["figures"]
    two, one = figures.get("t_before_ps", 0), figures.get("t_after_ps", 0)
    for rule in flips(decision, known.ops, lambda location: str(place(location))):
        entries = rule.entries()
        if rule.table == "fuse" and abs(one - two) / max(1, two) >= _FAR:
            continue
        is_joined = entries.get("use") == "library" if rule.table == "kernel" else entries["action"] == "force"
        partner = f" with {entries['with']['op']}" if "with" in entries else f" {entries['shape']}"
        what = f"{entries.get('use') or entries['action']} {entries['op']}{partner}"
        yield Candidate(rule, group, what, *((two, one) if is_joined else (one, two)))


def _of_tiles(name: str, known: Known) -> Iterator[Candidate]:
    """Twice and half of each size."""
    contractions = [op for op in known.ops if (info := OPS.get(f"stablehlo.{op.name}")) and info.kind.contracts]
    reductions = [op for op in known.ops if (info := OPS.get(f"stablehlo.{op.name}")) and info.kind.reduces]
    if not known.ops or not any(known.tiles):
        return
    hero = (contractions or reductions or known.ops)[-1]
    for dimension, size in enumerate(known.tiles):
        for other in (2 * size, size // 2):
            if size and other >= min(size, _LEAST_TILE) and other:
                sizes = (*known.tiles[:dimension], other, *known.tiles[dimension + 1 :])
                rule = Rule("tile", (*match(hero, known.ops), ("sizes", sizes)))
                yield Candidate(rule, name, f"tiles of {list(sizes)} for {list(known.tiles)} around {hero.name}")


def _op(op: ir.Operation) -> Op:
    shape = str(op.results[0].type).removeprefix("tensor<").removesuffix(">")
    return Op(op.name.removeprefix("stablehlo."), shape, str(place(str(op.location))))
