"""Where an op comes from, told shortly: the scope that the program gives it and a line of the user's own.

    loc("layers.0.q_proj/aten.linear.default"(callsite("…/torch/nn/modules/linear.py":134:0 at "model.py":7:0)))
        → layers.0.q_proj/aten.linear.default  model.py:7
    loc(callsite("max" at "jit(f)/blk/jit(relu)"(callsite("f"("model.py":14:15) at …))))
        → jit(f)/blk/jit(relu)/max  model.py:14
    loc("mlp.mlir":24:10)
        → mlp.mlir:24:10

Names inside of a name's own location are those of Python's functions on the stack, and no part of the scope.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(:(\d+):(\d+))?|[(),\[\]]')
_FRAMEWORKS = re.compile(r"/(?:site|dist)-packages/(?:torch|jax|jaxlib|flax|haiku|equinox)/|/hloom/(?:compiler|passes)/")


@dataclass(frozen=True)
class Place:
    """`scope`: names from the outermost to the op's own, joined by slashes. `file`, `line`: the innermost frame that is of no framework."""

    scope: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def module(self) -> str:
        """The scope around the op; a line where the program has no scopes, and nothing where it tells neither."""
        return self.scope.rpartition("/")[0] or (str(self) if self.file and not self.scope else "")

    def __str__(self) -> str:
        where = f"{self.file.rpartition('/')[2]}:{self.line}" if self.file else ""
        if self.scope:
            return f"{self.scope}  {where}".rstrip()
        return f"{where}:{self.column}" if where else "unknown"


@functools.lru_cache(4096)
def place(location: str) -> Place:
    """Of a location as MLIR prints it, with or without the `loc(` around it."""
    text = location.removeprefix("loc(")
    names: list[str] = []
    files: list[tuple[str, int, int]] = []
    open_brackets: list[str] = []  # what stands before each: a quote where a name's own location begins
    for token in _TOKEN.finditer(text):
        before = text[token.start() - 1 : token.start()]
        if token[0] in "([":
            open_brackets.append(before if token[0] == "(" else "[")
        elif token[0] in ")]":
            open_brackets = open_brackets[:-1]
        elif token[0] == ",":
            if open_brackets[-1:] == ["["]:
                break  # of fused locations the first
        elif token[2]:
            files.append((token[1], int(token[3]), int(token[4])))
        elif '"' not in open_brackets and before != "<":
            names.append(token[1])
    ours = [file for file in files if not _FRAMEWORKS.search(file[0])] or files
    return Place("/".join(reversed(names)), *(ours[0] if ours else ()))
