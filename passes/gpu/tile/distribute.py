"""A tiled group function to a kernel: binds the tile's tensors to memory, emits its reductions in order, then its results.

Elementwise ops are not emitted by themselves: whoever reads them evaluates them (tile_values.py). What is emitted is a *root*: a reduction,
or the store of a result. A root has a layout and is tried. Where a thread needs a value that another thread has, all that was emitted for
the root is taken back, the value goes through shared memory, and the root is tried again. Where vectors do not pay, it is tried again with
single elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from math import prod
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.axes import TileOp, read_tile_op
from ...common.combiner import goes_down
from ...common.edge import RESHAPES
from ...common.linear_index import LinearIndex
from ...common.rewriting import attributes_of, element_of, mixed, value_of
from ...common.storage import Storage
from ...common.tiled_function import TiledFunction
from ...errors import PassFailure
from ..support.emit import WARP, block_id, thread_id
from ..support.launch import open_kernel
from .extents import Extent, loop_extents, shape_of, stored_results
from .indices import Indices, Memo
from .memory import KernelMemory, NoRoom
from .roots import Roots
from .scan import scan_combiner
from .threads import Threads
from .tile_values import Narrow, TileValues
from .values import Elsewhere, Empty, Lazy, Output, Part, Recomputed, Reduced, Splat, View
from .warps import choose_warps

_GLOBAL_ALIGNMENT = 16
RESIDENT_THREADS, HELD_WORDS, WAVES = 1024, range(16, 40), 4
"""Threads of a multiprocessor that reductions leave registers for, where a thread holds so many words of the inputs, those of a row, and
each multiprocessor has so many blocks."""


def distribute(function: ir.Operation, target: TargetView) -> None:
    """Emits the kernel of `function` into the module's @kernels; the caller erases the function."""
    _Distribution(function, target).run()


@dataclass(frozen=True)
class _Mark:
    """What there is of a kernel before an attempt that may be taken back."""

    last: int
    """So many ops."""
    memory: tuple[int, int]
    scope: dict[Any, Any]
    multiple_of: dict[ir.Value, int]


