"""Products whose rows are read by several loops at once get a loop for each of them.

A batch of sequences is multiplied as one matrix, `m = 196 b + r`, and what follows runs over b and r. In one tile neither loop would be
cut: the rows that a tile of b and r needs are no slice of m. As loops of the product b and r are.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.affine import dim_position, index_at, maps_attr, read_maps, used_dims
from ...common.index_expression import digits_of, loops_of
from ...common.rewriting import defining_op, shape_of, value_of
from .generic import Generic, is_contraction, read_generic, signless_element
from .views import at_edge, expand

_LEAST_ROWS = 24
"""Of the innermost loop: blocks of registers begin anew with each turn of the loop around it."""
Split = list[list[int]]
"""The extents that each dimension of a result is split in; one where it stays."""


def split_result(producer: ir.Operation) -> None:
    """The product, computed in the dims that all its readers read it by: `c[196 * b + r, n]` becomes `c[b, r, n]`.

    Declined: readers that differ, or do not read all of it in order; few rows a turn; operands that another op of the group makes, or that
    are read along the loop in another way than by it.
    """
    product = read_generic(producer)
    out = product.maps[-1]
    fill = defining_op(producer.operands[len(producer.operands) - 1])
    if not is_contraction(product) or fill is None or fill.name != "linalg.fill" or None in map(dim_position, out.results):
        return
    result = producer.results[0]
    uses = [(use.owner.operation, use.operand_number) for use in result.uses]
    if any(op.name != "linalg.generic" or number >= len(op.operands) - len(op.results) for op, number in uses):
        return
    found = [_split(read_generic(op), number, shape_of(result)) for op, number in uses]
    if not found or any(split != found[0] for split in found) or all(len(sizes) == 1 for sizes in found[0]):
        return
    if any(len(sizes) > 1 and sizes[-1] < _LEAST_ROWS for sizes in found[0]):
        return
    loops = {dim_position(expr): sizes for expr, sizes in zip(out.results, found[0])}
    split = [loops.get(d, [extent]) for d, extent in enumerate(product.extents)]
    if all(_follows(value, m, split) for value, m in zip(product.inputs, product.maps)):
        _rewrite(producer, product, fill, split, uses)


def _split(reader: Generic, number: int, shape: Sequence[int]) -> Split:
    """What the reader reads each dimension by: loops whose numbers are its digits."""
    split = []
    for expr, extent in zip(reader.maps[number].results, shape):
        loops = digits_of(index_at(expr, loops_of(reader.extents)), extent)
        split.append([reader.extents[d] for d in loops] if len(loops) > 1 else [extent])
    return split


def _follows(value: ir.Value, m: ir.AffineMap, split: Split) -> bool:
    """Whether an operand of the product can be read by the split loops."""
    wide = {d for d, sizes in enumerate(split) if len(sizes) > 1}
    bent = any(dim_position(e) is None and used_dims(e) & wide for e in m.results)
    return not bent and (at_edge(value) or not {dim_position(e) for e in m.results} & wide)


def _rewrite(producer: ir.Operation, product: Generic, fill: ir.Operation, split: Split, uses: list[tuple[ir.Operation, int]]) -> None:
    starts = [sum(map(len, split[:d])) for d in range(len(split))]
    loops = sum(map(len, split))

    def expanded(value: ir.Value, m: ir.AffineMap) -> tuple[list[list[int]], list[int], ir.AffineMap]:
        """How the dims of an operand are grouped anew, their extents, and its map."""
        groups: list[list[int]] = []
        shape: list[int] = []
        exprs: list[ir.AffineExpr] = []
        moved = ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(start) for start in starts])
        for expr, extent in zip(m.results, shape_of(value)):
            d = dim_position(expr)
            sizes = [extent] if d is None or len(split[d]) == 1 else split[d]
            groups.append(list(range(len(shape), len(shape) + len(sizes))))
            shape += sizes
            exprs += [expr.compose(moved)] if d is None else [ir.AffineDimExpr.get(starts[d] + i) for i in range(len(sizes))]
        return groups, shape, ir.AffineMap.get(loops, 0, exprs)

    maps = []
    with ir.InsertionPoint(producer), producer.location:
        groups, shape, out = expanded(producer.results[0], product.maps[-1])
        kind = ir.RankedTensorType.get(shape, signless_element(producer.results[0]))
        empty = value_of("tensor.empty", kind)
        init = fill.clone(ir.InsertionPoint(producer))
        init.operands[1] = empty
        init.results[0].set_type(kind)
        clone = producer.clone(ir.InsertionPoint(producer))
        for number, (value, m) in enumerate(zip(product.inputs, product.maps)):
            dims, extents, read = expanded(value, m)
            with ir.InsertionPoint(clone):
                clone.operands[number] = expand(value, dims, extents) if extents != shape_of(value) else value
            maps.append(read)
    clone.operands[len(clone.operands) - 1] = init.results[0]
    clone.results[0].set_type(kind)
    clone.attributes["indexing_maps"] = maps_attr([*maps, out])
    iterators = list(ir.ArrayAttr(producer.attributes["iterator_types"]))
    clone.attributes["iterator_types"] = ir.ArrayAttr.get([kind for kind, sizes in zip(iterators, split) for _ in sizes])
    for reader, number in uses:
        _read_by_digits(reader, number, groups, clone.results[0])


def _read_by_digits(reader: ir.Operation, number: int, groups: list[list[int]], value: ir.Value) -> None:
    extents, maps = read_generic(reader).extents, read_maps(reader)
    results: list[ir.AffineExpr] = []
    for expr, extent, group in zip(maps[number].results, shape_of(reader.operands[number]), groups):
        digits = digits_of(index_at(expr, loops_of(extents)), extent)
        results += [expr] if len(group) == 1 else [ir.AffineDimExpr.get(d) for d in digits]
    maps[number] = ir.AffineMap.get(len(extents), 0, results)
    reader.operands[number] = value
    reader.attributes["indexing_maps"] = maps_attr(maps)
