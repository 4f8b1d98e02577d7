"""Which memory an op of the tile reads, through the ops that it is computed from, and how far apart its loops step there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from ...common.affine import evaluate, loops_where
from ...common.axes import TileOp
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from .values import Lazy, Part, Recomputed, Reduced, Value, View

Env = Mapping[ir.Value, Value]
"""What each tensor of the tile is."""


class Strides(LinearIndex):
    """Steps of an index by the loop that takes them: a floordiv counts as stride 0, a mod as its operand's stride."""

    def __floordiv__(self, divisor: int) -> Strides:
        return Strides()

    def __mod__(self, divisor: int) -> Strides:
        return self


def loop_strides(loops: int) -> tuple[Strides, ...]:
    """The index of a value that has a dimension for each loop."""
    return tuple(Strides({d: 1}) for d in range(loops))


@dataclass(frozen=True)
class TensorRead:
    """A tensor that an op reads, and the steps of its indices; by `strides`, of its address."""

    tensor: ir.Value
    value: View | Reduced
    indices: tuple[Strides, ...]

    @property
    def strides(self) -> LinearIndex:
        assert isinstance(self.value, View)
        return address_strides(self.value.storage, self.indices)

    def loops(self) -> set[int]:
        """The loops that the read moves along."""
        return {d for steps in self.indices for d in steps.terms}


def address_strides(storage: Storage, indices: Sequence[Strides]) -> LinearIndex:
    """The steps of the address of the element at `indices`."""
    return sum((steps * stride for steps, stride in zip(indices, storage.strides)), Strides())


def accesses(values: Env, op: TileOp) -> list[TensorRead]:
    """What `op` reads, in terms of its loops."""
    return list(_reads(values, op, loop_strides(len(op.parallel)), set()))


def accesses_of(values: Env, tensor: ir.Value, indices: tuple[Strides, ...]) -> list[TensorRead]:
    """What is read where `tensor` is, at indices that step so."""
    return list(_reads_of(values, tensor, indices, set()))


def _reads(values: Env, op: TileOp, loops: Sequence[Strides], seen: set[ir.Operation]) -> Iterator[TensorRead]:
    seen.add(op.op)
    if op.op.name == "linalg.fill":
        return
    arguments = op.op.regions[0].blocks[0].arguments
    for number, tensor in enumerate([*op.inputs, *op.inits]):
        if not list(arguments[number].uses) or not isinstance(tensor.type, ir.RankedTensorType):
            continue
        indices = tuple(Strides() + evaluate(expr, loops) for expr in op.maps[number].results)
        yield from _reads_of(values, tensor, indices, seen)


def _reads_of(values: Env, tensor: ir.Value, indices: tuple[Strides, ...], seen: set[ir.Operation]) -> Iterator[TensorRead]:
    value = values[tensor]
    if isinstance(value, Part):
        yield from _reads_of(values, value.tensor, indices, seen)
    if isinstance(value, (View, Reduced)):
        yield TensorRead(tensor, value, indices)
    if isinstance(value, (Lazy, Recomputed)) and value.op.op not in seen:
        yield from _reads(values, value.op, loops_where(value.op.output_maps[value.result], indices, Strides()), seen)


def memory_order(strides: LinearIndex, extents: list[int]) -> list[int]:
    """All loops, those of the smallest steps first; loops that do not step there come last, innermost first."""
    moving = sorted((d for d in strides.terms if extents[d] > 1), key=lambda d: (abs(strides.terms[d]), -d))
    return moving + [d for d in reversed(range(len(extents))) if d not in moving]


def hero(found: list[TensorRead], extents: list[int]) -> TensorRead | None:
    """The view read at the most distinct points; None if no view is read."""
    views = [a for a in found if isinstance(a.value, View)]
    return max(views, key=lambda a: prod(extents[d] for d in a.loops()), default=None)
