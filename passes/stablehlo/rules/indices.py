"""Rules of gathers and scatters whose indices say less than they hold.

    %r = iota dim = 0 : tensor<8x1xi32>                           // x[arange(8), y]: a dimension of the indices
    %i = concatenate %r, %y, dim = 1                              // that goes with one of the operand
    %0 = gather(%x, %i) <collapsed_slice_dims = [0, 1], start_index_map = [0, 1]>
    →  gather(%x, %y) <collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1]>

    %i = broadcast_in_dim %y, dims = [0] : tensor<8x64xi32>       // one index for the whole row
    %0 = scatter(%x, %i, %u) <inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [1]>
    →  scatter(%x, %y, %u) <update_window_dims = [1], inserted_window_dims = [0]>

    gather(%x, iota) <offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0]>  →  slice %x

    gather(%x, [4]) <offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>   →  reshape(slice %x [0:8, 4:5])

    %i = reshape %y : (tensor<8x56xi64>) -> tensor<448xi64>       // computed in the dimensions that it has
    %0 = gather(%x, %i) : tensor<448xf32>
    →  reshape(gather(%x, %y) : tensor<8x56xf32>)

A row that moves as a whole is read by vectors, and its index once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.ops import is_elementwise
from ...common.rewriting import defining_op, element_of, i64_array, integer, integers, keyword, producer
from ..support import build, constants
from ..support.driver import with_region

Values = list[ir.Value] | None

_GATHER = ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map")
_SCATTER = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scattered_dims_to_operand_dims",
)


@dataclass(frozen=True)
class _Numbers:
    """The dimension numbers of both ops by one name: `windows` of the result or the updates, `batch` of (operand, indices)."""

    windows: tuple[int, ...]
    dropped: tuple[int, ...]
    batch: tuple[tuple[int, int], ...]
    moved: tuple[int, ...]
    component: int

    @staticmethod
    def of(op: ir.Operation) -> _Numbers:
        if op.name == "stablehlo.gather":
            raw, names = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"]), _GATHER
        else:
            raw, names = _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"]), _SCATTER
        windows, dropped, operand, indices, moved = (tuple(getattr(raw, name)) for name in names)
        return _Numbers(windows, dropped, tuple(zip(operand, indices)), moved, raw.index_vector_dim)

    def attributes(self, op: ir.Operation) -> dict[str, ir.Attribute]:
        batch = sorted(self.batch)
        values = (self.windows, self.dropped, [d for d, _ in batch], [i for _, i in batch], self.moved)
        if op.name == "stablehlo.gather":
            return {"dimension_numbers": _stablehlo.GatherDimensionNumbers.get(*map(list, values), self.component)}
        return {"scatter_dimension_numbers": _stablehlo.ScatterDimensionNumbers.get(*map(list, values), self.component)}

    def window_of(self, rank: int) -> list[int]:
        """The operand's dimensions along which the windows lie, in the order of `windows`."""
        absent = {*self.dropped, *(d for d, _ in self.batch)}
        return [d for d in range(rank) if d not in absent]


def _own_dimension(op: ir.Operation) -> Values:
    """A component of the index that counts a dimension of the indices: that dimension goes with the operand's."""
    numbers, indices = _Numbers.of(op), _indices(op)
    parts = _components(indices, numbers.component)
    if len(parts) < 2:
        return None
    for c, part in enumerate(parts):
        k, d = _counted(part), numbers.moved[c]
        if k is None or k == numbers.component or d not in numbers.dropped or any(k == i for _, i in numbers.batch):
            continue
        extent, whole = build.shape_of(indices)[k], build.shape_of(op.operands[0])[d]
        if extent > whole or (extent != whole and op.name != "stablehlo.gather"):
            continue
        new = replace(
            numbers,
            dropped=tuple(e for e in numbers.dropped if e != d),
            batch=(*numbers.batch, (d, k)),
            moved=(*numbers.moved[:c], *numbers.moved[c + 1 :]),
        )
        return _again(op, build.concatenate([*parts[:c], *parts[c + 1 :]], numbers.component), new, {d: extent})
    return None


