"""Large values of a program, with all that makes them and all that is made of them at the same element, and what sums over them.

s = q · k;  t = g · v;  p = f(s, t, …)          makers: of one size
o = p · w;  m = max p along the columns         readers, and numbers of the rows, which others of the makers may read
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch_mlir import ir

from ...common.rewriting import body_ops, callee_of, defining_op, element_of, kind_of, ops_in
from ...stablehlo.support.build import count_of
from .bodies import convex, function_of, users
from .chain import CONTRACTION_KINDS, Chain, Groups, chain_ending_at, returned
from .half_reductions import is_of_halves, reduces, widen_reductions
from .on_gpu import EVALUATED
from .online import online
from .rows import summed_dimensions

_KINDS = (*CONTRACTION_KINDS, "loop", "reduce", "multi_reduce")
_REDUCE = "stablehlo.reduce"
_OTHERS = "a value that contractions sum over is needed by others"


@dataclass(frozen=True)
class Region:
    """Calls that make large values of one size, in order, and those of contractions that sum over them."""

    size: int
    makers: list[ir.Operation]
    readers: list[ir.Operation]
    kept: tuple[ir.Operation, ...] = ()
    """Makers that stay: the first two of a chain, of which the others read numbers of rows."""

    @property
    def gone(self) -> list[ir.Operation]:
        """The calls in whose place the kernels come."""
        return [*(call for call in self.makers if call not in self.kept), *self.readers]

    def owners(self, groups: Groups) -> list[ir.Operation]:
        """Of each of the makers' reductions, in their order, the call that has it."""
        return [call for call in self.makers for _ in reductions(groups[callee_of(call)])]

    def numbers_of_kept(self, groups: Groups) -> list[int]:
        """Which of the makers' reductions, by their places among all of them, are those of the rows that are kept."""
        return [number for number, call in enumerate(self.owners(groups)) if call in self.kept]


class Regions:
    """Finds the regions of a program's groups."""

    def __init__(self, groups: Groups):
        self.groups = groups

    def is_part(self, op: ir.Operation | None, block: ir.Block) -> bool:
        """Whether an op calls a group that is evaluated element by element, with contractions and reductions or without."""
        if op is None or op.name != "func.call" or op.block != block:
            return False
        group = self.groups.get(callee_of(op))
        if group is None or kind_of(group) not in _KINDS:
            return False
        return all(map(_is_evaluated, body_ops(group)))

    def sums(self, call: ir.Operation, value: ir.Value) -> bool:
        """Whether a contraction of a call sums over a dimension of a value, which is larger than the results."""
        if not self.is_part(call, call.block) or any(count_of(each) >= count_of(value) for each in call.results):
            return False
        group = self.groups[callee_of(call)]
        if kind_of(group) not in CONTRACTION_KINDS:
            return False
        arguments = [a for a, given in zip(group.regions[0].blocks[0].arguments, call.operands) if given == value]
        return bool(summed_dimensions(group, arguments))

    def region(self, seed: ir.Value) -> Region | str | None:
        """All that makes, and all that is made of, values of the size of `seed`; or why that is more than the kernels compute; None where
        it is a chain and no more."""
        block, size = seed.owner.operation.block, count_of(seed)
        makers: list[ir.Operation] = []
        readers: list[ir.Operation] = []
        waiting, known = [seed], set()
        while waiting:
            value = waiting.pop()
            maker = defining_op(value)
            if value in known or maker is None or not self.is_part(maker, block):
                continue  # an argument, or what is read from memory at a row and a column
            known.add(value)
            calls = [maker]
            for user in users(value):
                if self.sums(user, value):
                    readers.append(user)
                elif self.is_part(user, block):
                    calls.append(user)
                else:
                    return _OTHERS
            for call in calls:
                if any(count_of(each) != size for each in call.results) and not reductions(self.groups[callee_of(call)]):
                    return _OTHERS
                if call not in makers:
                    makers.append(call)
                    waiting += [each for each in (*call.operands, *call.results) if count_of(each) == size]
        return self._closed(Region(size, in_order(set(makers)), in_order(set(readers))))

    def _closed(self, region: Region) -> Region | str | None:
        """The region with what its calls make of its rows' numbers in between, and without what stays as it is; or why it is none."""
        for reader in region.readers:
            chain = chain_ending_at(reader, self.groups)
            if chain is not None and self._is_kept(chain, region):
                region = replace(region, readers=[each for each in region.readers if each != reader], kept=chain.calls[:2])
                break
        if not region.readers:
            return None
        makers = list(region.makers)
        numbers = {value for call in makers for value in call.results if count_of(value) != region.size}
        for op in convex(region.gone, region.gone[0].block):
            small = op.name == "func.call" and all(count_of(value) < region.size for value in op.results)
            if op not in makers and small and numbers.intersection(op.operands) and self.is_part(op, op.block):
                makers.append(op)
                numbers.update(op.results)
        region = replace(region, makers=in_order(set(makers)))
        return _OTHERS if None in self.numbers_outside(region).values() else region

    def _is_kept(self, chain: Chain, region: Region) -> bool:
        """Whether a chain stays for join-contractions: forward, whose rows are made of one matrix (and of masks that are read from memory),
        and whose numbers the region reads."""
        first, rows, last = chain.calls
        makers = {value for call in region.makers for value in call.results}
        matrices = [value for value in rows.operands if count_of(value) == region.size and value in makers]
        if first not in region.makers or rows not in region.makers or not all(value in list(first.results) for value in matrices):
            return False
        operands = list(dict.fromkeys(value for call in chain.calls for value in call.operands))
        function, copies = function_of(chain.calls, self.groups, operands, list(last.results))
        widen_reductions(function)
        joined = online(function, copies[chain.second]) is not None
        function.erase()
        return joined

    def numbers_outside(self, region: Region) -> dict[ir.Value, int | None]:
        """The rows' numbers that are read outside: of each which of the region's reductions it is, None where it is made of some."""
        found: dict[ir.Value, int | None] = {}
        number, inside = 0, {*region.makers, *region.readers}
        for call in region.makers:
            group = self.groups[callee_of(call)]
            reduced = reductions(group)
            for value, made in zip(call.results, returned(group).operands):
                if call not in region.kept and count_of(value) != region.size and not inside.issuperset(users(value)):
                    at = next((n for n, op in enumerate(reduced) if op.results[0] == made and not is_of_halves(op)), None)
                    found[value] = None if at is None else number + at
            number += len(reduced)
        return found


def _is_evaluated(op: ir.Operation) -> bool:
    """Whether the kernel has an op: at a row and a column, or as a reduction of a row."""
    if op.name != _REDUCE:
        return op.name.removeprefix("stablehlo.") in EVALUATED and not op.regions
    return reduces(op) and (str(element_of(op.results[0])) == "f32" or is_of_halves(op))


def reductions(function: ir.Operation) -> list[ir.Operation]:
    return [op for op in body_ops(function) if op.name == _REDUCE]


def in_order(calls: set[ir.Operation]) -> list[ir.Operation]:
    """The calls as they follow each other in their block; those outside of the loop or branch that others are in come first."""
    blocks: list[ir.Block] = []
    for block in (call.block for call in calls):
        if block not in blocks:
            blocks.append(block)
    return [op for block in sorted(blocks, key=_depth) for op in ops_in(block) if op in calls]


def _depth(block: ir.Block) -> int:
    """How many ops a block lies in."""
    depth, op = 0, block.owner.operation
    while op.parent is not None:
        depth, op = depth + 1, op.parent.operation
    return depth