class _Distribution:
    def __init__(self, function: ir.Operation, target: TargetView):
        self.function = TiledFunction(function)
        self.warps, self.multiprocessors = choose_warps(self.function, target), target.multiprocessors
        self.kernel = open_kernel(function, self.function.tiles, 32 * self.warps, {})
        self.body = self.kernel.op.regions[0].blocks[0]

    def run(self) -> None:
        with self.kernel.body:
            memo = Memo()
            indices = Indices(memo)
            thread, block = thread_id(), block_id()
            self.memory = KernelMemory(indices, self.kernel.op)
            self.tile = TileValues(self.memory, Threads(indices, self.warps, thread, self._size), memo, indices)
            self.roots = Roots(self.tile, self.function.op)
            self.written: set[ir.Value] = set()
            self._bind_loops(indices, block)
            self._bind_arguments()
            for op in self.function.ops:
                self._visit(op)
            for group in self._outputs():
                self._try(partial(self.roots.store, group))
        self._describe()

    def _describe(self) -> None:
        layouts = {name: ir.StringAttr.get(str(layout)) for name, layout in self.roots.layouts.items()}
        self.kernel.op.attributes["hloom.layouts"] = ir.DictAttr.get(layouts)
        several = self.function.tiles >= WAVES * self.multiprocessors
        if several and any(name.startswith("reduction") for name in layouts) and self._held() in HELD_WORDS:
            self.kernel.keep_resident(RESIDENT_THREADS)

    def _held(self) -> int:
        """Words of the inputs' parts in the tile, by threads."""
        arguments = list(self.function.block.arguments)
        cuts = {
            op.operands[0]: op.results[0] for op in self.function.ops if op.name == "tensor.extract_slice" and op.operands[0] in arguments
        }
        words = [prod(e.bound for e in shape_of(part)) * -(-element_bytes(element_of(part)) // 4) for part in cuts.values()]
        return sum(words) // (WARP * self.warps)

    def _size(self, value: ir.Value) -> LinearIndex:
        size = self.tile.scalars[value]
        assert isinstance(size, LinearIndex)
        return size

    def _bind_loops(self, indices: Indices, block: ir.Value) -> None:
        rest = LinearIndex.of(block)
        numbers: list[LinearIndex] = []
        for trips, step in reversed(self.function.grid[1:]):
            numbers.append(indices.op("remui", rest, LinearIndex(constant=trips)) * step)
            rest = indices.op("divui", rest, LinearIndex(constant=trips))
        numbers.append(rest * self.function.grid[0][1])
        one = self.function.tiles == 1
        for argument, number in zip(self.function.numbers, reversed(numbers)):
            self.tile.scalars[argument] = LinearIndex() if one else number

    def _bind_arguments(self) -> None:
        inputs = list(self.function.block.arguments)
        for argument, base in zip(inputs, self.kernel.buffers):
            self.tile.env[argument] = View(Storage.whole(base, argument.type), staged=True)
        for op in self.function.before:
            self._visit(op)
        self.tile.env |= dict.fromkeys(self.function.shared, Empty())
        places = self.function.destinations(self.kernel.buffers[len(inputs) :], self._start)
        self.destinations = dict(zip(self.function.shared, places))

    def _start(self, offset: int | ir.Value) -> LinearIndex:
        return LinearIndex.of(offset if isinstance(offset, int) else self.tile.captured(offset))

    def _starts(self, op: ir.Operation, segment: int) -> list[LinearIndex]:
        """The offsets of a slice op, which are operand segment `segment`."""
        return [self._start(o) for o in mixed(op, "static_offsets", segment)]

    def _visit(self, op: ir.Operation) -> None:
        """Says what the results of an op are; emits it if it is a reduction or a scalar."""
        if op.name in ("linalg.generic", "linalg.fill"):
            read = read_tile_op(op)
            if all(read.parallel):
                for number, result in enumerate(op.results):
                    self.tile.env[result] = self._elementwise(read, number)
            else:
                self._reduce(read)
        elif op.name == "tensor.empty":
            self.tile.env[op.results[0]] = Empty()
        elif op.name == "tensor.extract_slice":
            self.tile.env[op.results[0]] = self._slice(op)
        elif op.name in RESHAPES:
            self.tile.env[op.results[0]] = self._reshape(op)
        elif op.name == "arith.constant" and isinstance(op.results[0].type, ir.RankedTensorType):
            self.tile.env[op.results[0]] = self._dense(op)
        elif op.name == "tensor.extract":
            indices = [self.tile.captured(v) for v in list(op.operands)[1:]]
            self.tile.scalars[op.results[0]] = self.tile.materialise(self.tile.read(op.operands[0], indices, 1), 1)
        elif op.name.startswith(("arith.", "affine.")) and len(op.results) == 1:
            self._scalar(op)
        else:
            raise PassFailure("an op that the tile may not hold", op=op.name, loc=str(op.location), stage="gpu")

    def _elementwise(self, op: TileOp, number: int) -> Splat | Lazy:
        if op.op.name == "linalg.fill":
            scalar = self.tile.captured(op.inputs[0])
            return Splat(self.tile.materialise(scalar, 1))
        return Lazy(op, number)

    def _reduce(self, op: TileOp) -> None:
        """Emits a reduction. Where registers or shared memory do not suffice, its readers recompute the elements they need; so do those of
        steps that are taken in turn, where these are stored nowhere."""

        written = {n: self._places(op.op.results[n]) for n in stored_results(op)} if scan_combiner(op) is None else {}

        def emit(narrow: bool) -> None:
            for result, reduced in zip(op.op.results, self.roots.reduce(op, loop_extents(op), narrow, written)):
                self.tile.env[result] = reduced
            if not goes_down(op.op):
                self.tile.env |= {op.op.results[n]: Recomputed(op, n) for n, places in written.items() if not places}

        try:
            self._try(emit)
        except NoRoom:
            if written:
                raise PassFailure("no room for a loop that writes something turn by turn", op=op.op.name, stage="gpu") from None
            self._recompute(op)
        self.written.update(op.op.results[n] for n, places in written.items() if places)

    def _places(self, tensor: ir.Value) -> list[Storage]:
        """Where the tile inserts a value."""
        found = []
        for insert in self.function.insertions:
            if insert.operands[0] == tensor:
                bounds = tuple(e.bound for e in shape_of(tensor))
                found += [s.slice(self._starts(insert, 2), bounds) for s in self.destinations[insert.operands[1]]]
        return found

    def _recompute(self, op: TileOp) -> None:
        for number, result in enumerate(op.op.results):
            self.tile.env[result] = Recomputed(op, number)

    def _try(self, emit: Callable[[bool], None]) -> None:
        """Emits a root; takes it back and tries again after what it lacked has been put right."""
        narrow = False
        while True:
            mark = self._mark()
            self.tile.may_narrow = not narrow
            try:
                return emit(narrow)
            except Narrow:
                self._take_back(mark)
                narrow = True
            except NoRoom:
                self._take_back(mark)
                raise
            except Elsewhere as lack:
                self._take_back(mark)
                self._share(lack.tensor)

    def _share(self, tensor: ir.Value) -> None:
        """Brings a value to shared memory. Where there is no room, its readers load it from global memory or recompute it."""
        mark = self._mark()
        self.tile.may_narrow = False
        try:
            self.roots.share(tensor)
        except NoRoom:
            self._take_back(mark)
            value = self.tile.env[tensor]
            if isinstance(value, Reduced):
                self._recompute(value.op)

    def _mark(self) -> _Mark:
        indices = self.memory.indices
        return _Mark(len(list(self.body.operations)), self.memory.mark(), dict(self.tile.memo.scopes[0]), dict(indices.multiple_of))

    def _take_back(self, mark: _Mark) -> None:
        """Erases what was emitted since. What was known of its values goes, too: others may come to lie where they were."""
        self.tile.memo.scopes = [mark.scope]
        self.memory.indices.multiple_of = mark.multiple_of
        for op in reversed(list(self.body.operations)[mark.last - 1 : -1]):
            op.operation.erase()
        self.memory.take_back(mark.memory)

    def _scalar(self, op: ir.Operation) -> None:
        result = op.results[0]
        if op.name == "arith.constant" and isinstance(result.type, ir.IndexType):
            self.tile.scalars[result] = LinearIndex(constant=ir.IntegerAttr(op.attributes["value"]).value)
            return
        operands = [self.tile.captured(v) for v in op.operands]
        if isinstance(result.type, ir.IndexType) and op.name in ("arith.addi", "arith.subi", "arith.muli"):
            a, b = operands
            if op.name != "arith.muli":
                self.tile.scalars[result] = a + b if op.name == "arith.addi" else a - b
                return
            if a.is_constant or b.is_constant:
                self.tile.scalars[result] = a * b.constant if b.is_constant else b * a.constant
                return
        if op.name in ("affine.min", "affine.apply"):
            values = [self.tile.evaluate(e, operands, 1) for e in ir.AffineMapAttr(op.attributes["map"]).value.results]
            self.tile.scalars[result] = reduce(self.tile.indices.clamp, map(LinearIndex.of, values))
            return
        made = value_of(op.name, result.type, [self.tile.materialise(o, 1) for o in operands], **attributes_of(op))
        self.tile.scalars[result] = LinearIndex.of(made) if isinstance(result.type, ir.IndexType) else made

    def _slice(self, op: ir.Operation) -> View | Part | Splat | Empty:
        source = self.tile.env[op.operands[0]]
        if isinstance(source, (Splat, Empty)):
            return source
        sizes = mixed(op, "static_sizes", 2)
        rank = len(ir.RankedTensorType(op.results[0].type).shape)
        if any(s != 1 for s in ir.DenseI64ArrayAttr(op.attributes["static_strides"])) or len(sizes) != rank:
            raise PassFailure("a slice with strides or of another rank", op=op.name, loc=str(op.location), stage="gpu")
        starts = self._starts(op, 1)
        if not isinstance(source, View):
            return Part(op.operands[0], starts)
        return View(source.storage.slice(starts, tuple(Extent.of(s).bound for s in sizes)))

    def _reshape(self, op: ir.Operation) -> View | Splat:
        source = self.tile.env[op.operands[0]]
        shape = tuple(ir.RankedTensorType(op.results[0].type).shape)
        if isinstance(source, Splat):
            return source
        if not isinstance(source, View):
            raise PassFailure("a reshape of a value of the tile", op=op.name, loc=str(op.location), stage="gpu")
        return View(source.storage.reshaped(shape), staged=source.staged)

    def _dense(self, op: ir.Operation) -> View | Splat:
        """A constant tensor: a scalar if it is the same everywhere, else a private global beside the kernel."""
        tensor, value = ir.RankedTensorType(op.results[0].type), op.attributes["value"]
        if isinstance(value, ir.DenseElementsAttr) and value.is_splat:
            return Splat(arith.constant(tensor.element_type, value.get_splat_value()))
        return View(self.function.dense_constant(op, len(self.tile.env), self.kernel.op, _GLOBAL_ALIGNMENT), staged=True)

    def _outputs(self) -> list[list[Output]]:
        """What the tile inserts; what has equal extents is stored together."""
        groups: dict[tuple, list[Output]] = {}
        for insert in self.function.insertions:
            if insert.operands[0] in self.written:
                continue
            starts = self._starts(insert, 2)
            extents = shape_of(insert.operands[0])
            bounds = tuple(e.bound for e in extents)
            destinations = [s.slice(starts, bounds) for s in self.destinations[insert.operands[1]]]
            output = Output(insert.operands[0], destinations, extents)
            registers = isinstance(self.tile.env[output.tensor], Reduced)
            groups.setdefault((tuple(extents), registers and output.tensor.owner), []).append(output)
        return list(groups.values())
