"""For which shapes a program of open shapes is compiled or run.

--shape=5x8xf32,8xf32    the types of all inputs, in order; given several times, several sets
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hloom.passes.errors import CompileError, InvalidProgramError
from hloom.runtime.errors import DtypeError, InputError, ShapeError
from hloom.runtime.open_shapes import OpenSignature, Shapes

from ._values import shapes_of_values

if TYPE_CHECKING:
    from hloom.compiler.open_program import OpenProgram
    from hloom.compiler.source_program import SourceProgram

_TYPE = re.compile(r"((?:\d+x)*)([A-Za-z]\w*(?:<\w+>)?)")


def programs(source: bytes, options: argparse.Namespace) -> tuple[list[SourceProgram], OpenProgram | None, list[Shapes]]:
    """The programs that `--function` and `--shape` of a tool ask for: one of known shapes, or of an open program one for each set.

    Behind them the open program and the sets of shapes. Raises CompileErrors and ExecutionErrors.
    """
    from hloom.compiler.frontend import read_program, specialised_program
    from hloom.compiler.frontends.mlir_text import FileText
    from hloom.compiler.open_program import OpenProgram

    program = read_program(FileText(source, options.program), function=options.function)
    if not isinstance(program, OpenProgram):
        if options.shape:
            raise InvalidProgramError("the shapes of the program are all known", remedy="leave out --shape")
        return [program], None, []
    signature = OpenSignature(program.arguments, (), limits=program.limits)
    sets = wanted_shapes(options, signature)
    return [specialised_program(program, shapes) for shapes in sets], program, sets


def wanted_shapes(options: argparse.Namespace, signature: OpenSignature, known: Sequence[Shapes] = ()) -> list[Shapes]:
    """The sets of shapes that --shape asks for, or the values of --input; else the only one that is `known`, or the bounds."""
    if options.shape:
        return [parse(text, signature) for text in options.shape]
    given = shapes_of_values(getattr(options, "input", ()), len(signature.inputs))
    if given is not None:
        signature.check_shapes(given)
        return [given]
    if len(known) == 1:
        return list(known)
    largest = signature.largest()
    if largest is not None and (not known or largest in known):
        return [largest]
    listed = ",".join(map(str, signature.inputs))
    if known:
        there = "; ".join(map(signature.text, sorted(known)))
        remedy = f"say which by --shape, as --shape={signature.text(known[0])}"
        raise ShapeError(f"the file has programs for several shapes: {there}", remedy=remedy)
    raise InvalidProgramError(f"arguments of dynamic shape: {signature}", remedy=f"say for which, with numbers for ?: --shape={listed}")


def only(sets: Sequence[Shapes], what: str) -> None:
    """Raises CompileError where there are several."""
    if len(sets) > 1:
        raise CompileError(f"{what} takes one set of shapes, got {len(sets)}", remedy="give --shape once")


def parse(text: str, signature: OpenSignature) -> Shapes:
    """Raises ExecutionErrors that name the input."""
    words = [word for word in text.replace(" ", "").split(",") if word]
    matches = [_TYPE.fullmatch(word) for word in words]
    if None in matches or len(words) != len(signature.inputs):
        wrong = f"--shape={text} does not list the types of {len(signature.inputs)} inputs"
        raise InputError(wrong, remedy=f"write numbers for ? in --shape={','.join(map(str, signature.inputs))}")
    found = [(tuple(int(size) for size in match[1].split("x")[:-1]), match[2]) for match in matches if match]
    for spec, (_, dtype) in zip(signature.inputs, found):
        if dtype != spec.dtype:
            raise DtypeError(f"{spec.name} should have element type {spec.dtype}, got {dtype}")
    shapes = tuple(shape for shape, _ in found)
    signature.check_shapes(shapes)
    return shapes
