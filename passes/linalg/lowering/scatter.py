"""scatter: one loop over tiles, in each of which the updates are applied one after the other, a window at a time.

    %r = scf.forall (%j) = (0) to (128) step (64) shared_outs(%o = %table) {
      %slice = tensor.extract_slice %o[0, %j] [100000, 64]
      %done = scf.for %u = 0 to 32000 iter_args(%t = %slice) {
        %i = index of %indices[%u, 0]
        scf.if %i < 100000, unsigned {
          linalg.generic {parallel} ins(%updates[%u, %j] [1, 64]) outs(%t[%i, 0] [1, 64]) { the update's body }
        }
      }
      scf.forall.in_parallel { %done into %o[0, %j] [100000, 64] }
    }

The function's results start from what it updates, in the same buffers (assign-buffers copies what must live on), so nothing is copied here.
As XLA does, windows of updates are applied one after the other, in the row-major order of their indices, so that results are the same bit
for bit whatever the body is; one of which a part is out of bounds is dropped whole. Indices are compared as 64 bits, those of signed types
as signed.

Tiled are the dims along which updates stay at their own index: batching dims, and those of a window that no index moves. The elements of a
window are independent: a generic, which is vectorised. Where a window lies across the lines of what is updated (columns of a matrix), each
of its elements has the loop over the updates for itself, so that what is touched lies in one line:

    scf.for %row = 0 to 32 { scf.for %u = 0 to 4096 { %t[%row, index of %indices[%u, 0]] += %updates[%row, %u] } }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import scf

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import target_of

from ...common.edge import RESHAPES
from ...common.rewriting import create, defining_op, i64_array
from ...common.scalars import is_unsigned, signless
from ...common.scatter_order import ATTRIBUTE, order_of
from ...common.scatter_windows import KEPT, UNSIGNED, Windows
from ...common.slices import extract_slice, insert_slice, parallel_insert_slice
from ...stablehlo.support.combining import combining_op
from . import generic
from .kept import keep
from .lowering import Lowering

MOST_TILES = 16
TILE_BYTES = 256
"""A tile's part of a row is at least so long: memory gives less of shorter ones (of 128, 24 MB of rows take 1.3 times as long)."""

Place: TypeAlias = "int | ir.Value"


