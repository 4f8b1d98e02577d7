"""`hloom.compile(…, tune=…)` and `hloom-compile --tune`: where a tuning's policy is kept, so that the next compile measures nothing.

A policy that is named by a path is read where the file is there, and written where it is not. Else it is kept in the cache, under what it
was made from: the program, its target, the policy it started from, the number of threads, and hloom's own code.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hloom.dialects.context import make_context
from hloom.passes.errors import CompileError
from hloom.passes.fused.planner.policy import Policy, PolicySource, tomllib
from hloom.runtime.comparison import random_array
from hloom.runtime.library import get_threads
from hloom.runtime.program import GENERATOR

from ..cache import key_of, read_entry, write_entry
from ..compile import Compilation
from ..parsing import bytecode_of, parse_module
from ..simulation import split_target
from ..source_program import SourceProgram
from ..target import Target, resolve
from ..versions import versions
from .policy_file import policy_text, report_of
from .tuner import SECONDS, Tuner, Tuning

_KIND = "tunings"
Inputs = Callable[[Compilation], Sequence[np.ndarray]]


@dataclasses.dataclass
class Tuned:
    """The policy to compile with, and what was measured for it: nothing where it was kept."""

    policy: Policy
    text: str
    tuning: Tuning | None = None

    @property
    def report(self) -> dict[str, Any]:
        """Plain data for the program's report."""
        return {"policy": self.text} if self.tuning is None else report_of(self.tuning, self.text)


def tuned(
    program: SourceProgram,
    name: str,
    tune: bool | float,
    policy: PolicySource | None,
    inputs: Inputs | None = None,
    **options: Any,
) -> Tuned:
    """The policy for the program on this machine: kept, or found now; `options` are those of `Compilation.of_program`.

    Raises CompileErrors.
    """
    target = resolve(options.get("target", "auto"))
    if why := _why_not_tuned(program, target):
        raise CompileError(why, remedy="compile it without tuning")
    path = Path(policy) if isinstance(policy, str | os.PathLike) else None
    if path is not None and path.exists():
        return Tuned(Policy.of(path), path.read_text())
    start = Policy() if path is not None or policy is None else Policy.of(policy)
    source = bytecode_of(program.module)
    key = key_of((source, repr(target), repr(start), str(get_threads()), *versions()))
    kept = read_entry(_KIND, key) if path is None else None
    if kept is not None:
        text = kept.decode()
        return Tuned(Policy.from_entries(tomllib.loads(text), "the tuning that was kept"), text)

    def make(rules: Policy, profile: bool) -> Compilation:
        again = dataclasses.replace(program, module=parse_module(source, make_context()))
        compilation = Compilation.of_program(again, name, **options, policy=rules, profile=profile)
        rng = np.random.default_rng(1)
        for index in compilation.bound:  # of those that the text marks, and of a graph's weights, nobody knows values
            if compilation.values.get(index) is None:
                compilation.values[index] = random_array(again.inputs[index], rng)
        return compilation

    seconds = SECONDS if tune is True else float(tune)
    found = Tuner(make, inputs or random_inputs, start, seconds).run()
    text = policy_text(found, name, target)
    if path is not None:
        path.write_text(text)
    else:
        write_entry(_KIND, key, text.encode())
    return Tuned(found.policy, text, found)


def measured_policy(
    program: SourceProgram, name: str, tune: bool | float, target: str | Target, policy: PolicySource | None, **options: Any
) -> PolicySource | None:
    """The policy for one of many programs that are tuned alike, as torch's graphs and JAX's functions are. Where nothing can be measured,
    it is the one that is given. A path is read, never written: it would be one file for all."""
    machine, simulated = split_target(target)
    if simulated or _why_not_tuned(program, resolve(machine)):
        return policy
    return tuned(program, name, tune, None if policy is None else Policy.of(policy), target=machine, **options).policy


def _why_not_tuned(program: SourceProgram, target: Target) -> str:
    """Why nothing of the program is measured; empty where it can be."""
    if target.kind != "cpu":
        return f"tuning measures on this machine's processor, and the target is {target.name}"
    if any(spec.name == GENERATOR for spec in program.inputs):
        return "a program that draws random numbers gives other results each time"
    return ""


def random_inputs(compilation: Compilation) -> list[np.ndarray]:
    """Of a program that nobody gave example inputs for."""
    rng, program = np.random.default_rng(0), compilation.program
    given = {*program.bound, *compilation.bound}
    return [random_array(spec, rng) for index, spec in enumerate(program.inputs) if index not in given]


def example_inputs(source: Any, examples: Sequence[Any], keywords: Mapping[str, Any]) -> Inputs:
    """The inputs that the program was read with; random ones of a program in StableHLO."""

    def inputs(compilation: Compilation) -> Sequence[np.ndarray]:
        if compilation.program.kind == "numpy":
            return random_inputs(compilation)
        from ..verify import reference_of

        found = reference_of(source, examples, keywords, compilation).inputs
        free = [index for index in range(len(compilation.program.inputs)) if index not in compilation.program.bound]
        return [np.asarray(value) for index, value in zip(free, found, strict=True) if index not in compilation.values]

    return inputs
