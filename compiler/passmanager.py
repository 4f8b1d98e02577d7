"""Textual pass pipelines that mix hloom's Python passes with upstream's C++ passes.

    builtin.module(plan-fusion{max-instances=64},func.func(canonicalize,cse),stage-linalg)

The bindings cannot name a Python pass in pipeline text, so the text is parsed here and flattened into *steps*: one step a pass, run
alone over the module. That makes printing, timing, verification and reproducers the same for both kinds (see instrument.py). Running
`func.func(a,b)` as `func.func(a)` and then `func.func(b)` changes nothing but the order in which functions are visited.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from hloom.passes.common.rewriting import names_in
from hloom.passes.errors import CompileError, PassFailure, PipelineError
from hloom.passes.registry import PassInfo, find_pass, near_names
from hloom.runtime.interrupts import uninterrupted

from .instrument import Instrumentation

ROOT = "builtin.module"
_NAME = re.compile(r"[A-Za-z0-9_.\-]+")


@dataclass(frozen=True)
class Node:
    """An element of a parsed pipeline: a pass with its option text, or an anchor op with the elements that run on it."""

    name: str
    options: str = ""
    children: tuple[Node, ...] | None = None


@dataclass(frozen=True)
class Step:
    """One pass to run over the module: hloom's (`info`, `bound`) or upstream's (`manager`, parsed and so known to be valid)."""

    name: str
    text: str
    info: PassInfo | None = None
    bound: dict[str, Any] = field(default_factory=dict)
    manager: PassManager | None = None

    @property
    def ops(self) -> frozenset[str]:
        """The names of the ops without which the pass has nothing to do; none where it must always run."""
        return self.info.ops if self.info is not None else frozenset()

    def run(self, module: ir.Operation) -> bool:
        """Whether the module may have changed."""
        if self.manager is not None:
            self.manager.run(module)
            return True
        assert self.info is not None
        with module.context, module.location:
            return self.info.fn(module, **self.bound) is not False


@dataclass(frozen=True)
class Bundle:
    """A named list of passes that stands for its pipeline text wherever a pass may stand."""

    name: str
    text: str
    description: str


_bundles: dict[str, Bundle] = {}


def register_bundle(name: str, passes: Sequence[str], description: str) -> None:
    _bundles[name] = Bundle(name, ",".join(passes), description)


def all_bundles() -> list[Bundle]:
    return list(_bundles.values())


def parse_pipeline(text: str, context: ir.Context) -> list[Step]:
    """The steps of `builtin.module(…)`, or of the bare list inside it. Raises PipelineError on a malformed text, unknown pass or option."""
    nodes = parse_nodes(text)
    if len(nodes) == 1 and nodes[0].name == ROOT:
        nodes = nodes[0].children or ()
    return list(_steps(nodes, (), context))


def pass_steps(name: str, options: str, context: ir.Context) -> list[Step]:
    """The steps of one pass named on a command line; a pass that wants to run on another op than the module is nested on it."""
    return list(_steps((Node(name, options),), (), context, nest=True))


def pipeline_text(steps: Sequence[Step]) -> str:
    return f"{ROOT}({','.join(step.text for step in steps)})"


def run_steps(
    module: ir.Operation,
    steps: Sequence[Step],
    watch: Instrumentation | None = None,
    *,
    stage: str | None = None,
    unverified: list[Step] | None = None,
    settled: bool = True,
) -> None:
    """Runs the steps in order, verifying after each. Raises a CompileError that names pass, op and location.

    On the way from stage to stage (`stage`) what hloom's passes did is verified where one of upstream's follows, which may die of what is
    wrong, and all at the end, unless `watch` wants it whole. Where it is not `settled` yet, the stages that follow do that: `unverified`
    holds the steps before these, and then those that are left.
    """
    watch = watch or Instrumentation()
    often = watch.verify_each and (stage is None or watch.verify_whole)
    unverified = [] if unverified is None else unverified
    watch.start(module, [step.text for step in steps])
    names: set[str] = set()  # of the module's ops, once they were looked at since it last changed
    for number, step in enumerate(steps):
        watch.before(step.name, module, [s.text for s in steps[number:]])
        if step.manager is not None:
            step.manager.enable_verifier(often)
        begin = time.perf_counter()
        try:
            if step.manager is not None and any(before.info is not None for before in unverified):
                _verify(module, unverified, stage)
            if step.ops and not names:
                names = names_in(module)
            if not step.ops or not names.isdisjoint(step.ops):
                with uninterrupted(), compile_errors(step.name, stage):  # what a signal's handler raises is no fault of a pass
                    changed = step.run(module)
                names = set() if changed else names
                if (changed or often) and watch.verify_each and not (often and step.manager is not None):
                    unverified.append(step)
            if often or (settled and number + 1 == len(steps)):
                _verify(module, unverified, stage)
        except CompileError:
            watch.failed(step.name, module)
            raise
        watch.after(step.name, module, time.perf_counter() - begin)
    watch.finish()


def _verify(module: ir.Operation, steps: list[Step], stage: str | None) -> None:
    """Verifies what `steps` did, and empties the list."""
    if not steps:
        return
    try:
        with uninterrupted():
            module.verify()
    except ir.MLIRError as error:
        _raise_failure([step.name for step in steps], stage, error)
    steps.clear()


@contextmanager
def compile_errors(name: str, stage: str | None = None) -> Iterator[None]:
    """Turns whatever the pass `name` raises into a CompileError: one of hloom's gains the stage, the rest become a PassFailure."""
    try:
        yield
    except CompileError as error:
        if stage and not error.stage:
            raise type(error)(error.message, op=error.op, loc=error.loc, stage=stage, remedy=error.remedy) from error
        raise
    except ir.MLIRError as error:
        _raise_failure([name], stage, error)
    except Exception as error:
        remedy = "this is a fault of the pass, not of the program; HLOOM_DEBUG=traceback shows where"
        raise PassFailure(f"pass {name!r} broke: {type(error).__name__}: {error}", stage=stage, remedy=remedy) from error


