"""What a program takes and gives: names, element types and shapes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import is_taken, numpy_dtype, stored_dtype
from .lazy import lazy


@dataclass(frozen=True)
class TensorSpec:
    """One dense row-major array: `dtype` is MLIR's name of the element type, `order` how a caller's dims lie in it (layouts.py), () for
    as they are. `narrows`: NumPy's arrays of twice as many bits are converted, as JAX does that keeps no 64 bits."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    order: tuple[int, ...] = ()
    narrows: bool = False

    @lazy
    def numpy_dtype(self) -> np.dtype:
        return numpy_dtype(self.dtype)

    @property
    def stored_dtype(self) -> np.dtype:
        return stored_dtype(self.dtype)

    @lazy
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.numpy_dtype.itemsize

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.dtype])

    def json(self) -> dict[str, Any]:
        plain = {"name": self.name, "dtype": self.dtype, "shape": list(self.shape)}
        return {**plain, **({"order": list(self.order)} if self.order else {}), **({"narrows": True} if self.narrows else {})}

    def takes(self, dtype: str) -> bool:
        """Whether an argument may be given as NumPy's array of that element type."""
        return is_taken(dtype, self.dtype, self.narrows)

    def seen(self) -> TensorSpec:
        """The array as the caller sees it."""
        if not self.order:
            return self
        extents = dict(zip(self.order, self.shape, strict=True))
        return TensorSpec(self.name, self.dtype, tuple(extents[d] for d in range(len(self.order))), narrows=self.narrows)

    @staticmethod
    def of(data: dict[str, Any]) -> TensorSpec:
        """From the plain data of a manifest, checked before (manifest.py)."""
        return TensorSpec(data["name"], data["dtype"], tuple(data["shape"]), tuple(data.get("order", ())), data.get("narrows", False))


@dataclass(frozen=True)
class Signature:
    """`inputs` are given at each call, `bound` once by `bind` (by their index in the program's own argument list), `outputs` come back."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    bound: dict[int, TensorSpec]

    @staticmethod
    def of(manifest: Mapping[str, Any]) -> Signature:
        """From the arguments and results of a manifest, checked before (manifest.py)."""
        arguments = dict(enumerate(map(TensorSpec.of, manifest["arguments"])))
        bound = {index: spec for index, spec in arguments.items() if manifest["arguments"][index]["bound"]}
        inputs = tuple(spec for index, spec in arguments.items() if index not in bound)
        return Signature(inputs, tuple(map(TensorSpec.of, manifest["results"])), bound)

    def seen(self) -> Signature:
        """What the caller sees of it."""
        bound = {index: spec.seen() for index, spec in self.bound.items()}
        return Signature(tuple(spec.seen() for spec in self.inputs), tuple(spec.seen() for spec in self.outputs), bound)

    def __str__(self) -> str:
        text = f"({listed(self.inputs)}) -> ({listed(self.outputs)})"
        return text + (f" bound ({listed(self.bound.values())})" if self.bound else "")


def listed(specs: Iterable[Any]) -> str:
    """Names and types of arguments or results, for people: of a TensorSpec, or an OpenSpec."""
    return ", ".join(f"{spec.name}: {spec}" for spec in specs)
