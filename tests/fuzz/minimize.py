"""Cuts a failing program down: fewer results, ops replaced by arguments that hold what they compute, smaller extents.

Each step makes a smaller program and keeps it if it fails in the same way. What is no program any more fails in another way.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import numpy as np

from .elements import Data, values
from .program import Argument, Op, Program, Region, Type, Value, uses, walk

Fails = Callable[[Program], bool]
Evaluate = Callable[[Program], "list[np.ndarray] | None"]
ROUNDS = 3


def minimized(program: Program, fails: Fails, evaluate: Evaluate, seconds: float = float("inf")) -> Program:
    """`evaluate` gives what a program computes, by the oracle, or None. What is not tried after so many seconds is left."""
    end, tried = time.monotonic() + seconds, fails
    fails = lambda candidate: time.monotonic() < end and tried(candidate)  # noqa: E731
    for _ in range(ROUNDS):
        size = weight(program)
        for step in (fewer_results, cut, without_inner_ops, smaller_extents, simpler_values):
            for candidate in _repeated(step, program, fails, evaluate):
                program = candidate
        if weight(program) == size:
            break
    return program


def weight(program: Program) -> tuple[int, int]:
    return sum(1 for _ in walk(program.ops)), sum(argument.value.type.size for argument in program.arguments)


def _repeated(step: Callable, program: Program, fails: Fails, evaluate: Evaluate) -> Iterator[Program]:
    """The step as often as it makes a smaller program that fails; each of its candidates once."""
    found = True
    while found:
        found = False
        for candidate in step(program, evaluate):
            if fails(candidate):
                program, found = candidate, True
                yield program
                break


def fewer_results(program: Program, evaluate: Evaluate) -> Iterator[Program]:
    if len(program.returned) > 1:
        half = len(program.returned) // 2
        for part in (program.returned[:half], program.returned[half:]):
            yield program.only(part)
        for value in program.returned:
            yield program.only([value])


def cut(program: Program, evaluate: Evaluate) -> Iterator[Program]:
    """Arguments in place of an op's results, the earliest ones first; half of the ops at once before single ones."""
    made = [value for op in program.ops for value in op.results if _plain(value)]
    everything = program.only(program.returned)
    everything.returned = made
    known = dict(zip(made, evaluate(everything) or []))
    count = len(program.ops)
    for ops in [program.ops[: count // 2], program.ops[: count // 4], *([op] for op in program.ops)]:
        results = [value for op in ops for value in op.results]
        if ops and all(_plain(value) for value in results) and not set(results) & set(program.returned) and len(ops) < count:
            yield _with_arguments(program, results, known)


def _plain(value: Value) -> bool:
    return not value.element.startswith(("tuple", "!"))


def _with_arguments(program: Program, results: list[Value], known: dict[Value, np.ndarray]) -> Program:
    new: dict[Value, Value] = {}
    arguments = list(program.arguments)
    for value in results:
        array = known.get(value)
        drawn = values(value.element, value.shape, Data("tame"), [0]) if array is None else array
        arguments.append(Argument(Value(value.type), drawn))
        new[value] = arguments[-1].value
    smaller = program.substituted(new)
    smaller.arguments = arguments
    return smaller.only(smaller.returned)


def without_inner_ops(program: Program, evaluate: Evaluate) -> Iterator[Program]:
    """Another value of its type in place of an op's result in a region."""
    for op in walk(program.ops):
        for region in op.regions:
            seen = list(region.arguments)
            for inner in region.ops:
                for value in inner.results:
                    alike = next((v for v in seen if v.type == value.type), None)
                    if alike is not None:
                        yield _pruned(program.substituted({value: alike}))
                seen += inner.results


def _pruned(program: Program) -> Program:
    """Without what regions compute and nothing reads."""
    ops = [_pruned_op(op) for op in program.ops]
    smaller = Program(program.arguments, ops, program.returned, program.tolerances, program.functions, program.by_xla)
    return smaller.only(smaller.returned)


def _pruned_op(op: Op) -> Op:
    regions = []
    for region in op.regions:
        needed, kept = set(region.returned), []
        for inner in reversed(region.ops):
            if needed & set(inner.results):
                kept.append(_pruned_op(inner))
                needed |= uses(inner)
        regions.append(Region(region.arguments, kept[::-1], region.returned))
    return Op(op.name, op.operands, op.results, op.attributes, regions)


def smaller_extents(program: Program, evaluate: Evaluate) -> Iterator[Program]:
    """One number in place of another in all types, with and without the attributes: the verifier tells which is a program."""
    types = {value.type for op in walk(program.ops) for value in op.results} | {a.value.type for a in program.arguments}
    for extent in sorted({extent for kind in types for extent in kind.shape}, reverse=True):
        for smaller in sorted({1, 2, 3, extent // 2, extent - 1}):
            if 0 < smaller < extent:
                yield _resized(program, {extent: smaller}, attributes=True)
                yield _resized(program, {extent: smaller}, attributes=False)


def _resized(program: Program, sizes: dict[int, int], attributes: bool) -> Program:
    new: dict[Value, Value] = {}

    def value(old: Value) -> Value:
        if old not in new:
            new[old] = Value(Type(tuple(sizes.get(extent, extent) for extent in old.shape), old.element))
        return new[old]

    def text(old: str) -> str:
        lists = r"array<i64: [^>]*>|dense<\[[^>]*>"
        return re.sub(lists, lambda m: re.sub(r"\b\d+\b", lambda n: str(sizes.get(int(n[0]), int(n[0]))), m[0]), old) if attributes else old

    def op(old: Op) -> Op:
        return Op(
            old.name,
            [value(v) for v in old.operands],
            [value(v) for v in old.results],
            text(old.attributes),
            [region(r) for r in old.regions],
        )

    def region(old: Region) -> Region:
        return Region([value(v) for v in old.arguments], [op(o) for o in old.ops], [value(v) for v in old.returned])

    arguments = []
    for old in program.arguments:
        kind = value(old.value)
        arguments.append(Argument(kind, np.ascontiguousarray(old.array[tuple(slice(extent) for extent in kind.shape)])))
    tolerances = {value(v): t for v, t in program.tolerances.items()}
    functions = {name: region(r) for name, r in program.functions.items()}
    ops, returned = [op(o) for o in program.ops], [value(v) for v in program.returned]
    return Program(arguments, ops, returned, tolerances, functions, program.by_xla)


def simpler_values(program: Program, evaluate: Evaluate) -> Iterator[Program]:
    """Zeros and ones in place of an argument's values."""
    for argument in program.arguments:
        for number in (0, 1):
            simple = np.full_like(argument.array, number)
            if argument.array.size and not np.array_equal(argument.array, simple):
                if number == 0 or not np.array_equal(argument.array, np.zeros_like(simple)):
                    arguments = [Argument(a.value, simple if a is argument else a.array) for a in program.arguments]
                    yield Program(arguments, program.ops, program.returned, program.tolerances, program.functions, program.by_xla)
