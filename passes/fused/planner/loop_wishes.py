"""What the `[[loop]]` rules of a policy ask of loops, and what becomes of them; for the passes that unroll loops and that fuse them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from .codes import Code
from .decisions import append_note
from .policy import LoopRule, name, required


class LoopWishes:
    """Those of the rules that are `about` what a pass does. `unmet`: why a rule is not met, by its number."""

    def __init__(self, rules: Sequence[LoopRule], about: Callable[[LoopRule], bool]):
        self.rules, self.about = rules, about
        self.unmet = {number: "it matches no loop" for number, rule in enumerate(rules) if about(rule)}

    def rule_for(self, loop: ir.Operation, trips: int | None) -> int | None:
        """The number of the first rule that matches a loop of so many turns."""
        matching = (n for n, rule in enumerate(self.rules) if self.about(rule) and rule.turns(trips) and rule.matches(loop))
        return next(matching, None)

    def became(self, number: int, loop: ir.Operation, obstacle: str = "") -> None:
        """Tells that a rule is met, or why it cannot be. Raises PolicyError where it is required and is not."""
        rule = self.rules[number]
        if obstacle:
            required(self.named(number), rule.require, obstacle, loop.name, str(loop.location))
        self.unmet.pop(number, None)
        if obstacle:
            self.unmet[number] = obstacle

    def named(self, number: int) -> str:
        """A rule as records tell of it."""
        return name("loop", number, self.rules[number])

    def tell(self, module: ir.Operation) -> None:
        """A record for each rule that is not met. Raises PolicyError where one is required."""
        for number, reason in sorted(self.unmet.items()):
            required(self.named(number), self.rules[number].require, reason)
            with module.context:
                append_note(module, Code.POLICY_UNMET, [], reason, "", rule=self.named(number))
