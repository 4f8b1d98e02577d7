"""The tensors of a tile and how they are read: on demand, at an index of a thread, each element once.

A read of global memory loads it; a read of an elementwise op evaluates its body there, which reads on; a reduction's result is looked up
among the registers that hold it. What is computed is remembered by its indices, so ops whose layouts agree share loads and values without
being told so. Where a thread does not have what it needs (`Elsewhere`), the value goes through shared memory (distribute.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes

from ...common.affine import loops_where
from ...common.axes import TileOp
from ...common.linear_index import LinearIndex
from ...common.rewriting import ops_in, value_of
from ...common.scalar_body import Rep, affine
from ...common.vectors import from_lanes, is_vector, lane_of, splat, steps, widened
from ...errors import PassFailure
from ..support.emit import select_each
from .body import ThreadBody
from .extents import loop_extents, shape_of, stored_results
from .indices import Indices, Memo
from .loops import nest_over
from .memory import KernelMemory
from .threads import Threads
from .values import Elsewhere, Empty, Lazy, Part, Recomputed, Reduced, Splat, Value, View

SECTOR_BYTES = 32
"""Global memory is read in pieces of that size."""
STAGED_BYTES = 16 << 10
"""A slice of at most that size may be brought to shared memory."""


Run: TypeAlias = "Callable[[TileValues, TileOp, list[LinearIndex], int], list[Rep]]"


class Narrow(Exception):
    """A vector's elements lie apart in memory: neighbouring threads had better read one element each."""


