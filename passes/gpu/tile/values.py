"""What a tensor of a tile is while the tile is distributed. Nothing is computed until it is asked for at an index."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch_mlir import ir

from ...common.axes import TileOp
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ..support.layout import Layout
from .extents import Extent


@dataclass
class View:
    """A slice of global or shared memory. `staged`: it has been brought to shared memory, or cannot be."""

    storage: Storage
    staged: bool = False


@dataclass
class Splat:
    """One scalar at every index."""

    scalar: ir.Value


@dataclass
class Lazy:
    """A result of an op without reductions: its body is evaluated where the result is read."""

    op: TileOp
    result: int


@dataclass
class Reduced:
    """A result of a reduction: its registers, by their indices and how many places of a vector they have. `layout` gives the indices."""

    op: TileOp
    result: int
    layout: Layout
    values: dict = field(default_factory=dict)


@dataclass
class Recomputed:
    """A result of a reduction that there is no room for: whoever reads an element reduces for it."""

    op: TileOp
    result: int


@dataclass
class Part:
    """A slice of a value of the tile, `offsets` into it."""

    tensor: ir.Value
    offsets: list[LinearIndex]


@dataclass
class Empty:
    """A tensor.empty: it has no elements to read."""


Value = View | Splat | Lazy | Reduced | Recomputed | Part | Empty


@dataclass
class Output:
    """A value that the tile inserts, and the slices of the kernel's outputs that receive it."""

    tensor: ir.Value
    destinations: list[Storage]
    extents: list[Extent]


class Elsewhere(Exception):
    """A value is needed at an index where this thread does not have it: it must go through shared memory."""

    def __init__(self, tensor: ir.Value):
        super().__init__()
        self.tensor = tensor
