"""Reads a group function at stage linalg as one contraction with an elementwise epilogue, its operands addressed by linear forms.

The loops of the contraction fall into four groups by who has them: batch (both operands and the result), rows (the left operand and the
result), cols (the right operand and the result), inner (both operands, summed). Each group is one index in a kernel, whatever the rank;
neighbouring loops that every access runs through as one are merged. The operand that has the result's fastest loop is made the right one,
so that consecutive columns are consecutive in memory. Slices, reshapes at the edge, transposes and convolutions are all linear forms.

Declined (None): more than one reduction, factors that are no function of elements of arguments, indices that are not linear, an epilogue
that does not cover the result or reads a neighbour's results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.affine import loops_where
from ...common.axes import TileOp, read_tile_op
from ...common.contraction import summed_product
from ...common.edge import RESHAPES, reassociation
from ...common.linear_index import LinearIndex, linear_results
from ...common.rewriting import defining_op, element_of, index_constant, is_block_argument, shape_of, walk
from ...common.storage import row_major
from ...linalg.inlining.costs import op_cost
from ...tiled.schedules.gpu_contraction import Sizes

_WIDENINGS = ("arith.extf", "arith.extsi", "arith.extui")
_MULTIPLY_ADDS = (("arith.addf", "arith.mulf"), ("arith.addi", "arith.muli"))


@dataclass(frozen=True)
class Edge:
    """An index that lies on padding unless it is at least 0 and less than `extent`."""

    index: LinearIndex
    extent: int


@dataclass(frozen=True)
class ElementAccess:
    """An element of a buffer of the kernel (inputs first, then outputs) at a linear index; a zero that is nowhere in memory beyond one of
    the `edges`."""

    buffer: int
    index: LinearIndex
    element: ir.Type
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True)
class LoopGroup:
    """Loops that make one index of a kernel, outermost first: pairs of a loop's number and its extent."""

    loops: tuple[tuple[int, int], ...]

    @property
    def extent(self) -> int:
        """How many values the index takes."""
        return prod(extent for _, extent in self.loops)

    @property
    def last(self) -> int | None:
        """The innermost loop, or None where the group has none."""
        return self.loops[-1][0] if self.loops else None

    @property
    def last_extent(self) -> int:
        """The extent of the innermost loop; 1 where there is none."""
        return self.loops[-1][1] if self.loops else 1

    def digits(self, index: LinearIndex) -> dict[int, LinearIndex]:
        """The loops where the group's index is `index`; emits the divisions."""
        if len(self.loops) <= 1:
            return {self.loops[0][0]: index} if self.loops else {}
        rest, found = index.value(), {}
        for number, (loop, extent) in enumerate(reversed(self.loops)):
            if number + 1 == len(self.loops):
                found[loop] = LinearIndex.of(rest)
                break
            size = index_constant(extent)
            found[loop] = LinearIndex.of(arith.remui(rest, size))
            rest = arith.divui(rest, size)
        return found


@dataclass(frozen=True)
class Leaf:
    """An input of a factor: the argument of the contraction's body, and where its elements lie."""

    argument: ir.Value
    access: ElementAccess


@dataclass(frozen=True)
class Operand:
    """One factor: its inputs, the largest first, and the body's scalar `ops` that make of their elements what is multiplied (`value`)."""

    leaves: tuple[Leaf, ...]
    value: ir.Value
    ops: tuple[ir.Operation, ...]

    @property
    def access(self) -> ElementAccess:
        """Where the elements of the largest input lie."""
        return self.leaves[0].access

    @property
    def widening(self) -> ir.Operation | None:
        """The extension to a wider type that the factor ends in: what is extended is kept in its narrow type for as long as possible."""
        op = defining_op(self.value) if self.ops else None
        return op if op is not None and op.name in _WIDENINGS else None

    @property
    def stored(self) -> ir.Value:
        """The factor before the widening."""
        return self.value if self.widening is None else self.widening.operands[0]

    @property
    def element(self) -> ir.Type:
        """The factor's type before the widening."""
        return self.stored.type

    @property
    def is_computed(self) -> bool:
        """Whether the factor is more than an element of an input."""
        return self.stored != self.leaves[0].argument

    def depends_on(self, loop: int) -> bool:
        """Whether the factor changes along `loop`."""
        return any(leaf.access.index.coefficient(loop) for leaf in self.leaves)


