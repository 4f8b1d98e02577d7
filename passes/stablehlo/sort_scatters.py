"""sort-scatters: for a GPU, a scatter of many updates whose order counts gets its indices sorted, its updates in their order.

Before:
    %0 = "stablehlo.scatter"(%t, %i, %u) ({ stablehlo.add : f32 }) : (tensor<100x64xf32>, tensor<3000x1xi32>, tensor<3000x64xf32>) -> …
After:
    %key = the place that each index tells, 100 for those out of bounds
    %sorted, %order = "stablehlo.sort"(%key, %iota) <{is_stable = true}> ({ LT }) : tensor<3000xi32>, tensor<3000xi32>
    %v = "stablehlo.gather"(%u, %order)
    %0 = "stablehlo.scatter"(%t, %sorted, %v) ({ stablehlo.add : f32 }) {hloom.sorted}

Updates of one index now lie side by side, in the order that they had: distribute-scatters has a thread apply those of one place, and others
those of others, where one thread would walk over all of them. Done where that is cheaper: a step of the walk costs what memory makes it
wait, sorting costs some kernels.

Where a policy says `use = "unordered"` of a scatter, it says `hloom.unordered`: atomics then apply its updates as they come, and sums of
floats differ in their last bits from run to run.

Must hold: nothing. Declined: targets that are no GPUs; scatters whose result no order changes, or that have few updates; windows of several
elements that an index moves, since those overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.target import TargetView, target_of

from ..common.dense_constants import is_splat
from ..common.rewriting import defining_op, element_of, replace, walk
from ..common.scatter_order import SORTED, UNORDERED, Order, order_of
from ..common.scatter_windows import Windows
from ..fused.planner.policy import UNORDERED as UNORDERED_USE
from ..fused.planner.policy import policy_of
from ..registry import register_pass
from .support import build
from .support.driver import with_region

STEP_PS = 500_000
"""A step of a walk over the updates: an access of memory, which the next one waits for. An estimate."""
KERNELS = 12
"""What a sort and the moves around it cost, in launches. An estimate."""


@register_pass("sort-scatters", "sorts the indices of scatters whose order counts", ops=("stablehlo.scatter",))
def sort_scatters(module: ir.Operation) -> None:
    target = target_of(module)
    scatters = walk(module, "stablehlo.scatter") if target.kind == "cuda" else []
    policy = policy_of(module) if scatters else None
    for op in scatters:
        with module.context, op.location, ir.InsertionPoint(op):
            if policy is not None and policy.kernel_for(op).use == UNORDERED_USE:
                op.attributes[UNORDERED] = ir.UnitAttr.get()
            if order_of(op) is Order.KEPT and _pays(Windows.of(op), target):
                replace(op, _sorted(op, Windows.of(op)))


def _pays(windows: Windows, target: TargetView) -> bool:
    """Whether the windows are single elements along all dims that an index moves, and enough of them go to several places."""
    batches = windows.batch.values()
    steps = prod(windows.updates[d] for d in windows.over if d not in batches)
    alone = all(windows.window[d] == 1 for d in windows.moved)
    return alone and bool(windows.moved or batches) and steps * STEP_PS > KERNELS * target.launch_ps


def _sorted(op: ir.Operation, windows: Windows) -> list[ir.Value]:
    """The results of the scatter with one index a window, sorted; batching dims are components of it."""
    count = len(op.results)
    operands = list(op.operands)
    total = prod(windows.updates[d] for d in windows.over)
    components = _components(operands[count], windows, total)
    dims = [*windows.moved, *windows.batch]
    key = _key(components, [windows.shape[d] for d in dims])
    numbers = build.iota([total], element_of(key), 0)
    ordered, order = build.sort([key, numbers], 0, lambda a, b, *_: build.compare("LT", a, b))
    indices = ordered if len(dims) == 1 else build.take(build.concatenate(components, 1), 0, order)
    inside = [d for d in range(len(windows.updates)) if d not in windows.over]
    updates = [_moved(update, windows, inside, total, order) for update in operands[count + 1 :]]
    numbering = _stablehlo.ScatterDimensionNumbers.get(
        update_window_dims=list(range(1, len(inside) + 1)),
        inserted_window_dims=[d for d in range(len(windows.shape)) if d not in windows.at],
        input_batching_dims=[],
        scatter_indices_batching_dims=[],
        scattered_dims_to_operand_dims=dims,
        index_vector_dim=1,
    )
    types = [result.type for result in op.results]
    changed = {"scatter_dimension_numbers": numbering, SORTED: ir.UnitAttr.get()}
    return list(with_region(op, [*operands[:count], indices, *updates], types, **changed).results)


def _components(indices: ir.Value, windows: Windows, total: int) -> list[ir.Value]:
    """The components of the index of each window, and the number of its batch: columns of integers."""
    shape = build.shape_of(indices)
    own = ir.IntegerType(element_of(indices))
    wide = own.width > 32 or (own.is_unsigned and own.width == 32) or max(windows.shape, default=0) >= 1 << 31
    element = ir.IntegerType.get_signless(64 if wide else 32)
    if windows.component < len(shape):
        indices = build.transpose(indices, [*(d for d in range(len(shape)) if d != windows.component), windows.component])
    table = build.convert(build.reshape(indices, [total, len(windows.moved)]), element)
    columns = [build.slice_dim(table, 1, component, component + 1) for component in windows.moved.values()]
    extents = [windows.updates[d] for d in windows.over]
    for u in windows.batch.values():
        columns.append(build.reshape(build.iota(extents, element, windows.over.index(u)), [total, 1]))
    return columns


def _key(components: Sequence[ir.Value], extents: Sequence[int]) -> ir.Value:
    """The place that each index tells, in row-major order; behind all others where it is out of bounds."""
    total, most = build.count_of(components[0]), prod(extents)
    element = ir.IntegerType.get_signless(64 if most >= 1 << 31 or total >= 1 << 31 else element_of(components[0]).width)
    kind, inside, key = build.tensor([total], element), None, None
    for component, extent in zip(components, extents):
        column = build.reshape(component, [total])
        zero, end = (build.full_like(column, n) for n in (0, extent))
        hit = build.elementwise("and", build.compare("GE", column, zero), build.compare("LT", column, end))
        inside = hit if inside is None else build.elementwise("and", inside, hit)
        place = build.convert(column, element)
        if key is not None:
            scaled = build.multiply(key, build.full(kind, extent))
            place = build.add(scaled, place)
        key = place
    assert inside is not None and key is not None
    return build.select(inside, key, build.full(kind, most))


def _moved(update: ir.Value, windows: Windows, inside: list[int], total: int, order: ir.Value) -> ir.Value:
    """The updates with all windows along one dim, in the order of the sorted indices."""
    whole = build.transpose(update, [*windows.over, *inside])
    flat = build.reshape(whole, [total, *(windows.updates[d] for d in inside)])
    made = defining_op(update)
    constant = made is not None and made.name == "stablehlo.constant" and is_splat(made.attributes["value"])
    return flat if constant else build.take(flat, 0, order)