def _same_index(op: ir.Operation) -> Values:
    """Indices that are the same along a dimension that goes with one of the operand: a window along it."""
    numbers, indices = _Numbers.of(op), _indices(op)
    rank = len(build.shape_of(op.operands[0]))
    for d, k in numbers.batch:
        if not _is_same_along(indices, k):
            continue
        of_indices = [i for i in range(len(build.shape_of(indices))) if i != numbers.component]
        moving = op.results[0] if op.name == "stablehlo.gather" else op.operands[len(op.results) + 1]
        outside = [r for r in range(len(build.shape_of(moving))) if r not in numbers.windows]
        r = outside[of_indices.index(k)]
        windows = dict(zip(numbers.windows, numbers.window_of(rank))) | {r: d}
        if [windows[w] for w in sorted(windows)] != sorted(windows.values()):
            continue
        new = replace(
            numbers,
            windows=tuple(sorted(windows)),
            batch=tuple((e, i - (i > k)) for e, i in numbers.batch if i != k),
            component=numbers.component - (numbers.component > k),
        )
        return _again(op, _without(indices, k), new, {}, {d: build.shape_of(op.operands[0])[d]})
    return None


def _slice(op: ir.Operation) -> Values:
    """A gather of the first elements along the first dimension, one after the other (the positions that tokens have)."""
    numbers, indices, x = _Numbers.of(op), _indices(op), op.operands[0]
    shape, result = build.shape_of(x), build.shape_of(op.results[0])
    own = [n for d, n in enumerate(build.shape_of(indices)) if d != numbers.component]
    last = tuple(range(len(result) - len(shape) + 1, len(result)))
    if (
        numbers.batch
        or numbers.dropped != (0,)
        or numbers.moved != (0,)
        or numbers.windows != last
        or integers(op, "slice_sizes")[1:] != shape[1:]
    ):
        return None
    k = _counted(indices)
    if k is None or k == numbers.component or prod(own) != build.shape_of(indices)[k] or prod(own) > shape[0]:
        return None
    return [build.reshape(build.slice_(x, [0] * len(shape), [prod(own), *shape[1:]]), result)]


def _one_window(op: ir.Operation) -> Values:
    """A gather of one window at a known place (`jnp.median`'s element in the middle)."""
    numbers, x = _Numbers.of(op), op.operands[0]
    places = constants.read(_indices(op), len(numbers.moved))
    if places is None or not numbers.moved or places.size != len(numbers.moved) or numbers.batch:
        return None
    shape, sizes = build.shape_of(x), integers(op, "slice_sizes")
    starts = dict(zip(numbers.moved, places.flat))
    first = [min(max(int(starts.get(d, 0)), 0), n - size) for d, (n, size) in enumerate(zip(shape, sizes))]
    window = build.slice_(x, first, [start + size for start, size in zip(first, sizes)])
    return [build.reshape(window, build.shape_of(op.results[0]))]


def _as_computed(op: ir.Operation) -> Values:
    """Elements at places that are computed in more dimensions and put in one row: in their own, what a line of places shares is computed
    once. Rows are read by the number of the row as they are."""
    numbers, row = _Numbers.of(op), producer(op.operands[1], "stablehlo.reshape")
    if row is None or numbers.windows or numbers.batch:
        return None
    places = row.operands[0]
    made = defining_op(places)
    if made is None or not is_elementwise(made) or numbers.component != 1 or op.operands[1].type.rank != 1:
        return None
    new = replace(numbers, component=places.type.rank)
    kind, sizes = build.tensor(build.shape_of(places), element_of(op.results[0])), op.attributes["slice_sizes"]
    gathered = build.value_of("stablehlo.gather", kind, [op.operands[0], places], **new.attributes(op), slice_sizes=sizes)
    return [build.reshape(gathered, build.shape_of(op.results[0]))]


def _indices(op: ir.Operation) -> ir.Value:
    return op.operands[1 if op.name == "stablehlo.gather" else len(op.results)]


def _again(
    op: ir.Operation, indices: ir.Value, numbers: _Numbers, cut: dict[int, int], sizes: dict[int, int] | None = None
) -> list[ir.Value]:
    """The op on other indices; `cut` shortens the operand of a gather along a dimension, `sizes` are new extents of its slices."""
    changed = numbers.attributes(op)
    types = [result.type for result in op.results]
    if op.name != "stablehlo.gather":
        count = len(op.results)
        operands = list(op.operands)
        return list(with_region(op, [*operands[:count], indices, *operands[count + 1 :]], types, **changed).results)
    x = op.operands[0]
    limits = [cut.get(d, n) for d, n in enumerate(build.shape_of(x))]
    if limits != build.shape_of(x):
        x = build.slice_(x, [0] * len(limits), limits)
    changed["slice_sizes"] = i64_array([(sizes or {}).get(d, n) for d, n in enumerate(integers(op, "slice_sizes"))])
    return [build.value_of("stablehlo.gather", types[0], [x, indices], **changed)]


