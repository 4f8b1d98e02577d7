"""The rules of a policy: which ops each is about, and what it asks for.

A rule matches an op if all its keys do, each a glob:

    op      the op's name without its dialect                       loc     where it comes from, as hloom-explain prints it
    module  the scope around it: a torch module's path, JAX's names kind    elementwise, reduce, matmul, conv, … (passes/common/ops.py)
    shape   the type of its first result: 24x8xf32
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from torch_mlir import ir

from ...common.ops import OPS, Kind
from ...common.places import place
from .records import Op

UNORDERED = "unordered"
DIRECT = "direct"
FIRST, LAST = "channels_first", "channels_last"
APART = "apart"
USES = ("library", "generated", UNORDERED, DIRECT, FIRST, LAST, APART, "cost")
KERNEL, HOST = "kernel", "host"
BEFORE, INSIDE = "before", "inside"
FORCE, FORBID, GROUP, DUPLICATE, ONCE, LAUNCH, ALONE = ACTIONS = ("force", "forbid", "group", "duplicate", "once", "launch", "alone")

AnyOp: TypeAlias = Op | ir.Operation
_KEYS = ("op", "loc", "module", "kind", "shape")
_ALWAYS = ("use", "action", "unroll")
"""What a rule says also where it says what it would say anyway."""
_NEAR = 2
"""So many ops are named that a rule nearly matches."""


@dataclass(frozen=True)
class Match:
    """Globs over an op; raises ValueError where one is no text."""

    op: str = "*"
    loc: str = "*"
    module: str = "*"
    kind: str = "*"
    shape: str = "*"

    def __post_init__(self) -> None:
        for key in _KEYS:
            if not isinstance(getattr(self, key), str):
                raise ValueError(f"{key} is a string, not {getattr(self, key)!r}")

    def matches(self, op: AnyOp) -> bool:
        """Whether the op, in a module or as the planner reads it, is one that the rule is about."""
        return not any(True for _ in self._unlike(op))

    def _unlike(self, op: AnyOp) -> Iterator[str]:
        """The keys that do not match."""
        for key in _KEYS:
            glob = getattr(self, key)
            if glob != "*" and not any(fnmatchcase(text, glob) for text in texts(op, key)):
                yield key

    def near_misses(self, ops: Iterable[AnyOp]) -> str:
        """The ops that it nearly matches, and in what they differ; empty where there are none."""
        distinct: dict[tuple[str, ...], tuple[int, float, str]] = {}
        for op in ops:
            wrong = list(self._unlike(op))
            values = tuple(texts(op, key)[0] for key in wrong)
            told = f"{texts(op, 'op')[0]} at {texts(op, 'loc')[0]}, whose {' and '.join(f'{k} is {v!r}' for k, v in zip(wrong, values))}"
            if wrong and values not in distinct:
                alike = sum(SequenceMatcher(None, getattr(self, key), value).ratio() for key, value in zip(wrong, values))
                distinct[values] = (len(wrong), -alike, told)
        nearest = sorted(distinct.values())[:_NEAR]
        return f"; near: {'; '.join(told for *_, told in nearest)}" if nearest else ""

    def entries(self) -> dict[str, Any]:
        """What a file must say for it."""
        said = {}
        for each in fields(self):
            value, plain = getattr(self, each.name), each.name in _ALWAYS
            if value is not None and (plain or value != each.default):
                said[each.metadata.get("key", each.name)] = value.entries() if isinstance(value, Match) else value
        return {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}

    def __str__(self) -> str:
        return ", ".join(f"{key} = {value!r}" for key, value in self.entries().items())


def texts(op: AnyOp, key: str) -> tuple[str, ...]:
    """What a glob over that key of an op may match: any of these."""
    where = str(op.location) if isinstance(op, ir.Operation) else op.loc
    if key == "op":
        return (op.name.removeprefix("stablehlo."),)
    if key == "loc":
        return str(place(where)), where.removeprefix("loc(").removesuffix(")")
    if key == "module":
        return (place(where).scope.rpartition("/")[0],)
    if isinstance(op, Op):
        return (op.kind.label if key == "kind" else op.type.removeprefix("tensor<").removesuffix(">"),)
    if key == "kind":
        return ((OPS[op.name].kind if op.name in OPS else Kind.CONTROL).label,)
    return (str(op.results[0].type).removeprefix("tensor<").removesuffix(">") if len(op.results) else "",)


def _one_of(key: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{key} is {', '.join(known[:-1])} or {known[-1]}, not {value!r}")


@dataclass(frozen=True)
class KernelRule(Match):
    """The kernel of the ops that it matches. `require`: what cannot be is an error. Raises ValueError on a `use` that there is not."""

    use: str = "cost"
    require: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.use, str):
            raise ValueError(f"use is a string, not {self.use!r}")
        _one_of("use", self.use, USES)


@dataclass(frozen=True)
class FuseRule(Match):
    """Which kernels become one, of the ops that it matches and those that `partner` does (the key `with`)."""

    partner: Match = field(default=Match(), metadata={"key": "with"})
    action: str = FORCE
    require: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("action", self.action, ACTIONS)

    @property
    def second(self) -> Match:
        return self if self.action == GROUP else self.partner


@dataclass(frozen=True)
class TileRule(Match):
    """The tiles of the groups whose hero (contraction, else last reduction, else last op) it matches: a size for each dimension of the
    group's first result, 0 for the whole dimension. Of a product on a GPU how many rows of tiles blocks go through together, and
    whether a warp fetches for the others, and for two blocks in a cluster."""

    sizes: tuple[int, ...] = ()
    rows_together: int = 0
    producer: bool | None = None
    cluster: bool | None = None
    require: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.rows_together) is not int or self.rows_together < 0:
            raise ValueError(f"rows_together is a number, not {self.rows_together!r}")
        sizes = self.sizes
        if sizes == () and self.blocks:
            return
        if not isinstance(sizes, tuple) or not sizes or any(type(size) is not int or size < 0 for size in sizes):
            raise ValueError(f"sizes is a list of numbers, not {list(sizes) if isinstance(sizes, tuple) else sizes!r}")

    @property
    def blocks(self) -> dict[str, int]:
        """What it asks of a GPU's blocks, by the names of its keys."""
        asked = {"rows_together": self.rows_together or None, "producer": self.producer, "cluster": self.cluster}
        return {name: int(value) for name, value in asked.items() if value is not None}


