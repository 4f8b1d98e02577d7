"""One kernel of several: its blocks are divided among them, or run one after the other, with a barrier of all blocks between."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from hloom.dialects.target import TargetView

from ...common.control_flow import if_then
from ...common.launches import ALONE, IN_TURN, MEMBERS, JoinedCall
from ...common.linear_index import LinearIndex
from ...common.rewriting import clone_with, create, i64_attr, index_constant, integer, ops_in, replace, walk
from ..support.emit import barrier, barrier_of, block_id, grid_barrier, less_than, thread_id
from ..support.launch import OpenKernel, shared_view
from .members import Kernel, is_shared, padded, resident_blocks

_MOST = "nvvm.minctasm"
_SUMS = ("hloom.bytes", "hloom.flops")


def joint_kernel(
    name: str, call: JoinedCall, kernels: Sequence[Kernel], cost_ps: int, target: TargetView, waits: AbstractSet[int] | None = None
) -> None:
    """Makes the kernel of that name for the calls, before the first of their kernels, one for each of them. `waits` is of a chain: the
    numbers of the kernels before which all blocks must have come."""
    in_turn = waits is not None
    threads, blocks = max(each.threads for each in kernels), (max if in_turn else sum)(each.blocks for each in kernels)
    count = len(call.inputs) + len(call.outputs)
    types: list[ir.Type] = [ir.NoneType.get()] * count
    marks: list[ir.Attribute] = [ir.DictAttr.get({})] * count
    for kernel, places in zip(kernels, call.places):
        arguments = zip(places, kernel.op.regions[0].blocks[0].arguments, ir.ArrayAttr(kernel.op.attributes["arg_attrs"]))
        for place, argument, given in arguments:
            types[place], marks[place] = argument.type, ir.DictAttr.get({}) if place in call.exchanged else given
    with ir.InsertionPoint(kernels[0].op), kernels[0].op.location:
        op = create(
            "gpu.func",
            regions=1,
            sym_name=ir.StringAttr.get(name),
            function_type=ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            arg_attrs=ir.ArrayAttr.get(marks),
            workgroup_attributions=i64_attr(0),
            known_block_size=ir.DenseI32ArrayAttr.get([threads, 1, 1]),
            known_grid_size=ir.DenseI32ArrayAttr.get([blocks, 1, 1]),
            **{
                "gpu.kernel": ir.UnitAttr.get(),
                "hloom.shared_bytes": i64_attr(max(each.dynamic for each in kernels)),
                MEMBERS: ir.ArrayAttr.get([ir.StringAttr.get(member) for each in kernels for member in each.members]),
                **({IN_TURN: ir.UnitAttr.get()} if in_turn else {}),
                **({ALONE: ir.UnitAttr.get()} if any(ALONE in each.op.attributes for each in kernels) else {}),
                **_figures(kernels, cost_ps, target),
            },
        )
        entry = op.regions[0].blocks.append(*types)
    with ir.InsertionPoint(entry), op.location:
        returned = create("gpu.return")
    with ir.InsertionPoint(returned), op.location:
        joint = _Joint(OpenKernel(op, list(entry.arguments)), kernels, call.places)
        joint.side_by_side() if waits is None else joint.in_turn(waits)


def in_turn_ps(kernels: Sequence[Kernel], target: TargetView) -> int:
    """What they take one after the other in one launch: their launches are most of the time of small kernels."""
    return target.launch_ps + sum(_work_ps(kernels, target))


def side_by_side_ps(kernels: Sequence[Kernel], target: TargetView) -> int:
    """The same of blocks that run beside each other: on multiprocessors of their own as far as there are so many."""
    work = _work_ps(kernels, target)
    together = sum(each.blocks for each in kernels) <= target.multiprocessors
    return target.launch_ps + (max(work) if together else sum(work))


def _work_ps(kernels: Sequence[Kernel], target: TargetView) -> list[int]:
    return [max(0, integer(each.op, "hloom.cost_ps", 0) - target.launch_ps) for each in kernels]


def _figures(kernels: Sequence[Kernel], cost_ps: int, target: TargetView) -> dict[str, ir.Attribute]:
    """What is known of the joint kernel from what is known of its parts: it asks for no more blocks on a multiprocessor than the shared
    memory of all its parts lets in, since a thread's registers are bounded by them."""
    layouts = {f"{each.name}_{entry.name}": entry.attr for each in kernels for entry in ir.DictAttr(each.op.attributes["hloom.layouts"])}
    figures: dict[str, ir.Attribute] = {"hloom.layouts": ir.DictAttr.get(layouts)}
    figures |= {name: i64_attr(sum(integer(each.op, name, 0) for each in kernels)) for name in _SUMS}
    figures["hloom.cost_ps"] = i64_attr(cost_ps)
    resident = [integer(each.op, _MOST) * each.threads for each in kernels if _MOST in each.op.attributes]
    if resident:
        threads = max(each.threads for each in kernels)
        blocks = max(1, min(max(resident) // threads, resident_blocks(kernels, target)))
        figures[_MOST] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), blocks)
    return figures