@dataclass(frozen=True)
class ContractionGroup:
    """A group: batch x rows x cols results, each a sum over inner of left * right, then the epilogue."""

    function: ir.Operation
    op: ir.Operation
    left: Operand
    right: Operand
    accumulator: ir.Type
    batch: LoopGroup
    rows: LoopGroup
    cols: LoopGroup
    inner: LoopGroup
    extents: tuple[int, ...]
    forms: Mapping[ir.Value, list[LinearIndex]]
    """Of each value that depends on the contraction, the loops that index it."""
    results: tuple[tuple[ir.Value, ElementAccess], ...]
    """What is stored, and where."""

    def loops_at(
        self, batch: LinearIndex, rows: LinearIndex | int, cols: LinearIndex | int, inner: LinearIndex | int = 0
    ) -> dict[int, LinearIndex]:
        """Every loop where the groups' indices are these; a loop that was merged into its neighbour is 0."""
        found = {i: LinearIndex() for i in range(len(self.extents))}
        for group, index in ((self.batch, batch), (self.rows, rows), (self.cols, cols), (self.inner, inner)):
            found |= group.digits(LinearIndex.of(index))
        return found

    @property
    def sizes(self) -> Sizes:
        """The extents of the four groups of loops."""
        return Sizes(self.batch.extent, self.rows.extent, self.cols.extent, self.inner.extent, self.work)

    @property
    def work(self) -> int:
        """Scalar operations of the epilogue, for each result."""
        ops = {defining_op(value) for value in self.forms} - {self.op}
        bodies = [op.regions[0].blocks[0] for op in ops if op is not None and op.name == "linalg.generic"]
        return sum(op_cost(op.operation) for body in bodies for op in body.operations)

    @property
    def is_float(self) -> bool:
        return isinstance(self.accumulator, ir.FloatType)


def read_contraction(function: ir.Operation) -> ContractionGroup | None:
    """The contraction that `function` is, or None."""
    ops = tile_ops(function)
    reducing = [t for t in ops.values() if not all(t.parallel)]
    if len(reducing) != 1 or walk(function, "tensor.extract"):
        return None
    tile = reducing[0]
    factors = factors_of(tile.op.regions[0].blocks[0])
    if factors is None or min(tile.extents) < 1:
        return None
    loops = [LinearIndex({i: 1}) if extent > 1 else LinearIndex() for i, extent in enumerate(tile.extents)]
    operands = [operand_of(tile, factor, loops, tile.extents) for factor in factors]
    forms = _epilogue_forms(tile, ops, loops, walk(function, "linalg.generic"))
    if operands[0] is None or operands[1] is None or forms is None:
        return None
    results = results_of(function, forms)
    if results is None:
        return None
    accumulator = element_of(tile.op.results[0])
    parts = split_loops(tile.extents, tile.parallel, operands[0], operands[1], results[0][1].index)
    if parts is None:
        return None
    (left, right), groups = parts
    read = ContractionGroup(function, tile.op, left, right, accumulator, *groups, tuple(tile.extents), forms, tuple(results))
    return read if walk(function, "linalg.index") else _merged(read, _all_accesses(read, ops))


def tile_ops(function: ir.Operation) -> dict[ir.Value, TileOp]:
    """The linalg ops of a function by their results."""
    found: dict[ir.Value, TileOp] = {}
    for op in walk(function, lambda o: o.name in ("linalg.generic", "linalg.fill")):
        read = read_tile_op(op)
        found |= dict.fromkeys(op.results, read)
    return found


