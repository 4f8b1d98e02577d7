"""A program of open shapes before it is compiled: what makes a program of known shapes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.runtime import pytree
from hloom.runtime.open_shapes import Interface, OpenSignature, OpenSpec, Shape

from .source_program import Imported


@dataclass
class OpenProgram:
    """`specialised` is asked for one set of shapes after another, by any thread."""

    kind: str
    arguments: tuple[OpenSpec, ...]
    """Those of a call and those that are bound, in the source program's order."""
    outputs: tuple[OpenSpec, ...]
    in_tree: pytree.Structure
    kwarg_tree: pytree.Structure
    bound: Mapping[int, Any] = field(default_factory=dict)
    """Values that the program brings along, by argument."""
    limits: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    examples: Sequence[Shape] | None = None
    """The shapes of the arguments that came with the program, where these are known."""

    def specialised(self, shapes: Sequence[Shape], context: ir.Context) -> Imported:
        """The program where the arguments have these shapes. Raises CompileErrors, ShapeError where the program does not allow them."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        return f"({', '.join(f'{spec.name}: {spec}' for spec in self.arguments)})"

    def interface(self, name: str, bound: Mapping[int, Any]) -> Interface:
        """What a call is, where these arguments are bound."""
        inputs = tuple(spec for index, spec in enumerate(self.arguments) if index not in bound)
        signature = OpenSignature(inputs, self.outputs, {index: self.arguments[index] for index in bound}, self.limits)
        in_tree = pytree.without(self.in_tree, _positions(self, bound))
        return Interface(name, self.kind, signature, in_tree, self.kwarg_tree)

    def all_shapes(self, shapes: Sequence[Shape], bound: Mapping[int, Any]) -> list[Shape]:
        """The shapes of all arguments, from those of a call and of what is bound."""
        given = iter(shapes)
        return [tuple(np.shape(bound[index])) if index in bound else next(given) for index in range(len(self.arguments))]


def _positions(program: OpenProgram, bound: Mapping[int, Any]) -> set[int]:
    """Where bound arguments stand among those that `in_tree` counts: all but what the program brings along."""
    free = [index for index in range(len(program.arguments)) if index not in program.bound]
    return {position for position, index in enumerate(free) if index in bound}
