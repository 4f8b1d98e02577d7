"""Operands of an inference graph that stay the same from call to call, parameters and buffers: bound, and bound again when they change.

A call compares each tensor's address and version, which torch counts changes in place by, and a few bytes of it: what is written through
`.data`, as averages of weights are, has no version. A change through `.data` of single elements alone is not seen; `options={"bind":
False}` gives the weights at each call.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch._guards import TracingContext

from hloom.runtime.executable import Executable

from ..frontends.torch_arrays import as_array

_BYTES = 16
"""Of each tensor, that are compared at a call."""
_MOST = 256
"""Sets of operands that are bound at once."""
_State = tuple[list[int], list[int]]
_VERSION, _ADDRESS = operator.attrgetter("_version"), torch.Tensor.data_ptr
"""All of a graph's operands are asked at each call: by the class and a getter, in half of the time of each tensor's own."""


def static_operands() -> list[int]:
    """The operands of the graph that is being compiled which dynamo knows to be parameters and buffers."""
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    return list(metadata.static_input_indices or []) if metadata is not None else []


def version_of(tensor: torch.Tensor) -> int:
    """Which torch counts changes in place by; it counts none of a tensor of inference mode."""
    return 0 if tensor.is_inference() else tensor._version


class Weights:
    """The bound values of an executable: constants of the graph, and operands by their places.

    Layers that are alike share a graph, and take turns at it. Each has an executable of its own over the same code, where the program can
    be bound twice, until its tensors go or lie elsewhere.
    """

    def __init__(self, exe: Executable, constants: dict[int, np.ndarray], operands: dict[int, int]):
        """`operands`: the argument of the program that each operand of the graph is."""
        self.exe = exe
        self.constants = constants
        self.operands = operands
        self.sets: dict[tuple[int, ...], _Set] = {}
        """By the tensors' addresses, the one that was called last at the end."""
        self.last: _Set | None = None

    def bind(self, given: Sequence[Any]) -> Executable:
        """The executable that the operands of a call are bound to; binds it if any differs from those of its last call."""
        tensors = [given[index] for index in self.operands]
        now = _state(tensors)
        last = self.last
        if last is not None and last.holds(now):
            return last.exe
        addresses = tuple(now[0])
        found = self.sets.pop(addresses, None) or _Set(self._unbound())
        self.sets[addresses] = self.last = found
        if not found.holds(now) and not found.refresh(now, tensors):
            arrays = [as_array(tensor) for tensor in tensors]
            found.exe.bind({**self.constants, **dict(zip(self.operands.values(), arrays))})
            found.remember(now, tensors, arrays)
        return found.exe

    def _unbound(self) -> Executable:
        """An executable for tensors that none has yet: of a set that is gone, a further one, or of the set longest not called."""
        gone = [addresses for addresses, each in self.sets.items() if each.is_gone()]
        free = [self.sets.pop(addresses).exe for addresses in gone]
        if not self.sets:
            return self.exe
        another = free[0] if free else self.exe.another() if len(self.sets) < _MOST else None
        return another if another is not None else self.sets.pop(next(iter(self.sets))).exe


class _Set:
    """An executable, and what the tensors were that it is bound to."""

    def __init__(self, exe: Executable):
        self.exe = exe
        self.known: _State | None = None
        self.tensors: list[weakref.ref[torch.Tensor]] = []
        self.samples: list[np.ndarray] = []
        self.bytes = b""

    def holds(self, now: _State) -> bool:
        return now == self.known and (not self.samples or np.concatenate(self.samples).tobytes() == self.bytes)

    def refresh(self, now: _State, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether the executable could take the tensors' new values from where they were."""
        if self.known is None or len(self.samples) < len(self.tensors) or not self.exe.refresh():
            return False
        self._note(now, tensors)
        return True

    def remember(self, now: _State, tensors: Sequence[torch.Tensor], arrays: Sequence[np.ndarray]) -> None:
        self.samples = [_sample(array) for array, tensor in zip(arrays, tensors) if _shares(array, tensor)]
        self._note(now, tensors)

    def _note(self, now: _State, tensors: Sequence[torch.Tensor]) -> None:
        self.known = now
        self.tensors = [weakref.ref(tensor) for tensor in tensors]
        self.bytes = np.concatenate(self.samples).tobytes() if self.samples else b""

    def is_gone(self) -> bool:
        """Whether a tensor is not there any more, or has other memory: nobody can ask for this set again."""
        there = [tensor() for tensor in self.tensors]
        addresses = self.known[0] if self.known is not None else []
        return any(tensor is None or tensor.data_ptr() != address for tensor, address in zip(there, addresses))


def _state(tensors: Sequence[torch.Tensor]) -> _State:
    """Where the tensors lie, and which version of its values each has."""
    try:
        versions = list(map(_VERSION, tensors))
    except RuntimeError:  # one of inference mode
        versions = list(map(version_of, tensors))
    return list(map(_ADDRESS, tensors)), versions


def _sample(array: np.ndarray) -> np.ndarray:
    """Bytes of an array, as many of each significance."""
    flat = array.reshape(-1).view(np.uint8)
    return flat[:: (len(flat) // _BYTES) | 1]


def _shares(array: np.ndarray, tensor: torch.Tensor) -> bool:
    return array.size > 0 and array.ctypes.data == tensor.data_ptr()