def result_number(tile: TileOp, value: ir.Value) -> int:
    """Which of the op's results `value` is."""
    return list(tile.op.results).index(value)


def loops_of(tile: TileOp, value: ir.Value, indices: Sequence[LinearIndex]) -> list[LinearIndex]:
    """The loops of an elementwise op where its result `value` is taken at `indices`."""
    return loops_where(tile.output_maps[result_number(tile, value)], indices, LinearIndex())


def element_access(value: ir.Value, indices: Sequence[LinearIndex]) -> ElementAccess | None:
    """Where the element of `value` at `indices` lies, if `value` is an argument seen through slices and reshapes."""
    shape = shape_of(value)
    element = element_of(value)
    if is_block_argument(value):
        return ElementAccess(ir.BlockArgument(value).arg_number, address_of(shape, indices), element)
    op = defining_op(value)
    assert op is not None
    if op.name in RESHAPES:
        source = op
        while source is not None and source.name in RESHAPES:
            value, source = source.operands[0], defining_op(source.operands[0])
        if source is not None and source.name == "tensor.pad" and value == op.operands[0]:
            inside = _without_units(op, indices)
            return None if inside is None else _padded_access(source, inside)
        if is_block_argument(value):
            return ElementAccess(ir.BlockArgument(value).arg_number, address_of(shape, indices), element)
        return _reshaped_access(op, indices)
    if op.name == "tensor.pad":
        return _padded_access(op, indices)
    if op.name != "tensor.extract_slice" or len(op.operands) != 1:
        return None
    if len(ir.RankedTensorType(op.operands[0].type).shape) != len(shape):
        return None
    offsets, strides = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("static_offsets", "static_strides"))
    return element_access(op.operands[0], [i * s + o for i, o, s in zip(indices, offsets, strides)])


def _reshaped_access(op: ir.Operation, indices: Sequence[LinearIndex]) -> ElementAccess | None:
    """The access of a part of an array seen in another shape; None where dimensions that a reshape joins have no common stride."""
    source, groups = op.operands[0], reassociation(op)
    if op.name == "tensor.expand_shape":
        extents = shape_of(op.results[0])
        return element_access(source, [address_of([extents[d] for d in group], [indices[d] for d in group]) for group in groups])
    extents = shape_of(source)
    steps = element_access(source, [LinearIndex({d: 1}) for d in range(len(extents))])
    if steps is None or steps.edges:
        return None
    index = LinearIndex(constant=steps.index.constant)
    for group, at in zip(groups, indices):
        long = [d for d in group if extents[d] > 1]
        strides = [steps.index.coefficient(d) for d in long]
        if any(stride != extents[d] * following for stride, d, following in zip(strides, long[1:], strides[1:])):
            return None
        index += at * strides[-1] if long else LinearIndex()
    return replace(steps, index=index)


def _without_units(op: ir.Operation, indices: Sequence[LinearIndex]) -> list[LinearIndex] | None:
    """The indices of what `op` reshapes, if it only drops dimensions of extent 1."""
    extents = shape_of(op.operands[0])
    if [n for n in extents if n > 1] != [n for n in ir.RankedTensorType(op.results[0].type).shape if n > 1]:
        return None
    long = iter(i for i, n in zip(indices, ir.RankedTensorType(op.results[0].type).shape) if n > 1)
    return [next(long) if extent > 1 else LinearIndex() for extent in extents]


def _padded_access(op: ir.Operation, indices: Sequence[LinearIndex]) -> ElementAccess | None:
    """The access of what is padded with zeros."""
    low, high = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{side}"])) for side in ("low", "high"))
    extents = shape_of(op.operands[0])
    inside = [index - before for index, before in zip(indices, low)]
    access = element_access(op.operands[0], inside)
    if access is None:
        return None
    edges = [Edge(index, extent) for index, extent, *more in zip(inside, extents, low, high) if any(more)]
    return replace(access, edges=(*access.edges, *edges))


