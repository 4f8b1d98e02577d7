"""`hloom.explain`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hloom.dialects.target import TargetView
from hloom.passes.fused.planner.policy import PolicySource
from hloom.runtime.report import Report

from ..compile import Compilation
from ..frontend import load_program, name_of
from .explore import explore


def explain(
    source: Any,
    *example_inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    target: str | TargetView = "auto",
    bind: Mapping[int | str, Any] | None = None,
    policy: PolicySource | None = None,
) -> Report:
    """Compiles a program, as `hloom.compile` takes it, and returns its report with all that the explorer shows: the text of each group at
    each stage, its machine code or PTX, and the lines of its source. `hloom.explain(model, x).html("model.html")` writes the page;
    `.text()` and `.json()` are those of `exe.report`. Raises CompileErrors, and InvalidProgramError for a program of open shapes."""
    program = load_program(source, example_inputs, example_keywords=kwargs)
    compilation = Compilation.of_program(program, name_of(source), target=target, bind=bind, policy=policy)
    return explore(compilation, _text(source))


def _text(source: Any) -> str:
    """The program's text, where it is one."""
    if isinstance(source, str) and "\n" in source:
        return source
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    return Path(path).read_text(errors="replace") if path.endswith(".mlir") else ""
