"""The library of math functions: scalar `func.func`s in MLIR text, one `*.mlir` file a family, written for inlining and widening.

`@hloom_<op>_<type>` computes `math.<op>` (or `arith.<op>`) on that type; other functions are their helpers. The text obeys rules that let
each scalar op become one vector op, lane by lane: no loops, memory or calls to the outside; LLVM-native math ops only; `scf.if` only in
the form below, its condition computed by lane, its `else` region yielding values that exist already. It is taken for rare lanes only.

    %r = scf.if %rare -> (f32) {
      <ops>
      scf.yield %exact : f32
    } else {
      scf.yield %fast : f32
    }

An op marked `hloom.native` is left to LLVM, which calls libm: `expand-math` does not touch it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

_FUNCTION = re.compile(r"^func\.func private @(\w+)\(.*?^}$", re.MULTILINE | re.DOTALL)
_CALLEE = re.compile(r"func\.call @(\w+)")
_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)
_TYPE = re.compile(r"(?<![\w@])(?:f32|f64|i1|i32|i64)\b")
_CONSTANT = re.compile(r"(= arith\.constant )(\S+)(?= : )")
_SELECT = re.compile(r"(arith\.select .*? : )")
_RARE = re.compile(r"scf\.if (%[\w#]+) -> (.*?\{\n.*?)scf\.yield (.*?) : (.*?)(\n\s*} else \{\n\s*scf\.yield )(.*?)( : )", re.DOTALL)


@cache
def texts() -> dict[str, str]:
    """The text of every function of the library by name, without comments."""
    files = sorted(Path(__file__).parent.glob("*.mlir"))
    return {m[1]: m[0] for file in files for m in _FUNCTION.finditer(_COMMENT.sub("", file.read_text()))}


def load(names: Iterable[str], shape: tuple[int, ...], context: ir.Context) -> ir.Module:
    """A module of the named functions alone, calls inlined; over vectors of that shape unless it is ()."""
    names = set(names)
    text = "\n".join(texts()[name] for name in sorted(_closure(names)))
    for name in names:
        text = text.replace(f"func.func private @{name}(", f"func.func @{name}(")
    module = ir.Module.parse(_widened(text, shape) if shape else text, context)
    PassManager.parse("builtin.module(inline,cse)", context).run(module.operation)
    return module


def _closure(names: set[str]) -> set[str]:
    found, pending = set(), list(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += _CALLEE.findall(texts()[name])
    return found


def _widened(text: str, shape: tuple[int, ...]) -> str:
    """The same functions over vectors: a branch is taken if any lane needs it and picks by lane."""
    dims, count = "x".join(map(str, shape)), 1
    for extent in shape:
        count *= extent
    text = _CONSTANT.sub(r"\1dense<\2>", text)
    text = _TYPE.sub(lambda m: f"vector<{dims}x{m[0]}>", text)
    mask = f"vector<{dims}xi1>"
    text = _SELECT.sub(rf"\g<1>{mask}, ", text)

    def branch(m: re.Match[str]) -> str:
        rare, head, exact, types, middle, fast, tail = m.groups()
        label = rare[1:].replace("#", "_")
        flat = f"%flat_{label} = vector.shape_cast {rare} : {mask} to vector<{count}xi1>\n"
        any_lane = f"%any_{label} = vector.reduction <or>, %flat_{label} : vector<{count}xi1> into i1\n"
        picks = [
            f"%lane_{label}_{i} = arith.select {rare}, {e}, {f} : {mask}, {t}\n"
            for i, (e, f, t) in enumerate(zip(exact.split(", "), fast.split(", "), types.split(", ")))
        ]
        lanes = ", ".join(f"%lane_{label}_{i}" for i in range(len(picks)))
        return f"{flat}{any_lane}IF %any_{label} -> {head}{''.join(picks)}scf.yield {lanes} : {types}{middle}{fast}{tail}"

    # The result's name stands before `scf.if`; the lines that compute the condition go before it.
    lines = _RARE.sub(branch, text)
    return re.sub(r"^(\s*%\S+ = )(%flat_.*?\n)(.*?\n)IF", r"\2\3\1scf.if", lines, flags=re.MULTILINE)
