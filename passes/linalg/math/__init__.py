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

from .widening import widened

_FUNCTION = re.compile(r"^func\.func private @(\w+)\(.*?^}$", re.MULTILINE | re.DOTALL)
_CALLEE = re.compile(r"func\.call @(\w+)")
_COMMENT = re.compile(r"^\s*//.*\n", re.MULTILINE)


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
    module = ir.Module.parse(widened(text, shape) if shape else text, context)
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
