"""The programs of an op and element type: one of tame values, one of edge values, and for some types others of rank 0 and of no elements.

Edge values are those of the conformance tests: zeros of both signs, subnormals, the largest, infinities, NaN, the ends of the range of
integers; operands of two meet as pairs. Some ops get them where the fuzzer spares an oracle: division by zero, shifts by more than the
width, indices far out of bounds, conversions from every type, NaN in maxima and in sorts by the total order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from fuzz.elements import COMMON, COMPLEX, FLOATS, QUANTIZED, SIGNED, SMALL_FLOATS, Data, dtype, is_float, is_integer, largest, part, width
from fuzz.errors import Facts, Unsuitable
from fuzz.grow import Grower, Limits
from fuzz.program import Program, Type, Value
from fuzz.programs import SMALL, attempt, small_program
from fuzz.recipes import Recipe, load
from fuzz.recipes.reducing import body
from torch_mlir import ir
from values import codes, edges

from hloom.dialects.context import make_context

PAIRED = 64
"""So many edge values at most meet as pairs."""
SHAPED = ("i1", "i32", "f32", "bf16", "f8E4M3FN", "i4", "complex<f32>", *QUANTIZED)
"""Types of which shapes of rank 0 and of no elements are tried: those of other types differ by their values alone."""
SOURCES = ("i1", "i4", "ui4", "i8", "ui8", "i32", "ui32", "i64", "f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f4E2M1FN")
_CONTEXT = make_context()
_SHAPES = {
    "rank 0": replace(SMALL, ranks=(0,), data=("wild",)),
    "no elements": replace(SMALL, ranks=(1, 2, 3), extents=(0, 2, 3), empty=0.4, data=("wild",)),
}


def cases(name: str, element: str, target: str = "cpu") -> list[Program]:
    """The tame one first; that alone for GPUs of types that are bytes and f32 long before a target counts."""
    tame = small_program(name, element)
    assert tame is not None
    if target != "cpu" and element not in (*COMMON, *SHAPED):
        return [tame]
    found = [tame, edge_program(name, element)]
    if element in SHAPED:
        found += [_grown(load()[name], element, limits) for limits in _SHAPES.values()]
    return [program for program in found if program is not None and (program is tame or _is_valid(program))]


def _is_valid(program: Program) -> bool:
    """Whether the verifier takes it: a gathered dimension has elements, say."""
    try:
        ir.Module.parse(program.text(), _CONTEXT)
    except ir.MLIRError:
        return False
    return True


def edge_program(name: str, element: str) -> Program | None:
    make = _EDGES.get(name)
    recipe = load()[name]
    table = table_of(element)
    extent = 16 if table is None or len(table) > PAIRED or len(table) < 16 else len(table)
    limits = replace(SMALL, extents=(extent,), data=("wild",))
    if make is None:
        return _grown(recipe, element, limits)
    return _grown(replace(recipe, make=make), element, limits)


def _grown(recipe: Recipe, element: str, limits: Limits) -> Program | None:
    for seed in range(20):
        g = EdgeGrower([seed], limits)
        g.by_xla = recipe.by_xla
        if attempt(g, recipe, element):
            return g.finish()
    return None


@cache
def table_of(element: str) -> np.ndarray | None:
    """Its edge values, every value of a narrow type; None of complex and of quantized types."""
    if element in QUANTIZED or element in COMPLEX:
        return None
    narrow = element in SMALL_FLOATS or width(element) < 8
    return edges(element) if element == "i1" or not narrow else codes(element)


class EdgeGrower(Grower):
    """Its wild arguments are edge values: those of the first go down the rows, those of the second across them."""

    def argument(self, shape: Sequence[int], element: str, data: Data) -> Value:
        value = super().argument(shape, element, data)
        if element in QUANTIZED:
            given = self.arguments[-1]
            given.array = (given.array * 40).astype(given.array.dtype)  # beyond both ends of the integers
        elif data.kind == "wild":
            given, number = self.arguments[-1], len(self.arguments) - 1
            if element in COMPLEX:
                parts = [_laid(table_of(part(element)), given.array.shape, number + i) for i in range(2)]
                given.array = np.stack(parts, -1).view(dtype(element)).reshape(given.array.shape)
            else:
                given.array = _laid(table_of(element), given.array.shape, number)
        return value


def _laid(table: np.ndarray, shape: tuple[int, ...], number: int) -> np.ndarray:
    places = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    across = shape[-1] if shape and shape[-1] else 1
    if number == 0:
        return table[(places // across if len(table) <= PAIRED and len(shape) > 1 else places) % len(table)]
    if number == 1:
        return table[(places % across if len(table) <= PAIRED else places * 37 + 11) % len(table)]
    return table[(places * (2 * number + 1) + number) % len(table)]


Edge = Callable[[Grower, str, str], object]
_EDGES: dict[str, Edge] = {}


def edge(names: str) -> Callable[[Edge], Edge]:
    """Registers what makes the op of edge values."""

    def register(make: Edge) -> Edge:
        _EDGES.update(dict.fromkeys(names.split(), make))
        return make

    return register


@edge("divide remainder chlo.next_after")
def quotient(g: Grower, name: str, element: str) -> Value:
    """By zero, and of the least by -1; of floats all pairs, as for neighbours."""
    if element in COMPLEX:
        raise Unsuitable
    g.by_xla |= is_integer(element)
    x = g.any(element)
    return g.emit(name, [x, g.argument(x.shape, element, Data("wild"))])


@edge("shift_left shift_right_arithmetic shift_right_logical")
def shift(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x, g.argument(x.shape, element, Data("wild"))])


@edge("compare")
def compare(g: Grower, name: str, element: str) -> Value:
    """All directions, of floats by both orders."""
    x = g.any(element)
    y = g.argument(x.shape, element, Data("wild"))
    flag = Type(x.shape, "i1")
    for direction in ("EQ", "NE", "LT", "LE", "GT", "GE"):
        value = g.emit(name, [x, y], flag, f"comparison_direction = #stablehlo<comparison_direction {direction}>")
    return value


@edge("convert")
def convert(g: Grower, name: str, element: str) -> Value:
    """From every type; floats beyond the range of an integer become its end."""
    kinds = [kind for kind in SOURCES if part(element) == element or kind in (*FLOATS, "i32")]
    for source in kinds:
        x = g.argument((8, 8), source, Data("wild"))
        value = g.emit(name, [x], Type(x.shape, element))
    return value


@edge("reduce")
def reduce(g: Grower, name: str, element: str) -> Value:
    """Extremes of rows with NaN, zeros of both signs, the ends of integers."""
    if element in COMPLEX or element in QUANTIZED:
        raise Unsuitable
    x = g.any(element, low=2)
    kind = Type(x.shape[:1], element)
    for op in ("maximum", "minimum"):
        init = g.argument((), element, Data("tame"))
        value = g.emit(name, [x, init], kind, "dimensions = array<i64: 1>", [body(g, op, element)])
    return value


@edge("sort")
def sort(g: Grower, name: str, element: str) -> Value:
    """By the total order, in which -NaN comes first and NaN last."""
    if element in COMPLEX or element in QUANTIZED:
        raise Unsuitable
    g.by_xla = is_float(element)
    x, scalar = g.any(element, low=2), Type((), element)
    order = "TOTALORDER" if is_float(element) else "SIGNED" if element in SIGNED else "UNSIGNED"
    how = f"comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type {order}>"
    before = g.region([scalar, scalar], lambda a, b: [g.emit("compare", [a, b], Type((), "i1"), how)])
    return g.emit(name, [x], x.type, "dimension = 1 : i64, is_stable = true", [before])


def far(g: Grower, shape: tuple[int, ...]) -> Value:
    """Indices at the ends of i32, and some within bounds."""
    return g.argument(shape, "i32", Data("wild"))


@edge("dynamic_slice")
def dynamic_slice(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=2)
    for _ in range(4):
        starts = [far(g, ()) for _ in x.shape]
        value = g.emit(name, [x, *starts], Type((2, 3), element), "slice_sizes = array<i64: 2, 3>")
    return value


@edge("dynamic_update_slice")
def dynamic_update_slice(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=2)
    update = g.value((2, 3), element)
    for _ in range(4):
        value = g.emit(name, [x, update, *(far(g, ()) for _ in x.shape)], x.type)
    return value


@edge("gather")
def gather(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, low=2)
    numbers = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
    attributes = f"slice_sizes = array<i64: 1, {x.shape[1]}>, dimension_numbers = #stablehlo.gather<{numbers}>"
    return g.emit(name, [x, far(g, (12,))], Type((12, x.shape[1]), element), attributes)


@edge("scatter")
def scatter(g: Grower, name: str, element: str) -> Value:
    """Rows that are replaced, the last one of several at a place stays; those out of bounds are dropped."""
    x = g.any(element, low=2)
    update = g.value((12, x.shape[1]), element)
    numbers = "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    attributes = f"indices_are_sorted = false, unique_indices = false, scatter_dimension_numbers = #stablehlo.scatter<{numbers}>"
    scalar = Type((), element)
    replaced = g.region([scalar, scalar], lambda old, new: [new])
    return g.emit(name, [x, far(g, (12,)), update], x.type, attributes, [replaced])


@edge("power")
def power(g: Grower, name: str, element: str) -> Value:
    """Integers to negative powers, and to powers beyond their range: up to 63, which is all that XLA computes."""
    if element in COMPLEX:
        raise Unsuitable
    x = g.any(element)
    if is_integer(element):
        g.by_xla = True
        return g.emit(name, [x, g.within(x.shape, element, max(least(element), -7), int(min(largest(element), 63)))])
    y = g.argument(x.shape, element, Data("wild"))
    return g.emit(name, [x, y], facts=Facts(ulps=2.0 if element in ("f64", "f32") else 1.0) if is_float(element) else Facts())


def least(element: str) -> int:
    return -int(largest(element)) - 1 if element in SIGNED else 0


@edge("uniform_quantize uniform_dequantize")
def uniform(g: Grower, name: str, element: str) -> Value:
    """Beyond both ends, infinities too."""
    if element not in FLOATS:
        raise Unsuitable
    x = g.argument((8, 8), element, Data("wild"))
    array = g.arguments[-1].array
    array[np.isnan(array)] = 1
    kind = QUANTIZED[0].replace("f32", element)
    q = g.emit("uniform_quantize", [x], Type(x.shape, kind))
    return g.emit("uniform_dequantize", [q], x.type)


@edge(" ".join(name for name in load() if name.startswith("chlo.") and load()[name].make.__name__ == "chlo_function"))
def composed(g: Grower, name: str, element: str) -> Value:
    """Compositions: where one crosses zero, or is beyond what its terms can have, they are off by more."""
    if element in COMPLEX:
        raise Unsuitable
    x = g.argument((8, 8), element, Data("wild"))
    return g.emit(name, [x], facts=Facts(ulps=64))


@edge("abs sign")
def magnitude(g: Grower, name: str, element: str) -> object:
    """Not of complex numbers: both oracles square what is tiny. The conformance tests have those against wider types."""
    if element in COMPLEX:
        raise Unsuitable
    return load()[name].make(g, name, element)