def _raise_failure(passes: Sequence[str], stage: str | None, error: ir.MLIRError) -> NoReturn:
    diagnostics = error.error_diagnostics
    message = "\n".join(d.message for d in diagnostics) or str(error)
    location = str(diagnostics[0].location) if diagnostics else None
    culprit = _culprit([note for d in diagnostics for note in d.notes])
    who = f"pass {passes[0]!r}" if len(passes) == 1 else f"one of the passes {', '.join(passes)}"
    remedy = None if len(passes) == 1 else "HLOOM_DEBUG=verify tells which of them"
    failure = PassFailure(f"{who} failed: {message}", op=culprit, loc=location, stage=stage, remedy=remedy)
    failure.diagnostics = diagnostics  # type: ignore[attr-defined]
    raise failure from error


def _culprit(notes: Sequence[Any]) -> str | None:
    prefix = "see current operation: "
    for note in notes:
        if note.message.startswith(prefix):
            lines = note.message[len(prefix) :].strip().splitlines()
            return lines[0] + (" …" if len(lines) > 1 else "")
    return None


def _steps(nodes: Sequence[Node], anchors: tuple[str, ...], context: ir.Context, nest: bool = False) -> Iterator[Step]:
    for node in nodes:
        if node.children is not None:
            yield from _steps(node.children, (*anchors, node.name), context)
        elif node.name in _bundles:
            _require_module(node, anchors)
            yield from parse_pipeline(_bundles[node.name].text, context)
        elif info := find_pass(node.name):
            _require_module(node, anchors)
            text = f"{node.name}{{{node.options}}}" if node.options else node.name
            yield Step(node.name, text, info=info, bound=info.bind(parse_options(node.options)))
        else:
            yield _upstream(node, anchors, context, nest)


def _require_module(node: Node, anchors: tuple[str, ...]) -> None:
    if anchors:
        raise PipelineError(f"pass {node.name!r} runs on the module, not on {anchors[-1]!r}", remedy=f"take it out of {anchors[-1]}(…)")


def _upstream(node: Node, anchors: tuple[str, ...], context: ir.Context, nest: bool) -> Step:
    text = f"{node.name}{{{node.options}}}" if node.options else node.name
    for anchor in reversed(anchors):
        text = f"{anchor}({text})"
    try:
        with context:
            manager = PassManager.parse(f"{ROOT}({text})", context=context)
    except ValueError as error:
        wanted = re.search(r"restricted to '([\w.]+)'", str(error))
        if nest and wanted and not anchors:
            return _upstream(node, (wanted[1],), context, nest=False)
        raise PipelineError(_why(node.name, str(error)), remedy=_remedy(node.name)) from None
    canonical = str(manager)[len(ROOT) + 1 : -1]
    return Step(node.name, re.sub(r" +", " ", canonical), manager=manager)


