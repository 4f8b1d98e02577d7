"""place-pieces: what a tile makes in pieces and then joins is written where it belongs, on a CPU.

Before, in a tile of a loop that keeps two numbers of each of its 200 turns:
    %r:4 = linalg.generic {reduction, parallel} outs(…, %e0, %e1 : …, tensor<200x64xf32>, tensor<200x64xf32>)
    %s = tensor.extract_slice %o[0, 0, %j] [200, 2, 64]
    %p = linalg.generic ins(%r#2, %r#3) outs(%s : tensor<200x2x64xf32>) { linalg.index 1 < 1 ? %in0 : %in1 }
After:
    %s = tensor.extract_slice %o[0, 0, %j] [200, 2, 64]
    %s0 = tensor.extract_slice %s[0, 0, 0] [200, 1, 64];  %s1 = tensor.extract_slice %s[0, 1, 0] [200, 1, 64]
    %r:4 = linalg.generic {reduction, parallel} outs(…, %s0, %s1)      // at (turn, 0, column)
    %p0 = tensor.insert_slice %r#2 into %s[0, 0, 0];  %p = tensor.insert_slice %r#3 into %p0[0, 1, 0]

So trajectories of systems whose state is a stack (`jnp.stack` in the body of a scan) are written once.

Must hold: tile-and-fuse has run. Declined: pieces that are joined along the last dimension, where whole vectors of them are stored at once;
pieces of several elements along the dimension in which they are joined; pieces that another op reads, that start from a value, or that are
made by other than linalg.generic; joins that compute something; GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.affine import maps_attr, read_maps
from ..common.axes import TileOp, read_tile_op
from ..common.rewriting import defining_op, functions, has_one_use, integer, is_block_argument, mixed, ops_in, producer, replace, walk
from ..common.scalars import INTEGER_PREDICATES
from ..common.slices import extract_slice, insert_slice
from ..registry import register_pass

_MOST_PIECES = 64
_ORDERS = {"slt": int.__lt__, "sle": int.__le__, "sgt": int.__gt__, "sge": int.__ge__, "eq": int.__eq__, "ne": int.__ne__}


@register_pass("place-pieces", "writes the pieces that a tile joins where they belong", ops=("scf.forall",))
def place_pieces(module: ir.Operation) -> None:
    if target_of(module).kind == "cuda":
        return
    for function in functions(module):
        for forall in walk(function, "scf.forall"):
            tile = ops_in(forall.regions[0].blocks[0])
            for op in tile:
                if op.name == "linalg.generic" and (join := _join(op)) is not None:
                    join.place()


@dataclass(frozen=True)
class _Join:
    """A generic that takes the input `pieces[k]` at place k of the dimension `dim` of a slice."""

    op: TileOp
    dim: int
    pieces: list[int]
    into: ir.Operation

    def place(self) -> None:
        first = min((self._maker(number) for number in self.pieces), key=_place_in_block)
        self.into.move_before(first)
        whole = self.into.results[0]
        sizes = mixed(self.into, "static_sizes", 2)
        sizes = [1 if d == self.dim else size for d, size in enumerate(sizes)]
        filled = whole
        for at, number in enumerate(self.pieces):
            offsets = [at if d == self.dim else 0 for d in range(len(sizes))]
            piece, maker = self.op.inputs[number], self._maker(number)
            with ir.InsertionPoint(first), self.op.op.location:
                slice_ = extract_slice(whole, offsets, sizes)
            self._write(maker, ir.OpResult(piece).result_number, slice_)
            with ir.InsertionPoint(self.op.op), self.op.op.location:
                filled = insert_slice(piece, filled, offsets, sizes)
        replace(self.op.op, [filled])

    def _maker(self, number: int) -> ir.Operation:
        return self.op.inputs[number].owner.operation

    def _write(self, maker: ir.Operation, number: int, where: ir.Value) -> None:
        """Has the maker write its result of that number there."""
        out = len(maker.operands) - len(maker.results) + number
        maps = read_maps(maker)
        inside = list(maps[out].results)
        inside.insert(self.dim, ir.AffineExpr.get_constant(0))
        maps[out] = ir.AffineMap.get(maps[out].n_dims, 0, inside)
        maker.attributes["indexing_maps"] = maps_attr(maps)
        maker.operands[out] = where
        maker.results[number].set_type(where.type)


def _place_in_block(op: ir.Operation) -> int:
    return ops_in(op.block).index(op)


def _join(op: ir.Operation) -> _Join | None:
    read = read_tile_op(op)
    into = producer(read.inits[0], "tensor.extract_slice")
    if len(op.results) != 1 or not all(read.parallel) or into is None or not has_one_use(into.results[0]):
        return None
    if read.output_maps[0] != ir.AffineMap.get_identity(len(read.extents)):
        return None
    found = _chosen(op, read.extents)
    if found is None:
        return None
    dim, pieces = found
    if len(set(pieces)) != len(pieces) or len(pieces) != len(read.inputs):
        return None
    others = [ir.AffineExpr.get_dim(d) for d in range(len(read.extents)) if d != dim]
    if any(m != ir.AffineMap.get(len(read.extents), 0, others) for m in read.maps[:-1]):
        return None
    makers = [_maker_of(value, op) for value in read.inputs]
    if any(maker is None or not _can_stand_before(into, maker) for maker in makers):
        return None
    return _Join(read, dim, pieces, into)


def _maker_of(value: ir.Value, join: ir.Operation) -> ir.Operation | None:
    """What makes a piece from nothing, for the join alone."""
    maker = producer(value, "linalg.generic")
    if maker is None or maker.block != join.block or not has_one_use(value):
        return None
    number = ir.OpResult(value).result_number
    out = len(maker.operands) - len(maker.results) + number
    argument = maker.regions[0].blocks[0].arguments[out]
    start = defining_op(maker.operands[out])
    return maker if start is not None and start.name == "tensor.empty" and not any(True for _ in argument.uses) else None


def _can_stand_before(into: ir.Operation, maker: ir.Operation) -> bool:
    """Whether what a slice is of, and its place, are known before an op of its block."""
    made = [v.owner.operation for v in into.operands if not is_block_argument(v)]
    return all(op.block != maker.block or op.is_before_in_block(maker) for op in made)


def _chosen(op: ir.Operation, extents: list[int]) -> tuple[int, list[int]] | None:
    """The dimension by whose index alone a generic chooses, and which of its inputs it gives at each place; None of any other generic."""
    block = op.regions[0].blocks[0]
    *body, last = ops_in(block)
    indices = {integer(each, "dim") for each in body if each.name == "linalg.index"}
    if len(indices) != 1 or any(each.name not in ("linalg.index", "arith.constant", "arith.cmpi", "arith.select") for each in body):
        return None
    (dim,) = indices
    if dim == len(extents) - 1 or extents[dim] > _MOST_PIECES:
        return None
    taken = [_taken(body, last, block, at) for at in range(extents[dim])]
    numbers = [ir.BlockArgument(value).arg_number for value in taken if value is not None and value in list(block.arguments)[:-1]]
    return (dim, numbers) if len(numbers) == len(taken) else None


def _taken(body: list[ir.Operation], last: ir.Operation, block: ir.Block, at: int) -> ir.Value | None:
    """The argument that the body gives at a place."""
    known: dict[ir.Value, object] = {argument: argument for argument in block.arguments}
    names = {number: name for name, number in INTEGER_PREDICATES.items()}
    for op in body:
        values = [known[value] if value in known else _constant(value) for value in op.operands]
        if op.name == "linalg.index":
            found: object = at
        elif op.name == "arith.constant":
            found = _constant(op.results[0])
        elif op.name == "arith.cmpi":
            order = _ORDERS.get(names[integer(op, "predicate")])
            left, right = values
            found = order(left, right) if order is not None and isinstance(left, int) and isinstance(right, int) else None
        else:
            found = values[1] if values[0] is True else values[2] if values[0] is False else None
        known[op.results[0]] = found
    given = known.get(last.operands[0])
    return given if isinstance(given, ir.Value) else None


def _constant(value: ir.Value) -> int | None:
    constant = producer(value, "arith.constant")
    number = None if constant is None else constant.attributes["value"]
    return ir.IntegerAttr(number).value if isinstance(number, ir.IntegerAttr) else None
