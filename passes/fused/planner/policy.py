"""What a person asks of the planner: a file or a `hloom.Policy`, which the module carries beside its target.

    memory_limit = "200 MiB"    # of what a call takes for itself, beside arguments and results: fused/rematerialise.py
    [[kernel]]                  # of a table's entries the first that matches decides; all keys that are given must match
    op = "dot_general"          # what is matched: policy_rules.py
    loc = "*fc1*"
    use = "library"             # library, generated, or cost: the cheaper of the two; of scatters on GPUs unordered: as updates come;
                                # of convolutions on CPUs direct: not by Winograd's algorithm; channels_first
                                # and channels_last: the layout, where there is a kernel for it; of dots on CPUs apart: in no kernel
                                # with another dot
    [[fuse]]                    # wishes.py
    op = "exponential"
    with = {op = "dot_general"}
    action = "forbid"           # force, forbid, group, duplicate, once

    [[tile]]                    # tiled/schedules/wanted.py
    op = "dot_general"
    sizes = [96, 128]           # or, on GPUs, rows_together = 8: passes/gpu/contraction/tile_order.py

    [[loop]]                    # stablehlo/unroll_loops.py, fused/fuse_loops.py
    trips = "4-16"
    unroll = false

    module attributes {hloom.policy = {kernel = [{loc = "*fc1*", op = "dot_general", use = "library"}]}} { … }

A rule that asks for what cannot be, or matches nothing, is told of in a record (POLICY_UNMET) and is no error, unless it says
`require = true`. Each table of the file is a field of `Policy`: rules of another kind are one more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from torch_mlir import ir

from ...common.ops import Kind
from ...common.rewriting import i64_attr
from ...errors import CompileError
from .policy_rules import (
    APART,
    DIRECT,
    FIRST,
    HOST,
    KERNEL,
    LAST,
    UNORDERED,
    USES,
    AnyOp,
    FuseRule,
    KernelRule,
    LoopRule,
    Match,
    Rule,
    TileRule,
)
from .records import Op

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]

__all__ = [
    "APART",
    "DIRECT",
    "FIRST",
    "HOST",
    "KERNEL",
    "LAST",
    "UNORDERED",
    "Choice",
    "FuseRule",
    "KernelRule",
    "LoopRule",
    "Match",
    "Policy",
    "TileRule",
]

ATTRIBUTE = "hloom.policy"
_RULES: dict[str, type[Rule]] = {"kernel": KernelRule, "fuse": FuseRule, "tile": TileRule, "loop": LoopRule}
LIMIT = "memory_limit"
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(B|KiB|MiB|GiB)")
_ASKED = "dot, convolution, reduction or scatter"
R = TypeVar("R", bound=Match)


class PolicyError(CompileError):
    """A policy that cannot be read, says what no policy says, or requires what cannot be."""

    code = "HL110"


class MemoryLimitError(CompileError):
    """A program that takes more memory than the policy's limit, whatever is made again."""

    code = "HL112"


@dataclass(frozen=True)
class Choice:
    """Which kernel an op gets (one of `USES`), and the rule that says so, as records name it."""

    use: str = "cost"
    rule: str = ""
    require: bool = False


