"""hloom-opt: runs passes over an MLIR program, with mlir-opt's flags.

    hloom-opt in.mlir --plan-fusion --canonicalize
    hloom-opt in.mlir --pass-pipeline='builtin.module(plan-fusion{max-instances=64},func.func(cse))'
    hloom-opt in.mlir --stage-stablehlo --stage-fused --mlir-print-ir-after-change

hloom's Python passes and upstream's C++ passes mix freely; passes run in the order in which they are named. One dash is as good as two.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from torch_mlir import ir

from hloom.compiler import pipeline as _  # noqa: F401  registers the stages' bundles
from hloom.compiler.debug import watching
from hloom.compiler.frontends.trial import parse_tried
from hloom.compiler.instrument import AsmOptions, Instrumentation, Statistics, reproducer_pipeline
from hloom.compiler.parsing import bytecode_of, decode, is_bytecode
from hloom.compiler.passmanager import Step, all_bundles, parse_pipeline, pass_steps, pipeline_text, run_steps
from hloom.compiler.timing import Timing
from hloom.dialects.context import make_context
from hloom.passes.errors import CompileError, ParseError, PipelineError
from hloom.passes.registry import all_passes

from . import _verify_diagnostics as diagnostics
from ._common import ToolParser, boolean, read_input, run_tool, write_output

_PASS = re.compile(r"--?(?P<name>[A-Za-z][A-Za-z0-9_\-]*)(?:=(?P<plain>.*)|\{(?P<braced>.*)\})?", re.DOTALL)
_SPLIT = "// -----"

EPILOG = """Passes: --<pass>, --<pass>=\"option=value …\" or --<pass>{option=value …}; --list-passes lists hloom's.
Pipelines of a whole stage: --stage-<name>. HLOOM_DEBUG (docs/debug.md) turns dumps and timing on in any tool."""


def main(argv: list[str] | None = None) -> int:
    return run_tool(_opt, argv)


def _opt(argv: list[str]) -> int:
    parser = _parser()
    passes, rest = _separate_passes(argv, parser)
    options = parser.parse(rest)
    if options.list_passes:
        print(_list_passes())
        return 0
    if options.show_dialects:
        print("Available dialects: " + ", ".join(_dialects(make_context())))
        return 0
    return _Run(options, passes).run()


@dataclass
class _Run:
    options: argparse.Namespace
    passes: list[tuple[str, str]]

    def run(self) -> int:
        options = self.options
        source = read_input(options.input)
        if is_bytecode(source):
            chunks = [_Chunk(source)]
        else:
            chunks = _split(decode(source), options.split_input_file) if options.split_input_file else [_Chunk(decode(source))]
        outputs: list[str | bytes] = []
        failed = False
        with watching(_instrumentation(options)) as watch:
            for chunk in chunks:
                try:
                    outputs.append(self._process(chunk, watch))
                except CompileError as error:
                    if len(chunks) == 1:
                        raise
                    print(f"error: {error}", file=sys.stderr)
                    failed = True
        between = f"{options.output_split_marker}\n\n"
        write_output(options.output, b"".join(outputs) if options.emit_bytecode else between.join(map(str, outputs)))  # type: ignore[arg-type]
        return 1 if failed else 0

    def _process(self, chunk: _Chunk, watch: Instrumentation) -> str | bytes:
        """The output for one program. With --verify-diagnostics, errors that were expected give an empty output."""
        context = make_context(allow_unregistered_dialects=self.options.allow_unregistered_dialect)
        if not self.options.verify_diagnostics:
            return self._compile(chunk.source, context, watch)
        expected = diagnostics.expectations(chunk.source if isinstance(chunk.source, str) else "")
        output: str | bytes = ""
        with diagnostics.collect(context) as seen:
            try:
                output = self._compile(chunk.source, context, watch)
            except CompileError as error:
                seen += diagnostics.of_error(error)
        seen = [replace(one, line=chunk.start) if one.line == 0 else one for one in seen]
        diagnostics.check(expected, seen, self.options.input, others=self.options.verify_diagnostics == "all")
        return output

    def _compile(self, chunk: str | bytes, context: ir.Context, watch: Instrumentation) -> str | bytes:
        timing = watch.timing or Timing()
        steps = self._steps(chunk, context)
        if self.options.dump_pass_pipeline:
            print(f"Pass Manager with {len(steps)} passes:\n{pipeline_text(steps)}", file=sys.stderr)
        with timing.measure("Parser"):
            module = parse_tried(chunk, context, name=self.options.input)
        run_steps(module.operation, steps, watch)
        with timing.measure("Output"):
            if self.options.emit_bytecode:
                return bytecode_of(module)
            return watch.asm.asm(module.operation)

    def _steps(self, chunk: str | bytes, context: ir.Context) -> list[Step]:
        if self.options.run_reproducer:
            text = reproducer_pipeline(chunk) if isinstance(chunk, str) else None
            if text is None:
                raise ParseError("no reproducer: the file has no mlir_reproducer resource", remedy="leave out --run-reproducer")
            return parse_pipeline(text, context)
        if self.options.pass_pipeline is not None:
            if self.passes:
                raise PipelineError("--pass-pipeline and --<pass> exclude each other", remedy="put all passes into the pipeline text")
            return parse_pipeline(self.options.pass_pipeline, context)
        return [step for name, given in self.passes for step in pass_steps(name, given, context)]


@dataclass(frozen=True)
class _Chunk:
    """A program of the input; its module as a whole is said to be at line `start`."""

    source: str | bytes
    start: int = 0


def _split(text: str, marker: str) -> list[_Chunk]:
    """The programs between lines that begin with `marker`, each padded with newlines so that its line numbers are the file's."""
    chunks, begin = [], 0
    for match in [*re.finditer(rf"^{re.escape(marker)}.*\n?", text, re.MULTILINE), None]:
        lines = text.count("\n", 0, begin)
        chunk = text[begin : match.start() if match else len(text)]
        chunks.append(_Chunk("\n" * lines + chunk, max(0, lines - 1)))
        begin = match.end() if match else begin
    return chunks


