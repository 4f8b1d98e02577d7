"""`hloom.compile(…, verify=True)`: the compiled program beside its source, run once on the example inputs.

The source's own framework computes what is expected (eager PyTorch, jax.jit), StableHLO's reference interpreter where the source is MLIR.
Where a result differs, culprit.py looks for the first op that does.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hloom.passes.errors import CompileError
from hloom.runtime.absent import AbsentDevice
from hloom.runtime.comparison import Difference, conditioned, difference, neighbours, random_array
from hloom.runtime.executable import Executable
from hloom.runtime.program import GENERATOR

from .compile import Compilation
from .culprit import find_culprit
from .interpreter import Interpreter, interpret
from .reference import Culprit, Reference
from .source_program import SourceProgram


class VerificationError(CompileError):
    """The compiled program's results are not its source's.

    `result` is the number of the first that differs, `difference` how far; `culprit` the first op that differs, if one was found.
    """

    code = "HL111"

    def __init__(self, message: str, result: int, apart: Difference, culprit: Culprit | None):
        where = {} if culprit is None else {"op": culprit.op, "loc": culprit.loc, "stage": culprit.stage}
        remedy = "report it: this is a fault of hloom or of the front end; a policy (docs/policy.md) may go around it"
        super().__init__(message, **where, remedy=remedy)
        self.result, self.difference, self.culprit = result, apart, culprit


def reference_of(source: Any, examples: Sequence[Any], keywords: Mapping[str, Any], compilation: Compilation) -> Reference:
    """The reference of the program that was read from `source`."""
    if compilation.program.kind == "torch":
        from .frontends.torch_reference import torch_reference

        return torch_reference(source, examples, keywords, compilation)
    if compilation.program.kind == "jax":
        from .frontends.jax import jax_reference

        return jax_reference(source, examples, keywords)
    return interpreter_reference(compilation)


def interpreter_reference(compilation: Compilation) -> Reference:
    """StableHLO's interpreter, on random inputs and the values that the program brings along."""
    rng, program = np.random.default_rng(0), compilation.program
    inputs = {index: random_array(spec, rng) for index, spec in enumerate(program.inputs) if index not in program.bound}

    def run(given: Sequence[np.ndarray]) -> list[np.ndarray]:
        values = {**program.bound, **dict(zip(inputs, given, strict=True))}
        return interpret(compilation.original, [values[index] for index in sorted(values)])

    return Reference("the reference interpreter", list(inputs.values()), run)


def verify_executable(exe: Executable, compilation: Compilation, reference: Reference) -> None:
    """Runs `exe`, made by `compilation`, once beside `reference`; the state of both stays what it was.

    Raises VerificationError where they differ, CompileError where the program cannot run here.
    """
    program, bound, target = compilation.program, compilation.values, compilation.machine
    if any(spec.name == GENERATOR for spec in program.inputs):
        raise CompileError("a program that draws random numbers has no reference to be verified with", remedy="compile it without verify")
    if isinstance(exe.device, AbsentDevice):
        remedy = f'verify where the GPU is, or compile with target="sim:{target.name}"'
        raise CompileError(f"a program for {target.name} does not run here, so it cannot be verified", remedy=remedy)
    free = [index for index in range(len(program.inputs)) if index not in program.bound]
    inputs = {index: np.asarray(bound.get(index, value)) for index, value in zip(free, reference.inputs, strict=True)}
    expected = reference.run(list(inputs.values()))
    found = _results(exe, program, {index: value for index, value in inputs.items() if index not in bound})
    moved: list[np.ndarray] | None = None
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            kinds = f"{one.dtype}{list(one.shape)}, expected {other.dtype}{list(other.shape)}"
            raise CompileError(f"result {number} is {kinds} by {reference.name}", remedy="report it: this is a fault of the front end")
        apart = difference(one, other)
        if apart.ok:
            continue
        moved = reference.run(neighbours(list(inputs.values()))) if moved is None else moved
        if conditioned(one, other, moved[number])[0]:
            continue
        message = f"result {number} is not that of {reference.name}: {apart}"
        print(f"verify: {message}; looking for the first op that differs", file=sys.stderr)
        values = {**program.bound, **inputs}
        with Interpreter() as interpreter:
            culprit = find_culprit(compilation.original, target, [values[index] for index in sorted(values)], expected, interpreter)
        raise VerificationError(message, number, apart, culprit or reference.blame())


def _results(exe: Executable, program: SourceProgram, inputs: Mapping[int, np.ndarray]) -> list[np.ndarray]:
    """The results of a call, and the new values of what it changes; afterwards the program's state is what it was."""
    given, state = {index: value.copy() for index, value in inputs.items()}, exe.state
    results = [np.asarray(result) for result in exe.flat(list(given.values()))]
    for index in program.updates:
        results.append(given[index] if index in given else exe.state[program.inputs[index].name])
    if state:
        exe.state = state
    return results
