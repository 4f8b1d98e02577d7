"""The time of a group, in integer picoseconds, from the target's figures alone.

    t = launch + max(memory, arithmetic) + a quarter of the smaller      (a core overlaps the two, not wholly)

Memory: each outside value once, each result once, at the bandwidth of the cache that can hold the value. A value read across the lanes of
the vector (a transpose) fetches lines it uses in part, the more so where the kernel is not tiled for that pattern: a copy is, and on CPUs
every plain loop that writes along the lanes (vector/nests/elementwise.py).
Arithmetic: work of every instance × the points at which it is evaluated, so that recomputation shows in the price; and what a CPU takes to
put short rows together that are read in pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from hloom.dialects.target import TargetView

from ...common.index_expression import dims_of, substitute
from ...common.ops import Kind
from .axes import Signature
from .group import Group, Union, across, with_signatures
from .records import Op, Program, Value

SECOND = 1_000_000_000_000
STRIDED, TRANSPOSED = {"cuda": 4, "cpu": 16}, 2
"""Lines fetched for each line used: in a kernel as it comes, and in one that is tiled for what it reads across the lanes. A GPU's threads
share the lines of their block; a CPU's reduction takes one for each element (f32; Zen 5: 3 to 27 times as long as after a transpose)."""
COPIED = 3
"""Passes over memory for a result that is not written where it replaces an argument: lines fetched to be written, and a copy's two."""
EXPOSED = 4
"""The part of the shorter of memory and arithmetic time that is not hidden behind the longer: one in so many."""

SHORT, PIECES = 8, 2
"""Of rows of no more elements, what is read in pieces, as every second pixel is, is loaded and shuffled for each register: f32 operations
an element. Rows that follow one another fill registers (vector/nests/short_rows.py)."""

WINDOWS_PERCENT = 50
"""What a GPU's kernel of windows reaches of the rate of fused multiply-adds: elements and weights are converted beside."""
EXACT = 64
"""A group with no more reads, signatures and results than this is priced anew after each merge; a larger one by what a merge changes."""


def is_large(group: Group) -> bool:
    return len(group.reads) + len(group.body) + len(group.results) > EXACT


def kernel_ps(memory: int, arithmetic: int, target: TargetView) -> int:
    """The time of a kernel whose memory and arithmetic take so long."""
    return target.launch_ps + overlapped(memory, arithmetic)


def overlapped(memory: int, arithmetic: int) -> int:
    """The time of both at once: most of the lesser is hidden behind the larger."""
    return max(memory, arithmetic) + min(memory, arithmetic) // EXPOSED


