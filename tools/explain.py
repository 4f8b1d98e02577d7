"""hloom-explain: what became of every op of a program, and why.

hloom-explain mlp.mlir                      tables: groups, ops, decisions, times
hloom-explain mlp.hloom --json=mlp.json     a compiled program tells the same
hloom-explain mlp.mlir --html=mlp.html      one page that needs nothing beside it
"""

from __future__ import annotations

import argparse
import sys

from hloom.runtime.artifact import Artifact
from hloom.runtime.dynamic_file import is_packed, unpacked
from hloom.runtime.errors import ExecutionError, ShapeError
from hloom.runtime.report import Report

from ._common import ToolParser, compilation, read_input, run_tool, write_output
from ._shapes import only, wanted_shapes
from ._values import is_artifact


def main(argv: list[str] | None = None) -> int:
    return run_tool(_explain, argv)


def _explain(argv: list[str]) -> int:
    options = _parser().parse(argv)
    report = Report.of(_artifact(options).manifest)
    if options.json:
        write_output(options.json, report.json() + "\n")
    if options.html:
        write_output(options.html, report.html())
    if not (options.json or options.html):
        write_output("-", report.text())
    return 0


def _artifact(options: argparse.Namespace) -> Artifact:
    if not is_artifact(options.program):
        return compilation(read_input(options.program), options).artifact()
    if options.policy:
        raise ExecutionError("what a policy decides was settled when the file was written", remedy="give --policy to hloom-compile")
    artifact = Artifact.load(options.program)
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
