"""One linalg op of a tile as the nest emitters see it: loops, extents, storage of each operand, and which operands it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import vector

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView
from hloom.runtime.lazy import lazy

from ...common.linear_index import LinearIndex, linear_form, linear_results
from ...common.nibbles import NIBBLE_TYPES
from ...common.rewriting import defining_op, integer, ops_in
from ...common.scalars import constant_integer
from ...common.storage import Storage
from .body import Captured, LanesBody
from .code import Code
from .lanes import Lanes, Rep
from .shared_reads import read_at_quotient

_BENDING = ("arith.divui", "arith.remui", "arith.minsi", "arith.maxsi")
"""Ops whose result is not linear in the loops that their operands are linear in."""
_STEPPING = ("arith.addi", "arith.subi", "arith.minsi", "arith.maxsi", "arith.index_cast")
"""Ops whose result goes on with one of their operands, as far as it goes on at all."""
_NEAR_BYTES = 16
"""Shuffles within so many bytes of a register are twice as many a cycle as those across."""


@dataclass(frozen=True)
class Picked:
    """Of elements side by side each lane takes one of its `width` neighbours: the one whose number is that of a loop."""

    loop: int
    width: int

    def of(self, read: ir.Value, indices: Sequence[LinearIndex], lanes: Lanes) -> ir.Value:
        """What the lanes take, of what they read: first the part of a register that has it, which others take from too."""
        place = indices[self.loop]
        assert place.is_constant  # the loop is unrolled
        near = min(self.width, _NEAR_BYTES // element_bytes(ir.VectorType(read.type).element_type))
        part = place.constant // near * near
        if near < self.width:
            read = vector.shuffle(read, read, [lane // self.width * self.width + part + lane % near for lane in range(lanes.count)])
        return vector.shuffle(read, read, [lane // near * near + place.constant % near for lane in range(lanes.count)])


@dataclass
class Work:
    """`inputs` holds a Storage per tensor input, or the scalar itself, or None for an input that only gives a shape. `outputs` is where
    the results go, `inits` where the outs are read from.

    `fill[i]` is the scalar that init i is filled with, if it is known: then it is not read. `forward[i]` is the value (of a work of the
    same nest) that input i is at the very point that is evaluated. `picked[i]` tells which of the elements of input i that the lanes read
    each of them takes.
    """

    op: ir.Operation
    maps: list[ir.AffineMap]
    inputs: list[Storage | ir.Value | None]
    inits: list[Storage | None]
    fill: list[ir.Value | None]
    outputs: list[Storage | None]
    parallel: list[bool]
    extents: list[int | ir.Value]
    values: list[ir.Value]
    forward: dict[int, ir.Value] = field(default_factory=dict)
    block: ir.Block | None = None
    picked: dict[int, Picked] = field(default_factory=dict)
    tiles: tuple[tuple[ir.Value, int], ...] = ()
    """The numbers of a tile, that which changes first before the others, and how many tiles there are along each."""

    @lazy
    def code(self) -> Code:
        """The body, which an op that only copies has not."""
        assert self.block is not None
        return Code(self.block)

    @property
    def output_maps(self) -> list[ir.AffineMap]:
        """The map of each result."""
        return self.maps[len(self.inputs) :]

    @property
    def reduces(self) -> bool:
        """Whether some loop is summed."""
        return not all(self.parallel)

    def reads_init(self, number: int) -> bool:
        return self.block is not None and self.code.arguments[len(self.inputs) + number] in self.code.read

    def inputs_in_memory(self) -> list[tuple[ir.AffineMap, Storage]]:
        """Map and storage of every input that is a buffer."""
        return [(m, s) for m, s in zip(self.maps, self.inputs) if isinstance(s, Storage)]

    def operands(self) -> list[tuple[ir.AffineMap, Storage]]:
        """Map and storage of every operand in memory."""
        pairs = list(zip(self.maps, [*self.inputs, *self.outputs]))
        return [(m, s) for m, s in pairs if isinstance(s, Storage)]

    def gathers(self, vector: int) -> bool:
        """Whether elements along the loop `vector` lie where no stride tells, and so are read at vectors of 64-bit indices."""
        bent = any(op.name in _BENDING and isinstance(op.results[0].type, ir.IndexType) for op in self._computing())
        return bent or any(stride_along(m, s, vector) is None for m, s in self.operands())

    def strided(self, vector: int) -> bool:
        """Whether elements along the loop `vector` lie neither side by side, in either direction, nor at one place."""
        return any(stride_along(m, s, vector) not in (-1, 0, 1) for m, s in self.operands())

    def widest(self) -> int:
        """Bits of the widest float or integer that the op computes with."""
        sizes = [element_bytes(s.element) for _, s in self.operands()]
        for op in self._computing():
            results = [r.type for r in op.results if isinstance(r.type, (ir.FloatType, ir.IntegerType))]
            sizes += [element_bytes(kind) for kind in results if str(kind) not in NIBBLE_TYPES]
        return 8 * max(sizes, default=4)

    def lanes(self, target: TargetView) -> int:
        """How many of its widest elements a register holds, at least one."""
        return max(1, target.lanes(self.widest()))

    def asks_for_index(self, loop: int | None = None) -> bool:
        """Whether the body uses the number of that loop, or of any."""
        asked = () if self.block is None else (op for op in ops_in(self.block) if op.name == "linalg.index")
        return any(loop is None or integer(op, "dim") == loop for op in asked)

    def chooses_by(self, loop: int) -> bool:
        """Whether the body uses the number of that loop, other than to read neighbours along it."""
        asked = [op for op in self._computing() if op.name == "linalg.index" and integer(op, "dim") == loop]
        users = [(use.owner.operation, use.operand_number) for op in asked for use in op.results[0].uses]
        return any(user.name != "tensor.extract" or number + 1 < len(user.operands) for user, number in users)

    def looks_up(self) -> bool:
        """Whether the body reads elements at indices that it computes."""
        return any(op.name == "tensor.extract" for op in self._computing())

    def looked_up(self, dim: int) -> list[tuple[ir.Type, int | None]]:
        """Type and distance of neighbours along the loop `dim`, for each element that the body reads at indices that it computes and that
        differ along it; None where the distance is not known. Left out: those of one row whose places in it inputs tell, and that go on
        along no other loop."""
        steps: dict[ir.Value, int] = {}
        apart, told, going_on = set[ir.Value](), self._inputs_along(dim), set[ir.Value]()
        found: list[tuple[ir.Type, int | None]] = []
        for op in self._computing():
            moved = {value for value in op.operands if value in steps or value in apart or value in told}
            if op.name == "linalg.index":
                if integer(op, "dim") == dim:
                    steps[op.results[0]] = 1
                else:
                    going_on.add(op.results[0])
            elif op.name == "tensor.extract" and moved:
                *others, last = list(op.operands)[1:]
                if last not in told or last in going_on or not moved.isdisjoint(others):
                    found.append((op.results[0].type, steps.get(last) if moved.isdisjoint(others) else None))
            elif op.name != "tensor.extract":
                if moved and (step := _step(op, steps, moved)) is not None:
                    steps[op.results[0]] = step
                elif moved:
                    (told if moved <= told else apart).update(op.results)
                if not going_on.isdisjoint(op.operands):
                    going_on.update(op.results)
        return found

    def _inputs_along(self, dim: int) -> set[ir.Value]:
        """What the body has of the inputs that differ along the loop."""
        if self.block is None:
            return set()
        given = zip(self.block.arguments, self.maps, self.inputs)
        return {each for each, m, s in given if isinstance(s, Storage) and stride_along(m, s, dim) != 0}

    def body_size(self) -> int:
        """Ops that a point takes."""
        return len(self._computing())

    def _computing(self) -> list[ir.Operation]:
        """The ops of the body, rare branches counted as one and constants not at all."""
        ops = [] if self.block is None else [op.operation for op in self.block.operations]
        return [op for op in ops if op.name != "arith.constant"]


def _step(op: ir.Operation, steps: dict[ir.Value, int], moved: set[ir.Value]) -> int | None:
    """How far apart neighbours' results of an op lie, as far as they go on with what moves at known steps."""
    if not moved <= steps.keys():
        return None
    if op.name == "arith.divui":  # neighbours have one quotient, or that of neighbours (places.py)
        divisor, step = constant_integer(op.operands[1]), steps[moved.pop()]
        return step if divisor and step == 1 else None
    if op.name == "arith.muli" and len(moved) == 1:
        factors = [number for value in op.operands if (number := constant_integer(value)) is not None]
        return factors[0] * steps[moved.pop()] if factors else None
    return steps[moved.pop()] if op.name in _STEPPING and len(moved) == 1 else None


