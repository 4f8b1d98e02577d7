"""LLVM IR text whose functions of internal linkage that are equal but for some offsets become one, which is given the offsets.

Before:
    define internal void @step_1_body(i64 %0, i64 %1, ptr noalias %2) { … %7 = add i64 %6, 4096 … }
    define internal void @step_2_body(i64 %0, i64 %1, ptr noalias %2) { … %7 = add i64 %6, 8192 … }
    define void @step_2(i64 %0, i64 %1, ptr %2) { … call void @step_2_body(i64 %0, i64 %1, ptr %3) … }
After:
    define internal void @step_1_body(i64 %0, i64 %1, ptr noalias %2, i64 %offset0) noinline { … %7 = add i64 %6, %offset0 … }
    define void @step_2(i64 %0, i64 %1, ptr %2) { … call void @step_1_body(i64 %0, i64 %1, ptr %3, i64 8192) … }

The steps of a recurrent layer are such kernels: each reads its slice of one array. An offset in a register costs nothing, and LLVM
takes the time of one step, as long as it does not inline it into all users.

Declined: functions that differ in anything but the last operand of an addition or of an address; more than `MOST` offsets; those that
are used otherwise than by calls; fewer lines than `LEAST` to save.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 4
"""Offsets that a function is given: what it keeps in registers besides."""
LEAST = 1000
"""Lines that must be saved: a tenth of a second of LLVM's time. A function of one user alone is inlined there, which is lost."""
_LOCAL = re.compile(r"^define internal [^\n]*?@(?P<name>[\w.$-]+)\((?P<parameters>[^\n]*?)\)(?P<rest>[^()\n]*\{\n.*?^\}\n)", re.S | re.M)
_OFFSET = re.compile(r"^(  %\d+ = (?:add (?:nuw |nsw )*i64|getelementptr (?:inbounds |nuw )*\w+, ptr) %\d+, (?:i64 )?)(-?\d+)$", re.M)
_USE = re.compile(r"@([\w.$-]+)")
_CALL = re.compile(r"call void @([\w.$-]+)\(([^()\n]*)\)")


@dataclass(frozen=True)
class _Function:
    name: str
    text: str
    offsets: tuple[str, ...]


def share(text: str) -> str:
    """The text with one function for those that are equal but for offsets."""
    calls, uses = _counts(_CALL.findall(text)), _counts(_USE.findall(text))
    families: dict[str, list[_Function]] = {}
    for found in _LOCAL.finditer(text):
        name, whole = found["name"], found[0]
        if uses[name] == calls.get(name, 0) + 1:
            form = _OFFSET.sub(r"\1", whole).replace(f"@{name}(", "@(", 1)
            offsets = tuple(offset for _, offset in _OFFSET.findall(whole))
            families.setdefault(form, []).append(_Function(name, whole, offsets))
    for family in families.values():
        if (len(family) - 1) * family[0].text.count("\n") >= LEAST:
            text = _shared(text, family)
    return text


def _counts(names: Sequence[str] | Sequence[tuple[str, ...]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in names:
        name = each if isinstance(each, str) else each[0]
        counts[name] = counts.get(name, 0) + 1
    return counts


def _shared(text: str, family: list[_Function]) -> str:
    """The text with the first of the family in place of all of them."""
    columns = list(zip(*(function.offsets for function in family)))
    differing = dict.fromkeys(column for column in columns if len(set(column)) > 1)
    if len(differing) > MOST:
        return text
    first, names = family[0], {column: f"%offset{number}" for number, column in enumerate(differing)}
    given = {function.name: "".join(f", i64 {column[place]}" for column in names) for place, function in enumerate(family)}
    for function in family[1:]:
        text = text.replace(function.text, "", 1)
    text = text.replace(first.text, _with_offsets(first, [names.get(column) for column in columns], list(names.values())), 1)
    call = re.compile(rf"call void @({'|'.join(re.escape(name) for name in given)})\(([^()\n]*)\)")
    return call.sub(lambda found: f"call void @{first.name}({found[2]}{given[found[1]]})", text)


def _with_offsets(function: _Function, names: list[str | None], parameters: list[str]) -> str:
    """The function with parameters in place of offsets; `names`: one for each offset, None where it stays."""
    left = iter(names)
    body = _OFFSET.sub(lambda found: found[1] + (next(left) or found[2]), function.text)
    header, _, rest = body.partition("\n")
    end = header.rindex(")")
    return f"{header[:end]}{''.join(f', i64 {each}' for each in parameters)}) noinline{header[end + 1 :]}\n{rest}"