@dataclass(frozen=True)
class LoopRule(Match):
    """Whether the loops that it matches become straight code (those whose trips are known), where they turn: in a kernel, or in the
    host program, and where their products of rows that are known before are multiplied. `trips`: "8", or from "4-16". Without these keys,
    straight code is asked for."""

    op: str = "while"
    trips: str = "*"
    unroll: bool | None = None
    turns_in: str = "cost"
    products: str = "cost"
    require: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("turns_in", self.turns_in, (KERNEL, HOST, "cost"))
        _one_of("products", self.products, (BEFORE, INSIDE, "cost"))
        if self.unroll is None and self.turns_in == self.products == "cost":
            object.__setattr__(self, "unroll", True)
        low, _, high = str(self.trips).partition("-")
        if self.trips != "*" and not (low.isdigit() and (high or low).isdigit()):
            raise ValueError(f"trips is a number or from one to another, such as 4-16, not {self.trips!r}")

    def turns(self, trips: int | None) -> bool:
        """Whether a loop of so many trips, or of a number that is not known, is one that it is about."""
        if self.trips == "*":
            return True
        low, _, high = self.trips.partition("-")
        return trips is not None and int(low) <= trips <= int(high or low)


Rule: TypeAlias = KernelRule | FuseRule | TileRule | LoopRule
