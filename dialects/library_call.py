"""What the thunks share that call libraries: their operands as arrays, and what numpy computes in a library's place.

Sums are taken in f32, in f64 for f64, in i32 for i32. An epilogue is applied before the one rounding to the result's type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from hloom.runtime.dtypes import numpy_dtype
from hloom.runtime.thunk_schema import Tensor

from .thunk import Machine


def past_slices(tensors: Iterable[Tensor]) -> Iterator[str]:
    """What does not hold of tensors that do not fit into their slices."""
    for tensor in tensors:
        if not tensor.fits:
            yield f"{tensor.name} reaches past its slice of {tensor.at[2]} bytes"


def views(machine: Machine, op: Mapping[str, Any], tensors: Iterable[Tensor]) -> dict[str, np.ndarray]:
    """The tensors of a thunk by name, as arrays over the machine's bytes; `op` is the thunk as plain data."""
    places = {tuple(at): machine.read(tuple(at), f"operand {i} of a {op['op']}") for i, at in enumerate(op["reads"])}
    places |= {tuple(at): machine.write(tuple(at)) for at in op["writes"]}
    return {tensor.name: _strided(places[tuple(tensor.at)], tensor) for tensor in tensors}


def _strided(flat: np.ndarray, tensor: Tensor) -> np.ndarray:
    typed = flat.view(numpy_dtype(tensor.element))
    return np.lib.stride_tricks.as_strided(typed, tensor.extents, [stride * typed.itemsize for stride in tensor.strides])


def accumulator(element: str) -> np.dtype:
    """The type in which sums are taken whose result has elements of that type."""
    return np.dtype({"f64": np.float64, "i32": np.int32}.get(element, np.float32))


def activated(values: np.ndarray, function: str) -> np.ndarray:
    """relu or gelu of the values; the values themselves for any other function."""
    if function == "relu":
        return np.maximum(values, 0)
    if function == "gelu":
        return values * (1 + np.tanh(np.sqrt(2 / np.pi).astype(values.dtype) * (values + values.dtype.type(0.044715) * values**3))) / 2
    return values
