"""StableHLO text with annotations of Shardy (sdy), of which this MLIR has no dialect: on one device they mean nothing.

    sdy.mesh @mesh = <["x"=2]>                                          // goes
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32>    // %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} // %arg0: tensor<8xf32> {}

Lines keep their numbers. Attributes of mhlo and jax that have a form of their dialect go, too. What computes on each device by itself
(sdy.manual_computation) is refused.
"""

from __future__ import annotations

import re

from hloom.passes.errors import UnsupportedOpError

from ..parsing import UNNAMED

_FORM = r"(?:sdy|mhlo|jax)(?:\.\w+)?(?=<)"
_ALIAS = re.compile(r"^#(\w+) = #(?:sdy|mhlo|jax)\b.*$", re.M)
_MESH = re.compile(r'^[ \t]*(?:sdy\.mesh @|"sdy\.mesh"\(\)).*$', re.M)
_CONSTRAINT = re.compile(r"= sdy\.(?:sharding_constraint|reshard) (%[\w#]+) <.*> : (.*)$", re.M)
_GENERIC_CONSTRAINT = re.compile(r'= "sdy\.(?:sharding_constraint|reshard)"\((%[\w#]+)\) .*: \([^)]*\) -> (.*)$', re.M)
_OTHER = re.compile(r'(?:^|= |")(sdy\.\w+)"?[ (]', re.M)
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|->|[<>]')
_SEPARATED = re.compile(r",[ \t]*")


def without_shardy(text: str, name: str = UNNAMED) -> str:
    """The text, of the file `name`, without annotations. Raises UnsupportedOpError on an op that is more than one."""
    if not re.search(r"\bsdy\.|#mhlo|#jax", text):
        return text
    aliases = [match[1] for match in _ALIAS.finditer(text)]
    text = _without_attributes(_MESH.sub("", _ALIAS.sub("", text)), "|".join([_FORM, *(rf"{name}\b" for name in aliases)]))
    text = _GENERIC_CONSTRAINT.sub(r"= stablehlo.optimization_barrier \1 : \2", text)
    text = _CONSTRAINT.sub(r"= stablehlo.optimization_barrier \1 : \2", text)
    if other := _OTHER.search(text):
        where = f'loc("{name}":{text.count(chr(10), 0, other.start(1)) + 1})'
        remedy = "export the program for one device, without a mesh"
        raise UnsupportedOpError(f"hloom does not compile {other[1]}", op=other[1], loc=where, stage="input", remedy=remedy)
    return text


def _without_attributes(text: str, form: str) -> str:
    attribute = re.compile(rf"(,[ \t]*)?\b(?:sdy|mhlo|jax)\.[\w.]+ = #(?:{form})")
    kept, at = [], 0
    while match := attribute.search(text, at):
        kept.append(text[at : match.start()])
        at = _end(text, match.end()) if text.startswith("<", match.end()) else match.end()
        if not match[1] and (comma := _SEPARATED.match(text, at)):
            at = comma.end()
    return "".join([*kept, text[at:]])


def _end(text: str, start: int) -> int:
    """Where the brackets that open at `start` have closed."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += {"<": 1, ">": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return len(text)
