"""Reading and building linalg.generic, linalg.fill and the scalars they use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.read_once import ReadOnce

from ...common.affine import dim_position, index_at, maps_attr, read_maps
from ...common.combiner import SEQUENTIAL
from ...common.contraction import summed_product
from ...common.index_expression import cuts, loops_of
from ...common.rewriting import create, defining_op, element_of, replace, segments, shape_of, value_of
from ...common.scalars import signless

PARALLEL, REDUCTION = "parallel", "reduction"


def signless_element(value: ir.Value) -> ir.Type:
    """The element type; unsigned types count as signless, as they become."""
    return signless(element_of(value))


def dims(numbers: Sequence[int]) -> list[ir.AffineExpr]:
    return [ir.AffineExpr.get_dim(n) for n in numbers]


def affine_map(loops: int, results: Sequence[ir.AffineExpr]) -> ir.AffineMap:
    return ir.AffineMap.get(loops, 0, list(results))


def identity(rank: int) -> ir.AffineMap:
    return ir.AffineMap.get_identity(rank)


def empty(shape: Sequence[int], element: ir.Type) -> ir.Value:
    return value_of("tensor.empty", ir.RankedTensorType.get(list(shape), element))


def fill(scalar: ir.Value, shape: Sequence[int]) -> ir.Value:
    """A tensor of that shape filled with `scalar`."""
    destination = empty(shape, scalar.type)
    op = create("linalg.fill", [destination.type], [scalar, destination], regions=1, operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 1]))
    block = ir.Block.create_at_start(op.regions[0], [scalar.type, scalar.type])
    with ir.InsertionPoint(block):
        create("linalg.yield", [], [block.arguments[0]])
    return op.results[0]


def new_generic(
    inputs: Sequence[ir.Value],
    outs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    iterators: Sequence[str],
    like: ir.Operation | None = None,
) -> ir.Operation:
    """A linalg.generic with an empty region; `maps` are those of the inputs, then those of the outs. `like`: the one that it replaces,
    whose steps may have to be taken in order."""
    made = create(
        "linalg.generic",
        [o.type for o in outs],
        [*inputs, *outs],
        regions=1,
        indexing_maps=maps_attr(maps),
        iterator_types=ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in iterators]),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(inputs), len(outs)]),
    )
    if like is not None and SEQUENTIAL in like.attributes:
        made.attributes[SEQUENTIAL] = like.attributes[SEQUENTIAL]
    return made


def build_generic(
    inputs: Sequence[ir.Value],
    outs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    iterators: Sequence[str],
    body: Callable[..., Sequence[ir.Value]],
) -> ir.Operation:
    """A linalg.generic whose body is what `body(*block arguments)` emits; it returns the values to yield."""
    op = new_generic(inputs, outs, maps, iterators)
    block = ir.Block.create_at_start(op.regions[0], [signless_element(v) if is_tensor(v) else v.type for v in (*inputs, *outs)])
    with ir.InsertionPoint(block):
        create("linalg.yield", [], list(body(*block.arguments)))
    return op


def copy(value: ir.Value) -> ir.Value:
    """A generic that makes the same tensor again."""
    shape = shape_of(value)
    maps, loops = [identity(len(shape))] * 2, [PARALLEL] * len(shape)
    return build_generic([value], [empty(shape, signless_element(value))], maps, loops, lambda x, _: [x]).results[0]


def resized_start(value: ir.Value, shape: Sequence[int]) -> ir.Value | None:
    """What a generic starts from, `value`, made anew with that shape: a tensor.empty or a fill; None where it is neither."""
    producer = defining_op(value)
    if producer is not None and producer.name == "tensor.empty":
        return empty(shape, signless_element(value))
    if producer is not None and producer.name == "linalg.fill":
        return fill(producer.operands[0], shape)
    return None


def lend_extents(op: ir.Operation, extents: Sequence[int]) -> ir.Operation:
    """linalg wants each loop alone in some map: those that are not take their extents from an input that lends only its shape.

    Gives the generic, of which there is a new one if an input was added.
    """
    source = read_generic(op)
    alone = {dim_position(e) for indexing in source.maps for e in indexing.results}
    missing = [i for i in range(len(extents)) if i not in alone]
    if not missing:
        return op
    with ir.InsertionPoint(op), op.location:
        lent = empty([extents[i] for i in missing], ir.F32Type.get())
    return with_input(source, lent, affine_map(len(extents), dims(missing)))


def with_input(source: Generic, value: ir.Value, indexing: ir.AffineMap) -> ir.Operation:
    """A generic in the place of this one, which is erased, with one more input, its last."""
    block, count, arguments = source.block, len(source.inputs), source.out_arguments
    maps = [*source.in_maps, indexing, *source.out_maps]
    with ir.InsertionPoint(source.op), source.op.location:
        new = new_generic([*source.inputs, value], source.outs, maps, source.iterators, source.op)
    block.add_argument(signless_element(value), new.location)
    for argument in arguments:  # arguments are added at the end alone: those of the outs follow anew
        argument.replace_all_uses_with(block.add_argument(argument.type, new.location))
    for _ in arguments:
        block.erase_argument(count)
    block.append_to(new.regions[0])
    for old, result in zip(source.op.results, new.results):
        old.replace_all_uses_with(result)
    source.op.erase()
    return new


def is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


@dataclass
class Generic:
    """What a linalg.generic says, read once. Holds op handles: valid as long as nobody erases the op."""

    op: ir.Operation
    inputs: list[ir.Value]
    outs: list[ir.Value]
    maps: list[ir.AffineMap]
    iterators: list[str]
    extents: list[int]

    @property
    def block(self) -> ir.Block:
        return self.op.regions[0].blocks[0]

    @property
    def terminator(self) -> ir.Operation:
        return list(self.block.operations)[-1].operation

    @property
    def in_maps(self) -> list[ir.AffineMap]:
        return self.maps[: len(self.inputs)]

    @property
    def out_maps(self) -> list[ir.AffineMap]:
        return self.maps[len(self.inputs) :]

    @property
    def out_arguments(self) -> list[ir.BlockArgument]:
        return list(self.block.arguments)[len(self.inputs) :]

    @property
    def is_parallel(self) -> bool:
        return all(kind == PARALLEL for kind in self.iterators)

    @property
    def trips(self) -> int:
        return prod(self.extents)


def extension_of(argument: ir.BlockArgument) -> ir.Operation | None:
    """What extends an argument of a body to f32, where nothing else reads it."""
    uses = [use.owner.operation for use in argument.uses]
    extends = len(uses) == 1 and uses[0].name == "arith.extf" and isinstance(uses[0].results[0].type, ir.F32Type)
    return uses[0] if extends else None


def take_extended(extension: ir.Operation) -> None:
    """Has the body take, of the argument that is extended, what it is extended to."""
    argument = extension.operands[0]
    argument.set_type(extension.results[0].type)
    replace(extension, [argument])


@ReadOnce
def _iterators(types: ir.Attribute) -> tuple[str, ...]:
    return tuple(REDUCTION if REDUCTION in str(each) else PARALLEL for each in ir.ArrayAttr(types))


def read_generic(op: ir.Operation) -> Generic:
    inputs, outs = segments(op)
    maps = read_maps(op)
    iterators = list(_iterators(op.attributes["iterator_types"]))
    extents = [1] * len(iterators)
    for value, indexing in zip([*inputs, *outs], maps):
        if not is_tensor(value):
            continue
        for expression, extent in zip(indexing.results, shape_of(value)):
            number = dim_position(expression)
            if number is not None:
                extents[number] = extent
    return Generic(op, inputs, outs, maps, iterators, extents)


def is_contraction(generic: Generic) -> bool:
    """One result, reduction loops, and a body that adds a product of (extended) inputs to the accumulator."""
    if generic.is_parallel or len(generic.outs) != 1 or len(generic.inputs) < 2:
        return False
    return summed_product(generic.block) is not None


def quotients(generic: Generic, kinds: Collection[str] = ("div", "mod")) -> list[tuple[int, set[int]]]:
    """(loop, steps) of each quotient and remainder (or of one of these kinds) of one loop in the inputs' maps, and where they cut it."""
    expressions = [index_at(expression, loops_of(generic.extents)) for indexing in generic.in_maps for expression in indexing.results]
    found = [cuts(atom) for index in expressions for atom, _ in index.terms if atom.kind in kinds]
    return [(loop, steps) for loop, steps in found if loop is not None]