@dataclass(frozen=True)
class Policy:
    """Rules in the order in which they are asked."""

    kernel: tuple[KernelRule, ...] = ()
    fuse: tuple[FuseRule, ...] = ()
    tile: tuple[TileRule, ...] = ()
    loop: tuple[LoopRule, ...] = ()
    memory_limit: int | None = None
    """The bytes of temporaries that a call may take."""

    @classmethod
    def of(cls, source: PolicySource) -> Policy:
        """The policy itself, that of a TOML file, or that of a dictionary with the entries of such a file. Raises PolicyError."""
        if isinstance(source, Policy):
            return source
        if isinstance(source, Mapping):
            return cls.from_entries(source, "policy")
        if not isinstance(source, str | os.PathLike):
            raise PolicyError(f"{source!r} is not a policy", remedy="give a hloom.Policy, a dictionary or the path of a .toml file")
        try:
            entries = tomllib.loads(Path(source).read_text())
        except OSError as error:
            raise PolicyError(f"the policy {source} cannot be read: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise PolicyError(f"the policy {source} is no TOML file: {error}") from None
        return cls.from_entries(entries, str(source))

    @classmethod
    def from_entries(cls, entries: Mapping[str, Any], where: str) -> Policy:
        """`where` the entries come from stands in errors. Raises PolicyError."""
        _check_keys(entries, [*_RULES, LIMIT], where)
        rules: dict[str, Any] = {}
        for table, form in _RULES.items():
            given = entries.get(table, [])
            if not isinstance(given, list | tuple):
                raise PolicyError(f"{where}: {table} is a list of entries, not {given!r}", remedy=f"begin each entry with [[{table}]]")
            rules[table] = tuple(_rule(form, entry, f"{where}, {table} {number}") for number, entry in enumerate(given, 1))
        return cls(**rules, memory_limit=_bytes(entries[LIMIT], where) if LIMIT in entries else None)

    def entries(self) -> dict[str, Any]:
        """What a file must say for it."""
        rules: dict[str, Any] = {table: [rule.entries() for rule in getattr(self, table)] for table in _RULES if getattr(self, table)}
        return rules if self.memory_limit is None else {LIMIT: self.memory_limit, **rules}

    def to_attribute(self) -> ir.DictAttr:
        """In the current context."""
        attribute = _attribute({"kernel": [], **self.entries()})
        return ir.DictAttr(attribute)

    def kernel_for(self, op: AnyOp) -> Choice:
        """By the first rule that matches; by cost if none does."""
        number = first(self.kernel, op)
        if number is None:
            return Choice()
        return Choice(self.kernel[number].use, name("kernel", number, self.kernel[number]), self.kernel[number].require)

    def idle_rules(self, ops: Collection[Op]) -> Iterator[tuple[str, str]]:
        """The rules for kernels that decide about none of a program's ops, each with the reason.

        Raises PolicyError where one is required.
        """
        asked = [op for op in ops if op.node and (op.kind.has_ranges or op.kind is Kind.SCATTER)]
        deciding = {first(self.kernel, op) for op in asked}
        for number, rule in enumerate(self.kernel):
            if number not in deciding:
                left = " that earlier rules leave" if any(map(rule.matches, asked)) else ""
                yield idle(name("kernel", number, rule), rule, f"it matches no {_ASKED}{left}", () if left else asked)


PolicySource: TypeAlias = Policy | Mapping[str, Any] | str | os.PathLike


def first(rules: Sequence[R], op: AnyOp) -> int | None:
    """The number of the first rule that matches the op."""
    return next((number for number, rule in enumerate(rules) if rule.matches(op)), None)


def name(table: str, number: int, rule: Rule) -> str:
    """A rule as records tell of it."""
    return f"{table} {number + 1}: {rule}"


def idle(rule_name: str, rule: Rule, reason: str, ops: Iterable[AnyOp]) -> tuple[str, str]:
    """The name of a rule that decides nothing and why, with the ops that it nearly matches. Raises PolicyError where it is required."""
    reason += rule.near_misses(ops)
    required(rule_name, rule.require, reason)
    return rule_name, reason


def required(rule_name: str, require: bool, reason: str, op: str = "", loc: str = "") -> None:
    """Raises PolicyError where a rule that is required is not met."""
    if require:
        remedy = "change the rule, or leave `require` out"
        raise PolicyError(f"the policy requires {rule_name}; {reason}", op=op or None, loc=loc or None, stage="fused", remedy=remedy)


def within_limit(module: ir.Operation, arena: int, stage: str, largest: str = "") -> None:
    """Raises MemoryLimitError where a program's arena is larger than the policy's limit. `largest`: what takes most of it."""
    limit = policy_of(module).memory_limit
    if limit is None or arena <= limit:
        return
    message = f"a call takes {arena} bytes for temporaries, the policy's {LIMIT} is {limit}"
    remedy = f"raise {LIMIT} beyond {arena}, which is what was reached, or give the program smaller batches" + (
        f"; largest: {largest}" if largest else ""
    )
    raise MemoryLimitError(message, stage=stage, remedy=remedy)


def policy_of(module: ir.Operation) -> Policy:
    """The policy attached to a module, or one without rules. Raises PolicyError on a malformed attribute."""
    if ATTRIBUTE not in module.attributes:
        return Policy()
    entries = _plain(module.attributes[ATTRIBUTE])
    if not isinstance(entries, dict):
        raise PolicyError(f"{ATTRIBUTE} is a dictionary attribute, not {entries}")
    return Policy.from_entries(entries, ATTRIBUTE)


def attach_policy(module: ir.Operation, policy: Policy) -> None:
    """Attaches `policy` to the module, in place of what was attached."""
    with module.context:
        module.attributes[ATTRIBUTE] = policy.to_attribute()


def _rule(form: type[Rule], entry: Any, where: str) -> Any:
    if not isinstance(entry, Mapping):
        raise PolicyError(f"{where}: an entry has keys and values, {entry!r} has not")
    known = {field.metadata.get("key", field.name): field.name for field in fields(form)}
    _check_keys(entry, list(known), where)
    if form is KernelRule and "use" not in entry:
        raise PolicyError(f"{where}: it does not say which kernel to use", remedy=f"use = one of {', '.join(USES)}")
    values = {known[key]: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    if "partner" in values:
        values["partner"] = _rule(Match, {"op": values["partner"]} if isinstance(values["partner"], str) else values["partner"], where)  # type: ignore[arg-type]
    for key in ("require", "unroll", "producer", "cluster"):
        if not isinstance(values.get(key, True), bool):
            raise PolicyError(f"{where}: {key} is true or false, not {values[key]!r}")
    make: Any = form
    try:
        return make(**values)
    except ValueError as error:
        raise PolicyError(f"{where}: {error}") from None


def _bytes(given: Any, where: str) -> int:
    """A number of bytes, or a text such as "1.5 GiB"."""
    told = _SIZE.fullmatch(f"{given} B" if type(given) is int else str(given))
    if told is None:
        raise PolicyError(f'{where}: {LIMIT} is a number of bytes or a text such as "200 MiB", not {given!r}')
    return int(float(told[1]) * 1024 ** ("B", "KiB", "MiB", "GiB").index(told[2]))


def _check_keys(entries: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in entries:
        if key not in known:
            raise PolicyError(f"{where}: there is no {key!r}", remedy=f"what there is: {', '.join(known)}")


def _attribute(value: Any) -> ir.Attribute:
    if isinstance(value, Mapping):
        return ir.DictAttr.get({key: _attribute(each) for key, each in value.items()})
    if isinstance(value, list):
        return ir.ArrayAttr.get([_attribute(each) for each in value])
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    return i64_attr(value) if isinstance(value, int) else ir.StringAttr.get(value)


def _plain(attribute: ir.Attribute) -> Any:
    """Attributes of other types stay what they are, and are refused where they are found."""
    if isinstance(attribute, ir.DictAttr):
        return {entry.name: _plain(entry.attr) for entry in attribute}
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(each) for each in attribute]
    if isinstance(attribute, ir.BoolAttr):
        return bool(attribute.value)
    whole = isinstance(attribute, ir.IntegerAttr) and str(attribute.type) == "i64"
    return attribute.value if whole or isinstance(attribute, ir.StringAttr) else attribute
