"""The text of each group at each stage that a compile reaches, and its machine code.

    texts = StageTexts()
    Compilation(…, watch=Instrumentation(reached=texts)).artifact()
    texts.groups["fusion_0"]["linalg"]              MLIR of the function
    texts.groups["@main"]["lhlo"]                   the host program, where it tells more than at the stage before

Large constants are elided, and a text that is longer than `LONGEST` is cut: a page is read, not compiled.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.passes.common.rewriting import functions, ops_in, symbol_name, top_level

HOST = "@main"
LONGEST = 400_000
_ELEMENTS = 16
_PART = re.compile(r"_(?:body|part_\d+|buffers_\d+)(?=_|$).*")
_SYMBOL = re.compile(r"^(?P<name>[A-Za-z_][\w.$]*):", re.M)
_ENTRY = re.compile(r"^(?:\.visible )?\.(?:entry|func) (?:\([^)]*\) )?(?P<name>[\w$]+)", re.M)
_SECTION = re.compile(r"^\.text\.(?P<name>[\w$]+):", re.M)


@dataclass
class StageTexts:
    """Told of every stage that is reached."""

    groups: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def __call__(self, stage: str, module: ir.Operation) -> None:
        grouped = [function for function in functions(module) if "hloom.kind" in function.attributes]
        for function in (*grouped, *top_level(module, "llvm.func"), *_gpu_functions(module)):
            if len(function.regions[0].blocks):
                self.add(group_of(symbol_name(function)), stage, _asm(function))
        for host in (*(f for f in functions(module) if "hloom.kind" not in f.attributes), *top_level(module, "thunk.program")):
            self.add(HOST, stage, _asm(host))

    def machine_code(self, text: str) -> None:
        """Assembly for a CPU."""
        self._split("assembly", text, _SYMBOL)

    def ptx(self, text: str) -> None:
        self._split("ptx", text, _ENTRY)

    def instructions(self, text: str) -> None:
        """Those of a GPU."""
        self._split("assembly", text, _SECTION)

    def add(self, group: str, stage: str, text: str) -> None:
        """A group may have several functions at a stage."""
        before = self.groups[group].get(stage, "")
        whole = f"{before}\n{text}" if before else text
        self.groups[group][stage] = (
            whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}\n… {len(whole) - LONGEST:,} characters are left out"
        )

    def of_groups(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Without what is no group's (LLVM's functions of the host), and without stages that left a text as it was."""
        for group, texts in self.groups.items():
            if "fused" in texts or group == HOST:
                before = ["", *texts.values()]
                yield group, {stage: text for (stage, text), last in zip(texts.items(), before) if text != last}

    def _split(self, stage: str, text: str, start: re.Pattern[str]) -> None:
        found = [(match["name"], match.start()) for match in start.finditer(text)]
        for (name, begin), (_, end) in zip(found, [*found[1:], ("", len(text))]):
            group = group_of(name)
            if group in self.groups:
                self.add(group, stage, text[begin:end])


def group_of(symbol: str) -> str:
    """The group that a function is made of."""
    return _PART.sub("", symbol)


def _asm(op: ir.Operation) -> str:
    return op.get_asm(large_elements_limit=_ELEMENTS, large_resource_limit=_ELEMENTS, enable_debug_info=False, use_local_scope=True)


def _gpu_functions(module: ir.Operation) -> list[ir.Operation]:
    return [
        function
        for each in top_level(module, "gpu.module")
        for function in ops_in(each.regions[0].blocks[0])
        if function.name == "gpu.func"
    ]
