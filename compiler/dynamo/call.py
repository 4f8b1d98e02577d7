"""What AOTAutograd calls for a graph, and keeps across processes.

~/.cache/hloom/graphs/<key>.hloom      the program, and how it stands in its graph; keys.py has what the key holds
torch's cache, aotautograd/…           AOTAutograd's work, with the keys of its programs
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch._functorch._aot_autograd.autograd_cache import BypassAOTAutogradCache, FXGraphCacheMiss
from torch._inductor.output_code import OutputCode

from hloom.runtime.artifact import Artifact
from hloom.runtime.errors import ExecutionError
from hloom.runtime.executable import Executable
from hloom.runtime.lazy import lazy
from hloom.runtime.program import GENERATOR
from hloom.runtime.programs import listed

from ..artifact_cache import read_artifact, write_artifact
from ..frontends.torch_cuts import cut
from ..simulation import simulator
from . import precompiled
from .keys import KIND, About
from .weights import Weights

_BLOB = "torch.frame"

PASSED, OPERANDS, MADE, VIEW, GIVEN, CUT, ITEM = "passed", "operand's view", "made", "view", "given", "cut", "item"
"""Where a result comes from: an operand, a view of one, the program, a view of what it makes, the graph, which has a value for it, or the
first rows of another, or the number that another holds."""


def unboxed(operands: Sequence[Any]) -> list[Any]:
    """The operands of a call that gives them one by one, or in a list, which is emptied: nobody else holds them then."""
    if len(operands) != 1 or not isinstance(operands[0], list):
        return list(operands)
    given = list(operands[0])
    operands[0].clear()
    return given


class Code(OutputCode):
    """Called with a list of the operands, which may be emptied, or with the operands themselves.

    torch's cache holds one by its `key`; one without a key it does not hold, nor anything made with it.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, key: str | None = None):
        super().__init__()
        self._boxed_call = True  # torch copies what lies in the object itself
        self.key = key

    def __deepcopy__(self, memo: Any) -> Code:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return kept_code, (self.key,)

    def prepare_for_serialization(self) -> None:
        if self.key is None:
            raise BypassAOTAutogradCache("hloom keeps no program of this graph")


class KeptCode(Code):
    """Code that was read from torch's cache: its program is in hloom's, or is not any more."""

    @lazy
    def call(self) -> Call | None:
        return kept_call(self.key)

    def post_compile(self, example_inputs: Any, constants: Any, graph_kwargs: Any) -> None:
        if self.call is None:
            raise FXGraphCacheMiss

    def __call__(self, *operands: Any) -> Any:
        return self.call(*operands)  # type: ignore[misc]


def kept_code(key: str) -> KeptCode:
    """What torch reads. Raises LookupError where the program is not there and dynamo's work is read with it: torch begins anew only where
    that cannot be read."""
    code = KeptCode(key)
    if precompiled.reading() is not None and code.call is None:
        raise LookupError(f"hloom's program {key} is not kept, or is of another release, or other options")
    return code


class LateCode(Code):
    """A graph that is compiled when it is first called: gradients may never be asked for."""

    def __init__(self, compiled: Callable[[], Callable[..., Any]], key: str | None):
        super().__init__(key)
        self.compiled: Callable[[], Callable[..., Any]] | None = compiled
        self.call: Callable[..., Any] | None = None

    def __call__(self, *operands: Any) -> Any:
        if self.call is None:
            assert self.compiled is not None
            self.call, self.compiled = self.compiled(), None
        return self.call(*operands)


@dataclass(frozen=True)
class Frame:
    """How a program stands in its graph."""

    taken: list[int]
    """The operands of the graph that the program takes."""
    results: list[tuple[str, Any]]
    """The results of the graph: where from, and which of these."""
    operands: dict[int, int] = field(default_factory=dict)
    """Operands of the graph that are bound, and the arguments of the program that they are."""
    constants: dict[int, np.ndarray] = field(default_factory=dict)
    """Values of the program's other bound arguments."""


class Call(Code):
    """A graph as a program; one that makes nothing has none."""

    def __init__(self, frame: Frame, exe: Executable | None, key: str | None = None):
        super().__init__(key)
        self.exe = exe
        bound = frame.operands or frame.constants
        self.weights = Weights(exe, frame.constants, frame.operands) if exe is not None and bound else None
        self.taken = [index for index in frame.taken if index not in frame.operands]
        self.results = frame.results
        draws = exe is not None and any(spec.name == GENERATOR for spec in exe.program.signature.inputs)
        self.seed = exe.seed if exe is not None and draws else None
        self.is_plain = exe is not None and self.results == [(MADE, index) for index in range(len(self.results))]

    def __call__(self, *operands: Any) -> list[Any]:
        given = unboxed(operands)
        exe = self.exe if self.weights is None else self.weights.bind(given)
        if self.seed is not None:
            self.seed(int(torch.empty((), dtype=torch.int64).random_()))
        made = exe.flat([given[index] for index in self.taken]) if exe is not None else []
        if self.is_plain:
            return made
        return [result_of(where, value, given, made) for where, value in self.results]


def result_of(where: str, value: Any, given: Sequence[Any], made: Sequence[Any]) -> Any:
    if where == OPERANDS:
        of, sizes, strides, begin = value
        return given[of].as_strided(sizes, strides, given[of].storage_offset() + begin)
    if where == VIEW:
        of, *view = value
        return made[of].as_strided(*view)
    if where == CUT:
        return _cut(given, made, *value)
    if where == ITEM:
        of, place = value
        return result_of(of, place, given, made).item()
    return value if where == GIVEN else (given if where == PASSED else made)[value]


def _cut(given: Sequence[Any], made: Sequence[Any], of: Any, dims: Sequence[int], counts: Sequence[Any], order: Sequence[int]) -> Any:
    rows = [int(result_of(where, place, given, made)) for where, place in counts]
    where, place = of
    return cut(result_of(where, place, given, made), dims, rows, order, shares=where == MADE)


def kept_call(key: str | None) -> Call | None:
    """The graph of that key, compiled, if it was kept.

    Who asks may have made the key just now, or have had it from torch, whose keys of dynamo's work hold nothing of hloom.
    """
    artifact = read_artifact(KIND, key) if key is not None else None
    if artifact is None or _BLOB not in artifact.blobs:
        return None
    frame, simulated, made_by = pickle.loads(artifact.blobs[_BLOB])
    if not precompiled.holds(made_by):
        return None
    program = Artifact(artifact.manifest, {name: blob for name, blob in artifact.blobs.items() if name != _BLOB})
    try:
        return Call(frame, executable(program, simulated), key)
    except ExecutionError:
        return None


def keep(key: str | None, artifact: Artifact, frame: Frame, simulated: str, about: About | None) -> None:
    """Writes the program of the graph of that key."""
    if key is not None:
        write_artifact(KIND, key, Artifact(artifact.manifest, {**artifact.blobs, _BLOB: pickle.dumps((frame, simulated, about))}))


def executable(artifact: Artifact, simulated: str) -> Executable:
    return listed(Executable(artifact, simulator(simulated)))
