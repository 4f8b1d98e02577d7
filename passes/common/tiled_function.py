"""A group function at stage `tiled`, as both back ends read it: its grid, the ops of a tile, and where its results go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, prod

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import memref

from hloom.dialects.storage import element_bytes

from ..errors import PassFailure
from .affine import index_at
from .dense_constants import constant_bytes
from .edge import edge, positions, returned
from .index_expression import loop
from .linear_index import LinearIndex, linear_results
from .rewriting import defining_op, mixed, ops_in, symbol_name, walk
from .scalars import constant_integer
from .storage import MOST_PLACES, Storage, buffer_type


class TiledFunction:
    """`before` are the ops ahead of the tile loop, `ops` those of a tile, `insertions` the slices of results that the tile inserts.

    `grid` has (trips, step) of each loop of the forall, `numbers` their indices, `shared` the results as the tile sees them.
    """

    def __init__(self, function: ir.Operation):
        self.op = function
        self.block = function.regions[0].blocks[0]
        self.forall = walk(function, "scf.forall")[0]
        ops = ops_in(self.block)
        self.before = ops[: ops.index(self.forall)]
        lower, upper, step = (ir.DenseI64ArrayAttr(self.forall.attributes[f"static{n}"]) for n in ("LowerBound", "UpperBound", "Step"))
        assert not any(lower)
        self.grid = [(ceil(u / s), s) for u, s in zip(upper, step)]
        body = self.forall.regions[0].blocks[0]
        *self.ops, terminator = ops_in(body)
        self.insertions = [o.operation for o in terminator.regions[0].blocks[0].operations]
        self.numbers, self.shared = list(body.arguments)[: len(self.grid)], list(body.arguments)[len(self.grid) :]

    @property
    def tiles(self) -> int:
        """Trips of the whole tile loop."""
        return prod(trips for trips, _ in self.grid)

    def destinations(self, buffers: Sequence[ir.Value], offset: Callable[[int | ir.Value], LinearIndex]) -> list[list[Storage]]:
        """Where the kernel writes each of `shared`, one or several times; `buffers` are those of the function's results.

        A result is all of its buffer, or the window that is inserted into it at `offset`s.
        """
        found = []
        for result, argument in zip(self.forall.results, self.shared):
            shape = tuple(ir.RankedTensorType(argument.type).shape)
            places = positions(self.block, result)
            found.append([self._result(place, buffers[place], offset).reshaped(shape) for place in places])
        return found

    def _result(self, position: int, base: ir.Value, offset: Callable[[int | ir.Value], LinearIndex]) -> Storage:
        value = returned(self.block)[position]
        storage = Storage.whole(base, value.type, writable=True)
        for op in edge(value):
            if op.name == "tensor.insert_slice":
                starts = [offset(o) for o in mixed(op, "static_offsets", 2)]
                storage = storage.slice(starts, tuple(ir.RankedTensorType(op.operands[0].type).shape))
        return storage

    def dense_constant(self, op: ir.Operation, number: int, before: ir.Operation, alignment: int | None = None) -> Storage:
        """A constant tensor as private global number `number`, declared ahead of the op `before`."""
        buffer = buffer_type(op.results[0].type)
        raw = np.frombuffer(constant_bytes(op.attributes["value"]), f"u{element_bytes(buffer.element_type)}")
        value = ir.DenseElementsAttr.get(raw, type=buffer.element_type, shape=[raw.size])
        name = f"{symbol_name(self.op)}_constant_{number}"
        with ir.InsertionPoint(before):
            kind = ir.TypeAttr.get(buffer)
            memref.global_(name, kind, sym_visibility="private", initial_value=value, constant=True, alignment=alignment)
        storage = Storage.whole(memref.get_global(buffer, name), op.results[0].type)
        known = isinstance(buffer.element_type, ir.IntegerType) and raw.size <= MOST_PLACES
        return replace(storage, table=tuple(raw.view(f"i{raw.itemsize}").tolist())) if known else storage


def size_bound(value: int | ir.Value) -> int:
    """An upper bound of a tile's size: the constant in its affine.min; sums and products of such, and quotients by constants. Raises
    PassFailure on anything else."""
    if isinstance(value, int):
        return value
    op = defining_op(value)
    if op is not None and op.name == "arith.constant":
        return ir.IntegerAttr(op.attributes["value"]).value
    if op is not None and op.name == "affine.min":
        results = ir.AffineMapAttr(op.attributes["map"]).value.results
        return min(ir.AffineConstantExpr(e).value for e in results if isinstance(e, ir.AffineConstantExpr))
    if op is not None and op.name in ("arith.addi", "arith.muli"):
        a, b = map(size_bound, op.operands)
        return a + b if op.name == "arith.addi" else a * b
    if op is not None and op.name == "arith.divui" and (divisor := constant_integer(op.operands[1])):
        return size_bound(op.operands[0]) // divisor
    where = {} if op is None else {"op": op.name, "loc": str(op.location)}
    raise PassFailure("a tile's size has no bound", **where)


def is_multiple(size: int | ir.Value, step: int) -> bool:
    """Whether the size is one of `step` in every tile: `min(32 * tile + 32, 96)` is of 2."""
    if isinstance(size, int):
        return size % step == 0
    op = defining_op(size)
    if op is None or op.name != "affine.min":
        return False
    starts = [LinearIndex({start: _multiples_of(start)}) for start in op.operands]
    found = linear_results(ir.AffineMapAttr(op.attributes["map"]).value, starts)
    return found is not None and all(index.alignment(step) == step for index in found)


_START = loop(0, 1 << 62)


def last_rest(size: ir.Value, step: int) -> int | None:
    """What steps leave of the last tile's size, if they leave nothing of the others': of `min(128, 200 - 128 * tile)` and 64 it is 8. None
    where that is not known."""
    op = defining_op(size)
    if op is None or op.name != "affine.min" or len(op.operands) != 1:
        return None
    whole = size_bound(size)
    if _multiples_of(op.operands[0]) != whole or whole % step:
        return None
    others = [e for e in ir.AffineMapAttr(op.attributes["map"]).value.results if not isinstance(e, ir.AffineConstantExpr)]
    left = index_at(others[0], (_START,)) if len(others) == 1 else _START
    return left.constant % whole % step if left == _START * -1 + left.constant else None


def _multiples_of(start: ir.Value) -> int:
    """What a tile's start is a multiple of."""
    op = defining_op(start)
    factors = [constant_integer(v) for v in op.operands] if op is not None and op.name == "arith.muli" else []
    return next((factor for factor in factors if factor), 1)
