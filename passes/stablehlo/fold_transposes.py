"""fold-transposes: transposes go into the dimension numbers of the dots and convolutions that read or make them.

Before:
    %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
After:
    %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>

On their way there transposes sink through elementwise ops with splats and through reshapes that only add or drop unit dimensions, or join
or split first ones that the transpose leaves where they are, as a batch and its heads, and through dynamic slices that dots alone read, as
loops over matrices have them; a dot takes them through the bitcast by which it sees floats in bytes. A transpose of a dot's result that
brings its second side before its first exchanges the operands; one of a convolution's result renumbers it. Must hold: nothing. Declined:
transposes that reorder the free dimensions of one side of a dot among themselves; sinking a value with other uses.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.byte_floats import sees_floats
from ..common.ops import Kind, named
from ..common.rewriting import attributes_of, defining_op, element_of, has_one_use, integers, producer, value_of
from ..registry import register_pass
from .rules.shapes import SHAPES, unit_mapping
from .support import build, constants
from .support.dimensions import ConvDims, DotDims
from .support.driver import Rule, merged, rewrite

Values = list[ir.Value] | None


@register_pass("fold-transposes", "folds transposes into the dimension numbers of dots and convolutions")
def fold_transposes(module: ir.Operation) -> bool:
    rules: dict[str, list[Rule]] = {
        "stablehlo.dot_general": [_dot],
        "stablehlo.convolution": [_convolution],
        "stablehlo.transpose": [_of_dot, *SHAPES["stablehlo.transpose"], _of_convolution],
        "stablehlo.reshape": [*SHAPES["stablehlo.reshape"], _sink_reshape, _sink_behind],
        "stablehlo.dynamic_slice": [_sink_slice],
    }
    sinking = dict.fromkeys(named(Kind.ELEMENTWISE), (_sink_elementwise,))
    return rewrite(module, merged(rules, sinking))


def _transposed(value: ir.Value) -> tuple[ir.Value, list[int]] | None:
    """(x, permutation) of the transpose that makes `value`, of bytes also where they are seen as floats."""
    op = defining_op(value)
    if op is not None and sees_floats(op) and (found := _transposed(op.operands[0])):
        x, permutation = found
        kind = build.tensor(build.shape_of(x), build.element_of(value))
        return build.elementwise("bitcast_convert", x, result=kind), permutation
    op = producer(value, "stablehlo.transpose")
    return (op.operands[0], integers(op, "permutation")) if op else None


def _dot(op: ir.Operation) -> Values:
    dims = DotDims.of(op)
    operands, changed = list(op.operands), False
    for side in (0, 1):
        found = _transposed(operands[side])
        if found is None:
            continue
        x, permutation = found
        free = [permutation[d] for d in dims.free(side)]
        if free != sorted(free):
            continue
        dims = dims.moved(side, permutation)
        operands[side], changed = x, True
    return [dims.emit(op, operands[0], operands[1], op.results[0].type)] if changed else None


def _of_dot(op: ir.Operation) -> Values:
    """transpose(dot(x, y)) → transpose(dot(y, x)) where the second side comes to lie before the first; no transpose if that is all."""
    dot = producer(op.operands[0], "stablehlo.dot_general")
    if dot is None or not has_one_use(dot.results[0]):
        return None
    dims = DotDims.of(dot)
    batch, left, right = len(dims.batch[0]), len(dims.free(0)), len(dims.free(1))
    exchanged = [*range(batch), *range(batch + left, batch + left + right), *range(batch, batch + left)]
    permutation, shape = integers(op, "permutation"), build.shape_of(dot.results[0])
    sides = [d >= batch + left for d in permutation if d >= batch and shape[d] != 1]
    if permutation != exchanged and (len(set(sides)) < 2 or sides != sorted(sides, reverse=True)):
        return None
    kind = build.tensor([shape[d] for d in exchanged], element_of(dot.results[0]))
    made = dims.exchanged().emit(dot, dot.operands[1], dot.operands[0], kind)
    return [build.transpose(made, [exchanged.index(d) for d in permutation])]


def _convolution(op: ir.Operation) -> Values:
    return into_convolution(op, (0, 1))


def into_convolution(op: ir.Operation, sides: tuple[int, ...]) -> Values:
    """A convolution that reads what was transposed for it on these sides (activations, weights) as it lies; None if nothing was."""
    dims = ConvDims.of(op)
    operands, changed = list(op.operands), False
    for side in sides:
        found = _transposed(operands[side])
        if found is not None:
            operands[side], permutation = found
            dims, changed = dims.moved(side, permutation), True
    return [dims.emit(op, operands[0], operands[1], op.results[0].type)] if changed else None


def _of_convolution(op: ir.Operation) -> Values:
    convolution = producer(op.operands[0], "stablehlo.convolution")
    if convolution is None or not has_one_use(convolution.results[0]):
        return None
    permutation = integers(op, "permutation")
    inverse = [permutation.index(d) for d in range(len(permutation))]
    dims = ConvDims.of(convolution).moved(2, inverse)
    return [dims.emit(convolution, convolution.operands[0], convolution.operands[1], op.results[0].type)]


def _sink_elementwise(op: ir.Operation) -> Values:
    """f(transpose(x), splat) → transpose(f(x, splat)) for a transpose without other uses."""
    found = None
    for value in op.operands:
        transposed = _transposed(value)
        if transposed is not None and found is None and has_one_use(value):
            found = transposed
        elif constants.splat_attribute(value) is None:
            return None
    if found is None:
        return None
    x, permutation = found
    shape = build.shape_of(x)

    def before(value: ir.Value) -> ir.Value:
        attribute = constants.splat_attribute(value)
        if attribute is None:
            return x
        return value if not build.shape_of(value) else build.splat(build.tensor(shape, build.element_of(value)), attribute)

    operands = [before(v) for v in op.operands]
    kind = build.tensor(shape, build.element_of(op.results[0]))
    inner = value_of(op.name, kind, operands, **attributes_of(op))
    return [build.transpose(inner, permutation)]


def _sink_slice(op: ir.Operation) -> Values:
    """dynamic_slice(transpose(x)) → transpose(dynamic_slice(x)) where dots read the slice alone: a loop over the matrices of an array."""
    found = _transposed(op.operands[0])
    if found is None or not _only_dots_read(op.results[0]):
        return None
    x, permutation = found
    inverse = [permutation.index(d) for d in range(len(permutation))]
    at, sizes = list(op.operands)[1:], integers(op, "slice_sizes")
    part = build.dynamic_slice(x, [at[d] for d in inverse], [sizes[d] for d in inverse])
    return [build.transpose(part, permutation)]


def _only_dots_read(value: ir.Value) -> bool:
    """Whether each use is by a dot, or by a reshape of unit dimensions that only dots read."""
    for use in value.uses:
        user = use.owner
        if user.name == "stablehlo.dot_general":
            continue
        if user.name != "stablehlo.reshape" or unit_mapping(build.shape_of(value), build.shape_of(user.results[0])) is None:
            return False
        if not _only_dots_read(user.results[0]):
            return False
    return True


def _sink_reshape(op: ir.Operation) -> Values:
    """reshape(transpose(x)) → transpose(reshape(x)) where the reshape only adds and drops unit dimensions."""
    found = _transposed(op.operands[0])
    if found is None or not has_one_use(op.operands[0]):
        return None
    x, permutation = found
    source, target = build.shape_of(op.operands[0]), build.shape_of(op.results[0])
    mapping = unit_mapping(source, target)
    if mapping is None or [d for d, extent in zip(mapping, source) if d >= 0] != sorted(d for d in mapping if d >= 0):
        return None
    kept = [d for d in range(len(permutation)) if mapping[permutation.index(d)] >= 0]  # dims of x, in their order
    added = [d for d in range(len(target)) if d not in mapping]
    shape = [build.shape_of(x)[d] for d in kept] + [1] * len(added)
    place = {mapping[permutation.index(d)]: i for i, d in enumerate(kept)} | {d: len(kept) + i for i, d in enumerate(added)}
    return [build.transpose(build.reshape(x, shape), [place[d] for d in range(len(target))])]


def _sink_behind(op: ir.Operation) -> Values:
    """reshape(transpose(x)) → transpose(reshape(x)) where the reshape changes first dimensions, the transpose those behind them."""
    found = _transposed(op.operands[0])
    if found is None or not has_one_use(op.operands[0]):
        return None
    x, permutation = found
    source, target = build.shape_of(op.operands[0]), build.shape_of(op.results[0])
    first = next((d for d in range(len(permutation)) if permutation[d] != d), len(permutation))
    behind, start = len(source) - first, len(target) - len(source) + first
    if start < 0 or source[first:] != target[start:] or 0 in source:
        return None
    moved = [start + permutation[first + d] - first for d in range(behind)]
    return [build.transpose(build.reshape(x, target[:start] + build.shape_of(x)[first:]), [*range(start), *moved])]
