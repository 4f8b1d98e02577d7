"""The library's functions over vectors: every scalar type becomes a vector type, and a branch is taken if any lane needs it.

    %r = scf.if %rare -> (f32) {          %flat_rare = vector.shape_cast %rare : vector<16xi1> to vector<16xi1>
      ...                                 %any_rare = vector.reduction <or>, %flat_rare : vector<16xi1> into i1
      scf.yield %exact : f32        =>    %r = scf.if %any_rare -> (vector<16xf32>) {
    } else {                                ...
      scf.yield %fast : f32                 %lane_rare_0 = arith.select %rare, %exact, %fast : vector<16xi1>, vector<16xf32>
    }                                       scf.yield %lane_rare_0 : vector<16xf32>
                                          } else {
                                            scf.yield %fast : vector<16xf32>
                                          }

It works on the text, of which the library promises the form of its branches (see `__init__`).
"""

from __future__ import annotations

import math
import re

_CONSTANT = re.compile(r"(= arith\.constant )(\S+)(?= : )")
_TYPE = re.compile(r"(?<![\w@])(?:f32|f64|i1|i32|i64)\b")
_SELECT = re.compile(r"(= arith\.select .*? : )")
_BRANCH = re.compile(
    r"(?P<result>%\S+) = scf\.if (?P<rare>%[\w#]+) (?P<body>-> [^{]*\{.*?)scf\.yield (?P<exact>[^:]*) : (?P<types>[^\n]*)"
    r"(?P<otherwise>\n *\} else \{\n *scf\.yield )(?P<fast>[^:]*) : ",
    re.DOTALL,
)


def widened(text: str, shape: tuple[int, ...]) -> str:
    """`text`, functions on scalars, on vectors of that shape."""
    dims = "x".join(map(str, shape))
    mask = f"vector<{dims}xi1>"
    text = _CONSTANT.sub(r"\1dense<\2>", text)
    text = _TYPE.sub(lambda m: f"vector<{dims}x{m[0]}>", text)
    text = _SELECT.sub(rf"\g<1>{mask}, ", text)
    return _BRANCH.sub(lambda m: _any_lane(m, mask, f"vector<{math.prod(shape)}xi1>"), text)


def _any_lane(branch: re.Match[str], mask: str, flat_mask: str) -> str:
    rare = branch["rare"]
    label = rare[1:].replace("#", "_")
    choices = list(zip(branch["exact"].split(", "), branch["fast"].split(", "), branch["types"].split(", ")))
    picks = "".join(f"%lane_{label}_{i} = arith.select {rare}, {e}, {f} : {mask}, {t}\n" for i, (e, f, t) in enumerate(choices))
    lanes = ", ".join(f"%lane_{label}_{i}" for i in range(len(choices)))
    return (
        f"%flat_{label} = vector.shape_cast {rare} : {mask} to {flat_mask}\n"
        f"%any_{label} = vector.reduction <or>, %flat_{label} : {flat_mask} into i1\n"
        f"{branch['result']} = scf.if %any_{label} {branch['body']}{picks}"
        f"scf.yield {lanes} : {branch['types']}{branch['otherwise']}{branch['fast']} : "
    )
