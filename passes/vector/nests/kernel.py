"""The kernel function of a tiled group: signature, tile loop, storage of every value, and the order of the nests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.axes import read_tile_op
from ...common.control_flow import if_then
from ...common.edge import RESHAPES
from ...common.index_emitter import emitting
from ...common.linear_index import LinearIndex
from ...common.rewriting import (
    DYNAMIC,
    attributes_of,
    create,
    defining_op,
    element_of,
    index_constant,
    integers,
    mixed,
    ops_in,
    shape_of,
    symbol_name,
    value_of,
)
from ...common.storage import Storage, stack_buffer
from ...common.tiled_function import TiledFunction, size_bound
from ...common.winograd import is_transformed
from ...errors import PassFailure
from ..support.open_kernel import open_kernel
from .contraction import emit_contraction, takes_after
from .contraction_loops import contraction_loop, jam_loop, loop_of_windows
from .dense_blocks import is_dense_block, loads_rows
from .elementwise import emit_elementwise
from .grouping import computed_after, grouped, look_ahead
from .lane_groups import LaneGroups
from .lanes import Lanes
from .lines import lines_of
from .narrow_dots import emit_narrow_dots
from .nests import rows_loop, vector_loop
from .on_tiles import emit_on_tiles
from .panels import by_panels
from .pools import pool_of
from .results import follows_in_registers
from .rows import emit_row_sums, sums_along
from .same_in_all_tiles import same_in_all_tiles
from .scans import emit_scan, scans
from .short_products import ShortProducts
from .turns import emit_in_turn, row_loop
from .windows import is_surrounded
from .winograd import emit_winograd
from .winograd_loops import WinogradLoops, has_transform
from .work import Work, shifted

_STREAM_AHEAD_BYTES = 512
After = Callable[..., list[Work]]
"""The works that can be computed at the results of a reduction (grouping.computed_after), of those that come next."""


def build_kernel(function: ir.Operation, target: TargetView) -> None:
    """Emits the kernel of `function` right before it, under its name."""
    _Kernel(function, target).build()


class _Kernel:
    def __init__(self, function: ir.Operation, target: TargetView):
        self.tiled, self.target = TiledFunction(function), target
        self.same = same_in_all_tiles(self.tiled)
        self.scalars: dict[ir.Value, ir.Value | LinearIndex] = {}
        self.storage: dict[ir.Value, Storage] = {}
        self.empties: set[ir.Value] = set()
        self.fills: dict[ir.Value, ir.Value] = {}
        self.copies: list[tuple[int, Storage]] = []
        """Number of a result of the forall, and where it goes beside the place where it is computed."""
        self.stack_point: ir.OpView
        """What buffers on the stack are made before."""
        self.moving: tuple[tuple[ir.Value, int], ...] = ()
        """The numbers along loops of more than one tile, the innermost first: it changes from a tile to the next; and how many tiles."""
        self.reductions = self.dense = self.plain = self.rows = 0
        """Nests that reduce; those that are dense blocks of registers; other contractions that load rows of registers; those that reduce
        rows, which are little beside blocks."""
        self.straight = True
        """Whether nests that reduce nothing are vector code that finds its operands without an index of each lane."""
        self.loops_are_straight = True
        """Whether those are that have more than one point, of which a row's mean has one, and those that reduce rows."""

    def build(self) -> None:
        kernel, entry = open_kernel(self.tiled.op, self.tiled.tiles)
        with ir.InsertionPoint(entry):
            self._bind_arguments(entry)
            self._emit_same_in_all_tiles(*entry.arguments[:2])
            self.stack_point = scf.ForOp(entry.arguments[0], entry.arguments[1], index_constant(1))
            create("func.return")
        with emitting(self.stack_point.body):
            self._bind_numbers(self.stack_point.induction_variable)
            self._emit_tile()
            scf.yield_([])
        if effort := self._effort():
            kernel.attributes["hloom.effort"] = ir.StringAttr.get(effort)

    def _effort(self) -> str:
        """What LLVM has to do for the kernel, where that is not all that it can (spare-llvm-passes)."""
        if self.dense == self.reductions - self.rows and (self.dense or (self.straight and not self.rows)):
            return "least"
        if self.plain and self.dense + self.plain == self.reductions and self.straight:
            return "some"
        return "more" if self.loops_are_straight and self.dense + self.plain + self.rows == self.reductions else ""

    def _emit_same_in_all_tiles(self, first: ir.Value, end: ir.Value) -> None:
        """What the tiles compute alike, if there are any."""
        if not self.same:
            return
        self.stack_point = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ult, first, end))
        with ir.InsertionPoint(self.stack_point.then_block):
            self._emit_ops(self.same)
            scf.yield_([])

    def _bind_numbers(self, tile: ir.Value) -> None:
        rest = tile
        values: list[LinearIndex] = []
        for position, (trips, step) in reversed(list(enumerate(self.tiled.grid))):
            if position == 0:
                number = rest
            else:
                count = index_constant(trips)
                number, rest = arith.remui(rest, count), arith.divui(rest, count)
            values.append(LinearIndex.of(number) * step)
            if trips > 1:
                self.moving += ((number, trips),)
        self.scalars |= zip(self.tiled.numbers, reversed(values))

    def _bind_arguments(self, entry: ir.Block) -> None:
        _, _, *buffers = entry.arguments
        for argument, base in zip(self.tiled.block.arguments, buffers):
            self.storage[argument] = replace(Storage.whole(base, argument.type), ahead=self._stream_ahead(argument.type))
        for op in self.tiled.before:
            self._outside(op)
        self._check_starts()
        places = self.tiled.destinations(buffers[len(self.tiled.block.arguments) :], self._index)
        for number, (argument, (first, *more)) in enumerate(zip(self.tiled.shared, places)):
            self.storage[argument] = replace(first, root=number, ahead=self._stream_ahead(argument.type))
            self.copies += [(number, other) for other in more]

    def _check_starts(self) -> None:
        """Results are computed from nothing, or update what an argument holds. Raises PassFailure on others: they are in no buffer yet."""
        for start in self.tiled.forall.operands:
            if start not in self.empties and start not in list(self.tiled.block.arguments):
                where = {"op": self.tiled.forall.name, "loc": str(self.tiled.forall.location), "stage": "vector"}
                raise PassFailure("a tile loop updates a value that is not an argument", **where)

    def _stream_ahead(self, tensor: ir.Type) -> int:
        """The prefetch distance in elements for what no near cache holds: the processor's own prefetching stops at each page."""
        kind = ir.RankedTensorType(tensor)
        nbytes = element_bytes(kind.element_type)
        return _STREAM_AHEAD_BYTES // nbytes if prod(kind.shape) * nbytes > self.target.l2_bytes else 0

    def _outside(self, op: ir.Operation) -> None:
        """An op before the tile loop: constants and views of arguments."""
        if op.name == "arith.constant" and isinstance(op.results[0].type, ir.RankedTensorType):
            self.storage[op.results[0]] = self.tiled.dense_constant(op, len(self.storage), self.tiled.op)
        elif op.name == "arith.constant":
            self.scalars[op.results[0]] = _scalar_constant(op)
        elif op.name in RESHAPES:
            self.storage[op.results[0]] = self.storage[op.operands[0]].reshaped(tuple(ir.RankedTensorType(op.results[0].type).shape))
        elif op.name == "tensor.extract_slice":
            offsets = [LinearIndex.of(v) for v in ir.DenseI64ArrayAttr(op.attributes["static_offsets"])]
            source = self.storage[op.operands[0]]
            self.storage[op.results[0]] = source.slice(offsets, tuple(ir.RankedTensorType(op.results[0].type).shape))
        elif is_transformed(op.results[0]):
            self.storage[op.results[0]] = self.storage[op.operands[0]].as_filter(tuple(ir.RankedTensorType(op.results[0].type).shape))
        elif op.name == "tensor.pad":
            low, high = (integers(op, f"static_{side}") for side in ("low", "high"))
            self.storage[op.results[0]] = self.storage[op.operands[0]].surrounded(low, high)
        elif op.name == "tensor.empty":
            self.empties.add(op.results[0])
        elif op.name == "tensor.extract":
            self._extract(op)
        elif op.name.startswith(("arith.", "math.")):
            self._inside(op)
        else:
            raise ValueError(f"{op.name} before the tile loop of {symbol_name(self.tiled.op)}")

    def _captured(self, value: ir.Value) -> Storage | LinearIndex | ir.Value:
        """Storage of a tensor, or the scalar that stands for `value` in the kernel."""
        if isinstance(value.type, ir.RankedTensorType):
            return self.storage[value]
        return self.scalars[value]

    def _emit_tile(self) -> None:
        self._emit_ops([op for op in self.tiled.ops if op not in self.same])
        self._emit_copies()

    def _emit_ops(self, ops: list[ir.Operation]) -> None:
        """The ops of a tile, or of a loop or branch in it; linalg ops last, as nests, or before the loop that they stand before."""
        works: list[Work] = []
        for op in ops:
            if op.name in ("linalg.generic", "linalg.fill"):
                works.append(self._work(op))
            elif op.name == "scf.for":
                self._emit_nests(works)
                works = []
                self._loop(op)
            elif op.name == "scf.if":
                self._branch(op)
            else:
                self._inside(op)
        self._emit_nests(works)

    def _emit_nests(self, works: list[Work]) -> None:
        nests_reading: Counter[object] = Counter()
        inserted = {op.operands[0] for op in self.tiled.insertions}
        groups = list(grouped(works, inserted))
        while groups:
            group = groups.pop(0)
            look_ahead(group, nests_reading, self.moving[0][0] if self.moving else None, self.target.l2_bytes // 4)
            with ir.Location.fused([work.op.location for work in group]):
                if self._emit_nest(group, partial(computed_after, group=groups[0] if groups else [], inserted=inserted)):
                    groups.pop(0)

    def _loop(self, op: ir.Operation) -> None:
        """A loop in a tile; the tensors that it carries are updated where they lie."""
        block = op.regions[0].blocks[0]
        number, *carried = block.arguments
        places = [self.storage[value] for value in list(op.operands)[3:]]
        self.storage |= zip(carried, places)
        loop = scf.ForOp(*(LinearIndex.of(self._scalar(bound)).value() for bound in list(op.operands)[:3]))
        self.scalars[number] = LinearIndex.of(loop.induction_variable)
        with emitting(loop.body):
            self._emit_updates(block, places)
            scf.yield_([])
        self.storage |= zip(op.results, places)

    def _branch(self, op: ir.Operation) -> None:
        """A branch in a tile, which updates tensors where they lie or leaves them alone."""
        yes, no = (region.blocks[0] for region in op.regions)
        places = [self.storage[value] for value in ops_in(no)[-1].operands]
        with if_then(self._scalar(op.operands[0])):
            self._emit_updates(yes, places)
        self.storage |= zip(op.results, places)

    def _emit_updates(self, block: ir.Block, places: list[Storage]) -> None:
        """The ops of a block that ends with the tensors of `places`, updated."""
        *ops, last = ops_in(block)
        self._emit_ops(ops)
        if [self.storage[value] for value in last.operands] != places:
            where = {"op": last.name, "loc": str(last.location), "stage": "vector"}
            raise PassFailure("a loop or branch in a tile makes a tensor that is not an update of the one it takes", **where)

    def _inside(self, op: ir.Operation) -> None:
        result = op.results[0]
        if op.name == "tensor.empty":
            self.empties.add(result)
        elif op.name == "tensor.extract_slice":
            offsets, sizes = mixed(op, "static_offsets", 1), mixed(op, "static_sizes", 2)
            source = self.storage[op.operands[0]]
            self.storage[result] = source.slice([self._index(o) for o in offsets], tuple(self._size(s) for s in sizes))
        elif op.name == "tensor.insert_slice":
            self._insert(op)
        elif op.name == "tensor.extract":
            self._extract(op)
        elif op.name == "affine.min":
            operands = [LinearIndex.of(self._scalar(v)).value() for v in op.operands]
            self.scalars[result] = value_of("affine.min", ir.IndexType.get(), operands, map=op.attributes["map"])
        elif op.name == "arith.constant":
            self.scalars[result] = _scalar_constant(op)
        elif (index := self._linear(op)) is not None:
            self.scalars[result] = index
        else:
            attributes = attributes_of(op)
            operands = [s.value() if isinstance(s, LinearIndex) else s for s in map(self._scalar, op.operands)]
            self.scalars[result] = value_of(op.name, result.type, operands, **attributes)

    def _linear(self, op: ir.Operation) -> LinearIndex | None:
        """The result of an op that adds indices, or multiplies one by a constant."""
        if op.name not in ("arith.addi", "arith.muli") or not isinstance(op.results[0].type, ir.IndexType):
            return None
        left, right = (LinearIndex.of(self._scalar(value)) for value in op.operands)
        if op.name == "arith.addi":
            return left + right
        if left.is_constant:
            left, right = right, left
        return left * right.constant if right.is_constant else None

    def _extract(self, op: ir.Operation) -> None:
        storage = self.storage[op.operands[0]]
        address = storage.address([self._index(index) for index in list(op.operands)[1:]])
        self.scalars[op.results[0]] = Lanes(1).load(storage, address)

    def _insert(self, op: ir.Operation) -> None:
        """A slice that was computed where it is inserted. Raises PassFailure on any other: nests come last, so it is not there yet."""
        source, target = (self.storage[value] for value in list(op.operands)[:2])
        offsets = [self._index(o) for o in mixed(op, "static_offsets", 2)]
        if source != target.slice(offsets, source.sizes):
            where = {"op": op.name, "loc": str(op.location), "stage": "vector"}
            raise PassFailure("a tile inserts what it did not compute in place", **where)
        self.storage[op.results[0]] = target

    def _scalar(self, value: ir.Value) -> LinearIndex | ir.Value:
        return self.scalars[value]

    def _index(self, value: int | ir.Value) -> LinearIndex:
        return LinearIndex(constant=value) if isinstance(value, int) else LinearIndex.of(self._scalar(value))

    def _size(self, value: int | ir.Value) -> int | ir.Value:
        if isinstance(value, int):
            return value
        scalar = self._scalar(value)
        if isinstance(scalar, LinearIndex):
            return scalar.constant if scalar.is_constant else scalar.value()
        return scalar

    def _work(self, op: ir.Operation) -> Work:
        """Reads an op of the tile and decides where its results live. Inputs that other ops of the tile make are resolved later."""
        read = read_tile_op(op)
        extents: list[int | ir.Value] = list(read.extents)
        operands = [*read.inputs, *read.inits]
        sizes = [self._sizes_of(v) for v in operands]
        for m, shape in zip(read.maps, sizes):
            for expr, size in zip(m.results, shape):
                dim = dim_position(expr)
                if dim is not None and not isinstance(size, int):
                    extents[dim] = size
        outputs: list[Storage | None] = []
        inits: list[Storage | None] = []
        fill: list[ir.Value | None] = []
        for init, result in zip(read.inits, op.results):
            start = self.storage.get(init)
            storage = start if start is not None and self._may_update(init) else self._stack(result, self._sizes_of(init))
            self.storage[result] = storage
            outputs.append(storage)
            inits.append(start)
            fill.append(self.fills.get(init))
        if op.name == "linalg.fill":
            scalar = self.scalars[op.operands[0]]
            self.fills[op.results[0]] = scalar
        block = op.regions[0].blocks[0] if op.name == "linalg.generic" else None
        inputs = [None if v in self.empties else self._captured(v) for v in read.inputs]
        maps = list(read.maps)
        for number, source in enumerate(inputs):
            if isinstance(source, Storage):
                maps[number], inputs[number] = shifted(maps[number], source, extents)
        return Work(op, maps, inputs, inits, fill, outputs, read.parallel, extents, list(op.results), {}, block, tiles=self.moving)

    def _may_update(self, init: ir.Value) -> bool:
        """Whether an op may write over `init`: a slice of a result, or a value of the tile that only this op takes."""
        start = self.storage.get(init)
        if start is None or not start.writable:
            return False
        owner = defining_op(init)
        return owner is None or owner.name == "tensor.extract_slice" or len(list(init.uses)) == 1

    def _sizes_of(self, value: ir.Value) -> tuple[int | ir.Value, ...]:
        if not isinstance(value.type, ir.RankedTensorType):
            return ()
        storage = self.storage.get(value)
        if isinstance(storage, Storage):
            return storage.sizes
        op = defining_op(value)
        assert op is not None  # block arguments have storage
        shape = shape_of(value)
        dynamic = iter(op.operands)
        return tuple(self._size(next(dynamic)) if size == DYNAMIC else size for size in shape)

    def _stack(self, result: ir.Value, sizes: tuple[int | ir.Value, ...]) -> Storage:
        shape = tuple(map(size_bound, sizes))
        with ir.InsertionPoint(self.stack_point), result.owner.location:
            return stack_buffer(shape, sizes, element_of(result))

    def _emit_nest(self, group: list[Work], after: After) -> bool:
        """Whether the works that come `after` the group's are part of its nest, too."""
        first = group[0]
        if not any(w.reduces for w in group):
            straight = emit_elementwise(group, self._captured, self.target, self._scratch)
            self.straight &= straight
            self.loops_are_straight &= straight or all(extent == 1 for extent in first.extents)
            return False
        self.reductions += 1
        if scans(first):
            emit_scan(first, self._captured, self.target)
            return False
        if has_transform(first):
            loops = WinogradLoops.of(first)
            following = after(first, fits=lambda group: follows_in_registers(first, loops.feature, group, self.target))
            emit_winograd(first, following, self._captured, self.target, self._scratch)
            self.dense += 1
            return bool(following)
        return self._emit_alone(first, after) if len(group) == 1 else self._emit_sums(group)

    def _emit_alone(self, work: Work, after: After) -> bool:
        """A reduction that shares its loops with no other work."""
        if (products := ShortProducts.of(work, self.target)) is not None:
            self.rows += 1
            products.emit(work, self._captured, self.target)
            return False
        pool = pool_of(work, self._captured, self.target, self._scratch)
        if pool is not None:
            following = after(work)
            pool.emit(following)
            return bool(following)
        lines = lines_of(work, self._captured, self.target)
        if lines is not None:
            following = after(work, fits=lambda group: follows_in_registers(work, lines.line.loop, group, self.target))
            lines.emit(following)
            return bool(following)
        groups = LaneGroups.of(work, self.target)
        if groups is not None:
            return self._emit_lane_groups(groups, work, after)
        on_tiles = emit_on_tiles(work, after, self._captured, self.target, self._scratch)
        if on_tiles is not None:
            return on_tiles
        if emit_narrow_dots(work, self._captured, self.target, self._scratch):
            self.dense += 1
            return False
        if is_surrounded(work):
            return self._contract(work, loop_of_windows(work, self.target), after)
        work = by_panels(work, self.target)
        vector = contraction_loop(work, self.target)
        return self._emit_sums([work]) if vector is None else self._contract(work, vector, after)

    def _emit_lane_groups(self, groups: LaneGroups, work: Work, after: After) -> bool:
        whole = groups.whole(work)

        def fits(group: list[Work]) -> bool:
            joined = list(filter(None, map(groups.joined, group)))
            return len(joined) == len(group) and takes_after(whole, groups.lane, joined, self.target)

        following = after(work, fits=fits)
        whole.outputs = [storage if wanted else None for storage, wanted in zip(whole.outputs, work.outputs)]
        joined = [groups.whole(each) for each in following]
        emit_contraction(whole, groups.lane, self._captured, self.target, self._scratch, after=joined)
        self.plain += 1
        return bool(following)

    def _emit_sums(self, group: list[Work]) -> bool:
        along = row_loop(group, self.target)
        if along is not None:
            self.rows += 1
            emit_in_turn(group, along, self._captured, self.target)
            return False
        vector = vector_loop(group)
        if vector is not None and sums_along(group, vector):
            self.rows += 1
            self.loops_are_straight &= not any(work.gathers(vector) for work in group)
            emit_row_sums(group, vector, self._captured, self.target)
            return False
        parallel = vector is not None and group[0].parallel[vector]
        return self._contract(group[0], vector if parallel else rows_loop(group[0]), lambda work, fits: [])

    def _contract(self, work: Work, vector: int | None, after: After) -> bool:
        following = after(work, fits=lambda group: takes_after(work, vector, group, self.target))
        emit_contraction(work, vector, self._captured, self.target, self._scratch, after=following)
        if is_dense_block(work, vector, jam_loop(work, vector)):
            self.dense += 1
        elif loads_rows(work, vector):
            self.plain += 1
        return bool(following)

    def _scratch(self, shape: tuple[int, ...], element: ir.Type) -> Storage:
        with ir.InsertionPoint(self.stack_point):
            return stack_buffer(shape, shape, element)

    def _emit_copies(self) -> None:
        """Copies what the tile inserts but did not compute in place, and results that are returned more than once."""
        for insert in self.tiled.insertions:
            source, destination = self.storage[insert.operands[0]], self.storage[insert.operands[1]]
            offsets = [self._index(o) for o in mixed(insert, "static_offsets", 2)]
            target = destination.slice(offsets, source.sizes)
            if source.root != destination.root:
                self._copy(source, target)
            for number, other in self.copies:
                if number == destination.root:
                    self._copy(target, other.slice(offsets, source.sizes))

    def _copy(self, source: Storage, target: Storage) -> None:
        rank, forall = len(source.sizes), self.tiled.forall
        maps = [ir.AffineMap.get_identity(rank)] * 2
        work = Work(forall, maps, [source], [None], [None], [target], [True] * rank, list(source.sizes), [forall.results[0]])
        emit_elementwise([work], self._captured, self.target, self._scratch)


def _scalar_constant(op: ir.Operation) -> ir.Value | LinearIndex:
    """A scalar constant of the group, in the kernel; an index is known while the kernel is emitted."""
    if isinstance(op.results[0].type, ir.IndexType):
        return LinearIndex(constant=ir.IntegerAttr(op.attributes["value"]).value)
    return op.clone().results[0]