def _tiles(windows: Windows, size: int) -> dict[int, int]:
    """The tile's extent along each dim that is tiled, for elements of so many bytes; extents divide the dim's."""
    tiles: dict[int, int] = {}
    left = MOST_TILES
    own = [d for d in range(len(windows.shape)) if d in windows.batch or (d in windows.at and d not in windows.moved)]
    for d in own:
        extent = windows.updates[windows.batch[d]] if d in windows.batch else windows.window[d]
        inside = prod(windows.shape[d + 1 :]) * size
        fits = (n for n in range(min(left, extent), 0, -1) if extent % n == 0)
        count = next(n for n in fits if n == 1 or extent // n * inside >= TILE_BYTES)
        if count > 1:
            tiles[d], left = extent // count, left // count
    return tiles


def _across(windows: Windows) -> list[int]:
    """The dims of the updates along which a window lies that has no neighbours in a line of what is updated."""
    return [] if windows.along_lines else [u for d, u in windows.at.items() if d not in windows.moved]


def _scatter(low: Lowering, op: ir.Operation) -> None:
    if target_of(op).kind == "cuda":
        _keep(low, op)
        return
    results = _Scatter(low, op).emit()
    for old, new in zip(op.results, results):
        low.set(old, new)


def _keep(low: Lowering, op: ir.Operation) -> None:
    """For a GPU the op stays what it is: which of its loops threads share is known where its kernel is made (distribute-scatters)."""
    named = {name: op.attributes[name] for name in KEPT if name in op.attributes}
    if is_unsigned(op.operands[len(op.results)].type.element_type):
        named[UNSIGNED] = ir.UnitAttr.get()
    named[ATTRIBUTE] = ir.StringAttr.get(order_of(op).value)
    keep(low, op, [low.tensor(value) for value in op.operands], **named)


class _Scatter:
    def __init__(self, low: Lowering, op: ir.Operation):
        self.low, self.op, self.windows = low, op, Windows.of(op)
        count = len(op.results)
        operands = list(op.operands)
        self.tables = [low.tensor(old) for old in operands[:count]]
        self.indices = operands[count]
        self.known = [low.scalar_constant(old) for old in operands[count + 1 :]]
        self.updates = [_computed(low.tensor(old)) if known is None else known for old, known in zip(operands[count + 1 :], self.known)]
        widest = max(element_bytes(generic.signless_element(v)) for v in self.tables)
        self.tiles = _tiles(self.windows, widest)
        own = {**self.windows.at, **self.windows.batch}
        self.tiled = {own[d]: d for d in self.tiles}
        self.first: dict[int, Place] = {}

    def emit(self) -> list[ir.Value]:
        """The updated tables."""
        extents = [self.windows.updates[self.windows.batch[d]] if d in self.windows.batch else self.windows.window[d] for d in self.tiles]
        types = [signless(v.type) for v in self.tables]
        forall = create(
            "scf.forall",
            types,
            self.tables,
            regions=1,
            staticLowerBound=i64_array([0] * max(1, len(extents))),
            staticUpperBound=i64_array(extents or [1]),
            staticStep=i64_array(list(self.tiles.values()) or [1]),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([0, 0, 0, len(types)]),
        )
        body = forall.regions[0].blocks.append(*[ir.IndexType.get()] * max(1, len(extents)), *types)
        with ir.InsertionPoint(body):
            self._tile(body)
        return list(forall.results)

    def _tile(self, body: ir.Block) -> None:
        self.first = dict(zip(self.tiles, body.arguments))
        shared = list(body.arguments)[-len(self.tables) :]
        shape = [self.tiles.get(d, extent) for d, extent in enumerate(self.windows.shape)]
        offsets: list[Place] = [self.first.get(d, 0) for d in range(len(shape))]
        slices = [_slice(value, offsets, shape) for value in shared]
        dims = [*_across(self.windows), *self.windows.over]
        lengths = [self._length(d) for d in dims]
        done = self._loops(lengths, slices, lambda at, tables: self._apply(dict(zip(dims, at)), tables))
        last = create("scf.forall.in_parallel", regions=1)
        with ir.InsertionPoint(last.regions[0].blocks.append()):
            for new, whole in zip(done, shared):
                parallel_insert_slice(new, whole, offsets, shape)

    def _length(self, dim: int) -> int:
        """The tile's extent along a dim of the updates."""
        return self.windows.updates[dim] if (tiled := self.tiled.get(dim)) is None else self.tiles[tiled]

    def _start(self, dim: int, within: Place) -> Place:
        """The place along a dim of the updates that lies `within` the tile."""
        return self._sum(self.first[self.tiled[dim]] if dim in self.tiled else 0, within)

    def _loops(
        self, lengths: Sequence[int], tables: Sequence[ir.Value], body: Callable[[list[ir.Value], list[ir.Value]], list[ir.Value]]
    ) -> list[ir.Value]:
        if not lengths:
            return body([], list(tables))
        s = self.low.scalars
        loop = scf.ForOp(s.index(0), s.index(lengths[0]), s.index(1), list(tables))
        with ir.InsertionPoint(loop.body):
            inner = self._loops(lengths[1:], list(loop.inner_iter_args), lambda at, last: body([loop.induction_variable, *at], last))
            scf.yield_(inner)
        return list(loop.results_)

    def _apply(self, at: dict[int, ir.Value], tables: list[ir.Value]) -> list[ir.Value]:
        """The tables after the window of updates at that index."""
        starts, inside = self._starts(at)
        if inside is None:
            return self._update(at, starts, tables)
        branch = scf.IfOp(inside, [v.type for v in tables], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.yield_(self._update(at, starts, tables))
        with ir.InsertionPoint(branch.else_block):
            scf.yield_(tables)
        return list(branch.results_)

    def _starts(self, at: dict[int, ir.Value]) -> tuple[list[Place], ir.Value | None]:
        """Where the window begins in the tile, and whether it lies in what is updated; None where it cannot but do so."""
        s, windows, inside = self.low.scalars, self.windows, None
        starts: list[Place] = [0] * len(windows.shape)
        for d, u in (*windows.batch.items(), *windows.at.items()):
            starts[d] = at.get(u, 0)
        for d, component in windows.moved.items():
            starts[d] = self._index(at, component)
            limit = windows.shape[d] - windows.window[d]
            hit = s.cmpi("ule", starts[d], s.index(limit)) if limit >= 0 else s.constant(ir.IntegerType.get_signless(1), 0)
            inside = hit if inside is None else s.op("arith.andi", inside, hit)
        return starts, inside

    def _index(self, at: dict[int, ir.Value], component: int) -> ir.Value:
        """A component of the index: as unsigned, one below 0 is as large as one beyond the end."""
        s, windows = self.low.scalars, self.windows
        point = [self._start(d, at[d]) for d in windows.over]
        if windows.component < len(self.indices.type.shape):
            point.insert(windows.component, s.index(component))
        known = self.low.scalar_constant(self.indices)
        found = known if known is not None else s.extract(self.low.tensor(self.indices), point)
        return s.to_index(found, self.indices.type.element_type)

    def _update(self, at: dict[int, ir.Value], starts: list[Place], tables: list[ir.Value]) -> list[ir.Value]:
        low, windows = self.low, self.windows
        rank = len(windows.shape)
        single = {d for d, u in (*windows.batch.items(), *windows.at.items()) if u in at}
        extents = [1 if d in single else self.tiles.get(d, extent) for d, extent in enumerate(windows.window)]
        old = [_slice(table, starts, extents) for table in tables]
        new = [self._slice_of_updates(update, at) for update, known in zip(self.updates, self.known) if known is None]
        point = [ir.AffineExpr.get_constant(0)] * len(windows.updates)
        for d, u in windows.at.items():
            point[u] = ir.AffineExpr.get_dim(d)
        maps = [generic.affine_map(rank, point)] * len(new) + [generic.identity(rank)] * len(old)

        block = self.op.regions[0].blocks[0]

        def body(*scalars: ir.Value) -> list[ir.Value]:
            given = iter(scalars[: len(new)])
            values = [next(given) if constant is None else constant for constant in self.known]
            before = list(scalars[len(new) :])
            return low.region(block, [*values, *before] if _is_extreme(self.op) else [*before, *values])

        made = generic.build_generic(new, old, maps, [generic.PARALLEL] * rank, body)
        return [insert_slice(value, table, starts, extents) for value, table in zip(made.results, tables)]

    def _sum(self, a: Place, b: Place) -> Place:
        """Of two places, of which a number is 0."""
        if isinstance(a, int) or isinstance(b, int):
            return b if isinstance(a, int) else a
        return self.low.scalars.op("arith.addi", a, b)

    def _slice_of_updates(self, updates: ir.Value, at: dict[int, ir.Value]) -> ir.Value:
        dims = range(len(self.windows.updates))
        offsets = [self._start(d, at.get(d, 0)) for d in dims]
        return _slice(updates, offsets, [1 if d in at else self._length(d) for d in dims])


def _is_extreme(scatter: ir.Operation) -> bool:
    """Whether the body is a maximum or minimum. LLVM asks the first operand's sign, long before which an element that the update before
    wrote is not there.
    """
    return combining_op(scatter) in ("stablehlo.maximum", "stablehlo.minimum")


def _computed(value: ir.Value) -> ir.Value:
    """The value, not as a view of another: sink-updates looks for what computes its elements where they lie."""
    op = defining_op(value)
    return generic.copy(value) if op is not None and op.name in (*RESHAPES, "tensor.extract_slice") else value


def _slice(source: ir.Value, offsets: Sequence[Place], sizes: Sequence[int]) -> ir.Value:
    if list(sizes) == generic.shape_of(source) and all(isinstance(offset, int) for offset in offsets):
        return source
    return extract_slice(source, offsets, sizes)


LOWERINGS = {"stablehlo.scatter": _scatter}
