"""hloom's side of a JAX program: compiled once, and run in all the ways that must give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..children import Arrays, hloom_child, spent

THREADS = (1, 2, 7)
Pairs = Sequence[tuple[int, int]]


def jax_child(cache: str) -> Callable[..., Any]:
    """(text, inputs, target, donated) → what became of it, its results or what was said, the compile's seconds of processor time."""
    hloom_child(cache)
    import hloom

    def run(text: str, inputs: Arrays, target: str, donated: Pairs) -> tuple[str, Any, float]:
        started, seconds = spent(), None
        try:
            executable = compiled(text, target, donated)
            seconds = spent() - started
            results = run_once(executable, inputs)
            told = "" if target.startswith("sim:") else next(unsteady(executable, inputs, results, donated), "")
            return ("failed", told, seconds) if told else ("ran", results, seconds)
        except hloom.UnsupportedOpError as error:
            return "refused", str(error), seconds or spent() - started
        except Exception as error:  # what is no error of hloom's is found here
            return "failed", f"{type(error).__name__}: {error}", seconds or spent() - started

    return run


def compiled(text: str, target: str, donated: Pairs) -> Any:
    import hloom
    from hloom.compiler.compile import Compilation
    from hloom.compiler.frontend import load_program

    if not donated:
        return hloom.compile(text, target=target)
    return Compilation.of_program(load_program(text), "program", target=target, in_place=dict(donated)).executable()


def run_once(executable: Any, inputs: Arrays) -> list[np.ndarray]:
    return [np.array(x) for x in executable.flat(inputs)]


def unsteady(executable: Any, inputs: Arrays, results: Sequence[np.ndarray], donated: Pairs) -> Iterator[str]:
    """What differs with other numbers of threads, between pages that nobody may touch (which end the process), and over donated memory."""
    with guards():
        between_pages = type(executable)(executable.artifact())
    for number in THREADS:
        with threads(number):
            for what, exe in (("", executable), (" between guards", between_pages)):
                before = [x.copy() for x in inputs]
                yield from differing(run_once(exe, before), results, f"Unsteady: {number} threads{what}, result")
                yield from differing(before, inputs, "Overwritten: argument")
    if donated:
        given = [x.copy() for x in inputs]
        made = executable.device.call(given, in_place=True)
        yield from differing(made, results, "Donated: result")
        kept = [n for n in range(len(inputs)) if n not in dict(donated)]
        yield from differing([given[n] for n in kept], [inputs[n] for n in kept], "Donated: other argument")
        yield from (f"Donated: argument {a} is not the memory of result {r}" for a, r in donated if not np.shares_memory(given[a], made[r]))


def differing(got: Arrays, wanted: Arrays, what: str) -> Iterator[str]:
    for number, (mine, theirs) in enumerate(zip(got, wanted, strict=True)):
        if mine.tobytes() != theirs.tobytes():
            wrong = bits(mine) != bits(theirs)
            found = f"{wrong.sum()} elements, as {mine[wrong][:3]} for {theirs[wrong][:3]}"
            yield f"{what} {number}, {theirs.dtype}{list(theirs.shape)}: other bits, {found}"


def bits(x: np.ndarray) -> np.ndarray:
    """The bytes of each element as one value."""
    return np.ascontiguousarray(x).view(f"V{x.itemsize}").reshape(x.shape)


@contextmanager
def threads(number: int) -> Iterator[None]:
    import hloom

    hloom.set_threads(number)
    try:
        yield
    finally:
        hloom.set_threads(0)


@contextmanager
def guards() -> Iterator[None]:
    from guards import guarded

    with guarded("end"):
        yield