def _separate_passes(argv: list[str], parser: ToolParser) -> tuple[list[tuple[str, str]], list[str]]:
    """Splits the command line into passes (name, option text), in order, and everything that argparse knows."""
    passes, rest = [], []
    for word in argv:
        match = _PASS.fullmatch(word)
        if match is None or parser.option(word):
            rest.append(word)
        else:
            given = match["braced"] if match["braced"] is not None else match["plain"] or ""
            passes.append((match["name"], re.sub(r"^\{(.*)\}$", r"\1", given.strip(), flags=re.DOTALL)))
    return passes, rest


def _instrumentation(options: argparse.Namespace) -> Instrumentation:
    """What the options ask for; those that set a field of Instrumentation or AsmOptions are named after it."""

    def given(kind: type) -> dict[str, Any]:
        return {each.name: value for each in fields(kind) if (value := vars(options).get(each.name)) is not None}

    return Instrumentation(asm=AsmOptions(**given(AsmOptions)), **given(Instrumentation))


def _list_passes() -> str:
    lines = ["Passes of hloom:"]
    for info in all_passes():
        lines.append(f"  --{info.name:<28} {info.description}")
        lines += [f"      {name.replace('_', '-')}={default}" for name, default in info.options.items()]
    lines.append("\nPipelines of whole stages:")
    lines += [f"  --{bundle.name:<28} {bundle.description}" for bundle in all_bundles()]
    lines.append("\nUpstream's passes are usable by their names too: see https://mlir.llvm.org/docs/Passes and")
    lines.append("https://openxla.org/stablehlo/generated/stablehlo_passes. Their options are checked before anything runs.")
    return "\n".join(lines)


def _dialects(context: ir.Context) -> list[str]:
    """The bindings do not list dialects, but the parser does, to whoever asks for one that is not there."""
    try:
        ir.Module.parse("no_such_dialect.op", context=context)
    except ir.MLIRError as error:
        for note in (note for d in error.error_diagnostics for note in d.notes):
            if match := re.match(r"Available dialects: (.*?) (?:\(\* |;)", note.message):
                return match[1].replace(" (*)", "").split(", ")
    return []


