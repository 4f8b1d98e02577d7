"""LLVM IR text of many functions as texts of some functions each, which LLVM compiles at once on all cores.

Before:
    @table = private constant [4 x i64] …
    define internal void @fusion_0_body(i64 %0, i64 %1, ptr noalias %2) #0 { … @table … }
    define void @fusion_0(i64 %0, i64 %1, ptr %2) #0 { call void @fusion_0_body(…) }
    define void @hloom_main(ptr %0) #0 { … @fusion_0 … }
After, if the last has no place beside the others:
    @table = …, @fusion_0_body and @fusion_0 as before
    @table = …, define void @hloom_main(ptr %0) #0 { … }, declare void @fusion_0(i64, i64, ptr)

How a text is split depends on the text alone, not on how many cores there are: a program's code is the same everywhere. A function of
internal linkage stays with those that use it; a constant goes where it is used. Declined: a text with variables, which the parts would
have to share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

EFFORT = "hloom-effort"
"""The attribute of a function that LLVM need not optimise much; its value is the Effort's name in small letters."""
LINES = 3000
"""A text has about so many lines at most: a tenth of a second of LLVM's time."""
DEARER = 3
"""A line that gets all of LLVM's passes counts as so many. It takes five times as long, but what is apart is not inlined."""
_HEAD = re.compile(
    r"define (?P<linkage>internal |private )?(?P<kind>.*?)@(?P<name>[\w.$-]+)\((?P<parameters>.*?)\)[^()]*?(#(?P<attributes>\d+) )?\{"
)
_EFFORT = re.compile(rf'^attributes #(?P<number>\d+) = \{{.*"{EFFORT}"="(?P<effort>\w+)"', re.M)
_SYMBOL = re.compile(r"@([\w.$-]+)")
_VARIABLE = re.compile(r"^@.* global ", re.M)
_CONSTANT = re.compile(r"^@(?P<name>[\w.$-]+) = (?:internal|private) .*\n", re.M)
"""One that no other module knows."""
_POINTER = re.compile(r"ptr @([\w.$-]+)")


class Effort(IntEnum):
    """What LLVM does for a function (passes/llvm/spare_llvm_passes.py)."""

    LEAST = 0
    """Few passes; its code generator reduces no strength."""
    SOME = 1
    """The same, and what is computed twice is found."""
    MORE = 2
    """The same, and its code generator reduces strength."""
    FULL = 3


@dataclass(frozen=True)
class _Function:
    name: str
    text: str
    local: bool
    declaration: str
    uses: frozenset[str]
    effort: Effort


@dataclass(frozen=True)
class Part:
    """The text of a module, and the most that anything needs which it defines for others."""

    text: str
    effort: Effort


def split(text: str, most: int = LINES) -> list[Part]:
    """The modules that together define what `text` does, each of about `most` lines."""
    functions, rest = _functions(text)
    efforts = {function.effort for function in functions if not function.local}
    if (len(efforts) < 2 and text.count("\n") <= _most_lines(max(efforts, default=Effort.LEAST), most)) or _VARIABLE.search(rest):
        return [Part(text, _most(functions))]
    declarations = {function.name: function.declaration for function in functions}
    groups = list(_together(functions))
    parts: list[Part] = []
    for effort in reversed(Effort):
        alike = _parts([group for group in groups if _most(group) == effort], _most_lines(effort, most))
        parts += [Part(_module(part, rest, declarations), effort) for part in alike]
    return parts


def _most(functions: list[_Function]) -> Effort:
    return max((function.effort for function in functions if not function.local), default=Effort.LEAST)


def _most_lines(effort: Effort, most: int) -> int:
    return most // DEARER if effort == Effort.FULL else most


def _parts(groups: list[list[_Function]], most: int) -> Iterator[list[_Function]]:
    """The functions of the groups, in parts of about as many lines each, and about `most`."""
    sizes = [sum(function.text.count("\n") for function in group) for group in groups]
    share = sum(sizes) / max(1, -(-sum(sizes) // max(1, most)))
    part: list[_Function] = []
    lines = 0
    for group, size in zip(groups, sizes):
        if part and lines + size / 2 > share:
            yield part
            part, lines = [], 0
        part = part + group
        lines += size
    if part:
        yield part


def _functions(text: str) -> tuple[list[_Function], str]:
    """The functions that a text defines, and the rest of it."""
    efforts = {found["number"]: Effort[found["effort"].upper()] for found in _EFFORT.finditer(text)}
    functions, rest, done = [], "", 0
    text = "\n" + text
    while (start := text.find("\ndefine ", max(done - 1, 0))) >= 0:
        head = _HEAD.match(text, start + 1)
        assert head is not None  # whatever MLIR's translation writes
        end = text.index("\n}\n", head.end()) + len("\n}\n")
        functions.append(_function(head, text[head.start() : end], efforts.get(head["attributes"], Effort.FULL)))
        rest += text[done : head.start()]
        done = end
    return functions, rest + text[done:]


def _function(head: re.Match[str], text: str, effort: Effort) -> _Function:
    parameters = re.sub(r" %[\w.]+(?=,|$)", "", head["parameters"])
    declaration = f"declare {head['kind']}@{head['name']}({parameters})\n"
    uses = frozenset(_SYMBOL.findall(text)) - {head["name"]}
    return _Function(head["name"], text, head["linkage"] is not None, declaration, uses, effort)


def _together(functions: list[_Function]) -> Iterator[list[_Function]]:
    """The functions in order, each with the local ones that it uses and whoever shares these."""
    leader = {function.name: function.name for function in functions}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    local = {function.name for function in functions if function.local}
    for function in functions:
        for used in function.uses & local:
            leader[find(used)] = find(function.name)
    groups: dict[str, list[_Function]] = {}
    for function in functions:
        groups.setdefault(find(function.name), []).append(function)
    yield from groups.values()


def _module(part: list[_Function], rest: str, declarations: dict[str, str]) -> str:
    own = {function.name for function in part}
    used = set(_POINTER.findall(rest)).union(*(function.uses for function in part))
    outside = sorted(used & declarations.keys() - own)
    known = _CONSTANT.sub(lambda line: line[0] if line["name"] in used else "", rest)
    return "".join([known, *(declarations[name] for name in outside), *(function.text for function in part)])
