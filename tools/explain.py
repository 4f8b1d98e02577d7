"""hloom-explain: what became of every op of a program, and why.

hloom-explain mlp.mlir                      tables: groups, ops, decisions, times
hloom-explain mlp.hloom --json=mlp.json     a compiled program tells the same
hloom-explain mlp.mlir --html=mlp.html      one page that needs nothing beside it
"""

from __future__ import annotations

import argparse
import sys

from hloom.runtime.artifact import Artifact
from hloom.runtime.errors import ExecutionError
from hloom.runtime.report import Report

from ._common import POLICY_HELP, ToolParser, read_input, run_tool, target_help, write_output
from ._values import indices, is_artifact


def main(argv: list[str] | None = None) -> int:
    return run_tool(_explain, argv)


def _explain(argv: list[str]) -> int:
    options = _parser().parse(argv)
    try:
        report = Report.of(_artifact(options).manifest)
        if options.json:
            write_output(options.json, report.json() + "\n")
        if options.html:
            write_output(options.html, report.html())
        if not (options.json or options.html):
            write_output("-", report.text())
    except ExecutionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _artifact(options: argparse.Namespace) -> Artifact:
    if is_artifact(options.program):
        if options.policy:
            raise ExecutionError("what a policy decides was settled when the file was written", remedy="give --policy to hloom-compile")
        return Artifact.load(options.program)
    from hloom.compiler.compile import compile_program, load_text, name_of

    program = load_text(read_input(options.program), options.function)
    bound = indices(options.bind, len(program.inputs))
    return compile_program(program, target=options.target, bound=bound, name=name_of(options.program), policy=options.policy)


def _parser() -> ToolParser:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = ToolParser("hloom-explain", description=summary, epilog=rest)
    parser.add_argument("program", help=".hloom file, or MLIR text or bytecode (- for stdin)")
    parser.add_argument("--target", default="auto", help=target_help())
    parser.add_argument("--policy", metavar="FILE", help=POLICY_HELP)
    parser.add_argument("--function", default="main", help="the entry, of an MLIR program")
    parser.add_argument("--bind", default="", metavar="N,N-N", help="inputs (by index) that are bound once")
    parser.add_argument("--json", metavar="FILE", help="write JSON there; - for stdout")
    parser.add_argument("--html", metavar="FILE", help="write one HTML page there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