def starts_from_zero(work: Work) -> bool:
    """Whether the first result's sums start from a constant zero."""
    op = defining_op(work.fill[0]) if work.fill[0] is not None else None
    return op is not None and op.name == "arith.constant" and op.attributes["value"].value == 0


def stride_along(m: ir.AffineMap, storage: Storage, dim: int) -> int | None:
    """The distance in elements between neighbours along loop `dim`, or None where the map is not linear."""
    form: Sequence[LinearIndex] | None = linear_form(m)
    if form is None:  # a quotient may be linear along one loop
        point = [LinearIndex()] * m.n_dims
        point[dim] = LinearIndex({dim: 1})
        form = linear_results(m, point)
    return None if form is None else sum([index.coefficient(dim) * stride for index, stride in zip(form, storage.strides)])


def shifted(m: ir.AffineMap, storage: Storage, extents: Sequence[int | ir.Value]) -> tuple[ir.AffineMap, Storage]:
    """The same access with constants that a map adds to a loop moved into the storage's offset. What lies there of a loop ends with its
    extent, or at the end of the storage where run time alone tells the extent: what is behind is another slice's."""
    offsets, results, sizes = [LinearIndex()] * len(m.results), [], list(storage.sizes)
    for d, expr in enumerate(m.results):
        if isinstance(expr, ir.AffineAddExpr) and isinstance(ir.AffineAddExpr(expr).rhs, ir.AffineConstantExpr):
            constant = ir.AffineConstantExpr(ir.AffineAddExpr(expr).rhs).value
            offsets[d] = LinearIndex(constant=constant)
            expr = ir.AffineAddExpr(expr).lhs
            sizes[d] = _left_behind(sizes[d], constant, expr, extents)
        results.append(expr)
    return ir.AffineMap.get(m.n_dims, 0, results), storage.slice(offsets, tuple(sizes))


