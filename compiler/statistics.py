"""How many ops each pass left, and which it added and removed. (The wheel's MLIR is built without its own statistics.)"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.passes.common.rewriting import walk


@dataclass
class Statistics:
    """One row a pass run: its name, the op counts before it and after it."""

    rows: list[tuple[str, Counter[str], Counter[str]]] = field(default_factory=list)

    def add(self, name: str, before: Counter[str], after: Counter[str]) -> None:
        self.rows.append((name, before, after))

    def table(self) -> str:
        rule = "===" + "-" * 73 + "==="
        lines = [rule, "... Pass statistics report ...".center(79).rstrip(), rule]
        for name, before, after in self.rows:
            lines.append(f"{name}: {before.total()} ops before, {after.total()} after")
            changes = {op: after[op] - before[op] for op in sorted(before | after)}
            lines += [f"  {change:+6d} {op}" for op, change in changes.items() if change]
        return "\n".join(lines)


def count_ops(module: ir.Operation) -> Counter[str]:
    return Counter(op.name for op in walk(module))