class TileValues:
    """Values by the tensor that they stand for, and the memo of what has been computed."""

    def __init__(self, memory: KernelMemory, threads: Threads, memo: Memo, indices: Indices):
        self.memory, self.threads, self.memo, self.indices = memory, threads, memo, indices
        self.env: dict[ir.Value, Value] = {}
        self.scalars: dict[ir.Value, Rep] = {}
        self.may_narrow = False

    def captured(self, value: ir.Value) -> Rep:
        """A scalar from outside the body."""
        if value not in self.scalars:
            raise PassFailure("a body uses a value from outside the group", op=str(value), stage="gpu")
        return self.scalars[value]

    def materialise(self, rep: Rep, lanes: int) -> ir.Value:
        """`rep` as an SSA value: a vector where it differs between lanes."""
        if not isinstance(rep, LinearIndex):
            return rep
        base = self.indices.value(rep.uniform())
        if not rep.lanes or lanes == 1:
            return base
        return self.memo.once(("lanes", rep, lanes), lambda: arith.addi(widened(base, lanes), steps(lanes, rep.lanes)))

    def read_operand(self, op: TileOp, number: int, indices: Sequence[Rep], lanes: int) -> Rep:
        """Operand `number` of `op` at the indices of its loops."""
        tensor = [*op.inputs, *op.inits][number]
        if not isinstance(tensor.type, ir.RankedTensorType):
            return self.captured(tensor)
        return self.read(tensor, [self.evaluate(e, indices, lanes) for e in op.maps[number].results], lanes)

    def evaluate(self, expr: ir.AffineExpr, loops: Sequence[Rep], lanes: int) -> Rep:
        """An index expression at the indices of the loops."""
        return affine(expr, loops, partial(self._index_op, lanes))

    def _index_op(self, lanes: int, name: str, a: Rep, b: Rep) -> Rep:
        if name in ("divui", "remui") and isinstance(a, LinearIndex) and isinstance(b, LinearIndex) and b.is_constant:
            parts = self.indices.divide(a, b.constant, lanes)
            if parts is not None:
                return parts[name == "remui"]
        values = [widened(self.materialise(x, lanes), lanes) for x in (a, b)]
        return value_of(f"arith.{name}", values[0].type, values)

    def read(self, tensor: ir.Value, indices: Sequence[Rep], lanes: int) -> Rep:
        """The element of `tensor` at `indices`, in each lane."""
        value = self.env[tensor]
        if isinstance(value, Splat):
            return value.scalar
        if any(not isinstance(i, LinearIndex) and is_vector(i) for i in indices):
            self._apart()
            return from_lanes([self.materialise(self.read(tensor, [_at_lane(i, j) for i in indices], 1), 1) for j in range(lanes)])
        linear = [LinearIndex.of(i) for i in indices]
        if isinstance(value, Part):
            return self.read(value.tensor, [i + o for i, o in zip(linear, value.offsets)], lanes)
        lanes = lanes if any(i.lanes for i in linear) else 1
        if isinstance(value, View):
            return self._load(tensor, value, linear, lanes)
        if isinstance(value, Lazy):
            return self._evaluate(value, linear, lanes, TileValues._run)
        if isinstance(value, Recomputed):
            return self._evaluate(value, linear, lanes, TileValues._reduce)
        if isinstance(value, Reduced):
            found = value.values.get((tuple(linear), lanes))
            if found is None:
                raise Elsewhere(tensor)
            return found
        assert isinstance(value, Empty)
        raise PassFailure("a tile reads a tensor that nothing was written to", op=str(tensor), stage="gpu")

    def _load(self, tensor: ir.Value, view: View, indices: list[LinearIndex], lanes: int) -> ir.Value:
        address = view.storage.address(indices)
        if not view.staged:
            if self._scattered(view, address) and self._may_stage(tensor):
                raise Elsewhere(tensor)
            if address.lanes not in (0, 1) and lanes > 1:
                self._apart()
        return self.memory.load(view.storage, address, lanes)

    def _apart(self) -> None:
        if self.may_narrow:
            raise Narrow

    def _scattered(self, view: View, address: LinearIndex) -> bool:
        """Whether neighbouring lanes read sectors of their own, of which they need only a part."""
        step = sum(c * self.threads.lane_step.get(v, 0) for v, c in address.terms.items())
        width = element_bytes(view.storage.element)
        return abs(step) * width >= 2 * SECTOR_BYTES or abs(address.lanes) * width >= SECTOR_BYTES

    def _may_stage(self, tensor: ir.Value) -> bool:
        """Whether a slice is small enough for shared memory, and read faster into it than by those who need it."""
        value = self.env[tensor]
        assert isinstance(value, View)
        width = element_bytes(value.storage.element)
        bounds = [e.bound for e in shape_of(tensor)]
        run = 1
        for stride, n in sorted(zip(value.storage.strides, bounds)):
            run *= n if stride == run else 1
        return run * width >= SECTOR_BYTES and sum(n > 1 for n in bounds) > 1 and width * prod(bounds) <= STAGED_BYTES

    def _evaluate(self, value: Lazy | Recomputed, indices: list[LinearIndex], lanes: int, run: Run) -> Rep:
        """A result of an op at `indices`; `run` computes all results of the op at the indices of its loops."""
        loops = loops_where(value.op.output_maps[value.result], indices, LinearIndex())
        return self.memo.once(("body", value.op.op, *loops, lanes), lambda: run(self, value.op, loops, lanes))[value.result]

    def _run(self, op: TileOp, loops: list[LinearIndex], lanes: int) -> list[Rep]:
        if op.op.name == "linalg.fill":
            return [self.captured(op.inputs[0])]
        return ThreadBody(self, op, loops, lanes).yielded(op.op.regions[0].blocks[0])

    def _reduce(self, op: TileOp, kept: Sequence[LinearIndex], lanes: int) -> list[Rep]:
        """The results of a reduction that one thread does for itself (or for the places of a vector): the way that always works.

        `kept` are the indices of the loops; those of the reduced ones do not matter, but of a scan: it is taken as far as there.
        """
        block = op.op.regions[0].blocks[0]
        accumulators = list(block.arguments)[len(op.inputs) :]
        ops = ops_in(block)
        trips = [(d, extent.bound) for d, extent in enumerate(loop_extents(op)) if not op.parallel[d]]
        stored = stored_results(op)

        def inside(ivs: dict[int, LinearIndex], carried: list[ir.Value]) -> list[ir.Value]:
            indices = [ivs.get(d, index) for d, index in enumerate(kept)]
            body = ThreadBody(self, op, indices, lanes, dict(zip(accumulators, carried)))
            body.run(ops[:-1])
            found = [widened(body.value(v), lanes) for v in ops[-1].operands]
            if not stored:
                return found
            places = [widened(self.materialise(index, lanes), lanes) for index in (ivs[trips[0][0]], kept[trips[0][0]])]
            return select_each(arith.cmpi(arith.CmpIPredicate.ule, *places), found, carried)

        def start(number: int) -> ir.Value:
            if number in stored:
                return splat(accumulators[number].type, 0)
            return self.materialise(self.read_operand(op, len(op.inputs) + number, kept, lanes), lanes)

        return list(nest_over(self.memo, trips, [widened(start(n), lanes) for n in range(len(op.inits))], inside))


def _at_lane(index: Rep, lane: int) -> LinearIndex:
    if isinstance(index, LinearIndex):
        return index.at_lane(lane)
    return LinearIndex.of(lane_of(index, lane))
