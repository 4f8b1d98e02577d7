"""Errors raised while compiling. Each has a code listed in docs/errors.md and says op, location, stage, what was wrong and what to do."""

from __future__ import annotations


class CompileError(Exception):
    """A program could not be compiled.

    `code` is listed in docs/errors.md; `op` and `loc` name the culprit in the source program, `stage` the stage that refused it,
    `remedy` what the user can do.
    """

    code = "HL100"

    def __init__(self, message: str, *, op: str | None = None, loc: str | None = None, stage: str | None = None, remedy: str | None = None):
        self.message, self.op, self.loc, self.stage, self.remedy = message, op, loc, stage, remedy
        parts = [f"[{self.code}] {message}"]
        if op:
            parts.append(f"  op: {op}")
        if loc:
            parts.append(f"  at: {loc}")
        if stage:
            parts.append(f"  stage: {stage}")
        if remedy:
            parts.append(f"  remedy: {remedy}")
        super().__init__("\n".join(parts))


class UnsupportedOpError(CompileError):
    """The program has an op, type or form of an op that hloom does not compile; raised before anything is compiled."""

    code = "HL101"


class ParseError(CompileError):
    """The text, bytecode or artifact is no well-formed program."""

    code = "HL102"


class InvalidProgramError(CompileError):
    """Well-formed, but not a program hloom can take: recursion, unranked or dynamic shapes, no entry point, types too large."""

    code = "HL103"


class PipelineError(CompileError):
    """A pass pipeline that cannot be parsed or run: unknown pass, option or stage."""

    code = "HL104"


class PassFailure(CompileError):
    """A pass could not do its work on this input."""

    code = "HL105"