def _components(indices: ir.Value, dim: int) -> list[ir.Value]:
    """The parts of a concatenation of single components."""
    made = defining_op(indices)
    if made is None or made.name != "stablehlo.concatenate" or integer(made, "dimension") != dim:
        return []
    parts = list(made.operands)
    return parts if all(build.shape_of(part)[dim] == 1 for part in parts) else []


def _counted(value: ir.Value) -> int | None:
    """The dimension along which the value is 0, 1, 2, …; None of any other value."""
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "stablehlo.iota":
        return integer(op, "iota_dimension")
    if op.name == "stablehlo.convert" and all(_counts(build.element_of(v)) for v in (value, op.operands[0])):
        return _counted(op.operands[0])
    if op.name == "stablehlo.reshape":
        return _reshaped(_counted(op.operands[0]), build.shape_of(op.operands[0]), build.shape_of(value))
    if op.name == "stablehlo.broadcast_in_dim":
        k = _counted(op.operands[0])
        if k is None:
            return None
        along = integers(op, "broadcast_dimensions")[k]
        return along if build.shape_of(value)[along] == build.shape_of(op.operands[0])[k] else None  # a 0 that is repeated does not count
    if op.name == "stablehlo.select":  # of Python's negative indices, of which there is none
        test = defining_op(op.operands[0])
        if test is None or test.name != "stablehlo.compare" or keyword(test, "comparison_direction") != "LT":
            return None
        if constants.splat_value(test.operands[1]) == 0 and _counted(test.operands[0]) is not None:
            return _counted(op.operands[2])
    return None


def _counts(element: ir.Type) -> bool:
    """Whether the type holds any extent."""
    return isinstance(element, ir.IntegerType) and element.width >= 32


def _reshaped(k: int | None, before: Sequence[int], after: Sequence[int]) -> int | None:
    """Where a dimension of what holds nothing else than dimensions of extent 1 beside it goes."""
    if k is None or max(before[k], 1) != max([1, *after]) or any(n != 1 for d, n in enumerate(before) if d != k) or before[k] == 1:
        return None
    return list(after).index(before[k])


def _is_same_along(value: ir.Value, k: int) -> bool:
    """Whether the value is the same along a dimension; each of what it is made of is looked at once."""
    todo, seen = [(value, k)], set[tuple[ir.Value, int]]()
    while todo:
        each = todo.pop()
        if each in seen or build.shape_of(each[0])[each[1]] == 1:
            continue
        seen.add(each)
        needed = _alike_if(*each)
        if needed is None:
            return False
        todo += needed
    return True


def _alike_if(value: ir.Value, k: int) -> list[tuple[ir.Value, int]] | None:
    """What must be the same along a dimension, each along its own, for a value to be so along dimension k; None if it is not."""
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "stablehlo.constant":
        return None if constants.splat_value(value) is None else []
    if op.name == "stablehlo.iota":
        return None if integer(op, "iota_dimension") == k else []
    if op.name == "stablehlo.broadcast_in_dim":
        dims = integers(op, "broadcast_dimensions")
        return [(op.operands[0], dims.index(k))] if k in dims else []
    if op.name == "stablehlo.concatenate":
        return None if integer(op, "dimension") == k else [(each, k) for each in op.operands]
    ranked = [v for v in op.operands if isinstance(v.type, ir.RankedTensorType)]
    return [(v, k) for v in ranked if build.shape_of(v)] if is_elementwise(op) else None


def _without(value: ir.Value, k: int) -> ir.Value:
    """The value without a dimension along which it is the same."""
    shape = build.shape_of(value)
    first = build.slice_(value, [0] * len(shape), [1 if d == k else n for d, n in enumerate(shape)])
    return build.reshape(first, [n for d, n in enumerate(shape) if d != k])


INDICES = {name: [_own_dimension, _same_index] for name in ("stablehlo.gather", "stablehlo.scatter")}
INDICES["stablehlo.gather"] += [_slice, _one_window, _as_computed]