def address_of(shape: Sequence[int], indices: Sequence[LinearIndex]) -> LinearIndex:
    """The row-major address of an element of an array."""
    terms = [index * stride for index, stride in zip(indices, row_major(tuple(shape)))]
    return sum(reversed(terms), LinearIndex())


def factors_of(block: ir.Block) -> tuple[ir.Value, ir.Value] | None:
    """The two values whose product is added to the block's accumulator."""
    found = summed_product(block)
    if found is None or tuple(op.name for op in found) not in _MULTIPLY_ADDS:
        return None
    return found[1].operands[0], found[1].operands[1]


def _gather(value: ir.Value, elements: Sequence[ir.Value], ops: list[ir.Operation], leaves: list[ir.Value]) -> bool:
    """Adds the ops that compute `value`, in order, and those of `elements` that they read. False where it depends on anything else."""
    if is_block_argument(value):
        if value not in elements:
            return False
        if value not in leaves:
            leaves.append(value)
        return True
    op = defining_op(value)
    assert op is not None
    if op.name == "arith.constant" or op in ops:
        return True
    if op.name.split(".")[0] not in ("arith", "math") or list(op.regions):
        return False
    if not all(_gather(v, elements, ops, leaves) for v in op.operands):
        return False
    ops.append(op)
    return True


def operand_of(tile: TileOp, factor: ir.Value, loops: Sequence[LinearIndex], extents: Sequence[int]) -> Operand | None:
    """The factor as a function of elements of inputs, where the op's loops are `loops`, of such `extents`."""
    block = tile.op.regions[0].blocks[0]
    ops: list[ir.Operation] = []
    leaves: list[ir.Value] = []
    if not _gather(factor, list(block.arguments)[: len(tile.inputs)], ops, leaves) or not leaves:
        return None
    found = []
    for leaf in leaves:
        number = ir.BlockArgument(leaf).arg_number
        if not isinstance(tile.inputs[number].type, ir.RankedTensorType):
            return None
        indices = linear_results(tile.maps[number], loops)
        access = None if indices is None else element_access(tile.inputs[number], indices)
        if access is None:
            return None
        found.append(Leaf(leaf, access))
    found.sort(key=lambda leaf: -prod(extents[loop] for loop in leaf.access.index.terms))
    operand = Operand(tuple(found), factor, tuple(ops))
    return None if str(operand.element) == "i1" else operand


def _epilogue_forms(
    tile: TileOp, ops: Mapping[ir.Value, TileOp], loops: Sequence[LinearIndex], generics: Sequence[ir.Operation]
) -> dict[ir.Value, list[LinearIndex]] | None:
    """For each value that depends on the contraction, the loop that runs along each of its dimensions; None if there is no such loop."""
    first = linear_results(tile.output_maps[0], loops)
    if first is None:
        return None
    forms = {tile.op.results[0]: first}
    for op in generics:
        read = ops[op.results[0]]
        if read is tile or not any(value in forms for value in [*read.inputs, *read.inits]):
            continue
        own = _epilogue_loops(read, forms)
        found = [None if own is None else linear_results(output_map, own) for output_map in read.output_maps]
        for result, indices in zip(op.results, found):
            if indices is None:
                return None
            forms[result] = indices
    return forms


def _epilogue_loops(read: TileOp, forms: Mapping[ir.Value, list[LinearIndex]]) -> list[LinearIndex] | None:
    """The contraction's loop that each loop of an op of the epilogue is; None if some loop is none, or two operands tell different ones."""
    own: dict[int, LinearIndex] = {}
    for value, affine_map in zip([*read.inputs, *read.inits], read.maps):
        for expr, form in zip(affine_map.results, forms.get(value, ())):
            if not isinstance(expr, ir.AffineDimExpr) or own.setdefault(expr.position, form) != form:
                return None
    for loop, extent in enumerate(read.extents):
        if extent == 1:
            own.setdefault(loop, LinearIndex())
    return [own[loop] for loop in range(len(read.extents))] if len(own) == len(read.extents) else None


