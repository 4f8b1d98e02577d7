"""A program before it is compiled: as its front end delivers it, and checked, with everything that a file says of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.common.init_function import bound_arguments, mark_bound, mark_updates
from hloom.passes.common.rewriting import functions, symbol_name
from hloom.passes.errors import CompileError
from hloom.passes.stablehlo.quantized.types import stored_element
from hloom.runtime import pytree
from hloom.runtime.dtypes import WIDER
from hloom.runtime.open_shapes import Size
from hloom.runtime.signature import TensorSpec


@dataclass
class Imported:
    """What a front end hands back: a module that is not checked yet, and the little that only the front end knows."""

    module: ir.Module
    kind: str = "numpy"
    """The kind of array that a call gives and gets: "numpy", "torch" or "jax"."""
    in_tree: pytree.Structure = None
    """The structure of a call's positional arguments (runtime/pytree.py). Its leaves are the arguments that are not bound, in order."""
    out_tree: pytree.Structure = None
    kwarg_tree: pytree.Structure = None
    """The structure of the keyword arguments, whose leaves follow."""
    bound: dict[int, np.ndarray] = field(default_factory=dict)
    """Parameters and buffers of a torch module by argument index. The arrays share memory with the module."""
    names: Sequence[str] | None = None
    """Names of the arguments, by which they may be bound."""
    updates: dict[int, int] = field(default_factory=dict)
    """Arguments that a call changes, by the results that are their new values: the last ones, which `out_tree` does not count. Those that
    are in `bound` are the program's state (runtime/state.py)."""
    orders: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """How the arguments of the caller lie that are not row-major (runtime/layouts.py), and the results. The module tells shapes as the
    source does."""
    result_orders: Mapping[int, Sequence[int]] = field(default_factory=dict)
    narrows: bool = False
    """Whether arguments of 32 bits may be given as NumPy's of 64, which are converted."""
    shapes: Sequence[Sequence[Size]] | None = None
    """The shapes of the arguments, and of the results, where the front end has names for sizes that the module leaves open."""
    result_shapes: Sequence[Sequence[Size]] | None = None


@dataclass
class SourceProgram(Imported):
    """A program as the stage `input` wants it. `inputs` lists all arguments of @main, bound ones too.

    Structures that the front end leaves open are flat, and a lone result is no tuple.
    """

    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()

    def __post_init__(self) -> None:
        if self.in_tree is None:
            self.in_tree = pytree.flat(len(self.inputs) - len(self.bound))
        if self.kwarg_tree is None:
            self.kwarg_tree = {"dict": []}
        if self.out_tree is None and self.kind == "numpy":
            seen = len(self.outputs) - len(self.updates)
            self.out_tree = pytree.LEAF if seen == 1 else pytree.flat(seen)

    @property
    def state(self) -> set[int]:
        return self.updates.keys() & self.bound.keys()

    def bind(self, indices: Collection[int]) -> list[int]:
        """Marks arguments in the module as bound and takes them out of `in_tree`. Returns the indices of all that are bound."""
        main = main_function(self.module)
        marked = bound_arguments(main)
        free = [index for index in range(len(self.inputs)) if index not in marked and index not in self.state]
        mark_bound(main, indices)
        marked = bound_arguments(main)
        given = [index for index in range(len(self.inputs)) if index not in self.state]
        positional = pytree.count(self.in_tree)
        if positional + pytree.count(self.kwarg_tree) == len(given):
            free = given  # marked in the text: the structure counts them all
        gone = {position for position, index in enumerate(free) if index in marked}
        if any(position >= positional for position in gone):
            raise CompileError("keyword arguments cannot be bound", remedy="make them positional")
        self.in_tree = pytree.without(self.in_tree, gone)
        return marked

    def update_in_place(self, results: Mapping[int, int]) -> None:
        """Has those results written into the memory of those arguments."""
        mark_updates(main_function(self.module), results)

    def manifest(self, name: str, bound: Collection[int]) -> dict[str, Any]:
        """What the manifest of a file says of the program (docs/artifact.md), where the arguments of those indices are bound."""
        return {
            "name": name,
            "kind": self.kind,
            "arguments": [{**spec.json(), "bound": index in bound} for index, spec in enumerate(self.inputs)],
            "results": [spec.json() for spec in self.outputs],
            "in_tree": self.in_tree,
            "kwarg_tree": self.kwarg_tree,
            "out_tree": self.out_tree,
            **({"updates": list(map(list, self.updates.items())), "state": sorted(self.state)} if self.updates else {}),
        }


def main_function(module: ir.Module) -> ir.Operation:
    """The entry @main. Raises StopIteration if there is none."""
    return next(op for op in functions(module.operation) if symbol_name(op) == "main")


def tensor_spec(name: str, kind: ir.Type, order: Sequence[int] = (), narrows: bool = False) -> TensorSpec:
    """The spec of a tensor type; of the integers of a quantized one."""
    tensor = ir.RankedTensorType(kind)
    dtype = str(stored_element(tensor.element_type))
    return TensorSpec(name, dtype, tuple(tensor.shape), tuple(order), narrows and dtype in WIDER)