def _left_behind(size: int | ir.Value, constant: int, expr: ir.AffineExpr, extents: Sequence[int | ir.Value]) -> int | ir.Value:
    """The size from `constant` on of what `expr` moves through: of a loop, no more than it reads."""
    if not isinstance(expr, ir.AffineDimExpr):
        return size
    extent = extents[ir.AffineDimExpr(expr).position]
    return size - constant if isinstance(size, int) and not isinstance(extent, int) else extent


class Point:
    """Evaluates works at one point of their loops. `scalars` caches loads that do not depend on the lane."""

    def __init__(self, lanes: Lanes, indices: list[LinearIndex], captured: Captured, known: dict[ir.Value, Rep] | None = None):
        self.lanes, self.indices, self.captured = lanes, indices, captured
        self.known: dict[ir.Value, Rep] = known if known is not None else {}

    def evaluate(self, work: Work, accumulators: Sequence[Rep] | None = None) -> list[Rep]:
        """What the work yields here. `accumulators` are a reduction's; other inits are read where the body uses them."""
        if work.block is None:
            return [self._input(work, LanesBody(self.lanes, self.indices, self.captured), 0)]
        return self.body(work, accumulators).results(work.code)

    def body(self, work: Work, accumulators: Sequence[Rep] | None = None) -> LanesBody:
        """The work's body here, of which nothing but the arguments is known yet."""
        body = LanesBody(self.lanes, self.indices, self.captured)
        arguments: list[Rep] = [self._input(work, body, i) for i in range(len(work.inputs))]
        for number in range(len(work.outputs)):
            if accumulators is not None:
                arguments.append(accumulators[number])
            elif work.reads_init(number):
                arguments.append(self.init(work, number))
            else:
                arguments.append(LinearIndex())
        body.reps.update(zip(work.code.arguments, arguments))
        return body

    def compute(self, work: Work) -> None:
        """Evaluates the work: other works of the nest know its results here, and those that have a place are stored."""
        self.know(work)
        self.keep(work)

    def know(self, work: Work) -> None:
        """Evaluates the work, for others of the nest."""
        self.known.update(zip(work.values, self.evaluate(work)))

    def keep(self, work: Work) -> None:
        """Stores what is known of the work, where it has a place."""
        for number, value in enumerate(work.values):
            if work.outputs[number] is not None:
                self.store(work, number, self.known[value])

    def _input(self, work: Work, body: LanesBody, number: int) -> Rep:
        source = work.inputs[number]
        if number in work.forward:
            return self.known[work.forward[number]]
        if not isinstance(source, Storage):
            return LinearIndex() if source is None else source
        read = read_at_quotient(source, work.maps[number], self.indices, self.lanes)
        if read is None:
            read = body.read(source, body.at(work.maps[number]))
        return work.picked[number].of(read, self.indices, self.lanes) if number in work.picked else read

    def init(self, work: Work, number: int) -> Rep:
        """The value that output `number` starts from."""
        if work.fill[number] is not None:
            return work.fill[number]
        source = work.op.operands[len(work.inputs) + number]
        if source in self.known:
            return self.known[source]
        storage = work.inits[number]
        assert storage is not None
        body = LanesBody(self.lanes, self.indices, self.captured)
        return body.read(storage, body.at(work.output_maps[number]))

    def store(self, work: Work, number: int, value: Rep) -> None:
        """Stores `value` as result `number` of the work."""
        body = LanesBody(self.lanes, self.indices, self.captured)
        storage = work.outputs[number]
        assert storage is not None
        self.lanes.store(value, storage, storage.address(body.at(work.output_maps[number])))


def walked_as_one(work: Work, outer: int, inner: int) -> bool:
    """Whether two loops walk every input as one would: at the end of the inner one, it stands where the outer one goes on.

    A body that asks which step it is at keeps both.
    """
    inputs = work.inputs_in_memory()
    extent = work.extents[inner]
    if not isinstance(extent, int) or not isinstance(work.extents[outer], int) or work.asks_for_index():
        return False
    steps = [(stride_along(m, s, outer), stride_along(m, s, inner)) for m, s in inputs]
    return all(a is not None and b is not None and a == b * extent for a, b in steps)