def results_of(function: ir.Operation, forms: Mapping[ir.Value, list[LinearIndex]]) -> list[tuple[ir.Value, ElementAccess]] | None:
    block = function.regions[0].blocks[0]
    inputs = len(block.arguments)
    results = []
    for number, value in enumerate(list(block.operations)[-1].operation.operands):
        while value not in forms:
            op = defining_op(value)
            if op is None or op.name not in RESHAPES:
                return None
            value = op.operands[0]
        kind = ir.RankedTensorType(value.type)
        results.append((value, ElementAccess(inputs + number, address_of(kind.shape, forms[value]), kind.element_type)))
    return results


def split_loops(
    extents: Sequence[int], parallel: Sequence[bool], first: Operand, second: Operand, result: LinearIndex
) -> tuple[tuple[Operand, Operand], tuple[LoopGroup, LoopGroup, LoopGroup, LoopGroup]] | None:
    """Which operand is left and which right, and the groups batch, rows, cols, inner."""
    loops = [(i, extent) for i, extent in enumerate(extents) if extent > 1]
    fastest = min((i for i, _ in loops if result.coefficient(i)), key=result.coefficient, default=None)
    if fastest is not None and first.depends_on(fastest) and not second.depends_on(fastest):
        first, second = second, first
    parts: dict[tuple[bool, bool, bool], list[tuple[int, int]]] = {}
    for loop, extent in loops:
        has = (first.depends_on(loop), second.depends_on(loop), bool(result.coefficient(loop)))
        if has[2] != parallel[loop]:
            return None
        parts.setdefault(has, []).append((loop, extent))
    kinds = [(True, True, True), (True, False, True), (False, True, True), (True, True, False)]
    if any(kind not in kinds for kind in parts):
        return None
    by_result = [sorted(parts.get(kind, []), key=lambda item: -result.coefficient(item[0])) for kind in kinds[:3]]
    inner = sorted(parts.get(kinds[3], []), key=lambda item: -second.access.index.coefficient(item[0]))
    batch, rows, cols, summed = (LoopGroup(tuple(group)) for group in [*by_result, inner])
    return (first, second), (batch, rows, cols, summed)


def _all_accesses(read: ContractionGroup, ops: Mapping[ir.Value, TileOp]) -> list[LinearIndex] | None:
    """Every linear index of the group; None if one is not linear."""
    found = [leaf.access.index for operand in (read.left, read.right) for leaf in operand.leaves]
    found += [edge.index for operand in (read.left, read.right) for leaf in operand.leaves for edge in leaf.access.edges]
    found += [access.index for _, access in read.results]
    for value, forms in read.forms.items():
        tile = ops[value]
        if tile.op == read.op:
            continue
        loops = loops_of(tile, value, forms)
        for operand, affine_map in zip([*tile.inputs, *tile.inits], tile.maps):
            if not isinstance(operand.type, ir.RankedTensorType):
                continue
            indices = linear_results(affine_map, loops)
            if indices is None:
                return None
            if operand in read.forms or (operand in ops and ops[operand].op.name == "linalg.fill"):
                continue
            access = element_access(operand, indices) if operand not in ops else None
            found.extend([access.index] if access is not None else indices)
    return found


def _merged(read: ContractionGroup, accesses: list[LinearIndex] | None) -> ContractionGroup:
    """Neighbouring loops of a group that every access runs through as one become one loop."""
    if accesses is None:
        return read

    def merge(group: LoopGroup) -> LoopGroup:
        kept: list[tuple[int, int]] = []
        for loop, extent in group.loops:
            if kept and all(form.coefficient(kept[-1][0]) == form.coefficient(loop) * extent for form in accesses):
                extent *= kept.pop()[1]
            kept.append((loop, extent))
        return LoopGroup(tuple(kept))

    return replace(read, batch=merge(read.batch), rows=merge(read.rows), cols=merge(read.cols), inner=merge(read.inner))