class _Joint:
    def __init__(self, kernel: OpenKernel, kernels: Sequence[Kernel], places: Sequence[Sequence[int]]):
        self.kernel, self.kernels, self.places = kernel, kernels, places
        self.first = [0] * len(kernels)
        self.threads, self.blocks = max(each.threads for each in kernels), max(each.blocks for each in kernels)
        shared = max(each.shared for each in self.kernels)
        self.arena = self.kernel.arena(shared) if shared else None
        self.block, self.thread = block_id(), thread_id()

    def side_by_side(self) -> None:
        self.first = [0, *accumulate(each.blocks for each in self.kernels)]
        self._choose(0, len(self.kernels))

    def in_turn(self, waits: AbstractSet[int]) -> None:
        """A block's own barrier at least is between two: shared memory is one room."""
        for number, kernel in enumerate(self.kernels):
            if number:
                grid_barrier() if number in waits and self.blocks > 1 else barrier()
            with if_then(less_than(LinearIndex.of(self.block), kernel.blocks) if kernel.blocks < self.blocks else None):
                self._run(number)

    def _choose(self, first: int, last: int) -> None:
        """Runs that one of the kernels whose blocks this one belongs to."""
        if last - first == 1:
            return self._run(first)
        middle = (first + last) // 2
        branch = scf.IfOp(less_than(LinearIndex.of(self.block), self.first[middle]), has_else=True)
        for side, members in ((branch.then_block, (first, middle)), (branch.else_block, (middle, last))):
            with ir.InsertionPoint(side):
                self._choose(*members)
                scf.yield_([])

    def _run(self, number: int) -> None:
        threads = self.kernels[number].threads
        with if_then(less_than(LinearIndex.of(self.thread), threads) if threads < self.threads else None):
            self._body(number)

    def _body(self, number: int) -> None:
        kernel = self.kernels[number]
        *ops, _ = ops_in(kernel.op.regions[0].blocks[0])
        arguments = list(kernel.op.regions[0].blocks[0].arguments)
        mapping = {argument: self.kernel.buffers[place] for argument, place in zip(arguments, self.places[number])}
        used = 0
        for argument in arguments[len(self.places[number]) :]:
            mapping[argument] = self._shared(argument.type, used)
            used += padded(argument.type)
        own = arith.subi(self.block, index_constant(self.first[number])) if self.first[number] else self.block
        for op in ops:
            if op.name == "gpu.block_id":
                mapping[op.results[0]] = own
            elif op.name == "memref.get_global" and is_shared(op.results[0].type):
                mapping[op.results[0]] = self._shared(op.results[0].type, used)
                used += padded(op.results[0].type)
            else:
                made = clone_with(op, mapping)
                for inner in walk(made, "gpu.block_id"):
                    replace(inner, [own])
                if kernel.threads < self.threads:
                    for inner in walk(made, "gpu.barrier"):
                        with ir.InsertionPoint(inner):
                            barrier_of(kernel.threads)
                        inner.erase()

    def _shared(self, kind: ir.Type, offset: int) -> ir.Value:
        """A kernel's buffer in shared memory, in the common room."""
        assert self.arena is not None
        kind = ir.MemRefType(kind)
        return shared_view(self.arena, offset, kind.shape, kind.element_type)