class CostModel:
    """Prices on one target; times are integers, in picoseconds."""

    def __init__(self, target: TargetView, program: Program):
        self.target, self.program, self.values = target, program, program.values
        self.constant = constant_ops(program)
        cached = target.llc_bytes // 2
        self._bandwidth = [target.llc_bytes_per_second if v.bytes <= cached else target.dram_bytes_per_second for v in program.values]
        self._updated = {op.operands[0]: op.results[0] for op in program.ops if op.window is not None}
        """What is updated in place, with the result: it is not read, and of the result a window is written."""
        self._written = {op.results[0]: op.window for op in program.ops if op.window is not None}
        self._read: dict[tuple[int, tuple[Signature, ...], int | None, int], int] = {}
        """What `_read_in` gave: most of the reads around a merge were priced before."""
        self._whole = [value.bytes * SECOND // bandwidth for value, bandwidth in zip(program.values, self._bandwidth)]
        self._in_place = self._loops_in_place()

    def time(self, memory: int, arithmetic: int) -> int:
        """The time of a kernel with so much memory and arithmetic time."""
        return kernel_ps(memory, arithmetic, self.target)

    def of(self, group: Group) -> tuple[int, int]:
        """(memory, arithmetic) of a group."""
        return self._memory(group, group.reads) + sum(map(self.written, group.results)), self._arithmetic(group)

    def union(self, p: Group, c: Group, union: Union, of_p: tuple[int, int], of_c: tuple[int, int]) -> tuple[int, int]:
        """(memory, arithmetic) of the union, from those of its parts, without building it."""
        c = union.recut or c
        if union.recut is None and union.same_axes and p.axes.keys() == c.axes.keys() == union.axes.keys() and self._alike(p, c):
            small, large = (p, c) if len(p.reads) <= len(c.reads) else (c, p)
            twice = {v: s for v, s in small.reads.items() if large.reads.get(v) == s}
            twice.update((v, c.reads[v]) for v in union.edge)
            unwritten = sum(self.written(v) for v in p.results if v not in union.results)
            return max(0, of_p[0] + of_c[0] - self._memory(c, twice) - unwritten), of_p[1] + of_c[1] - self._in_pieces(c, twice)
        if union.axes is c.axes and is_large(c):
            return self._grown(p, c, union, of_c)
        reads = {v: s for v, s in c.reads.items() if v not in p.results}
        for value, signatures in p.reads.items():
            for image in union.images:
                reads[value] = with_signatures(reads.get(value, ()), tuple(substitute(s, image) for s in signatures))
        merged = Group(union.axes, {}, reads, union.results, packed=p.packed | c.packed)
        merged.alone = c.alone
        merged.reductions, merged.row = p.reductions + c.reductions, p.row and c.row
        merged.contraction = p.contraction if p.contraction is not None else c.contraction
        moved = ((substitute(s, image), bucket.work) for image in union.images for s, bucket in p.body.items())
        work = c.work() + sum(merged.points(signature) * work for signature, work in moved)
        memory = self._memory(merged, reads, p.moves_only and c.moves_only) + sum(map(self.written, union.results))
        return memory, self._arithmetic(merged) + work * SECOND // self.target.f32_flops

    def _grown(self, p: Group, c: Group, union: Union, of_c: tuple[int, int]) -> tuple[int, int]:
        """The same where a plain loop moves into a large group, whose axes stay: what p changes of it."""
        before = {v: s for v in (*p.results, *p.reads) if (s := c.reads.get(v))}
        reads: dict[int, tuple[Signature, ...]] = {v: s for v, s in before.items() if v in p.reads}
        work = 0
        for image in union.images:
            for value, signatures in p.reads.items():
                reads[value] = with_signatures(reads.get(value, ()), tuple(substitute(s, image) for s in signatures))
            work += sum(c.points(substitute(signature, image)) * bucket.work for signature, bucket in p.body.items())
        written = sum(self.written(v) for v in p.results if v in union.results)
        memory = of_c[0] - self._memory(c, before) + self._memory(c, reads) + written
        return max(0, memory), of_c[1] + work * SECOND // self.target.f32_flops

    def bytes_of(self, group: Group) -> int:
        """The least the group can move: what it touches of its inputs, and its results."""
        read = sum(self.touched(v, s, group) for v, s in group.reads.items())
        return read + sum(self.values[self._written.get(v, v)].bytes for v in group.results)

    def flops_of(self, group: Group) -> int:
        """Operations of a call, recomputation included."""
        work = group.work()
        return work if group.contraction is None else work + contraction_flops(self.program.ops[group.contraction], self.values)

    def whole(self, value: int) -> int:
        """Picoseconds to read or write all of a value."""
        return self._whole[value]

    def written(self, value: int) -> int:
        """Picoseconds to write a result: of one that is updated in place, the window."""
        return self._whole[self._written.get(value, value)]

    def copied(self, p: Group, c: Group) -> int:
        """Picoseconds to copy what a loop of the two writes over arguments, where one kernel that contracts or reduces cannot."""
        if p.iterates == c.iterates or p.alone or c.alone or not self._in_place:
            return 0
        loop, other = (p, c) if p.iterates else (c, p)
        charged, so_far = (max((self._in_place.get(op, 0) for op in group.members), default=0) for group in (loop, other))
        return max(0, charged - so_far)

    def contraction(self, op: Op) -> int:
        """Picoseconds of the generated kernel's arithmetic. No tensor core multiplies what has a channel of its own for each result."""
        flops = contraction_flops(op, self.values) * op.products_percent // 100
        if self.target.kind == "cuda" and _has_single_channels(op):
            return flops * SECOND * 100 // (WINDOWS_PERCENT * self.target.f32_flops)
        return flops * SECOND // max(1, self.target.peak_flops(self.values[op.reads[0].value].element if op.reads else "f32"))

    def touched(self, value: int, signatures: tuple[Signature, ...], group: Group) -> int:
        """Bytes of the value that are read at all: none of what is updated in place, all of what a sort, a scatter or a call reads."""
        read = self.values[value]
        if self._updated.get(value) in group.results:
            return 0
        if group.alone:
            return read.bytes
        points = sum([prod([group.axes[axis].extent for axis in dims_of(s)]) for s in signatures])
        return min(read.bytes, read.bytes // max(1, read.elements) * points)

    def _arithmetic(self, group: Group) -> int:
        total = group.work() * SECOND // self.target.f32_flops + self._in_pieces(group, group.reads)
        return total if group.contraction is None else total + self.contraction(self.program.ops[group.contraction])

    def _in_pieces(self, group: Group, reads: Mapping[int, tuple[Signature, ...]]) -> int:
        """Picoseconds to put together what is read in pieces of short rows."""
        lane = group.lane
        if self.target.kind != "cpu" or lane is None or group.axes[lane].extent > SHORT or not group.iterates:
            return 0
        pieces = sum([group.points(s) for signatures in reads.values() for s in signatures if in_pieces(s, lane)])
        return PIECES * pieces * SECOND // self.target.f32_flops

    def _memory(self, group: Group, reads: Mapping[int, tuple[Signature, ...]], moves_only: bool | None = None) -> int:
        lane = group.lane
        waste = TRANSPOSED if self._is_tiled(group, group.moves_only if moves_only is None else moves_only) else STRIDED[self.target.kind]
        total = 0
        for value, signatures in reads.items():
            if self._updated.get(value) in group.results:
                continue
            read = value, signatures, None if value in group.packed else lane, waste
            if (known := self._read.get(read)) is None:
                known = self._read[read] = self._read_in(group, *read)
            total += known
        return total

    def _is_tiled(self, group: Group, moves_only: bool) -> bool:
        """Whether the kernel reads tiles of what lies across the lanes. None that also writes across them is."""
        if moves_only or self.target.kind != "cpu" or not group.iterates:
            return moves_only
        return not group.writes_across

    def _alike(self, p: Group, c: Group) -> bool:
        """Whether both read what lies across the lanes in the same way."""
        return p.moves_only == c.moves_only and self._is_tiled(p, p.moves_only) == self._is_tiled(c, c.moves_only)

    def _read_in(self, group: Group, value: int, signatures: tuple[Signature, ...], lane: int | None, waste: int) -> int:
        """Picoseconds to read a value at those signatures, which tell their axes' extents; it is packed where there is no lane."""
        strided: tuple[Signature, ...] = ()
        if self.values[value].bytes > self.target.l1_bytes:
            strided = tuple(s for s in signatures if across(s, lane))
        touched = self.touched(value, signatures, group)
        if strided:
            along = tuple(s for s in signatures if s not in strided)
            apart = tuple(s for s in strided if not all(expr.is_linear for expr in s))  # no tiles lie there
            tiled = tuple(s for s in strided if s not in apart)
            touched = self.touched(value, along, group) + waste * self.touched(value, tiled, group)
            touched += STRIDED[self.target.kind] * self.touched(value, apart, group)
        return touched * SECOND // self._bandwidth[value]

    def _loops_in_place(self) -> dict[int, int]:
        """The ops of loops in the program that write results over arguments, by numbers, and what it would take not to."""
        found: dict[int, int] = {}
        for argument, result in self.program.updates.items():
            loop, values = set(), [result]
            while values:
                producer = self.values[values.pop()].producer
                if producer is not None and producer not in loop and self.program.ops[producer].kind is Kind.ELEMENTWISE:
                    loop.add(producer)
                    values.extend(self.program.ops[producer].operands)
            if any(argument in self.program.ops[op].operands for op in loop):
                found.update({op: found.get(op, 0) + COPIED * self._whole[result] for op in loop})
        return found


def in_pieces(signature: Signature, lane: int) -> bool:
    """A read whose rows along the lanes do not follow one another."""
    moving = [expr for expr in signature if expr.dims]
    return len(moving) > 1 and moving[-1].dim == lane and (moving[-2] - moving[-2].constant).dim is None


def _has_single_channels(op: Op) -> bool:
    """Whether it is a convolution whose groups have one input channel each."""
    index = op.reads[0].map.index if op.reads else None
    grouped = index is not None and any(e.atom is not None and e.atom.kind == "opaque" for e in index)
    return op.kind is Kind.CONV and grouped and op.ranges[-1] == 1


def contraction_flops(op: Op, values: tuple[Value, ...]) -> int:
    """A multiplication and an addition for each point of the result and of what is contracted."""
    return 2 * values[op.results[0]].elements * prod(op.ranges)


def constant_ops(program: Program) -> frozenset[int]:
    """The ops that no argument reaches: what stays a group of such alone is computed once (hoist-constant-groups)."""
    found: set[int] = set()
    for op in program.ops:
        if op.kind is not Kind.CONTROL and all(program.values[value].producer in found for value in op.operands):
            found.add(op.id)
    return frozenset(found)
