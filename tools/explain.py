"""hloom-explain: what became of every op of a program, and why.

hloom-explain mlp.mlir                      tables: groups, ops, decisions, times
hloom-explain mlp.hloom --json=mlp.json     a compiled program tells the same
hloom-explain mlp.mlir --html=mlp.html      one page that needs nothing beside it
hloom-explain model.hloom --entry=decode    one of several entries; without it, all
"""

from __future__ import annotations

import argparse
import sys

from hloom.runtime.artifact import Artifact
from hloom.runtime.dynamic_file import is_packed, unpacked
from hloom.runtime.entries import entry_of, has_entries, unpacked_entries
from hloom.runtime.errors import ExecutionError, ShapeError
from hloom.runtime.report import Report

from ._common import ToolParser, compilation, read_input, run_tool, write_output
from ._shapes import only, wanted_shapes
from ._values import is_artifact


def main(argv: list[str] | None = None) -> int:
    return run_tool(_explain, argv)


def _explain(argv: list[str]) -> int:
    options = _parser().parse(argv)
    reports = _reports(options)
    if len(reports) > 1:
        if options.json or options.html:
            raise ExecutionError(f"the file has the entries {', '.join(reports)}", remedy="say which by --entry")
        write_output("-", "\n".join(f"=== entry {entry}\n{report.text()}" for entry, report in reports.items()))
        return 0
    (report,) = reports.values()
    if options.json:
        write_output(options.json, report.json() + "\n")
    if options.html:
        write_output(options.html, report.html())
    if not (options.json or options.html):
        write_output("-", report.text())
    return 0


def _reports(options: argparse.Namespace) -> dict[str, Report]:
    """What is explained, by entry: all of a file's where none is named."""
    if not is_artifact(options.program):
        return {options.function: _of_program(options)}
    if options.policy:
        raise ExecutionError("what a policy decides was settled when the file was written", remedy="give --policy to hloom-compile")
    artifact = Artifact.load(options.program)
    if not has_entries(artifact):
        return {options.function: Report.of(_of_shapes(artifact, options).manifest)}
    parts = unpacked_entries(artifact)
    if options.function != "main" or "main" in parts:
        parts = {options.function: entry_of(artifact, options.function)}
    return {entry: Report.of(_of_shapes(part, options).manifest) for entry, part in parts.items()}


def _of_program(options: argparse.Namespace) -> Report:
    """The page alone shows what is kept of the stages."""
    source = read_input(options.program)
    made = compilation(source, options)
    if not options.html:
        return Report.of(made.artifact().manifest)
    from hloom.compiler.explorer.explore import explore

    return explore(made, source.decode(errors="replace"))


def _of_shapes(artifact: Artifact, options: argparse.Namespace) -> Artifact:
    if not is_packed(artifact):
        return artifact
    interface, made = unpacked(artifact)
    parts = dict(made)
    sets = wanted_shapes(options, interface.signature, list(parts))
    only(sets, "hloom-explain")
    if sets[0] not in parts:
        there = "; ".join(map(interface.signature.text, parts))
        raise ShapeError(f"the file has no program for {interface.signature.text(sets[0])}; it has {there}")
    return parts[sets[0]]


def _parser() -> ToolParser:
    parser = ToolParser("hloom-explain", description=__doc__)
    parser.add_program(".hloom file, or MLIR text or bytecode (- for stdin)", "inputs (by index) that are bound once")
    parser.add_argument("--json", metavar="FILE", help="write JSON there; - for stdout")
    parser.add_argument("--html", metavar="FILE", help="write one HTML page there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
