"""`hloom.compile` of a program of open shapes: a DynamicExecutable (runtime/dynamic.py), and how it makes a program for known shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hloom.dialects.target import TargetView
from hloom.passes.fused.planner.policy import Policy, PolicySource
from hloom.runtime.artifact import Artifact
from hloom.runtime.dynamic import MOST, DynamicExecutable
from hloom.runtime.dynamic_file import packed
from hloom.runtime.executable import Executable
from hloom.runtime.open_shapes import Shapes

from .compile import Compilation, by_index
from .frontend import specialised_program
from .open_program import OpenProgram
from .simulation import simulator, split_target
from .target import resolve


def dynamic_executable(
    program: OpenProgram,
    name: str,
    *,
    target: str | TargetView = "auto",
    bind: Mapping[int | str, Any] | None = None,
    policy: PolicySource | None = None,
    verify: bool = False,
    profile: bool = False,
    shapes: Sequence[Any] = (),
    most: int = MOST,
) -> DynamicExecutable:
    """Compiles for the example inputs at once, where their shapes are known, and for `shapes` in the background."""
    policy = None if policy is None else Policy.of(policy)
    machine, simulated = split_target(target)
    resolve(machine)  # one that is not known fails now
    given = by_index([spec.name for spec in program.arguments], bind or {})
    bound = {**program.bound, **given}
    values: dict[int | str, Any] = {program.arguments[index].name: value for index, value in given.items()}

    def make(wanted: Shapes) -> Any:
        source = specialised_program(program, program.all_shapes(wanted, bound))
        options = {"policy": policy, "profile": profile, "kept": not verify, "keep_original": verify}
        made = Compilation.of_program(source, name, target=target, bind=values, **options)
        artifact = made.artifact()
        if verify:
            _verify(artifact, made)
        return artifact, {source.inputs[index].name: value for index, value in made.values.items()}

    exe = DynamicExecutable(program.interface(name, bound), make, most=most, device=simulator(simulated))
    if program.examples is not None:
        exe.specialise(program.examples)
    exe.specialise(*shapes, wait=False)
    return exe


def packed_artifact(program: OpenProgram, name: str, bound: Mapping[int, Any], made: Sequence[tuple[Shapes, Artifact]]) -> Artifact:
    """One artifact of those that were made of an open program, each with the shapes of all its arguments."""

    def of_a_call(shapes: Shapes) -> Shapes:
        return tuple(shape for index, shape in enumerate(shapes) if index not in bound)

    return packed(program.interface(name, bound), [(of_a_call(shapes), artifact) for shapes, artifact in made])


def _verify(artifact: Artifact, made: Compilation) -> None:
    """Runs the program beside the interpreter, on random inputs."""
    from .verify import interpreter_reference, verify_executable  # the interpreter is needed here alone

    exe = Executable(artifact, simulator(made.simulated))
    if made.values:
        exe.bind(dict(made.values))
    verify_executable(exe, made, interpreter_reference(made))