def _parser() -> ToolParser:
    parser = ToolParser("hloom-opt", description=__doc__, epilog=EPILOG)
    add = parser.add_argument
    add("input", nargs="?", default="-", help="MLIR text or bytecode; - is stdin")
    add("-o", dest="output", default="-", metavar="FILE", help="where the result goes; - is stdout")
    add("--pass-pipeline", metavar="TEXT", help="a textual pipeline: builtin.module(…)")
    add("--allow-unregistered-dialect", action="store_true", help="parse ops of unknown dialects")
    add("--verify-each", type=boolean, nargs="?", const=True, default=True, metavar="BOOL", help="verify after each pass (default)")
    add("--split-input-file", nargs="?", const=_SPLIT, metavar="MARKER", help="process the parts between lines of // ----- one by one")
    add("--output-split-marker", default=_SPLIT, metavar="MARKER", help="the line between their outputs")
    expected = "check errors against expected-error@±N {{…}} comments; only-expected: further ones may come"
    add("--verify-diagnostics", nargs="?", const="all", choices=("all", "only-expected"), help=expected)
    add("--emit-bytecode", action="store_true", help="write bytecode instead of text")
    add("--list-passes", action="store_true", help="list hloom's passes and exit")
    add("--show-dialects", action="store_true", help="list the dialects and exit")
    add("--dump-pass-pipeline", action="store_true", help="print the pipeline that runs, on stderr")
    add("--run-reproducer", action="store_true", help="run the pipeline stored in the input")
    crash, local = "on failure, leave the input and the pipeline in FILE", "with the above: only the failing pass and the IR before it"
    add("--mlir-pass-pipeline-crash-reproducer", dest="reproducer", type=Path, metavar="FILE", help=crash)
    add("--mlir-pass-pipeline-local-reproducer", dest="local_reproducer", action="store_true", help=local)
    add("--mlir-print-ir-before-all", dest="before_all", action="store_true", help="print the IR before each pass")
    add("--mlir-print-ir-after-all", dest="after_all", action="store_true", help="print the IR after each pass")
    add(
        "--mlir-print-ir-before",
        dest="print_before",
        type=_names,
        default=(),
        metavar="PASS[,PASS]",
        help="print the IR before these passes",
    )
    add("--mlir-print-ir-after", dest="print_after", type=_names, default=(), metavar="PASS[,PASS]", help="print the IR after these passes")
    add("--mlir-print-ir-after-change", dest="after_change", action="store_true", help="print the IR after passes that changed it")
    add("--mlir-print-ir-after-failure", dest="after_failure", action="store_true", help="print the IR after a pass that failed")
    add("--mlir-print-ir-tree-dir", dest="tree_dir", type=Path, metavar="DIR", help="write the IR after each pass to DIR/NN-pass.mlir")
    add("--mlir-print-ir-module-scope", action="store_true", help="accepted; hloom always prints the module")
    add("--mlir-timing", dest="timing", action="store_const", const=Timing(), help="print the time that each pass took, on stderr")
    counted = "print how many ops each pass added and removed, on stderr"
    add("--mlir-pass-statistics", dest="statistics", action="store_const", const=Statistics(), help=counted)
    add("--mlir-print-op-generic", dest="generic", action="store_true", help="print ops in their generic form")
    add("--mlir-print-debuginfo", dest="debuginfo", action="store_true", help="print locations")
    add(
        "--mlir-print-local-scope",
        dest="local_scope",
        action="store_true",
        help="print attributes, types and locations inline, without aliases",
    )
    add("--mlir-use-nameloc-as-prefix", dest="nameloc_prefix", action="store_true", help="name SSA values after their locations")
    elided = "print ... for constants of more than N elements"
    add("--mlir-elide-elementsattrs-if-larger", dest="elide_elements", type=int, metavar="N", help=elided)
    elided = "leave out resources of more than N characters"
    add("--mlir-elide-resource-strings-if-larger", dest="elide_resources", type=int, metavar="N", help=elided)
    add("--mlir-disable-threading", action="store_true", help="accepted; hloom's contexts have one thread")
    return parser


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


if __name__ == "__main__":
    sys.exit(main())
