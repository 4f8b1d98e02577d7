"""Emission of one tile: the ops of a group, each on the slices that the tile needs, inside the scf.forall."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from torch_mlir import ir

from ...common.affine import dim_position, fold_unsigned, loop_of, maps_attr, used_dims
from ...common.axes import Axes, TileOp, loop_index
from ...common.combiner import SEQUENTIAL
from ...common.index_emitter import IndexEmitter
from ...common.linear_index import LinearIndex, linear_at
from ...common.rewriting import create, defining_op, element_of, index_constant, linalg_index, shape_of, value_of, walk
from ...common.slices import extract_slice, parallel_insert_slice, tensor_type
from .temporaries import destinations

_EMITTER = IndexEmitter()


@dataclass(frozen=True)
class _Panel:
    """The number of a panel of so many columns, or a place in one. `alone`: a tile is one panel, or a part of one."""

    loop: int
    width: int
    is_number: bool
    alone: bool


@dataclass(frozen=True)
class Live:
    """Of row r along the axis `row`, which is tiled, only the elements before r + `ahead` of the whole axis `axis` matter."""

    axis: int
    row: int
    ahead: int


class TileBody:
    """Emits the body of `forall` for the ops of `axes`, tiled by `sizes`; `results` are the values that the forall yields, in order. Each
    tile has the ops of the numbers `whole` not for its part, but for all."""

    def __init__(
        self,
        axes: Axes,
        sizes: dict[int, int],
        forall: ir.Operation,
        results: list[ir.Value],
        live: Live | None = None,
        whole: frozenset[int] = frozenset(),
    ):
        self.axes, self.sizes, self.forall, self.results, self.live, self.whole = axes, sizes, forall, results, live, whole
        self.block = forall.regions[0].blocks[0]
        self.offset: dict[int, ir.Value] = {}
        self.size: dict[int, int | ir.Value] = {}
        self.made: dict[tuple[int, int], ir.Value] = {}
        self.goes_to = destinations(axes, results)

    def emit(self) -> None:
        """Emits the whole body, the terminator included."""
        with ir.InsertionPoint(self.block):
            self._bind_axes()
            self._emit_ops()
            self._yield()

    def _emit_ops(self) -> None:
        if self.live is not None:
            self._bind_live(self.live)
        for number in range(len(self.axes.ops)):
            self._emit_at(number)

    def _emit_at(self, number: int) -> None:
        """The op of that number, where it stands in the source."""
        with self.axes.ops[number].op.location, self._untiled() if number in self.whole else nullcontext():
            self._emit_op(number)

    @contextmanager
    def _untiled(self) -> Iterator[None]:
        """Emits what follows as if no axis were tiled."""
        tiled = self.sizes, self.size, self.offset
        self.sizes, self.size, self.offset = {}, {}, {}
        yield
        self.sizes, self.size, self.offset = tiled

    def _bind_axes(self) -> None:
        for (axis, size), start in zip(self.sizes.items(), self.block.arguments):
            self._bind_axis(axis, size, start)

    def _bind_axis(self, axis: int, size: int, start: ir.Value) -> None:
        """`size` of the axis from `start` on, or what is left."""
        extent = self.axes.extent[axis]
        self.offset[axis] = start
        self.size[axis] = size
        if extent % size:
            left = ir.AffineExpr.get_add(ir.AffineConstantExpr.get(extent), ir.AffineExpr.get_mul(ir.AffineDimExpr.get(0), -1))
            bound = ir.AffineMapAttr.get(ir.AffineMap.get(1, 0, [left, ir.AffineConstantExpr.get(size)]))
            self.size[axis] = value_of("affine.min", ir.IndexType.get(), [start], map=bound)

    def _bind_live(self, live: Live) -> None:
        """The part of a whole axis that the last row of the tile has; values that the tile makes are so long, what it reads is whole."""
        last = ir.AffineExpr.get_add(ir.AffineDimExpr.get(0), ir.AffineConstantExpr.get(max(1, self.sizes[live.row] - 1 + live.ahead)))
        bound = ir.AffineMapAttr.get(ir.AffineMap.get(1, 0, [last, ir.AffineConstantExpr.get(self.axes.extent[live.axis])]))
        self.size[live.axis] = value_of("affine.min", ir.IndexType.get(), [self.offset[live.row]], map=bound)

    def _emit_op(self, number: int) -> None:
        tile_op = self.axes.ops[number]
        maps, operands, extracted = [], [], []
        for position, (m, value) in enumerate(zip(tile_op.maps, tile_op.inputs)):
            if not isinstance(value.type, ir.RankedTensorType):
                maps.append(m)
                operands.append(value)
            elif self._sliceable(tile_op, m):
                maps.append(self._local_map(tile_op, m))
                operands.append(self._slice(tile_op, m, value))
            else:
                extracted.append(position)
        self._lend_extents(tile_op, maps, operands, extracted)
        for result, (m, init) in enumerate(zip(tile_op.output_maps, tile_op.inits)):
            maps.append(m)
            operands.append(self._init(number, result, m, init))
        clone = self._clone(tile_op, maps, operands, extracted)
        for result in range(len(tile_op.inits)):
            self.made[number, result] = clone.results[result]

    def _lend_extents(self, tile_op: TileOp, maps: list[ir.AffineMap], operands: list[ir.Value], extracted: list[int]) -> None:
        """An empty input for the loops whose extents only inputs told that are extracted from now."""
        told = {d for m in [*maps, *tile_op.output_maps] for d in map(dim_position, m.results)}
        loops = [d for d in range(len(tile_op.parallel)) if d not in told]
        if not extracted or not loops:
            return
        sizes = [self.size.get(tile_op.axes[d], tile_op.extents[d]) for d in loops]
        element = element_of(tile_op.inputs[extracted[0]])
        operands.append(value_of("tensor.empty", tensor_type(sizes, element), [s for s in sizes if not isinstance(s, int)]))
        maps.append(ir.AffineMap.get(len(tile_op.parallel), 0, [ir.AffineDimExpr.get(d) for d in loops]))

    def _sliceable(self, tile_op: TileOp, m: ir.AffineMap) -> bool:
        """Every result of the map is free of tiled loops, a sum of non-negative multiples of loops, a loop backwards, or the number of a
        panel or a place in it.
        """

        def is_sliced(e: ir.AffineExpr) -> bool:
            return linear_index(e, tile_op) is not None or self._backwards(tile_op, e) is not None or self._panel(tile_op, e) is not None

        return all(not self._tiled_dims(tile_op, e) or is_sliced(e) for e in m.results)

    def _backwards(self, tile_op: TileOp, expr: ir.AffineExpr) -> tuple[int, int] | None:
        """The axis and the constant of `constant - loop`, where all tiles of the axis are whole."""
        index = linear_at(expr, [LinearIndex({d: 1}) for d in range(len(tile_op.parallel))])
        if index is None or list(index.terms.values()) != [-1]:
            return None
        axis = tile_op.axes[next(iter(index.terms))]
        return (axis, index.constant) if axis in self.sizes and isinstance(self.size[axis], int) else None

    def _panel(self, tile_op: TileOp, expr: ir.AffineExpr) -> _Panel | None:
        """What `expr` is of packed columns whose tiles are whole panels, or each a part of one."""
        for kind in (ir.AffineFloorDivExpr, ir.AffineModExpr):
            if isinstance(expr, kind):
                loop, size = dim_position(kind(expr).lhs), kind(expr).rhs
                if loop is None or not isinstance(size, ir.AffineConstantExpr):
                    return None
                tile, width = self.sizes.get(tile_op.axes[loop]), ir.AffineConstantExpr(size).value
                if tile is None or (tile % width and width % tile):
                    return None
                return _Panel(loop, width, kind is ir.AffineFloorDivExpr, width % tile == 0)
        return None

    def _local_map(self, tile_op: TileOp, m: ir.AffineMap) -> ir.AffineMap:
        """`m` on the tile's slices: where a tile is of one panel its number is 0 there, and a place in it is the loop itself; a loop
        backwards begins with a slice's last element."""
        results = []
        for expr in m.results:
            if (backwards := self._backwards(tile_op, expr)) is not None:
                axis, constant = backwards
                results.append(expr + (self.sizes[axis] - 1 - constant))
                continue
            panel = self._panel(tile_op, expr) if self._tiled_dims(tile_op, expr) else None
            if panel is None or not panel.alone:
                results.append(expr)
            else:
                results.append(ir.AffineConstantExpr.get(0) if panel.is_number else ir.AffineDimExpr.get(panel.loop))
        return ir.AffineMap.get(m.n_dims, 0, results)

    def _tiled_dims(self, tile_op: TileOp, expr: ir.AffineExpr) -> set[int]:
        return {d for d in used_dims(expr) if tile_op.axes[d] in self.sizes}

    def _slice(self, tile_op: TileOp, m: ir.AffineMap, value: ir.Value) -> ir.Value:
        made = self.axes.producer(value)
        source = value if made is None else self.made[made]
        shape = shape_of(value)
        offsets: list[int | ir.Value] = []
        sizes: list[int | ir.Value] = []
        for position, expr in enumerate(m.results):
            dims = self._tiled_dims(tile_op, expr)
            if not dims or (made is not None and self._produced_tiled(made, position)):
                axis = tile_op.axes[next(iter(dims))] if dims else None
                offsets.append(0)
                sizes.append(shape[position] if axis is None else self.size[axis])
            elif (backwards := self._backwards(tile_op, expr)) is not None:
                axis, constant = backwards
                last = LinearIndex({self.offset[axis]: -1}, constant - (self.sizes[axis] - 1))
                offsets.append(last.value())
                sizes.append(self.size[axis])
            elif (panel := self._panel(tile_op, expr)) is not None:
                axis = tile_op.axes[panel.loop]
                offsets.append(self._panel_start(panel, axis))
                sizes.append(self._panels(panel, self.size[axis]) if panel.is_number else self._places(panel, self.size[axis]))
            else:
                offsets.append(self._start(expr, tile_op))
                sizes.append(self._span(expr, tile_op))
        if all(isinstance(o, int) for o in offsets):
            return source
        return extract_slice(source, offsets, sizes)

    def _panel_start(self, panel: _Panel, axis: int) -> int | ir.Value:
        """The first panel of the tile, or the first place in it."""
        if not panel.is_number and self.sizes[axis] % panel.width == 0:
            return 0
        return _EMITTER.emit("divui" if panel.is_number else "remui", self.offset[axis], index_constant(panel.width))

    def _panels(self, panel: _Panel, columns: int | ir.Value) -> int | ir.Value:
        """How many panels so many columns are."""
        if panel.alone:
            return 1
        if isinstance(columns, int):
            return columns // panel.width
        last = _EMITTER.emit("addi", columns, index_constant(panel.width - 1))
        return _EMITTER.emit("divui", last, index_constant(panel.width))

    @staticmethod
    def _places(panel: _Panel, columns: int | ir.Value) -> int | ir.Value:
        """How many places of a panel so many columns take."""
        return columns if panel.alone else panel.width

    def _produced_tiled(self, made: tuple[int, int], position: int) -> bool:
        producer = self.axes.ops[made[0]]
        loop = dim_position(producer.output_maps[made[1]].results[position])
        return made[0] not in self.whole and loop is not None and producer.axes[loop] in self.sizes

    def _start(self, expr: ir.AffineExpr, tile_op: TileOp) -> ir.Value:
        """The value of `expr` without its constant, tiled loops at the tile's offset and the others at 0."""
        linear = linear_index(expr, tile_op)
        assert linear is not None
        axes = {tile_op.axes[loop]: k for loop, k in sorted(linear.terms.items())}
        return LinearIndex({self.offset[axis]: k for axis, k in axes.items() if axis in self.sizes}).value()

    def _span(self, expr: ir.AffineExpr, tile_op: TileOp) -> int | ir.Value:
        """How many elements `expr` spans in a tile, its constant included."""
        linear, position = linear_index(expr, tile_op), dim_position(expr)
        assert linear is not None
        if position is not None:
            return self.size[tile_op.axes[position]]
        static, dynamic = linear.constant + 1, None
        for loop, k in sorted(linear.terms.items()):
            size = self.size.get(tile_op.axes[loop], tile_op.extents[loop])
            if isinstance(size, int):
                static += k * (size - 1)
                continue
            static -= k
            term = _EMITTER.emit("muli", size, index_constant(k))
            dynamic = term if dynamic is None else _EMITTER.emit("addi", dynamic, term)
        return static if dynamic is None else _EMITTER.emit("addi", dynamic, index_constant(static))

    def _init(self, number: int, result: int, m: ir.AffineMap, init: ir.Value) -> ir.Value:
        made = self.axes.producer(init)
        if made is not None:
            return self.made[made]
        tile_op = self.axes.ops[number]
        owner = defining_op(init)
        if owner is None or owner.name != "tensor.empty":
            return self._slice(tile_op, m, init)
        axes = [tile_op.axes[loop_of(e)] for e in m.results]
        shape = shape_of(init)
        sizes = [self.size.get(axis, extent) for axis, extent in zip(axes, shape)]
        goes_to = self.goes_to.get((number, result))
        if goes_to is not None:
            shared = self._shared(goes_to)
            if not any(axis in self.sizes for axis in axes):
                return shared
            return extract_slice(shared, [self.offset.get(axis, 0) for axis in axes], sizes)
        element = element_of(init)
        return value_of("tensor.empty", tensor_type(sizes, element), [s for s in sizes if not isinstance(s, int)])

    def _shared(self, number: int) -> ir.Value:
        """A result, all of it."""
        return self.block.arguments[len(self.block.arguments) - len(self.results) + number]

    def _clone(self, tile_op: TileOp, maps: list[ir.AffineMap], operands: list[ir.Value], extracted: list[int]) -> ir.Operation:
        if tile_op.op.name == "linalg.fill":
            clone = tile_op.op.clone()
            clone.operands[1] = operands[1]
            clone.results[0].set_type(operands[1].type)
            return clone
        inits = len(tile_op.inits)
        clone = create(
            "linalg.generic",
            [v.type for v in operands[len(operands) - inits :]],
            operands,
            regions=1,
            indexing_maps=maps_attr(maps),
            iterator_types=tile_op.op.attributes["iterator_types"],
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(operands) - inits, inits]),
        )
        if SEQUENTIAL in tile_op.op.attributes:
            clone.attributes[SEQUENTIAL] = tile_op.op.attributes[SEQUENTIAL]
        old = tile_op.op.regions[0].blocks[0]
        kept = [i for i in range(len(old.arguments)) if i not in extracted]
        lent = len(operands) - len(kept)  # an empty input takes the argument of one that is extracted
        kept[len(kept) - inits : len(kept) - inits] = extracted[:lent]
        new = clone.regions[0].blocks.append(*[old.arguments[i].type for i in kept])
        mapping = {old.arguments[i]: new.arguments[k] for k, i in enumerate(kept)}
        with ir.InsertionPoint(new):
            for position in extracted:
                mapping[old.arguments[position]] = self._extract(tile_op, position)
            for op in old.operations:
                self._clone_body_op(op.operation, mapping, tile_op)
        return clone

    def _clone_body_op(self, op: ir.Operation, mapping: dict[ir.Value, ir.Value], tile_op: TileOp) -> None:
        if op.name == "linalg.index":
            mapping[op.results[0]] = self._index(tile_op, ir.IntegerAttr(op.attributes["dim"]).value)
            return
        clone = op.clone()
        with ir.InsertionPoint(clone):
            for inner in walk(clone):
                made = self.axes.producer(inner.operands[0]) if inner.name == "tensor.extract" else None
                for i, operand in enumerate(inner.operands):
                    if made is not None:
                        inner.operands[i] = self.made[made] if i == 0 else self._index_within(operand, mapping, tile_op, made, i - 1)
                    elif operand in mapping:
                        inner.operands[i] = mapping[operand]
        for before, after in zip(op.results, clone.results):
            mapping[before] = after

    def _index_within(
        self, index: ir.Value, mapping: dict[ir.Value, ir.Value], tile_op: TileOp, made: tuple[int, int], position: int
    ) -> ir.Value:
        """An index into the tile's part of a value that the group makes: where that is tiled, the index is the loop's own."""
        loop = loop_index(index)
        return linalg_index(loop) if loop is not None and self._is_local(made, position) else mapping.get(index, index)

    def _is_local(self, made: tuple[int, int] | None, position: int) -> bool:
        """Whether the tile has a part alone of that dimension of the value, which counts from the tile's start."""
        return made is not None and self._produced_tiled(made, position)

    def _index(self, tile_op: TileOp, dim: int) -> ir.Value:
        """The loop's index in the whole program."""
        index = linalg_index(dim)
        offset = self.offset.get(tile_op.axes[dim])
        return index if offset is None else value_of("arith.addi", index.type, [index, offset])

    def _extract(self, tile_op: TileOp, position: int) -> ir.Value:
        value = tile_op.inputs[position]
        made = self.axes.producer(value)
        source = value if made is None else self.made[made]
        indices = [
            fold_unsigned(e, linalg_index if self._is_local(made, d) else partial(self._index, tile_op), index_constant, _EMITTER.emit)
            for d, e in enumerate(tile_op.maps[position].results)
        ]
        return value_of("tensor.extract", element_of(value), [source, *indices])

    def _yield(self) -> None:
        terminator = create("scf.forall.in_parallel", regions=1)
        inside = terminator.regions[0].blocks.append()
        shared = list(self.block.arguments)[-len(self.results) :]
        with ir.InsertionPoint(inside):
            for destination, value in zip(shared, self.results):
                made = self.axes.producer(value)
                assert made is not None
                tile_op = self.axes.ops[made[0]]
                axes = [tile_op.axes[loop_of(e)] for e in tile_op.output_maps[made[1]].results]
                shape = shape_of(value)
                sizes = [self.size.get(axis, extent) for axis, extent in zip(axes, shape)]
                parallel_insert_slice(self.made[made], destination, [self.offset.get(axis, 0) for axis in axes], sizes)


def linear_index(expr: ir.AffineExpr, tile_op: TileOp) -> LinearIndex | None:
    """`expr` over the op's loops, or None if it is not linear or anything in it is negative."""
    linear = linear_at(expr, [LinearIndex({loop: 1}) for loop in range(len(tile_op.extents))])
    return None if linear is None or min(linear.constant, *linear.terms.values(), 0) < 0 else linear
