"""What holds of any group, whichever rule makes it: what the code generator cannot take as one kernel is refused here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...common.index_expression import dims_of, substitute
from .axes import Signature
from .codes import Code, DecisionCode
from .group import Group, Union
from .records import Value


@dataclass(frozen=True, slots=True)
class Limits:
    """What one kernel may hold. `row_bytes`: a row that stays in the cache while its tile is computed."""

    instances: int = 1024
    instances_per_op: int = 4
    row_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why two groups do not become one. `rho`: times each element of the producer would be evaluated; `edge`: the value that it is about,
    where that is none between the two; `again`: bytes that are read twice for it."""

    code: DecisionCode
    reason: str
    rho: float = 1.0
    edge: int | None = None
    again: int = 0


def _unshared(p: Group, c: Group) -> Refusal | None:
    """Why two groups share no kernel whatever their axes are."""
    if p.alone or c.alone or p.grows or c.grows:
        what = "a sort, a scatter or a call of outside code" if p.alone or c.alone else "what grows a buffer in place"
        return Refusal(Code.ALONE, f"{what} shares its kernel with no other op")
    if c.padded & set(p.results):
        return Refusal(Code.RECOMPUTE_TOO_HIGH, "a window that leaves its padding out reads what is in memory")
    return None


def checked(union: Union, p: Group, c: Group, values: Sequence[Value], limits: Limits) -> Union | Refusal:
    """What holds of any group: size, rows that fit, results that follow the tiles, no buffer both overwritten and read elsewhere."""
    if (refusal := _unshared(p, c)) is not None:
        return refusal
    if union.instances > limits.instances or union.instances > 16 + limits.instances_per_op * (p.ops + c.ops):
        return Refusal(Code.INSTANCE_LIMIT, f"{union.instances} instances of {p.ops + c.ops} ops", union.instances / (p.ops + c.ops))
    reduced = {i for i, axis in union.axes.items() if axis.reduced}
    kept = [dims_of(signature) & reduced for signature in union.results.values()] if reduced else []
    persistent = any(kept)
    if persistent:
        if p.window or c.window or p.contraction is not None or c.contraction is not None or not (p.row and c.row):
            return Refusal(Code.AXIS_CONFLICT, "a result lies on an axis that has no row to keep in the tile")
        if any(used and used != reduced for used in kept):
            return Refusal(Code.AXIS_CONFLICT, "a result lies on some of the reduced axes only")
    if union.phases > 1 or persistent:
        row = prod(union.axes[i].extent for i in reduced) * max(1, max(values[v].bits for v in (*p.results, *c.results)) // 8)
        if row > limits.row_bytes:
            alone = all(axis.reduced for axis in union.axes.values())
            return Refusal(Code.GLOBAL_DEP if alone else Code.ROW_TOO_LARGE, f"a row of {row} bytes does not stay in the cache")
    for value in p.overwrites | c.overwrites:
        signatures = _reads_after(value, union, p, c)
        if len(signatures) > 1:
            return Refusal(Code.INPLACE_HAZARD, "the value would be overwritten in place and read at another index")
    return union


def _reads_after(value: int, union: Union, p: Group, c: Group) -> set[Signature]:
    found = set(c.reads.get(value, ()))
    for image in union.images:
        found.update(substitute(signature, image) for signature in p.reads.get(value, ()))
    return found
