"""fold-indices: what is computed of indices alone becomes an index or one number, where it is that.

Before:
    %i = stablehlo.iota dim = 0 : tensor<2048xi64>
    %n = stablehlo.compare LT, %i, %zeros;  %w = stablehlo.add %i, %sizes
    %j = stablehlo.select %n, %w, %i                                    // an index from the end, which there is none of
    %d = stablehlo.subtract %i, %before                                 // 1 everywhere
    %b = stablehlo.compare NE, %d, %ones;  %s = cumulative sum of %b    // no packed sequence begins
    %p = gather %s, %j
After:
    %j = stablehlo.iota dim = 0 : tensor<2048xi64>
    %p = stablehlo.constant dense<0> : tensor<2048xi64>

Masks of attention come like this from frameworks: of what is left the kernels know where it holds, and compute it where they need it.

A gather at places that follow one another evenly is slices (support/even_tables.py): padding by reflection, frames of a signal.
    gather(%x, [3, 2, 1, 0, 1, …, 7])  →  concatenate(reverse(slice %x [0:4]), slice %x [1:8])

The places of a gather that are computed of few indices, as those of a resize are by way of floats, are a constant: kernels then know them.

Integers and truth values of at most `max-elements` are computed here, by the folding of constants and, of what leads to indices, gathers of
elements of an array and windows (cumulative sums). Must hold: nothing. Declined: larger arrays, floats that lead to no places, results that
are neither; these stay as they are. So do gathers of gathers: of planes padded along both sides slices are nine pieces, which take longer
than the places do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ..common.folding import dtype_of
from ..common.ops import OPS
from ..common.rewriting import integers, padding_pairs, producer, replace, walk
from ..common.storage import MOST_PLACES
from ..registry import register_pass
from .support import build, constants
from .support.evaluation import combined_by, evaluated, indices, looked_up
from .support.even_tables import taken

Known = dict[ir.Value, np.ndarray]
_MOST_STEPS = 1 << 25
"""Of a window's elements over all results."""
_LARGEST_TABLE = 1 << 22
"""Places in a constant that are looked at."""


@register_pass("fold-indices", "makes an index or a number of what is computed of indices alone")
def fold_indices(module: ir.Operation, *, max_elements: int = 1 << 16) -> None:
    known: Known = {}
    for op in walk(module, lambda o: o.name.startswith("stablehlo.") and len(o.results) == 1):
        array = _computed(op, known, max_elements)
        if array is None:
            if op.name == "stablehlo.gather":
                _read_at_known_places(op, known)
            continue
        value = _simple(op, array)
        if value is not None:
            replace(op, [value])
        known[op.results[0] if value is None else value] = array


def _computed(op: ir.Operation, known: Known, limit: int) -> np.ndarray | None:
    """The elements of an op's result that depend on indices, if that is known."""
    kind = op.results[0].type
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape or not 0 < prod(kind.shape) <= limit:
        return None
    if not isinstance(kind.element_type, ir.IntegerType) or (dtype := dtype_of(kind.element_type)) is None:
        return None
    if op.name == "stablehlo.iota":
        return indices(op)
    evaluate = _EVALUATED.get(op.name) or getattr(OPS.get(op.name), "fold", None)
    if evaluate is None or not any(value in known for value in op.operands):
        return None
    found = [known[value] if value in known else constants.read(value, limit) for value in op.operands]
    arrays = [array for array in found if array is not None]
    if len(arrays) < len(found):
        return None
    with np.errstate(all="ignore"):
        made = evaluate(op, arrays)
    return None if made is None else np.broadcast_to(np.asarray(made).astype(dtype), kind.shape)


def _simple(op: ir.Operation, array: np.ndarray) -> ir.Value | None:
    """The array as one number or an index."""
    kind = ir.RankedTensorType(op.results[0].type)
    with ir.InsertionPoint(op), op.location:
        first = array.flat[0]
        if (array == first).all():
            return build.full(kind, first)
        if op.name == "stablehlo.iota":
            return None
        for d, extent in enumerate(kind.shape):
            line = np.arange(extent).reshape([-1 if n == d else 1 for n in range(array.ndim)])
            if extent > 1 and array.dtype != np.bool_ and (array == line).all():
                return build.iota(kind.shape, kind.element_type, d)
    return None


def _read_at_known_places(op: ir.Operation, known: Known) -> None:
    """Makes slices of a gather at known places; a few places that are computed, as those of a resize, become a constant."""
    places = op.operands[1]
    table = _table(places, known)
    if table is None:
        table = evaluated(places, MOST_PLACES)
    if (parts := _taken(op, table)) is not None:
        replace(op, [parts])
    elif table is not None and table.size <= MOST_PLACES and producer(places, "stablehlo.constant") is None:
        with ir.InsertionPoint(op), op.location:
            op.operands[1] = constants.write(table.astype(dtype_of(build.element_of(places))), places.type)


def _taken(op: ir.Operation, table: np.ndarray | None) -> ir.Value | None:
    """A gather of whole lines along one dimension, at known places, as slices."""
    x, _ = op.operands
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    dropped, moved, component = list(numbers.collapsed_slice_dims), list(numbers.start_index_map), numbers.index_vector_dim
    if table is None or not table.size or dropped != moved or len(moved) != 1 or list(numbers.operand_batching_dims):
        return None
    if producer(x, op.name) is not None or any(use.owner.operation.name == op.name for use in op.results[0].uses):
        return None
    shape, along = build.shape_of(x), moved[0]
    if integers(op, "slice_sizes") != [1 if d == along else n for d, n in enumerate(shape)] or 0 in shape:
        return None
    if component < table.ndim:
        table = table.reshape([n for d, n in enumerate(table.shape) if d != component])
    with ir.InsertionPoint(op), op.location:
        lines = taken(x, along, table)
        if lines is None:
            return None
        windows = list(numbers.offset_dims)
        own = iter(range(along, along + table.ndim))
        others = iter([d if d < along else d + table.ndim - 1 for d in range(len(shape)) if d != along])
        order = [next(others) if d in windows else next(own) for d in range(len(build.shape_of(op.results[0])))]
        return build.transpose(lines, order)


def _table(indices: ir.Value, known: Known) -> np.ndarray | None:
    """What indices hold: those that are known, and constants in the shape that they are brought into."""
    if indices in known:
        return known[indices]
    if (reshape := producer(indices, "stablehlo.reshape")) is not None:
        inner = _table(reshape.operands[0], known)
        return None if inner is None else inner.reshape(build.shape_of(indices))
    return constants.read(indices, _LARGEST_TABLE)


def _windows(op: ir.Operation, arrays: list[np.ndarray]) -> np.ndarray | None:
    """A reduction of windows one after the other."""
    if len(arrays) != 2:
        return None
    array, initial = arrays
    sizes, ones = integers(op, "window_dimensions"), [1] * array.ndim
    combine = combined_by(op)
    strides, *dilations = (integers(op, name, ones) for name in ("window_strides", "window_dilations", "base_dilations"))
    if combine is None or strides != ones or any(each != ones for each in dilations) or array.size * prod(sizes) > _MOST_STEPS:
        return None
    padded = np.pad(array, padding_pairs(op, array.ndim), constant_values=initial.flat[0])
    windows = np.lib.stride_tricks.sliding_window_view(padded, sizes)
    return combine.reduce(windows, axis=tuple(range(array.ndim, 2 * array.ndim)))


_EVALUATED: dict[str, Callable[[ir.Operation, list[np.ndarray]], np.ndarray | None]] = {
    "stablehlo.gather": looked_up,
    "stablehlo.reduce_window": _windows,
}
