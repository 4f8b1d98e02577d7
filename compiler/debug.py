"""HLOOM_DEBUG: one environment variable that turns dumps, timing and tracebacks on in every tool and in `hloom.compile`.

Its value is a comma-separated list of `key` or `key=value`; docs/debug.md has the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from hloom.passes.errors import PipelineError

from .instrument import Instrumentation, Statistics
from .passmanager import require_passes
from .timing import Timing

# key → what its value means ("" if it takes none)
COMPILE_KEYS = {
    "dump": "DIR",
    "tree": "DIR",
    "timing": "",
    "statistics": "",
    "print-before": "PASS+PASS",
    "print-after": "PASS+PASS",
    "print-before-all": "",
    "print-after-all": "",
    "print-after-change": "",
    "print-after-failure": "",
    "elide": "N",
    "reproducer": "FILE",
    "verify": "",
    "no-verify": "",
    "bounds": "",
    "traceback": "",
}


@dataclass(frozen=True)
class Debug:
    """What HLOOM_DEBUG asks for."""

    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_environment(cls) -> Debug:
        return cls.parse(os.environ.get("HLOOM_DEBUG", ""))

    @classmethod
    def parse(cls, text: str) -> Debug:
        """Raises PipelineError on an unknown key, or a value that is missing or not wanted."""
        settings = {}
        for word in filter(None, text.split(",")):
            key, equals, value = word.partition("=")
            if key not in COMPILE_KEYS:
                raise PipelineError(f"HLOOM_DEBUG has no key {key!r}", remedy=f"its keys: {', '.join(COMPILE_KEYS)}")
            if bool(value) != bool(COMPILE_KEYS[key]) or (equals and not value):
                wanted = f"{key}={COMPILE_KEYS[key]}" if COMPILE_KEYS[key] else key
                raise PipelineError(f"HLOOM_DEBUG wants {wanted!r}, got {word!r}")
            settings[key] = value
        if not settings.get("elide", "0").isdigit():
            raise PipelineError(f"HLOOM_DEBUG wants elide=N with a number, got {settings['elide']!r}")
        return cls(settings)

    @property
    def dump_dir(self) -> Path | None:
        return Path(self.settings["dump"]) if "dump" in self.settings else None

    @property
    def bounds(self) -> bool:
        """Whether the CPU's kernels check their accesses."""
        return "bounds" in self.settings

    @property
    def looks_on(self) -> bool:
        """Whether something is asked for that a program compiled before would not show (no CPU's code is kept)."""
        return bool(self.settings.keys() - {"bounds"})

    def apply(self, watch: Instrumentation) -> Instrumentation:
        """`watch` with what was asked for added."""
        has = self.settings.__contains__
        asm = replace(watch.asm, elide_elements=int(self.settings["elide"])) if has("elide") else watch.asm
        return replace(
            watch,
            asm=asm,
            before_all=watch.before_all or has("print-before-all"),
            after_all=watch.after_all or has("print-after-all"),
            print_before={*watch.print_before, *self._names("print-before")},
            print_after={*watch.print_after, *self._names("print-after")},
            after_change=watch.after_change or has("print-after-change"),
            after_failure=watch.after_failure or has("print-after-failure"),
            tree_dir=watch.tree_dir or (Path(self.settings["tree"]) if has("tree") else None),
            timing=watch.timing or (Timing() if has("timing") else None),
            statistics=watch.statistics or (Statistics() if has("statistics") else None),
            verify_each=watch.verify_each and not has("no-verify"),
            verify_whole=watch.verify_whole or has("verify"),
            reproducer=watch.reproducer or (Path(self.settings["reproducer"]) if has("reproducer") else None),
        )

    def _names(self, key: str) -> list[str]:
        return [name for name in self.settings.get(key, "").split("+") if name]


@contextmanager
def watching(watch: Instrumentation | None = None) -> Iterator[Instrumentation]:
    """`watch` with what HLOOM_DEBUG asks for added; however the block is left, the tables of times and counts are then printed."""
    if watch is not None and watch.watched:
        yield watch
        return
    watched = replace(Debug.from_environment().apply(watch or Instrumentation()), watched=True)
    require_passes(sorted({*watched.print_before, *watched.print_after}))
    try:
        yield watched
    finally:
        watched.report()
