"""What a loop costs as one kernel, and as kernels that the host program calls turn by turn; integers, in picoseconds.

    inside   launch + what is read and written once + turns * a turn of all elements
    outside  turns * (turn of the host program + its kernels' calls + a turn of all elements, and what lies between two turns)

Inside, an element's next value waits for the one before: a thread (on a CPU a chunk of vectors) takes at least as long as its longest chain
of ops. What is the same for all elements is computed by each of them anew. Outside, what is no elementwise op is a kernel of its own. Where
nobody knows how often the loop turns, it is taken to do so `UNKNOWN` times.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView

from ...common.ops import FREE, is_elementwise, kind_of
from ..planner.cost import SECOND
from .nodes import Loop, Node
from .parts import Part
from .trace import inside
from .work import UNKNOWN, work_in_turn, work_of_turn

CHUNK = 4
"""Vectors that a CPU's kernel computes together."""
REGISTERS = 16
"""Where something is written turn by turn, so many hold the carries (vector/nests/scans.py)."""
WAITS = 7
"""On a CPU, so many ops are begun in the time in which one of a chain ends."""
AROUND = 2
"""Ops' worth of a turn beside its chain."""
GPU_WAIT_PS = 2_300
"""The same of a thread of a GPU: four clocks."""
CALL_PS = 5_000
"""On a CPU, calling a kernel that does not run on several threads."""
ON_ONE_THREAD = 8192
MOVED = 4
"""What an element costs that another kernel left in memory or took from there, in operations."""


@dataclass(frozen=True)
class Price:
    """`work`: operations of a call; `trips`: None where unknown."""

    inside: int
    outside: int
    work: int
    trips: int | None


@dataclass(frozen=True)
class _Turn:
    """Operations of an element, of what is the same for all, and the longest chain."""

    varying: int
    same: int
    chain: int


def price(part: Part, target: TargetView) -> Price:
    """Of the part as a kernel, and as it would be in the host program."""
    outer = part.outer
    trips = UNKNOWN if outer.trips is None else outer.trips
    turn, points = _turn(part, outer), max(1, part.points)
    carried = sum(byte_size(outer.op.results[carry].type) for carry in {c for c, point in outer.slots if any(i.dims for i in point)})
    memory = 2 * carried * SECOND // (target.llc_bytes_per_second if carried < target.llc_bytes // 2 else target.dram_bytes_per_second)
    memory += sum(byte_size(outer.op.results[n].type) for n in part.streams) * SECOND // target.llc_bytes_per_second
    kernels, moved = _kernels(outer.op)
    kernels += bool(turn.same and part.extents)
    if target.kind == "cpu":
        lanes = min(target.lanes(32), points)
        op = 2 * lanes * SECOND // target.f32_flops
        chunk = max(1, REGISTERS // max(1, len(outer.slots))) if part.streams else CHUNK
        chunks = ceil(points / (chunk * lanes))
        within = chunks * max(chunk * turn.varying + turn.same, WAITS * (turn.chain + AROUND)) * op
        without = (ceil(points / lanes) * turn.varying + turn.same + moved * MOVED // lanes) * op
        call = CALL_PS if points <= ON_ONE_THREAD else target.launch_ps
        between = max(0, memory - without) if carried > target.l2_bytes else 0
    else:
        rate = target.f32_flops
        apart = max(map(len, part.roots.values()))  # elements of a result that are scalars each: a thread computes all, for one
        within = max(points * apart * (turn.varying + turn.same) * SECOND // rate, turn.chain * GPU_WAIT_PS)
        without = max((points * turn.varying + moved * MOVED) * SECOND // rate, turn.chain * GPU_WAIT_PS)
        call, between = target.launch_ps, max(0, memory - without)
    work = trips * (points * turn.varying + turn.same)
    once = target.launch_ps if target.kind == "cuda" else CALL_PS
    outside = trips * (target.loop_iteration_ps + kernels * call + without + between)
    return Price(once + memory + trips * within, outside, work, outer.trips)


def _turn(part: Part, outer: Loop) -> _Turn:
    """What a turn of the outermost loop takes; loops in it as often as they turn."""
    chains: dict[Node, int] = {}
    for node in part.tracer.nodes:
        if node.scope.depth:
            before = max((chains.get(each, 0) for each in node.operands), default=0)
            chains[node] = work_in_turn(node, outer) + before
    return _Turn(*work_of_turn(part.tracer.nodes, outer), max(chains.values(), default=0))


def _kernels(loop: ir.Operation) -> tuple[int, int]:
    """How many kernels a turn is in the host program, at least, and how many elements others than the first read and write."""
    kernels, moved = 1, 0
    for op in inside(loop):
        if is_elementwise(op) or op.name in FREE or kind_of(op) is None or len(op.results) != 1:
            continue
        if op.name in ("stablehlo.dot_general", "stablehlo.reduce", "stablehlo.concatenate", "stablehlo.transpose"):
            kernels += 1
            moved += sum(prod(ir.RankedTensorType(value.type).shape) for value in (*op.operands, *op.results))
    return kernels, moved
