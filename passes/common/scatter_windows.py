"""The dimension numbers of a scatter, read off its op: which element of what it updates an element of its updates goes to."""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

KEPT = ("scatter_dimension_numbers", "unique_indices", "indices_are_sorted")
"""The attributes of a scatter that stays what it is up to its kernel."""
UNSIGNED = "hloom.unsigned_indices"
"""One of its attributes more: its indices had no sign."""


@dataclass(frozen=True)
class Windows:
    """The dimension numbers of a scatter, by dims of what it updates. `shape` is that of what it updates, `updates` that of its updates.

    `window` has the window's extent along each dim. `at[d]` is the dim of the updates along which the window's dim d lies; `moved[d]` the
    component of the index that moves it; `batch[d]` the dim of the updates that gives a batching dim. `over` are the dims of the updates
    that tell the index, in the order of those of the indices beside `component`, along which an index lies.
    """

    shape: list[int]
    updates: list[int]
    window: list[int]
    at: dict[int, int]
    moved: dict[int, int]
    batch: dict[int, int]
    over: list[int]
    component: int

    @property
    def along_lines(self) -> bool:
        """Whether several elements of a window lie side by side in what is updated."""
        longer = [d for d, extent in enumerate(self.shape) if extent != 1]
        return bool(longer) and longer[-1] in self.at and self.window[longer[-1]] != 1

    @staticmethod
    def of(op: ir.Operation) -> Windows:
        count = len(op.results)
        shape, places, updates = ([*v.type.shape] for v in (op.operands[0], op.operands[count], op.operands[count + 1]))
        numbers = _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
        inside, batching = list(numbers.update_window_dims), list(numbers.input_batching_dims)
        over = [d for d in range(len(updates)) if d not in inside]
        of_places = [d for d in range(len(places)) if d != numbers.index_vector_dim]
        absent = {*numbers.inserted_window_dims, *batching}
        at = dict(zip((d for d in range(len(shape)) if d not in absent), inside, strict=True))
        batch = {d: over[of_places.index(i)] for d, i in zip(batching, numbers.scatter_indices_batching_dims)}
        moved = {d: component for component, d in enumerate(numbers.scattered_dims_to_operand_dims)}
        window = [updates[at[d]] if d in at else 1 for d in range(len(shape))]
        return Windows(shape, updates, window, at, moved, batch, over, numbers.index_vector_dim)
