"""Basic blocks, in an order in which parted threads meet again as early as may be.

Threads that stand at different blocks go on by the least number. So the order puts a block behind all that lead to it, and all of a loop
before what follows it: a weak topological order. What LLVM moved to the end of a text comes where it belongs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from .syntax import Address, Entry, Group, Instruction, Negated, Operand, Register

STOPS = ("bar", "barrier")
"""Instructions behind which a block ends, and those before which one begins: all threads wait there."""
AWAITS = ("mbarrier.try_wait", "mbarrier.test_wait")
LOOKS = ("ld.acquire", "ld.relaxed", "ld.volatile")
"""With which a block begins: threads that look for what others write do so when all others wait."""
ARRIVES = ("atom.acq_rel", "atom.release", "red.acq_rel", "red.release")
"""With which a block begins, too: some of the threads that tell others what they have done come late."""
_ENDS = ("bra", "ret", "exit", "trap")


@dataclass
class Block:
    instructions: list[Instruction]
    next: int | None
    """The block behind, if it is reached from here; and that of the branch."""
    target: int | None = None
    number: int = 0

    def begins(self, opcodes: tuple[str, ...]) -> bool:
        return bool(self.instructions) and self.instructions[0].opcode.startswith(opcodes)

    @property
    def successors(self) -> list[int]:
        return [block for block in (self.next, self.target) if block is not None]

    @property
    def last(self) -> Instruction | None:
        return self.instructions[-1] if self.instructions else None


@dataclass
class Flow:
    """The blocks by their numbers, and the registers that live on from block to block."""

    blocks: list[Block]
    lasting: set[str] = field(default_factory=set)


def flow_of(entry: Entry) -> Flow:
    blocks = _cut(entry)
    order = _order({n: block.successors for n, block in enumerate(blocks)}, 0)
    number = {old: new for new, old in enumerate(order)}
    found = []
    for old in order:
        block = blocks[old]
        follow = None if block.next is None else number[block.next]
        found.append(Block(block.instructions, follow, None if block.target is None else number[block.target], number[old]))
    return Flow(found, _lasting(found))


def _cut(entry: Entry) -> list[Block]:
    instructions, count = entry.instructions, len(entry.instructions)
    starts = {0, count, *entry.labels.values()}
    for i, instruction in enumerate(instructions):
        if instruction.parts[0] in (*_ENDS, *STOPS):
            starts.add(i + 1)
        if instruction.opcode.startswith((*AWAITS, *ARRIVES, *LOOKS)):
            starts.add(i)
    ordered = sorted(starts)
    at = {start: n for n, start in enumerate(ordered)}
    blocks = []
    for start, end in pairwise(ordered):
        part = instructions[start:end]
        last, name = part[-1], part[-1].parts[0]
        through = name not in _ENDS or last.predicate is not None
        target = at[entry.labels[last.target]] if name == "bra" else None
        blocks.append(Block(part, at[end] if through else None, target))
    blocks.append(Block([], None))
    return blocks


def _order(successors: dict[int, list[int]], root: int) -> list[int]:
    """The reachable blocks: components in topological order; within one, its head and then the order of the rest without it."""
    found: list[int] = []
    for component in reversed(_components(successors, root)):
        head = component[0]
        if len(component) == 1:
            found.append(head)
            continue
        inside = set(component)
        rest = {n: [m for m in successors[n] if m in inside and m != head] for n in inside}
        found += _order(rest, head)
    return found


def _components(successors: dict[int, list[int]], root: int) -> list[list[int]]:
    """Strongly connected components by Tarjan's algorithm, without recursion, the last in topological order first; heads first in each."""
    index: dict[int, int] = {root: 0}
    low = {root: 0}
    stack, found, on = [root], [], {root}
    work = [(root, iter(successors[root]))]
    while work:
        node, rest = work[-1]
        for other in rest:
            if other not in index:
                index[other] = low[other] = len(index)
                stack.append(other)
                on.add(other)
                work.append((other, iter(successors[other])))
                break
            if other in on:
                low[node] = min(low[node], index[other])
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                at = stack.index(node)
                component = stack[at:]
                del stack[at:]
                on.difference_update(component)
                found.append(component)
    return found


def _lasting(blocks: list[Block]) -> set[str]:
    """Registers that a block reads and did not write before, without a predicate."""
    lasting: set[str] = set()
    for block in blocks:
        written: set[str] = set()
        for instruction in block.instructions:
            uses, makes = accesses(instruction)
            lasting |= uses - written
            if instruction.predicate is None:
                written |= makes
            else:
                lasting |= makes - written
    return lasting


_NO_RESULT = {
    *("st", "red", "bar", "barrier", "bra", "ret", "exit", "fence", "membar", "prefetch", "prefetchu", "call", "wgmma", "trap", "cp"),
    *("stmatrix", "nanosleep", "setmaxnreg", "griddepcontrol", "brkpt", "discard", "applypriority"),
}


def accesses(instruction: Instruction) -> tuple[set[str], set[str]]:
    """The registers that it reads, and those that it writes."""
    operands = list(instruction.operands)
    if instruction.opcode.startswith("wgmma.mma_async"):
        both = _registers(operands[0])
        return both.union(*map(_registers, operands[1:])), both
    made: set[str] = set()
    silent = instruction.parts[0] in _NO_RESULT or instruction.opcode.startswith("mbarrier.init")
    if operands and not silent and not (instruction.opcode.startswith("mbarrier") and len(operands) == 1):
        made = _registers(operands.pop(0))
    if instruction.predicate is not None:
        operands.append(instruction.predicate)
    return set().union(*map(_registers, operands)) if operands else set(), made


def registers_of(instruction: Instruction) -> list[Register]:
    """All that it names."""
    operands = [*instruction.operands, *([instruction.predicate] if instruction.predicate is not None else [])]
    return [register for operand in operands for register in _within(operand)]


def _registers(operand: Operand) -> set[str]:
    return {register.name for register in _within(operand)}


def _within(operand: Operand) -> list[Register]:
    if isinstance(operand, Register):
        return [operand] if operand.bits else []
    inner: list[Operand] = []
    if isinstance(operand, Negated):
        inner = [operand.predicate]
    elif isinstance(operand, Group):
        inner = list(operand.parts)
    elif isinstance(operand, Address):
        inner = [operand.base, *([operand.coordinates] if operand.coordinates else [])]
    return [register for part in inner for register in _within(part)]
