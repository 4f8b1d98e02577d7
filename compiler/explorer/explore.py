"""A compile that keeps what the explorer's page shows: the report, the text of each group at each stage, the lines of the source.

explore(Compilation.of("model.mlir")).html("model.html")
"""

from __future__ import annotations

from dataclasses import replace

from hloom.passes.common.rewriting import walk
from hloom.runtime.report import Report

from ..compile import Compilation
from ..debug import watching
from ..instrument import Instrumentation
from .sources import source_lines
from .texts import StageTexts


def explore(compilation: Compilation, source: str = "") -> Report:
    """The report of a program, with all that its page can show; `source` is its text, where it has one. Raises CompileErrors."""
    texts = StageTexts()
    with watching(compilation.watch or Instrumentation()) as watch:
        compilation.watch = replace(watch, reached=texts)
        artifact = compilation.artifact()
        _machine_code(compilation, texts)
    report = Report.of(artifact.manifest)
    report.texts = dict(texts.of_groups())
    report.lines = source_lines(report.data, source)
    return report


def _machine_code(compilation: Compilation, texts: StageTexts) -> None:
    """The module is at its last stage."""
    if compilation.machine.kind == "cpu":
        from ..codegen import emit_assembly

        texts.machine_code(emit_assembly(compilation.module))
        return
    kernels = walk(compilation.module, "gpu.module")
    if kernels and not compilation.simulated:
        from ..cuda.compile_kernels import compile_kernels
        from ..cuda.disassemble import disassemble, has_disassembler

        made = compile_kernels(kernels[0], compilation.machine)  # from the cache
        texts.ptx(made.ptx)
        if has_disassembler():
            texts.instructions(disassemble(made.cubin.bytes))
