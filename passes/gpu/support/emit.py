"""Building blocks of kernels: index arithmetic, thread and block indices, structured control flow, one-dimensional vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import create, index_constant, value_of

WORKGROUP = "#gpu.address_space<workgroup>"


def element_bytes(kind: ir.Type) -> int:
    """The bytes of one element in a buffer; i1 takes one."""
    return max(8, kind.width) // 8


def storage_type(kind: ir.Type) -> ir.Type:
    """The element type in a buffer: i1 is stored as i8."""
    return ir.IntegerType.get_signless(8) if is_bool(kind) else kind


def is_bool(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType) and kind.width == 1


def thread_id() -> ir.Value:
    return value_of("gpu.thread_id", ir.IndexType.get(), dimension=ir.Attribute.parse("#gpu<dim x>"))


def block_id() -> ir.Value:
    return value_of("gpu.block_id", ir.IndexType.get(), dimension=ir.Attribute.parse("#gpu<dim x>"))


def barrier() -> None:
    create("gpu.barrier")


def divide(value: ir.Value, by: int) -> ir.Value:
    return value if by == 1 else value_of("arith.divui", value.type, [value, index_constant(by)])


def remainder(value: ir.Value, by: int) -> ir.Value:
    return index_constant(0) if by == 1 else value_of("arith.remui", value.type, [value, index_constant(by)])


def xor(left: ir.Value, right: ir.Value) -> ir.Value:
    return value_of("arith.xori", left.type, [left, right])


def less_than(left: LinearIndex, bound: int) -> ir.Value:
    """left < bound, both not negative."""
    return compare_integers("ult", left.value(), index_constant(bound))


def compare_integers(predicate: str, left: ir.Value, right: ir.Value) -> ir.Value:
    number = "eq ne slt sle sgt sge ult ule ugt uge".split().index(predicate)
    i1, i64 = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(64)
    result = vector_of(ir.VectorType(left.type).shape[0], i1) if is_vector(left) else i1
    return value_of("arith.cmpi", result, [left, right], predicate=ir.IntegerAttr.get(i64, number))


def all_of(conditions: Sequence[ir.Value]) -> ir.Value | None:
    total: ir.Value | None = None
    for condition in conditions:
        total = condition if total is None else value_of("arith.andi", total.type, [total, condition])
    return total


def digits(value: ir.Value, sizes: Sequence[int]) -> list[ir.Value]:
    """`value` as a mixed-radix number, most significant first; the first size bounds nothing."""
    found = []
    for size in reversed(sizes[1:]):
        found.append(remainder(value, size))
        value = divide(value, size)
    return [value, *reversed(found)]


def zero(kind: ir.Type) -> ir.Value:
    """0 of a scalar or vector type."""
    element = ir.VectorType(kind).element_type if isinstance(kind, ir.VectorType) else kind
    attribute = ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)
    if element != kind:
        attribute = ir.DenseElementsAttr.get_splat(kind, attribute)
    return value_of("arith.constant", kind, value=attribute)


@contextmanager
def if_then(condition: ir.Value | None) -> Iterator[None]:
    """Emits what follows under `condition`; unconditionally where it is None."""
    if condition is None:
        yield
        return
    op = create("scf.if", [], [condition], regions=2)
    with ir.InsertionPoint(op.regions[0].blocks.append()):
        yield
        create("scf.yield")


def choose(condition: ir.Value | None, types: Sequence[ir.Type], then: Callable[[], list[ir.Value]]) -> list[ir.Value]:
    """What `then` yields where `condition` holds, zeros elsewhere; a branch, so that nothing is read elsewhere."""
    if condition is None:
        return then()
    op = create("scf.if", types, [condition], regions=2)
    with ir.InsertionPoint(op.regions[0].blocks.append()):
        create("scf.yield", [], then())
    with ir.InsertionPoint(op.regions[1].blocks.append()):
        create("scf.yield", [], [zero(t) for t in types])
    return list(op.results)


def loop(
    bounds: tuple[int, int, int], carried: Sequence[ir.Value], body: Callable[[ir.Value, list[ir.Value]], list[ir.Value]]
) -> list[ir.Value]:
    """An scf.for from bounds[0] to bounds[1] in steps of bounds[2]; `body` takes the counter and the carried values, returns the next."""
    op = create("scf.for", [v.type for v in carried], [*map(index_constant, bounds), *carried], regions=1)
    block = op.regions[0].blocks.append(ir.IndexType.get(), *[v.type for v in carried])
    with ir.InsertionPoint(block):
        arguments = list(block.arguments)
        create("scf.yield", [], body(arguments[0], arguments[1:]))
    return list(op.results)


def vector_of(length: int, element: ir.Type) -> ir.Type:
    return ir.VectorType.get([length], element)


def is_vector(value: ir.Value) -> bool:
    return isinstance(value.type, ir.VectorType)


def extract(vector: ir.Value, position: int) -> ir.Value:
    """The element, or the row, of `vector` at `position`."""
    kind = ir.VectorType(vector.type)
    result = kind.element_type if kind.rank == 1 else ir.VectorType.get(kind.shape[1:], kind.element_type)
    return value_of("vector.extract", result, [vector], static_position=ir.DenseI64ArrayAttr.get([position]))


def elements(vector: ir.Value) -> list[ir.Value]:
    return [extract(vector, i) for i in range(ir.VectorType(vector.type).shape[0])] if is_vector(vector) else [vector]


def from_elements(values: Sequence[ir.Value]) -> ir.Value:
    return value_of("vector.from_elements", vector_of(len(values), values[0].type), list(values))


def broadcast(value: ir.Value, length: int) -> ir.Value:
    """`value` as a vector, if it is none yet."""
    return value if is_vector(value) else value_of("vector.broadcast", vector_of(length, value.type), [value])


def part(vector: ir.Value, start: int, length: int) -> ir.Value:
    """`length` elements (or rows) of `vector` from `start` on."""
    kind = ir.VectorType(vector.type)
    if kind.shape[0] == length:
        return vector
    i64 = ir.IntegerType.get_signless(64)
    numbers = {"offsets": start, "sizes": length, "strides": 1}
    attributes = {name: ir.ArrayAttr.get([ir.IntegerAttr.get(i64, n)]) for name, n in numbers.items()}
    result = ir.VectorType.get([length, *kind.shape[1:]], kind.element_type)
    return value_of("vector.extract_strided_slice", result, [vector], **attributes)


def load(buffer: ir.Value, indices: Sequence[ir.Value], length: int = 1) -> ir.Value:
    """An element (length 1) or an aligned vector of a buffer."""
    element = ir.MemRefType(buffer.type).element_type
    if length == 1:
        return value_of("memref.load", element, [buffer, *indices])
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), length * element_bytes(element))
    return value_of("vector.load", vector_of(length, element), [buffer, *indices], alignment=alignment)


def store(value: ir.Value, buffer: ir.Value, indices: Sequence[ir.Value]) -> None:
    """Stores an element or an aligned vector."""
    if not is_vector(value):
        create("memref.store", [], [value, buffer, *indices])
        return
    kind = ir.VectorType(value.type)
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), kind.shape[0] * element_bytes(kind.element_type))
    create("vector.store", [], [value, buffer, *indices], alignment=alignment)


def clone_elementwise(op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
    """A scalar op of a linalg body, on vectors if one of the operands is one."""
    lengths = [ir.VectorType(v.type).shape[0] for v in operands if is_vector(v)]
    result = op.results[0].type
    if lengths:
        operands = [broadcast(v, lengths[0]) for v in operands]
        result = vector_of(lengths[0], result)
    return value_of(op.name, result, list(operands), **{name: op.attributes[name] for name in op.attributes})
