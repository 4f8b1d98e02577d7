"""The kernel function of a tiled group: signature, tile loop, storage of every value, and the order of the nests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import ceil, prod

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.axes import read_tile_op
from ...common.dense_constants import constant_bytes
from ...common.edge import edge, positions, returned
from ...common.linear_index import LinearIndex
from ...common.rewriting import DYNAMIC, attributes_of, create, defining_op, index_constant, mixed, symbol_name, value_of, walk
from ...common.storage import Storage, buffer_type, row_major, stack_buffer
from .amx import emit_amx
from .contraction import contraction_loop, emit_contraction
from .elementwise import emit_elementwise
from .lanes import Lanes
from .nests import vector_loop
from .rows import emit_row_sums, sums_along
from .work import Work, shifted, stride_along

_STREAM_AHEAD_BYTES = 1024
_ROWS_AHEAD = 8


def build_kernel(function: ir.Operation, target: TargetView) -> None:
    """Emits the kernel of `function` right before it, under its name."""
    _Kernel(function, target).build()


class _Kernel:
    def __init__(self, function: ir.Operation, target: TargetView):
        self.function, self.target = function, target
        self.block = function.regions[0].blocks[0]
        self.forall = walk(function, "scf.forall")[0]
        self.scalars: dict[ir.Value, ir.Value | LinearIndex] = {}
        self.storage: dict[ir.Value, Storage] = {}
        self.empties: set[ir.Value] = set()
        self.fills: dict[ir.Value, ir.Value] = {}
        self.copies: list[tuple[int, Storage]] = []
        """Number of a result of the forall, and where it goes beside the place where it is computed."""
        self.fastest: ir.Value | None = None
        """The number along the innermost loop of more than one tile: it changes from a tile to the next."""

    def build(self) -> None:
        kind = ir.FunctionType(ir.TypeAttr(self.function.attributes["function_type"]).value)
        index = ir.IndexType.get()
        buffers = [buffer_type(t) for t in [*kind.inputs, *kind.results]]
        signature = ir.FunctionType.get([index, index, *buffers], [])
        attributes = {n: a for n, a in attributes_of(self.function).items() if n.startswith("hloom.")}
        with ir.InsertionPoint(self.function):
            kernel = create(
                "func.func",
                regions=1,
                sym_name=self.function.attributes["sym_name"],
                function_type=ir.TypeAttr.get(signature),
                sym_visibility=ir.StringAttr.get("private"),
                **attributes,
            )
        kernel.attributes["hloom.inputs"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(kind.inputs))
        entry = kernel.regions[0].blocks.append(index, index, *buffers)
        ivs = self._grid()
        tiles = 1
        for trip, _ in ivs:
            tiles *= trip
        kernel.attributes["hloom.tiles"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), tiles)
        with ir.InsertionPoint(entry):
            self._bind_arguments(entry, kind)
            self.entry_end = create("func.return")
        with ir.InsertionPoint(self.entry_end):
            loop = create("scf.for", [], [entry.arguments[0], entry.arguments[1], index_constant(1)], regions=1)
        self.stack_point = loop
        body = loop.regions[0].blocks.append(index)
        with ir.InsertionPoint(body):
            self._bind_ivs(body.arguments[0], ivs)
            self._emit_tile()
            create("scf.yield")

    def _grid(self) -> list[tuple[int, int]]:
        """(trips, step) of each loop of the forall."""
        lower, upper, step = (
            list(ir.DenseI64ArrayAttr(self.forall.attributes[f"static{n}"])) for n in ("LowerBound", "UpperBound", "Step")
        )
        assert all(low == 0 for low in lower)
        return [(ceil(u / s), s) for u, s in zip(upper, step)]

    def _bind_ivs(self, tile: ir.Value, ivs: list[tuple[int, int]]) -> None:
        rest = tile
        values: list[LinearIndex] = []
        for position, (trips, step) in reversed(list(enumerate(ivs))):
            if position == 0:
                number = rest
            else:
                count = index_constant(trips)
                number = value_of("arith.remui", rest.type, [rest, count])
                rest = value_of("arith.divui", rest.type, [rest, count])
            values.append(LinearIndex.of(number) * step)
            if trips > 1 and self.fastest is None:
                self.fastest = number
        block = self.forall.regions[0].blocks[0]
        for argument, value in zip(block.arguments, reversed(values)):
            self.scalars[argument] = value

    def _bind_arguments(self, entry: ir.Block, kind: ir.FunctionType) -> None:
        for argument, base in zip(self.block.arguments, list(entry.arguments)[2:]):
            shape = tuple(ir.RankedTensorType(argument.type).shape)
            element = ir.RankedTensorType(argument.type).element_type
            self.storage[argument] = Storage(
                base, element, LinearIndex(), row_major(shape), shape, ahead=self._stream_ahead(shape, element)
            )
        for op in self.block.operations:
            op = op.operation
            if op == self.forall:
                break
            self._outside(op)
        shared = list(self.forall.regions[0].blocks[0].arguments)[-len(self.forall.results) :]
        outputs = list(entry.arguments)[2 + len(kind.inputs) :]
        for number, argument in enumerate(shared):
            shape = tuple(ir.RankedTensorType(argument.type).shape)
            first, *more = [self._result(p, outputs[p]).reshaped(shape) for p in positions(self.block, self.forall.results[number])]
            self.storage[argument] = replace(first, root=number, ahead=self._stream_ahead(shape, first.element))
            self.copies += [(number, other) for other in more]

    def _stream_ahead(self, shape: tuple[int, ...], element: ir.Type) -> int:
        """How far ahead loads and stores prefetch in what no cache near holds: the processor's own prefetching stops at each page."""
        nbytes = element_bytes(element)
        return _STREAM_AHEAD_BYTES // nbytes if prod(shape) * nbytes > self.target.l2_bytes else 0

    def _result(self, position: int, base: ir.Value) -> Storage:
        """Where the kernel writes the result returned at `position`: all of its buffer, or the window that is inserted into it."""
        value = returned(self.block)[position]
        whole = ir.RankedTensorType(value.type)
        storage = Storage(base, whole.element_type, LinearIndex(), row_major(tuple(whole.shape)), tuple(whole.shape), writable=True)
        for op in edge(value):
            if op.name == "tensor.insert_slice":
                offsets, sizes = mixed(op, "static_offsets", 2), mixed(op, "static_sizes", 3)
                storage = storage.slice([self._lin(o) for o in offsets], tuple(self._size(s) for s in sizes))
        return storage

    def _outside(self, op: ir.Operation) -> None:
        """An op before the tile loop: constants and views of arguments."""
        if op.name == "arith.constant" and isinstance(op.results[0].type, ir.RankedTensorType):
            self.storage[op.results[0]] = self._constant(op)
        elif op.name == "arith.constant":
            self.scalars[op.results[0]] = _scalar_constant(op)
        elif op.name in ("tensor.collapse_shape", "tensor.expand_shape"):
            self.storage[op.results[0]] = self.storage[op.operands[0]].reshaped(tuple(ir.RankedTensorType(op.results[0].type).shape))
        elif op.name == "tensor.extract_slice":
            offsets = [LinearIndex.of(v) for v in ir.DenseI64ArrayAttr(op.attributes["static_offsets"])]
            source = self.storage[op.operands[0]]
            self.storage[op.results[0]] = source.slice(offsets, tuple(ir.RankedTensorType(op.results[0].type).shape))
        elif op.name == "tensor.empty":
            self.empties.add(op.results[0])
        elif op.name == "tensor.extract":
            storage = self.storage[op.operands[0]]
            address = storage.address([self._lin(index) for index in list(op.operands)[1:]])
            self.scalars[op.results[0]] = Lanes(1).load(storage, address)
        elif op.name.startswith("arith."):
            self._inside(op)
        else:
            raise ValueError(f"{op.name} before the tile loop of {symbol_name(self.function)}")

    def _constant(self, op: ir.Operation) -> Storage:
        """A dense constant as a private global of the module."""
        tensor = ir.RankedTensorType(op.results[0].type)
        shape, element = tuple(tensor.shape), tensor.element_type
        buffer = buffer_type(tensor)
        raw = np.frombuffer(constant_bytes(op.attributes["value"]), f"u{element_bytes(element)}")
        value = ir.DenseElementsAttr.get(raw, type=buffer.element_type, shape=[raw.size])
        name = f"{symbol_name(self.function)}_constant_{len(self.storage)}"
        with ir.InsertionPoint(self.function):
            create(
                "memref.global",
                sym_name=ir.StringAttr.get(name),
                sym_visibility=ir.StringAttr.get("private"),
                type=ir.TypeAttr.get(buffer),
                initial_value=value,
                constant=ir.UnitAttr.get(),
            )
        base = value_of("memref.get_global", buffer, name=ir.FlatSymbolRefAttr.get(name))
        return Storage(base, element, LinearIndex(), row_major(shape), shape)

    def _captured(self, value: ir.Value) -> Storage | LinearIndex | ir.Value:
        """Storage of a tensor, or the scalar that stands for `value` in the kernel."""
        if isinstance(value.type, ir.RankedTensorType):
            return self.storage[value]
        return self.scalars[value]

    def _emit_tile(self) -> None:
        works: list[Work] = []
        ops = [o.operation for o in self.forall.regions[0].blocks[0].operations]
        for op in ops[:-1]:
            if op.name in ("linalg.generic", "linalg.fill"):
                works.append(self._work(op))
            else:
                self._inside(op)
        inserted = self._inserted(ops[-1])
        self._emit_works(works, inserted)
        self._emit_copies(ops[-1])

    def _inside(self, op: ir.Operation) -> None:
        result = op.results[0]
        if op.name == "tensor.empty":
            self.empties.add(result)
        elif op.name == "tensor.extract_slice":
            offsets, sizes = mixed(op, "static_offsets", 1), mixed(op, "static_sizes", 2)
            source = self.storage[op.operands[0]]
            self.storage[result] = source.slice([self._lin(o) for o in offsets], tuple(self._size(s) for s in sizes))
        elif op.name == "affine.min":
            operands = [LinearIndex.of(self._scalar(v)).value() for v in op.operands]
            self.scalars[result] = value_of("affine.min", ir.IndexType.get(), operands, map=op.attributes["map"])
        elif op.name == "arith.constant":
            self.scalars[result] = _scalar_constant(op)
        else:
            attributes = attributes_of(op)
            operands = [s.value() if isinstance(s, LinearIndex) else s for s in map(self._scalar, op.operands)]
            self.scalars[result] = value_of(op.name, result.type, operands, **attributes)

    def _scalar(self, value: ir.Value) -> LinearIndex | ir.Value:
        return self.scalars[value]

    def _lin(self, value: int | ir.Value) -> LinearIndex:
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
                maps[number], inputs[number] = shifted(maps[number], source)
        return Work(op, maps, inputs, inits, fill, outputs, read.parallel, extents, list(op.results), {}, block)

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
        shape = list(ir.RankedTensorType(value.type).shape)
        dynamic = iter(op.operands)
        return tuple(self._size(next(dynamic)) if size == DYNAMIC else size for size in shape)

    def _stack(self, result: ir.Value, sizes: tuple[int | ir.Value, ...]) -> Storage:
        shape = tuple(s if isinstance(s, int) else self._largest(s) for s in sizes)
        with ir.InsertionPoint(self.stack_point), result.owner.location:
            return stack_buffer(shape, sizes, ir.RankedTensorType(result.type).element_type)

    def _largest(self, size: ir.Value) -> int:
        """The upper bound of a dynamic size: the constant in the affine.min that made it."""
        op = defining_op(size)
        if op is None or op.name != "affine.min":
            raise ValueError(f"tile size without a bound in {symbol_name(self.function)}")
        results = ir.AffineMapAttr(op.attributes["map"]).value.results
        return min(ir.AffineConstantExpr(e).value for e in results if isinstance(e, ir.AffineConstantExpr))

    def _inserted(self, terminator: ir.Operation) -> set[ir.Value]:
        return {op.operation.operands[0] for op in terminator.regions[0].blocks[0].operations}

    def _emit_works(self, works: list[Work], inserted: set[ir.Value]) -> None:
        """Emits the works in order, each with those after it that share its nest."""
        pending = [w for w in works if not self._only_an_init(w, inserted)]
        nests_reading: Counter[object] = Counter()
        while pending:
            group = [pending.pop(0)]
            for work in list(pending):
                if self._joins(group, work, pending):
                    group.append(work)
                    pending.remove(work)
            self._drop_unread(group, inserted)
            self._look_ahead(group, nests_reading)
            with ir.Location.fused([work.op.location for work in group]):
                self._emit_nest(group)

    def _look_ahead(self, group: list[Work], nests_reading: Counter[object]) -> None:
        """A nest that is the second in the tile to read a slice finds it in the cache: meanwhile it prefetches the same slice of the next
        tile, which the first nest would otherwise wait for. What a nest reads again along one of its loops it does not prefetch.
        """
        here = set()
        most = self.target.l2_bytes // 4
        for work in group:
            for number, source in enumerate(work.inputs):
                if not isinstance(source, Storage) or source.writable or number in work.forward:
                    continue
                place = (source.base, source.offset.constant, frozenset(source.offset.terms.items()))
                ahead = source.offset.terms.get(self.fastest, 0)
                again = any(extent != 1 and stride_along(work.maps[number], source, dim) == 0 for dim, extent in enumerate(work.extents))
                if place in here or again:
                    ahead = 0
                elif nests_reading[place] != 1 or not 0 < ahead * element_bytes(source.element) <= most:
                    ahead = self._next_rows(work, number) if source.ahead else 0
                work.inputs[number] = replace(source, ahead=ahead)
                here.add(place)
        nests_reading.update(here)

    def _next_rows(self, work: Work, number: int) -> int:
        """How far ahead of what a nest reads now lies what it will read soon: further in the line, or rows below where it sums columns."""
        source = work.inputs[number]
        assert isinstance(source, Storage)
        summed = [d for d, parallel in enumerate(work.parallel) if not parallel]
        down = stride_along(work.maps[number], source, summed[-1]) if summed else None
        return _ROWS_AHEAD * down if down is not None and down > 1 else source.ahead

    def _only_an_init(self, work: Work, inserted: set[ir.Value]) -> bool:
        """A fill that nothing reads from memory: whoever starts from it knows the scalar."""
        if work.op.name != "linalg.fill" or work.values[0] in inserted:
            return False
        for use in work.values[0].uses:
            user = use.owner.operation
            if user.name == "linalg.fill":
                continue
            if user.name != "linalg.generic" or use.operand_number < len(user.operands) - len(user.results):
                return False
        return True

    def _joins(self, group: list[Work], work: Work, pending: list[Work]) -> bool:
        """Whether `work` can run in the group's nest: equal loops, and it reads the group's values only at its own point."""
        first = group[0]
        if not _same_extents(first.extents, work.extents) or (
            any(w.reduces for w in [*group, work]) and not self._row_nest([*group, work])
        ):
            return False
        made_here = {v: w for w in group for v in w.values}
        earlier = {v for w in pending[: pending.index(work)] for v in w.values}
        forward = {}
        for number, value in enumerate(work.op.operands):
            if value in earlier:
                return False
            if value not in made_here:
                continue
            source = made_here[value]
            result = source.values.index(value)
            same = number < len(work.inputs) and not source.reduces and work.maps[number] == source.output_maps[result]
            if not same:
                return False
            forward[number] = value
        if any(op.operands[0] in made_here or op.operands[0] in earlier for op in walk(work.op, "tensor.extract")):
            return False
        if not all(w.reduces or _identity(w.output_maps[i]) for w in group for i in range(len(w.values))):
            return False
        work.forward = forward
        return True

    def _row_nest(self, works: list[Work]) -> bool:
        vector = vector_loop(works)
        return sums_along(works, vector) and all(vector_loop([w]) == vector for w in works)

    def _drop_unread(self, group: list[Work], inserted: set[ir.Value]) -> None:
        """A value that only its own nest reads needs no memory."""
        members = {w.op for w in group}
        for work in group:
            for number, value in enumerate(work.values):
                users = {use.owner.operation for use in value.uses}
                inside = all(_linalg_owner(user) in members for user in users)
                output = work.outputs[number]
                if value not in inserted and inside and not work.reduces and output is not None and output.root is None:
                    work.outputs[number] = None

    def _emit_nest(self, group: list[Work]) -> None:
        reducing = [w for w in group if w.reduces]
        if not reducing:
            emit_elementwise(group, self._captured, self.target, self._bound, self._scratch)
            return
        if len(group) == 1 and emit_amx(group[0], self.target, self._bound, self._scratch):
            return
        vector = contraction_loop(group[0], self.target, self._bound) if len(group) == 1 else None
        if vector is None:
            vector = vector_loop(group)
            if vector is not None and sums_along(group, vector):
                emit_row_sums(group, vector, self._captured, self.target)
                return
        parallel = vector is not None and group[0].parallel[vector]
        emit_contraction(group[0], vector if parallel else None, self._captured, self.target, self._bound, self._scratch)

    def _bound(self, size: int | ir.Value) -> int:
        return size if isinstance(size, int) else self._largest(size)

    def _scratch(self, shape: tuple[int, ...], element: ir.Type) -> Storage:
        with ir.InsertionPoint(self.stack_point):
            return stack_buffer(shape, shape, element)

    def _emit_copies(self, terminator: ir.Operation) -> None:
        """Copies what the tile inserts but did not compute in place, and results that are returned more than once."""
        for insert in terminator.regions[0].blocks[0].operations:
            insert = insert.operation
            source, destination = self.storage[insert.operands[0]], self.storage[insert.operands[1]]
            offsets = [self._lin(o) for o in mixed(insert, "static_offsets", 2)]
            target = destination.slice(offsets, source.sizes)
            if source.root != destination.root:
                self._copy(source, target)
            for number, other in self.copies:
                if number == destination.root:
                    self._copy(target, other.slice(offsets, source.sizes))

    def _copy(self, source: Storage, target: Storage) -> None:
        rank = len(source.sizes)
        identity = ir.AffineMap.get_identity(rank)
        block = None
        work = Work(
            self.forall,
            [identity, identity],
            [source],
            [None],
            [None],
            [target],
            [True] * rank,
            list(source.sizes),
            [self.forall.results[0]],
            {},
            block,
        )
        emit_elementwise([work], self._captured, self.target, self._bound, self._scratch)


def _scalar_constant(op: ir.Operation) -> ir.Value | LinearIndex:
    """A scalar constant of the group, in the kernel; an index is known while the kernel is emitted."""
    if isinstance(op.results[0].type, ir.IndexType):
        return LinearIndex(constant=ir.IntegerAttr(op.attributes["value"]).value)
    return op.clone().results[0]


def _linalg_owner(op: ir.Operation) -> ir.Operation:
    """The op of the tile that `op` is, or lies in."""
    while op.parent is not None and op.parent.operation.name != "scf.forall":
        op = op.parent.operation
    return op


def _same_extents(a: list[int | ir.Value], b: list[int | ir.Value]) -> bool:
    return len(a) == len(b) and all(x == y if isinstance(x, int) == isinstance(y, int) else False for x, y in zip(a, b))


def _identity(m: ir.AffineMap) -> bool:
    return m == ir.AffineMap.get_identity(m.n_dims)
