"""Operands of an inference graph that stay the same from call to call, parameters and buffers: bound, and bound again when they change.

A call compares each tensor's address and version, which torch counts changes in place by, and a few bytes of it: what is written through
`.data`, as averages of weights are, has no version. A change through `.data` of single elements alone is not seen; `options={"bind":
False}` gives the weights at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch._guards import TracingContext

from hloom.runtime.executable import Executable

from ..frontends.torch_arrays import as_array

_BYTES = 16
"""Of each tensor, that are compared at a call."""


def static_operands() -> list[int]:
    """The operands of the graph that is being compiled which dynamo knows to be parameters and buffers."""
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    return list(metadata.static_input_indices or []) if metadata is not None else []


class Weights:
    """The bound values of an executable: constants of the graph, and operands by their places."""

    def __init__(self, exe: Executable, constants: dict[int, np.ndarray], operands: dict[int, int]):
        """`operands`: the argument of the program that each operand of the graph is."""
        self.exe = exe
        self.constants = constants
        self.operands = operands
        self.known: list[tuple[int, int]] | None = None
        self.samples: list[np.ndarray] = []
        self.bytes = b""

    def bind(self, given: Sequence[Any]) -> None:
        """Binds the operands of a call if any differs from those of the last one."""
        tensors = [given[index] for index in self.operands]
        now = [(tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version) for tensor in tensors]
        if now == self.known and (not self.samples or np.concatenate(self.samples).tobytes() == self.bytes):
            return
        arrays = [as_array(tensor) for tensor in tensors]
        self.exe.bind({**self.constants, **dict(zip(self.operands.values(), arrays))})
        self.known = now
        self.samples = [_sample(array) for array, tensor in zip(arrays, tensors) if _shares(array, tensor)]
        self.bytes = np.concatenate(self.samples).tobytes() if self.samples else b""


def _sample(array: np.ndarray) -> np.ndarray:
    """Bytes of an array, as many of each significance."""
    flat = array.reshape(-1).view(np.uint8)
    return flat[:: (len(flat) // _BYTES) | 1]


def _shares(array: np.ndarray, tensor: torch.Tensor) -> bool:
    return array.size > 0 and array.ctypes.data == tensor.data_ptr()
