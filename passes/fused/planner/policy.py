"""What a person asks of the planner: a file or a `hloom.Policy`, which the module carries beside its target.

    [[kernel]]                  # of an op's entries the first that matches decides; all keys that are given must match
    op = "dot_general"          # a glob over the op's name without its dialect
    loc = "*fc1*"               # a glob over its location, as hloom-explain prints it
    use = "library"             # library, generated, or cost: the cheaper of the two; of scatters on GPUs unordered: as updates come;
                                # of convolutions on CPUs direct: not by Winograd's algorithm; channels_first
                                # and channels_last: the layout, where there is a kernel for it; of dots on CPUs apart: in no kernel
                                # with another dot

    module attributes {hloom.policy = {kernel = [{loc = "*fc1*", op = "dot_general", use = "library"}]}} { … }

Kernel rules are asked about dots, convolutions, reductions and scatters. A rule that asks for what cannot be, or matches nothing, is told
of in a record (POLICY_UNMET) and is no error. Each table of the file is a field of `Policy`: rules of another kind are one more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

from torch_mlir import ir

from ...common.ops import Kind
from ...common.places import place
from ...errors import CompileError
from .records import Op

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]

ATTRIBUTE = "hloom.policy"
UNORDERED = "unordered"
DIRECT = "direct"
FIRST, LAST = "channels_first", "channels_last"
APART = "apart"
USES = ("library", "generated", UNORDERED, DIRECT, FIRST, LAST, APART, "cost")


class PolicyError(CompileError):
    """A policy that cannot be read, or says what no policy says."""

    code = "HL110"


@dataclass(frozen=True)
class KernelRule:
    """The kernel of the ops whose name and location match the globs `op` and `loc`. Raises ValueError on a `use` that there is not."""

    op: str = "*"
    loc: str = "*"
    use: str = "cost"

    def __post_init__(self) -> None:
        for key, value in vars(self).items():
            if not isinstance(value, str):
                raise ValueError(f"{key} is a string, not {value!r}")
        if self.use not in USES:
            raise ValueError(f"use is {', '.join(USES[:-1])} or {USES[-1]}, not {self.use!r}")

    def __str__(self) -> str:
        return ", ".join(f"{key} = {value!r}" for key, value in self.entries().items())

    def entries(self) -> dict[str, str]:
        """What a file must say for it."""
        return {key: value for key, value in vars(self).items() if value != "*"}

    def matches(self, op: Op | ir.Operation) -> bool:
        """Whether the op, in a module or as the planner reads it, is one that the rule is about."""
        where = str(op.location) if isinstance(op, ir.Operation) else op.loc
        name, location = op.name.removeprefix("stablehlo."), where.removeprefix("loc(").removesuffix(")")
        return fnmatchcase(name, self.op) and any(fnmatchcase(text, self.loc) for text in (str(place(where)), location))


@dataclass(frozen=True)
class Choice:
    """Which kernel an op gets (one of `USES`), and the rule that says so, as records name it."""

    use: str = "cost"
    rule: str = ""


@dataclass(frozen=True)
class Policy:
    """Rules in the order in which they are asked."""

    kernel: tuple[KernelRule, ...] = ()

    @classmethod
    def of(cls, source: PolicySource) -> Policy:
        """The policy itself, that of a TOML file, or that of a dictionary with the entries of such a file. Raises PolicyError."""
        if isinstance(source, Policy):
            return source
        if isinstance(source, Mapping):
            return cls.from_entries(source, "policy")
        if not isinstance(source, str | os.PathLike):
            raise PolicyError(f"{source!r} is no policy", remedy="give a hloom.Policy, a dictionary or the path of a .toml file")
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
        _check_keys(entries, cls, where)
        given = entries.get("kernel", [])
        if not isinstance(given, list | tuple):
            raise PolicyError(f"{where}: kernel is a list of entries, not {given!r}", remedy="begin each entry with [[kernel]]")
        return cls(tuple(_kernel_rule(entry, f"{where}, kernel {number}") for number, entry in enumerate(given, 1)))

    def to_attribute(self) -> ir.DictAttr:
        """In the current context."""
        rules = [ir.DictAttr.get({key: ir.StringAttr.get(text) for key, text in rule.entries().items()}) for rule in self.kernel]
        return ir.DictAttr.get({"kernel": ir.ArrayAttr.get(rules)})

    def kernel_for(self, op: Op | ir.Operation) -> Choice:
        """By the first rule that matches; by cost if none does."""
        number = self._deciding(op)
        return Choice() if number is None else Choice(self.kernel[number].use, self._name(number))

    def idle_rules(self, ops: Iterable[Op]) -> Iterator[tuple[str, str]]:
        """The rules that decide about none of a program's ops, each with the reason."""
        asked = [op for op in ops if op.node and (op.kind.has_ranges or op.kind is Kind.SCATTER)]
        deciding = {self._deciding(op) for op in asked}
        for number in range(len(self.kernel)):
            if number not in deciding:
                matches = any(map(self.kernel[number].matches, asked))
                yield (
                    self._name(number),
                    f"it matches no dot, convolution, reduction or scatter{' that earlier rules leave' if matches else ''}",
                )

    def _deciding(self, op: Op | ir.Operation) -> int | None:
        return next((number for number, rule in enumerate(self.kernel) if rule.matches(op)), None)

    def _name(self, number: int) -> str:
        return f"kernel {number + 1}: {self.kernel[number]}"


PolicySource: TypeAlias = Policy | Mapping[str, Any] | str | os.PathLike


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


def _kernel_rule(entry: Any, where: str) -> KernelRule:
    if not isinstance(entry, Mapping):
        raise PolicyError(f"{where}: an entry has keys and values, {entry!r} has not")
    _check_keys(entry, KernelRule, where)
    if "use" not in entry:
        raise PolicyError(f"{where}: it does not say which kernel to use", remedy=f"use = one of {', '.join(USES)}")
    try:
        return KernelRule(**entry)
    except ValueError as error:
        raise PolicyError(f"{where}: {error}") from None


def _check_keys(entries: Mapping[str, Any], form: type, where: str) -> None:
    known = [field.name for field in fields(form)]
    for key in entries:
        if key not in known:
            raise PolicyError(f"{where}: there is no {key!r}", remedy=f"what there is: {', '.join(known)}")


def _plain(attribute: ir.Attribute) -> Any:
    """Attributes of other types stay what they are, and are refused where they are found."""
    if isinstance(attribute, ir.DictAttr):
        return {entry.name: _plain(entry.attr) for entry in attribute}
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(each) for each in attribute]
    return attribute.value if isinstance(attribute, ir.StringAttr) else attribute
