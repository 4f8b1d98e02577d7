"""A program of open shapes that can be called: for every set of shapes one Executable, made when it is first asked for.

    exe = hloom.compile(program)        # (x: ?x8xf32) -> (result0: ?x8xf32)
    exe(x)                              # compiles for x's shape, once
    exe.specialise({"x[0]": 64})        # compiles before it is called

What makes an Executable is given (compiler/dynamic.py); a loaded file has none, and only the shapes that were saved. At most `most` are
kept, those that were called last. Which one runs a call is looked up by the shapes of its arrays (`_key`): buckets of shapes would be
decided there.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from . import pytree
from .artifact import Artifact
from .background import Background
from .copies import Copied
from .dynamic_file import check_part, packed, unpacked
from .errors import NotBoundError, ShapeError
from .executable import Executable
from .forking import process_lock
from .open_shapes import Interface, Shapes
from .report import Report

if TYPE_CHECKING:
    from .profile import Profile

MOST = 64
"""How many sets of shapes are kept if nobody says."""

Made = tuple[Artifact, Mapping[str, Any]]
"""A compiled program, and the values of its bound arguments by name."""
Progress = Callable[[int, int, Shapes], None]
"""Told how many sets of shapes are compiled, of how many, and which was the last."""


class _Specialisation:
    """`used` is greater than that of all that were called before."""

    __slots__ = ("exe", "shapes", "used")

    def __init__(self, exe: Executable, shapes: Shapes, used: int):
        self.exe, self.shapes, self.used = exe, shapes, used


class _Making:
    """A compile that runs: who asks for the same waits for it."""

    def __init__(self) -> None:
        self.process = os.getpid()  # a forked child has not the thread that compiles
        self.done = threading.Event()


class DynamicExecutable(Copied):
    """A program ready to run, at any shapes that it allows. `exe(*inputs)` gives its results as arrays of the kind that went in."""

    def __init__(
        self,
        interface: Interface,
        make: Callable[[Shapes], Made] | None = None,
        *,
        most: int = MOST,
        device: Callable[..., Any] | None = None,
    ):
        """`make` compiles for shapes; without it there are only those that `add` adds. `device` makes the device of each."""
        self.interface, self.signature, self.most = interface, interface.signature, most
        self._make, self._device = make, device
        self._flat_in = pytree.is_flat(interface.in_tree) and not pytree.count(interface.kwarg_tree)
        self._open = [index for index, spec in enumerate(self.signature.inputs) if spec.is_open]
        self._table: dict[Any, _Specialisation] = {}
        self._making: dict[Any, _Making] = {}
        self._values: dict[str, Any] | None = None
        self.kin: Callable[[], list[Executable]] = list
        """Other programs that weights and state are shared with (entries.py)."""
        self._clock = itertools.count()
        self._background = Background(self._made_in_background)

    @classmethod
    def of_artifact(cls, artifact: Artifact, device: Callable[..., Any] | None = None) -> DynamicExecutable:
        """What a file of several shapes holds."""
        interface, made = unpacked(artifact)
        exe = cls(interface, most=len(made), device=device)
        for shapes, part in reversed(made):
            check_part(interface.signature, shapes, exe.add(shapes, part).signature.inputs)
        return exe

    # Calling.

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        leaves = inputs if self._flat_in and not keywords else self._leaves(inputs, keywords)
        return self._of(leaves).structured(leaves)

    def run(self, inputs: Sequence[Any], outputs: Any, **keywords: Any) -> None:
        """Writes the results into `outputs`, as Executable.run does."""
        self._of(self._leaves(inputs, keywords)).run(inputs, outputs, **keywords)

    def flat(self, inputs: Sequence[Any], outputs: Sequence[Any] | None = None) -> list[Any]:
        """A call with inputs and results as plain sequences in the order of the signature, whatever their structure."""
        return self._of(inputs).flat(inputs, outputs)

    def _leaves(self, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        return pytree.flatten_call(self.interface.in_tree, self.interface.kwarg_tree, inputs, keywords)

    def _of(self, leaves: Sequence[Any]) -> Executable:
        """The Executable for these arrays."""
        try:
            found = self._table[tuple([leaves[index].shape for index in self._open])]
        except (KeyError, IndexError, AttributeError):
            return self._specialised(tuple(self.signature.check(leaves)))
        found.used = next(self._clock)
        return found.exe

    def profile(self, *inputs: Any, calls: int = 10, **keywords: Any) -> Profile:
        """As an Executable's, of the program for the shapes of these inputs."""
        return self._of(self._leaves(inputs, keywords)).profile(*inputs, calls=calls, **keywords)

    # Specialising.

    def specialise(self, *sets: Any, wait: bool = True, progress: Progress | None = None) -> list[Executable]:
        """Compiles for these sets of shapes where that was not done, and gives back their Executables; in the background if not `wait`.

        A set of shapes is a dictionary from names of sizes to sizes, or a sequence with, for each argument of a call, its shape or an
        array of that shape. Raises ShapeError, and what compiling raises.
        """
        wanted = [self._shapes(one) for one in sets]
        if len({self._key(shapes) for shapes in wanted}) > self.most:
            remedy = "say how many to keep with most="
            raise ShapeError(f"{len(wanted)} sets of shapes are announced, {self.most} are kept", remedy=remedy)
        if not wait:
            self._background.announce(wanted)
            return []
        made = []
        for number, shapes in enumerate(wanted, 1):
            made.append(self._specialised(shapes))
            if progress is not None:
                progress(number, len(wanted), shapes)
        return made

    def wait(self, progress: Progress | None = None) -> None:
        """Returns when nothing is compiled in the background any more. Raises the first error that was met there."""
        self._background.wait(progress)

    @property
    def shapes(self) -> list[Shapes]:
        """The sets of shapes that are compiled, those called last first: of each, the shape of every input."""
        return [found.shapes for found in self._latest()]

    @property
    def pending(self) -> list[Shapes]:
        """The sets of shapes that were announced and are not compiled yet."""
        return self._background.pending

    def add(self, shapes: Shapes, artifact: Artifact, values: Mapping[str, Any] | None = None) -> Executable:
        """Takes in what was compiled for these shapes. Bound values that `values` lacks are those of `bind`."""
        others = self.compiled
        exe = Executable(artifact, self._device)
        bound = {spec.name for spec in exe.signature.bound.values()}
        known = {**(values or {}), **(self._values or {})}
        if bound and bound <= known.keys():
            exe.bind({name: known[name] for name in bound})
        exe.share([*others, *self.kin()])
        with process_lock:
            self._table[self._key(shapes)] = _Specialisation(exe, shapes, next(self._clock))
            evicted = [self._table.pop(self._key(found.shapes)) for found in self._latest()[self.most :]]
        del evicted  # not under the lock
        return exe

    def _specialised(self, shapes: Shapes) -> Executable:
        """The Executable for these shapes, compiled by this thread or by one that had begun before. Raises what compiling raises."""
        key = self._key(shapes)
        while True:
            with process_lock:
                found, running = self._table.get(key), self._making.get(key)
                if found is not None:
                    found.used = next(self._clock)
                    return found.exe
                mine = running is None or running.process != os.getpid()
                if mine:
                    running = self._making[key] = _Making()
            assert running is not None
            if not mine:
                running.done.wait()
                continue  # an error is met again, by this thread
            try:
                return self._compiled(shapes)
            finally:
                with process_lock:
                    self._making.pop(key, None)
                running.done.set()

    def _compiled(self, shapes: Shapes) -> Executable:
        self.signature.check_shapes(shapes)
        if self._make is None:
            known = "; ".join(map(self.signature.text, sorted(self.shapes))) or "none"
            message = f"the file has no program for {self.signature.text(shapes)}; it has {known}"
            raise ShapeError(message, remedy="compile the source for these shapes too (shapes=…), and save it again")
        return self.add(shapes, *self._make(shapes))

    def _made_in_background(self, shapes: Shapes) -> None:
        self._specialised(shapes)

    def _key(self, shapes: Shapes) -> Any:
        return tuple([shapes[index] for index in self._open])

    def _latest(self) -> list[_Specialisation]:
        return sorted(self._table.copy().values(), key=lambda found: -found.used)

    def _shapes(self, given: Any) -> Shapes:
        """A set of shapes as `specialise` takes it."""
        if isinstance(given, Mapping) and all(isinstance(value, Integral) for value in given.values()):
            return tuple(self.signature.shapes_of({name: int(size) for name, size in given.items()}))
        if isinstance(given, Mapping) and set(given) <= set(self.signature.names) and not any(map(_is_shape, given.values())):
            raise _no_shapes(given)
        if _is_shape(given):
            given = (given,)
        if not isinstance(given, (Mapping, Sequence)):
            raise _no_shapes(given)
        if not isinstance(given, Mapping) and len(given) == len(self.signature.inputs) and all(map(_is_shape, given)):
            leaves = list(given)
        else:
            leaves = self._leaves(*(((), given) if isinstance(given, Mapping) else (given, {})))
        if not all(map(_is_shape, leaves)):
            raise _no_shapes(given)
        shapes = tuple(tuple(map(int, getattr(leaf, "shape", leaf))) for leaf in leaves)
        self.signature.check_shapes(shapes)
        return shapes

    # Binding, saving, telling.

    def bind(self, values: Mapping[Any, Any] | Sequence[Any]) -> None:
        """Binds all bound arguments, by name, index or in order, of every specialisation, also of those to come."""
        names: dict[Any, str] = {index: spec.name for index, spec in self.signature.bound.items()}
        pairs = values.items() if isinstance(values, Mapping) else zip(names, values, strict=True)
        by_name = {names.get(key, key): value for key, value in pairs}
        self._values = {**(self._values or {}), **by_name}
        latest = self.compiled
        for number, exe in enumerate(latest):
            exe.bind({spec.name: by_name[spec.name] for spec in exe.signature.bound.values() if spec.name in by_name})
            exe.share(latest[:number])

    @property
    def state(self) -> dict[str, np.ndarray]:
        """The values, by name, that calls change and the next call sees, at whatever shapes: copies."""
        return self._any().state

    @state.setter
    def state(self, values: Mapping[str, Any]) -> None:
        self._any().state = values  # type: ignore[assignment]

    def seed(self, number: int) -> None:
        """Starts the program's random numbers anew, those of all shapes."""
        self._any().seed(number)

    def save(self, path: str | os.PathLike[str], weights: bool = True) -> None:
        """Writes one `.hloom` file with everything that is compiled; `weights=False` leaves bound values out."""
        self.artifact(weights).save(path)

    def artifact(self, weights: bool = True) -> Artifact:
        """What `save` writes."""
        found = sorted(self._latest(), key=lambda each: each.shapes)
        return packed(self.interface, [(each.shapes, each.exe.artifact(weights)) for each in found])

    @property
    def compiled(self) -> list[Executable]:
        """The programs of known shapes, those called last first."""
        return [found.exe for found in self._latest()]

    @property
    def report(self) -> Report:
        """What became of every op at the shapes that were called last; `exe.specialise(shapes)[0].report` for others."""
        return self._any().report

    @property
    def arena_bytes(self) -> int:
        """Scratch memory of a call, at the shapes that need most."""
        return max((found.exe.arena_bytes for found in self._latest()), default=0)

    def _any(self) -> Executable:
        latest = self._latest()
        if not latest:
            raise NotBoundError("the program is not compiled for any shapes yet", remedy="call it, or exe.specialise(shapes)")
        return latest[0].exe

    def __repr__(self) -> str:
        return f"<hloom.DynamicExecutable {self.interface.name}{self.signature}, {len(self._table)} compiled>"


def _no_shapes(given: Any) -> ShapeError:
    return ShapeError(f"{given!r} is not a set of shapes", remedy="give a shape or an array for each argument, or sizes by name")


def _is_shape(value: Any) -> bool:
    """Whether it is a shape, or an array that has one."""
    return hasattr(value, "shape") or (isinstance(value, (tuple, list)) and all(isinstance(size, Integral) for size in value))
