"""What a tile keeps in memory of its own: the values of its ops that are not computed in a result's buffer."""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes

from ...common.affine import loop_of
from ...common.axes import Axes
from ...common.rewriting import element_of


def destinations(axes: Axes, results: list[ir.Value]) -> dict[tuple[int, int], int]:
    """Which result's buffer each op result may be written to: results themselves, and the chains of `outs` that lead to them."""
    goes_to: dict[tuple[int, int], int] = {}
    for number, value in enumerate(results):
        made = axes.producer(value)
        while made is not None and made not in goes_to:
            goes_to[made] = number
            init = axes.ops[made[0]].inits[made[1]]
            made = axes.producer(init) if len(list(init.uses)) == 1 else None
    return goes_to


def temporaries(axes: Axes, sizes: dict[int, int]) -> dict[ir.Value, int]:
    """The bytes of each value for which a tile of these sizes needs memory of its own. Of a chain of ops that update it, the last value."""
    goes_to = destinations(axes, axes.results)
    kept: dict[ir.Value, int] = {}
    for number, op in enumerate(axes.ops):
        for result, (init, indexing) in enumerate(zip(op.inits, op.output_maps)):
            if (number, result) in goes_to:
                continue
            if init in kept and len(list(init.uses)) == 1:
                kept[op.op.results[result]] = kept.pop(init)
                continue
            loops = [op.axes[loop_of(e)] for e in indexing.results]
            points = prod(sizes.get(axis, axes.extent[axis]) for axis in loops)
            kept[op.op.results[result]] = points * element_bytes(element_of(init))
    return kept
