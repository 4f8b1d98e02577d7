"""join-scans: a scan written as log n levels of slices and pads, as jax.lax.associative_scan is, becomes one windowed reduction.

Before (of four elements; `o` is any associative op):
    %p = o(slice %x [0:3:2], slice %x [1:4:2])                     // pairs; their scan is %s, of half as many elements:
    %q = o(slice %p [0:1:2], slice %p [1:2:2])
    %s = pad(concatenate(slice %p [0:1], …)) + pad %q, low = [1]
    %e = o(slice %s [0:1], slice %x [2:4:2])                       // at even places: the pairs before, and the element
    %r = pad(concatenate(slice %x [0:1], %e), high = [1], interior = [1]) + pad(%s, low = [1], interior = [1])
After:
    %r = reduce_window(%x, neutral) {window_dimensions = [4], padding = [[3, 0]]} : o

A kernel that reads the results of each level at every second place moves each element log n times, and is compiled for as long as it has
levels. Sums are rounded in the order of the elements (docs/cpu.md), no longer as a tree of all of them. Steps of two arrays become a
windowed reduction of both: `a · t + e` of what is combined so far, and its like where one op distributes over another, as recurrences are
written; and `select(a, e, o(t, e))`, which begins anew where a predicate holds. Must hold: nothing. Declined: for CUDA targets, steps of
two arrays of more elements than a block scans at once; other steps of several values or ops, and ops that are not known to be associative.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.reductions import neutral_element
from ..common.rewriting import defining_op, integer, integers, producer, replace, walk
from ..common.scans import ASSOCIATIVE, scalar_op
from ..registry import register_pass
from .support import build
from .support.constants import splat_attribute
from .support.driver import drop_dead
from .support.long_scans import fits_block

_SUMS = ("stablehlo.add", "stablehlo.or")
"""What puts the places of two pads together, of numbers and of predicates."""
_STEPS = {f"stablehlo.{name}" for name in ("add", "multiply", "maximum", "minimum", "and", "or", "xor", "select")}
_DISTRIBUTES = {"multiply": ("add",), "add": ("maximum", "minimum")}
"""What each op distributes over."""


@register_pass("join-scans", "makes one windowed reduction of a scan in log n levels of slices and pads", ops=("stablehlo.pad",))
def join_scans(module: ir.Operation) -> None:
    within: set[ir.Value] = set()
    for op in reversed(walk(module, lambda op: op.name in _SUMS)):
        level = _level(op.results[0]) if op.results[0] not in within else None
        levels = [] if level is None else _levels_of_scan(level)
        if level is not None and levels:
            within.update(each.pairs for each in levels)
            with op.location, ir.InsertionPoint(op):
                _join(op, level)
    drop_dead(module)


Part = tuple[ir.Value, int, int, int]
"""A value, and which of its elements along a dimension: from where on, how many, how far apart."""
Form = str | tuple[object, ...]
"""The name of an op and the forms of its operands, a set where their order does not matter; or what a step takes: "t", what is combined so
far, "e", the element, and "a", one of a second array."""


@dataclass(frozen=True)
class _Level:
    """`elements` along `dim`, each of which `form` combines with those before; what the places of odd numbers hold is `pairs`.

    `factors` is the second array that the form takes, if it does.
    """

    form: Form
    dim: int
    elements: ir.Value
    factors: ir.Value | None
    pairs: ir.Value


def _join(op: ir.Operation, level: _Level) -> None:
    """Replaces the result of the last level; those of the others are dead then."""
    element, dim = build.element_of(op.results[0]), level.dim
    over = _over(level.form)
    neutral = None if over is None or _unsigned(element) else neutral_element(scalar_op(f"stablehlo.{over[0]}", element), element)
    if over is None or neutral is None:
        return
    start = build.full(build.tensor([], element), neutral.value)
    if level.factors is None:
        scan = build.scan([level.elements], [start], dim, lambda t, e: [build.elementwise(over[0], t, e)])
        replace(op, scan)
        return

    def step(*values: ir.Value) -> list[ir.Value]:
        before, total, factor, value = values
        return [build.elementwise(over[1], before, factor), _emit(level.form, {"t": total, "a": factor, "e": value})]

    first = build.full(build.tensor([], build.element_of(level.factors)), 1 if over[1] == "multiply" else 0)
    scan = build.scan([level.factors, level.elements], [first, start], dim, step)
    if target_of(op).kind == "cuda" and not fits_block(scan[1].owner, dim):
        return
    scan[1].owner.attributes[ASSOCIATIVE] = ir.UnitAttr.get()
    replace(op, scan[1:])


def _emit(form: object, values: dict[str, ir.Value]) -> ir.Value:
    if isinstance(form, str):
        return values[form]
    assert isinstance(form, tuple)
    name, *operands = form
    if len(operands) == 1:
        operands = sorted(operands[0], key=str)
    emitted = [_emit(operand, values) for operand in operands]
    return build.elementwise(name, *emitted, result=emitted[-1].type)


def _over(form: object) -> tuple[str, str] | None:
    """The op that a form combines elements by, and the one that combines what of the second array lies between; None of other forms.

    An op; a · t + e and its like, where one op distributes over the other; and sums that begin anew where "a" holds.
    """
    if not isinstance(form, tuple):
        return None
    name, parts = form[0], form[1] if len(form) == 2 else None
    if parts == frozenset("te"):
        return name, ""
    for inner, outers in _DISTRIBUTES.items():
        if name in outers and parts == frozenset(["e", (inner, frozenset("at"))]):
            return name, inner
    if name == "select" and form[1:3] == ("a", "e") and len(form) == 4 and _over(form[3]) == (form[3][0], ""):
        return form[3][0], "or"
    return None


def _level(value: ir.Value) -> _Level | None:
    """What `value` is if it is put together as a level's result is; whether its pairs are what they should be is not looked at."""
    total = producer(value, "stablehlo.add") or producer(value, "stablehlo.or")
    pads = [producer(operand, "stablehlo.pad") for operand in total.operands] if total is not None else []
    even, odd = pads if len(pads) == 2 else (None, None)
    if even is None or odd is None or not _is_zero(even.operands[1]) or not _is_zero(odd.operands[1]):
        return None
    low, gaps = integers(odd, "edge_padding_low"), integers(odd, "interior_padding")
    if sorted(low) != [*([0] * (len(low) - 1)), 1] or gaps != low or integers(even, "interior_padding") != low:
        return None
    dim, pairs, whole = low.index(1), odd.operands[0], producer(even.operands[0], "stablehlo.concatenate")
    extent = build.shape_of(value)[dim]
    if any(integers(even, "edge_padding_low")) or whole is None or len(whole.operands) != 2 or integer(whole, "dimension") != dim:
        return None
    first = producer(whole.operands[0], "stablehlo.slice")
    if first is None or build.shape_of(pairs)[dim] != extent // 2:
        return None
    elements = first.operands[0]
    if elements.type != value.type or _part(first.results[0], dim) != (elements, 0, 1, 1):
        return None
    if extent == 2:  # steps of no elements may be simplified: the only pair is one
        names, step, place = {_every_second(elements, 0, dim): "t", _every_second(elements, 1, dim): "e"}, pairs, 1
    else:
        names, step, place = {(pairs, 0, (extent - 1) // 2, 1): "t", _every_second(elements, 2, dim): "e"}, whole.operands[1], 2
    others: list[ir.Value] = []
    form = _form(step, dim, names, others, place)
    return _Level(form, dim, elements, others[0] if others else None, pairs) if form is not None and len(others) < 2 else None


def _form(value: ir.Value, dim: int, names: dict[Part, str], others: list[ir.Value], place: int = 2, depth: int = 0) -> Form | None:
    """The form of a step of a few ops; `others` gains what else every second element from `place` on is read of, which is "a"."""
    part = _part(value, dim)
    if part in names:
        return names[part]
    op = defining_op(value)
    if op is None or depth > 2:
        return None
    if op.name == "stablehlo.slice":
        if part != _every_second(part[0], place, dim):
            return None
        names[part] = "a"
        others.append(part[0])
        return "a"
    operands = [_form(operand, dim, names, others, place, depth + 1) for operand in op.operands] if op.name in _STEPS else [None]
    if None in operands:
        return None
    name = op.name.removeprefix("stablehlo.")
    return (name, *operands) if name == "select" else (name, frozenset(operands))


def _levels_of_scan(last: _Level) -> list[_Level]:
    """The levels down to one pair alone, if each level's pairs are the scan of its elements' pairs; none if not."""
    levels, over = [last], _over(last.form)
    while over is not None:
        level, dim = levels[-1], last.dim
        single = build.shape_of(level.pairs)[dim] == 1
        below = None if single else _level(level.pairs)
        if not single and (below is None or (below.form, below.dim) != (last.form, dim)):
            return []
        before, after = (_every_second(level.elements, first, dim) for first in (0, 1))
        names = {before: "t", after: "e"}
        if level.factors is not None:
            names[_every_second(level.factors, 1, dim)] = "a"
        if _form(level.pairs if below is None else below.elements, dim, names, []) != last.form:
            return []
        if below is None:
            return levels
        if level.factors is not None:
            halves: dict[Part, str] = {_every_second(level.factors, first, dim): "te"[first] for first in (0, 1)}
            if below.factors is None or _form(below.factors, dim, halves, []) != (over[1], frozenset("te")):
                return []
        levels.append(below)
    return []


def _every_second(elements: ir.Value, first: int, dim: int) -> Part:
    """The elements at `first`, `first` + 2, …, as many as have a pair's other element beside them."""
    count = (build.shape_of(elements)[dim] - (first == 0) - first + 1) // 2
    return elements, first, count, 2 if count > 1 else 1


def _part(value: ir.Value, dim: int) -> Part:
    """What `value` is a part of along `dim`: from where on, how many elements, how far apart; all of itself if it is no such slice."""
    op, count = producer(value, "stablehlo.slice"), build.shape_of(value)[dim]
    if op is None:
        return value, 0, count, 1
    starts, steps = integers(op, "start_indices"), integers(op, "strides")
    shapes = zip(build.shape_of(value), build.shape_of(op.operands[0]))
    if any(kept != whole for d, (kept, whole) in enumerate(shapes) if d != dim):
        return value, 0, count, 1
    return op.operands[0], starts[dim], count, steps[dim] if count > 1 else 1


def _is_zero(value: ir.Value) -> bool:
    number = splat_attribute(value)
    return number is not None and not float(number.value)


def _unsigned(element: ir.Type) -> bool:
    return isinstance(element, ir.IntegerType) and element.is_unsigned
