"""Which groups get the tiles that a policy's `[[tile]]` rules ask for; the stage tiled gives them (tiled/schedules/wanted.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .kernels import Kernel
from .policy import Policy, first, idle, name, required
from .records import Op, Program


class Tiles:
    """The rules of a policy, and which of them decided."""

    def __init__(self, policy: Policy, program: Program):
        self.rules, self.program = policy.tile, program
        self._deciding: set[int] = set()
        self._heroes: list[Op] = []

    def asked_of(self, kernel: Kernel) -> Kernel:
        """The kernel with the tiles that the first rule wants which matches its hero. Raises PolicyError where a library has it, and a
        rule is required."""
        if not self.rules or kernel.kind in ("sort", "scatter"):
            return kernel
        hero = hero_of(kernel, self.program)
        self._heroes.append(hero)
        number = first(self.rules, hero)
        if number is None:
            return kernel
        self._deciding.add(number)
        rule, told = self.rules[number], name("tile", number, self.rules[number])
        if kernel.library:
            required(told, rule.require, f"a library computes it: {kernel.library}", hero.name, hero.loc)
            return kernel
        return replace(kernel, tile=rule.sizes, blocks=tuple(rule.blocks.items()), tile_rule=told, tile_required=rule.require)

    def idle(self) -> Iterator[tuple[str, str]]:
        """The rules that decided nothing, each with the reason. Raises PolicyError where one is required."""
        for number, rule in enumerate(self.rules):
            if number not in self._deciding:
                left = any(map(rule.matches, self._heroes))
                reason = "it matches no group's hero" + " that earlier rules leave" * left
                yield idle(name("tile", number, rule), rule, reason, () if left else self._heroes)


def hero_of(kernel: Kernel, program: Program) -> Op:
    """The op that a group is named by: its contraction, else its last reduction, else its last op."""
    ops = [program.ops[op] for op in kernel.ops]
    contractions = [op for op in ops if op.kind.contracts]
    reductions = [op for op in ops if op.kind.reduces]
    return (contractions or reductions or ops)[-1]
