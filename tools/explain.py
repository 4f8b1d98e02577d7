"""hloom-explain: what became of every op of a program, and why.

hloom-explain mlp.mlir                      tables: groups, ops, decisions, times
hloom-explain mlp.hloom --json=mlp.json     the same of a compiled program, as JSON
hloom-explain mlp.mlir --html=mlp.html      one page that needs nothing beside it
hloom-explain model.hloom --entry=decode    one of several entries; without it, all
hloom-explain mlp.mlir --suggest            for each decision, the rule of a policy that would change it
hloom-explain mlp.mlir --suggest='NO_GAIN add'    only for decisions that have these words
hloom-explain mlp.mlir --diff=old.json      what changed since; --diff=old.hloom likewise
hloom-explain mlp.mlir --fail-on=NO_GAIN    for CI: exit status 1 where a decision is of that code
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from hloom.runtime.artifact import Artifact
from hloom.runtime.dynamic_file import is_packed, unpacked
from hloom.runtime.entries import entry_of, has_entries, unpacked_entries
from hloom.runtime.errors import DamagedFileError, ExecutionError, ShapeError
from hloom.runtime.report import Report
from hloom.runtime.report_diff import diff_text
from hloom.runtime.suggestions import suggestions_text

from . import _fail_on
from ._common import ToolParser, compilation, read_input, run_tool, write_output
from ._shapes import only, wanted_shapes
from ._values import is_artifact, load_artifact


def main(argv: list[str] | None = None) -> int:
    return run_tool(_explain, argv)


def _explain(argv: list[str]) -> int:
    options = _parser().parse(argv)
    reports = _reports(options)
    if len(reports) > 1:
        if any(getattr(options, option) is not None for option in ("json", "html", "suggest", "diff", "fail_on")):
            raise ExecutionError(f"the file has the entries {', '.join(reports)}", remedy="say which by --entry")
        write_output("-", "\n".join(f"=== entry {entry}\n{report.text()}" for entry, report in reports.items()))
        return 0
    (report,) = reports.values()
    old = None if options.diff is None else _old(options)
    failed = list(_fail_on.failures(options.fail_on or "", report.data, old))
    if options.json:
        write_output(options.json, report.json() + "\n")
    if options.html:
        write_output(options.html, report.html())
    if options.suggest is not None:
        write_output("-", suggestions_text(report.data, options.suggest))
    if old is not None:
        write_output("-", diff_text(old, report.data))
    if not (options.json or options.html or options.suggest is not None or options.diff or failed):
        write_output("-", report.text())
    for told in failed:
        print(f"failed: {told}", file=sys.stderr)
    return 1 if failed else 0


def _old(options: argparse.Namespace) -> dict[str, Any]:
    """The data of the report that `--diff` names: of a .hloom file, or as `--json` wrote it. Raises DamagedFileError."""
    if is_artifact(options.diff):
        (report,) = _of_file(options.diff, options).values()
        return report.data
    try:
        return Report.of({"report": json.loads(read_input(options.diff))}).data
    except ValueError as error:
        raise DamagedFileError(f"{options.diff} is not a report: {error}", remedy="write one by hloom-explain --json") from None


def _reports(options: argparse.Namespace) -> dict[str, Report]:
    """What is explained, by entry: all of a file's where none is named."""
    if not is_artifact(options.program):
        return {options.function: _of_program(options)}
    if options.policy:
        raise ExecutionError("--policy was decided when the file was written", remedy="give --policy to hloom-compile")
    return _of_file(options.program, options)


def _of_file(path: str, options: argparse.Namespace) -> dict[str, Report]:
    artifact = load_artifact(path)
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
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON; - is stdout")
    parser.add_argument("--html", metavar="FILE", help="write the report as one HTML page, the explorer")
    suggest = (
        "print the policy rule that would change each decision, the most expensive first; WORDS: only where record or rule has them all"
    )
    parser.add_argument("--suggest", nargs="?", const="", metavar="WORDS", help=suggest)
    parser.add_argument("--diff", metavar="OLD", help="print what changed since a report: a .json that --json wrote, or a .hloom file")
    parser.add_argument("--fail-on", metavar="CONDITION,…", help=_fail_on.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