def require_passes(names: Iterable[str]) -> None:
    """Raises PipelineError on the first that is the name of no single pass, hloom's or upstream's."""
    for name in names:
        if name in _bundles:
            remedy = "name one of its passes; hloom-opt --dump-pass-pipeline lists them"
            raise PipelineError(f"{name!r} stands for several passes, and is none itself", remedy=remedy)
        if not _NAME.fullmatch(name):
            raise PipelineError(f"unknown pass {name!r}", remedy=_remedy(name))
        if find_pass(name) is None:
            _upstream(Node(name), (), ir.Context(), nest=True)


_UPSTREAM = ("canonicalize", "cse", "inline", "loop-invariant-code-motion", "sccp", "symbol-dce")
"""Upstream passes that are typed by hand: the bindings do not list what there is."""


def _remedy(name: str) -> str:
    near = " or ".join(map(repr, near_names(name, [*_bundles, *_UPSTREAM])))
    listed = "hloom-opt --list-passes lists hloom's passes"
    return f"did you mean {near}? {listed}" if near else listed


def _why(name: str, text: str) -> str:
    if "does not refer to a registered pass" in text:
        return f"unknown pass {name!r}"
    lines = [line for line in text.splitlines() if line.strip()]
    return f"pass {name!r} cannot be added: " + "; ".join(lines)


def parse_options(text: str) -> dict[str, str]:
    """`a=1 b={x y} c` → {"a": "1", "b": "{x y}", "c": "true"}."""
    options = {}
    for word in _split(text, " "):
        key, _, value = word.partition("=")
        options[key] = value.strip("'\"") if value else "true"
    return options


def _split(text: str, separator: str) -> list[str]:
    """Splits at separators outside braces and quotes, dropping empty words."""
    words, depth, quote, current = [], 0, "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "{(<[":
            depth += 1
        elif char in "})>]":
            depth -= 1
        elif char == separator and depth == 0:
            words.append(current)
            current = ""
            continue
        current += char
    return [word for word in [*words, current] if word]


@functools.lru_cache
def parse_nodes(text: str) -> tuple[Node, ...]:
    """Parses a pipeline text into a tree, without asking whether the passes exist."""
    nodes, end = _Parser(text).elements(0, closing="")
    assert end == len(text)
    return nodes


@dataclass
class _Parser:
    text: str

    def elements(self, at: int, closing: str) -> tuple[tuple[Node, ...], int]:
        nodes: list[Node] = []
        at = self.skip(at)
        while not self.closes(at, closing):
            if nodes:
                at = self.skip(self.expect(at, ","))
            node, at = self.element(at)
            nodes.append(node)
        return tuple(nodes), at + len(closing)

    def element(self, at: int) -> tuple[Node, int]:
        match = _NAME.match(self.text, at)
        if not match:
            raise self.error(at, "expected a pass or op name")
        name, at = match[0], match.end()
        if self.text.startswith("(", at):
            children, at = self.elements(at + 1, closing=")")
            return Node(name, children=children), self.skip(at)
        if self.text.startswith("{", at):
            end = self.matching_brace(at)
            return Node(name, self.text[at + 1 : end].strip()), self.skip(end + 1)
        return Node(name), self.skip(at)

    def matching_brace(self, at: int) -> int:
        depth = 0
        for position in range(at, len(self.text)):
            depth += {"{": 1, "}": -1}.get(self.text[position], 0)
            if depth == 0:
                return position
        raise self.error(at, "this '{' is never closed")

    def closes(self, at: int, closing: str) -> bool:
        if closing:
            if at == len(self.text):
                raise self.error(at, f"expected {closing!r}")
            return self.text.startswith(closing, at)
        return at == len(self.text)

    def expect(self, at: int, char: str) -> int:
        if not self.text.startswith(char, at):
            raise self.error(at, f"expected {char!r}")
        return at + 1

    def skip(self, at: int) -> int:
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at

    def error(self, at: int, message: str) -> PipelineError:
        return PipelineError(f"pipeline text, column {at + 1}: {message}\n    {self.text}\n    {' ' * at}^")
