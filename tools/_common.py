"""What hloom's command-line tools share: reading a program, writing a result, printing errors."""

from __future__ import annotations

import argparse
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import hloom
from hloom.passes.errors import CompileError, ParseError, PipelineError
from hloom.runtime.errors import ExecutionError

from ._shapes import only, programs
from ._values import indices

if TYPE_CHECKING:
    from hloom.compiler.compile import Compilation
    from hloom.compiler.source_program import SourceProgram

_OPTION = re.compile(r"--?(?P<name>[A-Za-z][A-Za-z0-9_\-]*)(?:=(?P<value>.*))?", re.DOTALL)


class _Version(argparse.Action):
    """Looks it up where it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(f"{parser.prog} {hloom.__version__}")
        parser.exit()


class ToolParser(argparse.ArgumentParser):
    """An ArgumentParser with the habits of LLVM's command lines: one dash is as good as two, flags take =true and =false, and a value
    that may be left out is given with = alone. Underscores in an option's name are as good as dashes, as in IREE's.

    Its errors are CompileErrors, so that a wrong option exits 1 like every other error of the user's.
    """

    def __init__(self, prog: str, *, description: str | None, epilog: str | None = None):
        """A `description` without an epilog is a tool's docstring: what follows its first paragraph is the epilog."""
        raw = argparse.RawDescriptionHelpFormatter
        if description and epilog is None:
            description, _, epilog = description.partition("\n\n")
        super().__init__(prog, description=description, epilog=epilog, allow_abbrev=False, formatter_class=raw)
        self.add_argument("--version", action=_Version, nargs=0, help="print hloom's version")

    def add_program(self, input_help: str, bind_help: str, target_before: str = "", *, optional: bool = False) -> None:
        """The options that every tool which compiles takes: the program, and how it is compiled; `compilation` reads them."""
        self.add_argument("program", help=input_help, nargs="?" if optional else None)
        self.add_argument("--target", default="auto", help=target_help(target_before))
        self.add_argument("--policy", metavar="FILE", help="a .toml file that overrides what cost decides (docs/policy.md)")
        self.add_argument(
            "--function", "--entry", default="main", metavar="NAME", help="which function to take, where the program has several entries"
        )
        shape = "the types of all inputs, for a program of open shapes: 5x8xf32,8xf32"
        self.add_argument("--shape", action="append", default=[], metavar="TYPES", help=shape)
        self.add_argument("--bind", default="", metavar="N,N-N", help=bind_help)

    def parse(self, argv: list[str]) -> argparse.Namespace:
        """Raises PipelineError."""
        return self.parse_args([spelled for word in argv for spelled in self._spelled(word)])

    def option(self, word: str) -> str | None:
        """The option that a word of the command line names, as argparse spells it; None where it names none."""
        match = _OPTION.fullmatch(word)
        if match is None:
            return None
        names = match["name"], match["name"].replace("_", "-")
        spellings = [dashes + name for name in names for dashes in ("--", "-")]
        return next((spelling for spelling in spellings if spelling in self._option_string_actions), None)

    def _spelled(self, word: str) -> list[str]:
        option = self.option(word)
        if option is None:
            return [word]
        action, (_, equals, value) = self._option_string_actions[option], word.partition("=")
        if action.nargs == 0 and equals:
            return [option] if boolean(value) else []
        if action.nargs == "?" and not equals:
            return [f"{option}={action.const}"]
        return [option + equals + value]

    def error(self, message: str) -> NoReturn:
        _, _, words = message.partition("unrecognized arguments: ")
        match = _OPTION.match(words)
        near = get_close_matches(f"--{match['name']}", self._option_string_actions, 1) if match else []
        meant = f"did you mean {near[0]}? " if near else ""
        raise PipelineError(message, remedy=f"{meant}{self.prog} --help lists the options")


def boolean(text: str) -> bool:
    """The value of a flag. Raises PipelineError."""
    if text.lower() in ("true", "1"):
        return True
    if text.lower() in ("false", "0"):
        return False
    raise PipelineError(f"expected true or false, got {text!r}")


def read_input(path: str) -> bytes:
    """The bytes of a file, or of stdin for "-". Raises ParseError if it cannot be read."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ParseError(f"cannot read {path!r}: {error.strerror}", remedy="name an existing file, or - for stdin") from None


def write_output(path: str, data: str | bytes) -> None:
    """Writes text or bytes to a file, or to stdout for "-". Raises CompileError if it cannot."""
    raw = data.encode() if isinstance(data, str) else data
    if path == "-":
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
        return
    try:
        Path(path).write_bytes(raw)
    except OSError as error:
        raise CompileError(f"cannot write {path!r}: {error.strerror}") from None


def target_help(before: str = "") -> str:
    """The help text of --target. It is read by tools that run without the compiler, so it names the files and imports nothing."""
    known = sorted(Path(file.name).stem for file in resources.files("hloom.compiler").joinpath("targets").iterdir())
    here = "auto (this machine's GPU if it has one, else its processor), cpu (its processor)"
    return f"{before}{here}, a .toml file, or one of {', '.join(known)}"


def compilation(source: bytes, options: argparse.Namespace, **more: Any) -> Compilation:
    """The compilation of a program as the options of `ToolParser.add_program` say. Raises CompileErrors."""
    found, _, sets = programs(source, options)
    only(sets, "this")
    return compilation_of(found[0], options, **more)


def compilation_of(program: SourceProgram, options: argparse.Namespace, **more: Any) -> Compilation:
    from hloom.compiler.compile import Compilation
    from hloom.compiler.frontend import name_of

    settings = {"target": options.target, "policy": options.policy, "name": name_of(options.program), **more}
    return Compilation(program, bound=indices(options.bind, len(program.inputs)), **settings)


def warn_idle_rules(report: Mapping[str, Any]) -> None:
    """Says on stderr which rules of a policy decided nothing; the report says it too."""
    for decision in report.get("decisions", []):
        if decision["code"] == "POLICY_UNMET" and not decision["ops"]:
            print(f"warning: policy, {decision['figures']['policy_rule']}: {decision['reason']}", file=sys.stderr)


def run_tool(tool: Callable[[list[str]], int], argv: list[str] | None) -> int:
    """Runs a tool's body; an error of the program or its options is printed on stderr and gives exit status 1, without a traceback."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        return tool(arguments)
    except (CompileError, ExecutionError) as error:
        if "traceback" in os.environ.get("HLOOM_DEBUG", "").split(","):
            traceback.print_exc()
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away (`| head`): nobody is left to tell
        return 1
    except OSError as error:
        print(f"error: {error.filename or 'input or output'}: {error.strerror}", file=sys.stderr)
        return 1
