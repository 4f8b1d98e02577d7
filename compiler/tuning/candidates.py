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
from hloom.passes.common.rewriting import functions, integer, ops_in, symbol_name
from hloom.passes.fused.planner.decisions import ATTRIBUTE
from hloom.passes.tiled.tiles_told import TILED

_FAR = 0.5
"""A merge is left as it is where the price says that the other way costs so much more, of the time of both."""
_LEAST_TILE = 4


@dataclass(frozen=True)
class Candidate:
    """A rule of a policy's `table`, about a group. `before`, `after`: prices in picoseconds of what it is about, 0 where there is none."""

    table: str
    entry: tuple[tuple[str, Any], ...]
    group: str
    what: str
    before: int = 0
    after: int = 0

    @property
    def distance(self) -> float:
        """How much worse the price says it is, as a part of the time that it is about; 0 for what is not priced."""
        return (self.after - self.before) / self.before if self.before else 0.0

    def entries(self) -> dict[str, Any]:
        """The rule as a policy's file has it."""
        return {key: dict(value) if key == "with" else list(value) if key == "sizes" else value for key, value in self.entry}


@dataclass
class Known:
    """A group: its price, its ops (name, shape, place), and its tiles."""

    cost_ps: int
    ops: list[tuple[str, str, str]]
    tiles: list[int]


def known_groups(fused: ir.Operation) -> dict[str, Known]:
    """The groups of a module at the stage fused."""
    found = {}
    for function in functions(fused):
        if "hloom.kind" in function.attributes:
            ops = [_op(op.name, str(op.results[0].type), str(op.location)) for op in ops_in(function.regions[0].blocks[0])[:-1]]
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
        told = _plain(ir.DictAttr(record))
        about = next((group for group in told["groups"] if group in groups), None)
        if about is not None:
            yield from _of_record(told, about, groups)
    for name, known in groups.items():
        yield from _of_tiles(name, known)


def _of_record(told: Mapping[str, Any], group: str, groups: Mapping[str, Known]) -> Iterator[Candidate]:
    ops, code, reason = told["ops"], told["code"], told["reason"]
    before, after = told.get("t_before_ps", 0), told.get("t_after_ps", 0)
    if code == "FUSED_ATTENTION":
        dot = next((op for op in groups[group].ops if op[0] == "dot_general"), None)
        if dot is not None:
            yield _kernel(dot, "apart", group, after, before)
        return
    if not ops:
        return
    first = _op(*ops[0])
    if code == "KERNEL_CHOSEN":
        for use in _other_kernels(first, reason, bool(before)):
            yield _kernel(first, use, group, *((before, after) if use == "library" else (after, before)))
        return
    if len(ops) < 2 or not before:
        return
    near = abs(after - before) / max(1, before) < _FAR
    if told["verdict"] == "fused" and near:
        action, prices = "once" if code == "FUSED_DUPLICATED" else "forbid", (after, before)
    elif code in ("NO_GAIN", "RECOMPUTE_TOO_HIGH") and near:
        action, prices = "force", (before, after)
    else:
        return
    second = _op(*ops[1])
    entry = (*_match(first, groups[group]), ("with", _match(second, groups[group])), ("action", action))
    yield Candidate("fuse", entry, group, f"{action} {first[0]} with {second[0]}", *prices)


def _other_kernels(op: tuple[str, str, str], reason: str, priced: bool) -> Iterator[str]:
    """What else could compute a contraction than what was chosen for that reason."""
    if op[0] == "convolution":
        if reason.startswith("Winograd"):
            yield "direct"
        yield "channels_last" if reason.startswith("channels first") else "channels_first"
    elif priced:
        yield "generated" if not reason.startswith("generated") else "library"


def _kernel(op: tuple[str, str, str], use: str, group: str, before: int, after: int) -> Candidate:
    return Candidate("kernel", (("op", op[0]), ("shape", op[1]), ("use", use)), group, f"{use} {op[0]} {op[1]}", before, after)


def _of_tiles(name: str, known: Known) -> Iterator[Candidate]:
    """Twice and half of each size."""
    contractions = [op for op in known.ops if OPS.get(f"stablehlo.{op[0]}") and OPS[f"stablehlo.{op[0]}"].kind.contracts]
    reductions = [op for op in known.ops if OPS.get(f"stablehlo.{op[0]}") and OPS[f"stablehlo.{op[0]}"].kind.reduces]
    if not known.ops or not any(known.tiles):
        return
    hero = (contractions or reductions or known.ops)[-1]
    for dimension, size in enumerate(known.tiles):
        for other in (2 * size, size // 2):
            if size and other >= min(size, _LEAST_TILE) and other:
                sizes = (*known.tiles[:dimension], other, *known.tiles[dimension + 1 :])
                entry = (*_match(hero, known), ("sizes", sizes))
                yield Candidate("tile", entry, name, f"tiles of {list(sizes)} for {list(known.tiles)} around {hero[0]}")


def _match(op: tuple[str, str, str], group: Known) -> tuple[tuple[str, str], ...]:
    """The keys that name the op; its place where its group has several of its name and shape."""
    name, shape, where = op
    alike = [each for each in group.ops if each[:2] == op[:2]]
    located = len(alike) > 1 and where != "unknown"
    return (("op", name), ("shape", shape), *((("loc", _glob(where)),) if located else ()))


def _glob(text: str) -> str:
    """A glob that matches the text alone."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


def _op(name: str, kind: str, location: str) -> tuple[str, str, str]:
    return name.removeprefix("stablehlo."), kind.removeprefix("tensor<").removesuffix(">"), str(place(location))


def _plain(record: ir.DictAttr) -> dict[str, Any]:
    found: dict[str, Any] = {entry.name: entry.attr for entry in record}
    for key in ("code", "verdict", "reason"):
        found[key] = ir.StringAttr(found[key]).value
    found["groups"] = [ir.FlatSymbolRefAttr(name).value for name in found["groups"]]
    texts = [[ir.StringAttr(ir.DictAttr(op)[key]).value for key in ("name", "type", "loc")] for op in found["ops"]]
    found["ops"] = texts
    for key in ("t_before_ps", "t_after_ps"):
        found[key] = ir.IntegerAttr(found[key]).value if key in found else 0
    return found
