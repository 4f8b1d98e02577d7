"""What can be watched while passes run: dumps, timing, statistics, a reproducer of a failure.

An `Instrumentation` is handed to `run_steps`, which calls its hooks around each pass. Dumps go to stderr, as mlir-opt's do.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from torch_mlir import ir

from hloom.passes.common.rewriting import walk

from .timing import Timing, heading


@dataclass(frozen=True)
class AsmOptions:
    """How IR is printed as text."""

    generic: bool = False
    debuginfo: bool = False
    local_scope: bool = False
    nameloc_prefix: bool = False
    elide_elements: int | None = None
    elide_resources: int | None = None

    def asm(self, op: ir.Operation, *, verified: bool = True) -> str:
        """The text of `op`; IR that may be invalid (`verified=False`) is printed in generic form if it is."""
        return op.get_asm(
            large_elements_limit=self.elide_elements,
            large_resource_limit=self.elide_resources,
            enable_debug_info=self.debuginfo,
            print_generic_op_form=self.generic,
            use_local_scope=self.local_scope,
            use_name_loc_as_prefix=self.nameloc_prefix,
            assume_verified=verified,
        )


@dataclass
class Statistics:
    """How many ops each pass left, and which it added and removed. (The wheel's MLIR is built without its own statistics.)

    One row a pass run: its name, the op counts before it and after it.
    """

    rows: list[tuple[str, Counter[str], Counter[str]]] = field(default_factory=list)

    def add(self, name: str, before: Counter[str], after: Counter[str]) -> None:
        self.rows.append((name, before, after))

    def table(self) -> str:
        lines = heading("Pass statistics")
        for name, before, after in self.rows:
            lines.append(f"{name}: {before.total()} ops before, {after.total()} after")
            changes = {op: after[op] - before[op] for op in sorted(before | after)}
            lines += [f"  {change:+6d} {op}" for op, change in changes.items() if change]
        return "\n".join(lines)


def count_ops(module: ir.Operation) -> Counter[str]:
    return Counter(op.name for op in walk(module))


@dataclass
class Instrumentation:
    """Hooks around the passes of a pipeline. The default watches nothing but verifies after each pass."""

    asm: AsmOptions = AsmOptions()
    before_all: bool = False
    after_all: bool = False
    print_before: Collection[str] = frozenset()
    print_after: Collection[str] = frozenset()
    after_change: bool = False
    after_failure: bool = False
    tree_dir: Path | None = None
    timing: Timing | None = None
    statistics: Statistics | None = None
    verify_each: bool = True
    verify_whole: bool = False
    """Also on the way from stage to stage, which is else verified where it must be (passmanager.py)."""
    reached: Callable[[str, ir.Operation], None] | None = None
    """Called with the name of each stage that a compile reaches, and the module as it is there."""
    reproducer: Path | None = None
    local_reproducer: bool = False
    stream: TextIO | None = None
    watched: bool = False
    """Made by `watching`, which prints the tables when it ends; an inner one leaves that to the outer."""
    _snapshot: str = field(default="", init=False)
    _counts: Counter[str] = field(default_factory=Counter, init=False)
    _dumped: int = field(default=0, init=False)

    @property
    def idle(self) -> bool:
        """Whether nobody looks on: what was compiled before and kept then does as well."""
        return replace(self, watched=False) == Instrumentation()

    def start(self, module: ir.Operation, pipeline: Sequence[str]) -> None:
        if self.reproducer and not self.local_reproducer:
            self._write_reproducer(module, pipeline)

    def before(self, name: str, module: ir.Operation, rest: Sequence[str]) -> None:
        if self.before_all or name in self.print_before:
            self._dump(f"Before {name}", module)
        if self.after_change:
            self._snapshot = self.asm.asm(module)
        if self.statistics:
            self._counts = count_ops(module)
        if self.reproducer and self.local_reproducer:
            self._write_reproducer(module, rest[:1])

    def after(self, name: str, module: ir.Operation, seconds: float) -> None:
        if self.timing:
            self.timing.add(name, seconds)
        if self.statistics:
            self.statistics.add(name, self._counts, count_ops(module))
        changed = self.after_change and self.asm.asm(module) != self._snapshot
        wanted = (self.after_all and not self.after_change) or name in self.print_after or changed
        if wanted or (self.tree_dir and not self.after_change):
            self._dump(f"After {name}", module, name)

    def failed(self, name: str, module: ir.Operation) -> None:
        if self.after_failure or self.after_all or name in self.print_after:
            self._dump(f"After {name} Failed", module, verified=False)

    def finish(self) -> None:
        """All passes succeeded: the reproducer, written ahead so that it outlives even a crash, is not needed."""
        if self.reproducer:
            self.reproducer.unlink(missing_ok=True)

    def report(self) -> None:
        """Prints the tables that were asked for, once everything has run."""
        for table in (self.timing, self.statistics):
            if table:
                print(table.table(), file=self.stream or sys.stderr)

    def _dump(self, title: str, module: ir.Operation, name: str = "", verified: bool = True) -> None:
        text = self.asm.asm(module, verified=verified).rstrip()
        if self.tree_dir and name:
            self.tree_dir.mkdir(parents=True, exist_ok=True)
            (self.tree_dir / f"{self._dumped:02d}-{name}.mlir").write_text(text + "\n")
            self._dumped += 1
            return
        print(f"// -----// IR Dump {title} //----- //\n{text}\n", file=self.stream or sys.stderr)

    def _write_reproducer(self, module: ir.Operation, pipeline: Sequence[str]) -> None:
        assert self.reproducer
        self.reproducer.write_text(reproducer_text(AsmOptions(debuginfo=True).asm(module), f"builtin.module({','.join(pipeline)})"))


def reproducer_text(module: str, pipeline: str) -> str:
    """A module and the pipeline that failed on it, in mlir-opt's format; `--run-reproducer` runs it."""
    quoted = pipeline.replace("\\", "\\\\").replace('"', '\\"')
    entry = (
        f'  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: "{quoted}",\n'
        "      disable_threading: true,\n      verify_each: true\n    }\n  }"
    )
    body = module.rstrip()
    if body.endswith("#-}"):  # the module's own resources: a file has one such trailer
        return f"{body[:-3].rstrip()},\n{entry}\n#-}}\n"
    return f"{body}\n\n{{-#\n{entry}\n#-}}\n"


def reproducer_pipeline(text: str) -> str | None:
    """The pipeline in a reproducer's trailer, or None if there is none."""
    match = re.search(r'mlir_reproducer:\s*\{\s*pipeline:\s*"((?:[^"\\]|\\.)*)"', text)
    return re.sub(r"\\(.)", r"\1", match[1]) if match else None
