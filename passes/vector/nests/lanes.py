"""Widening: the scalar body of a linalg op evaluated for several lanes at once.

A value of the body is one of: a `LinearIndex`, a scalar that is the same in every lane, or a vector of lanes. Scalars stay scalars as long
as they can, so row-wise arithmetic hoists itself, and an index that advances with the lane makes a load contiguous.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import attributes_of, create, value_of
from ...common.storage import Storage, bit_width, is_i1, memory_type

Rep: TypeAlias = "LinearIndex | ir.Value"
Captured = Callable[[ir.Value], Any]
"""The storage of a tensor or the value of a scalar that a body uses from outside."""

_LINE_BYTES = 64

_REDUCTION_KINDS = {
    "arith.addf": "add", "arith.addi": "add", "arith.mulf": "mul", "arith.muli": "mul", "arith.maximumf": "maximumf", "arith.minimumf":
    "minimumf", "arith.maxnumf": "maxnumf", "arith.minnumf": "minnumf", "arith.maxsi": "maxsi", "arith.minsi": "minsi", "arith.maxui":
    "maxui", "arith.minui": "minui", "arith.andi": "and", "arith.ori": "or", "arith.xori": "xor",
}  # fmt: skip


@dataclass(frozen=True)
class Lanes:
    """How wide code is emitted: `count` lanes of which `mask` (vector of i1, None for all) are live. One lane means scalar code."""

    count: int
    mask: ir.Value | None = None

    def type(self, element: ir.Type) -> ir.Type:
        return element if self.count == 1 else ir.VectorType.get([self.count], element)

    def steps(self, coefficient: int) -> ir.Value:
        """The vector 0, c, 2c, … of type index."""
        index = ir.IndexType.get()
        elements = [ir.IntegerAttr.get(index, coefficient * lane) for lane in range(self.count)]
        vector = ir.VectorType.get([self.count], index)
        return value_of("arith.constant", vector, value=ir.DenseElementsAttr.get(elements, vector))

    def widen(self, rep: Rep) -> ir.Value:
        """`rep` as a vector (a scalar where code is scalar)."""
        if isinstance(rep, LinearIndex):
            base = rep.value()
            if self.count == 1:
                return base
            vector = value_of("vector.broadcast", self.type(base.type), [base])
            return vector if not rep.lanes else value_of("arith.addi", vector.type, [vector, self.steps(rep.lanes)])
        if self.count == 1 or is_vector(rep):
            return rep
        return value_of("vector.broadcast", self.type(rep.type), [rep])

    def load(self, storage: Storage, address: LinearIndex | ir.Value) -> ir.Value:
        """Loads each lane's element; `address` is linear, or a vector of indices into the base."""
        memory = memory_type(storage.element)
        if isinstance(address, LinearIndex) and (address.lanes == 0 or self.count == 1):
            loaded = value_of("memref.load", memory, [storage.base, address.value()])
        elif isinstance(address, LinearIndex) and address.lanes == 1:
            loaded = self._load_contiguous(storage, address, memory)
        else:
            loaded = self._gather(storage, address, memory)
        return _as_bool(loaded) if is_i1(storage.element) else loaded

    def _load_contiguous(self, storage: Storage, address: LinearIndex, memory: ir.Type) -> ir.Value:
        vector = self.type(memory)
        start = address.uniform().value()
        if storage.ahead and not storage.writable:
            self._prefetch(storage, address, memory)
        if self.mask is None:
            return value_of("vector.load", vector, [storage.base, start])
        return value_of("vector.maskedload", vector, [storage.base, start, self.mask, self._zeros(vector)])

    def _prefetch(self, storage: Storage, address: LinearIndex, memory: ir.Type) -> None:
        line = _LINE_BYTES * 8 // bit_width(memory)
        for first in range(0, self.count, line):
            create(
                "memref.prefetch",
                [],
                [storage.base, (address.uniform() + (storage.ahead + first)).value()],
                isWrite=ir.BoolAttr.get(storage.writable),
                localityHint=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 3),
                isDataCache=ir.BoolAttr.get(True),
            )

    def _gather(self, storage: Storage, address: LinearIndex | ir.Value, memory: ir.Type) -> ir.Value:
        vector = self.type(memory)
        zero = LinearIndex().value()
        if isinstance(address, LinearIndex):
            start, indices = address.uniform().value(), self.steps(address.lanes)
        else:
            start, indices = zero, address
        return value_of("vector.gather", vector, [storage.base, start, indices, self._full_mask(), self._zeros(vector)])

    def store(self, value: Rep, storage: Storage, address: LinearIndex) -> None:
        value = self.widen(value)
        if is_i1(storage.element):
            value = value_of("arith.extui", self.type(memory_type(storage.element)), [value])
        if self.count == 1:
            create("memref.store", [], [value, storage.base, address.value()])
        elif address.lanes == 1:
            start = address.uniform().value()
            if storage.ahead:
                self._prefetch(storage, address, memory_type(storage.element))
            if self.mask is None:
                create("vector.store", [], [value, storage.base, start])
            else:
                create("vector.maskedstore", [], [storage.base, start, self.mask, value])
        else:
            operands = [storage.base, address.uniform().value(), self.steps(address.lanes), self._full_mask(), value]
            create("vector.scatter", [], operands)

    def select(self, condition: ir.Value | None, yes: ir.Value, no: ir.Value) -> ir.Value:
        return yes if condition is None else value_of("arith.select", yes.type, [condition, yes, no])

    def _zeros(self, vector: ir.Type) -> ir.Value:
        element = ir.VectorType(vector).element_type
        zero = ir.FloatAttr.get(element, 0.0) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, 0)
        return value_of("arith.constant", vector, value=ir.DenseElementsAttr.get_splat(vector, zero))

    def _full_mask(self) -> ir.Value:
        if self.mask is not None:
            return self.mask
        i1 = ir.IntegerType.get_signless(1)
        vector = ir.VectorType.get([self.count], i1)
        return value_of("arith.constant", vector, value=ir.DenseElementsAttr.get_splat(vector, ir.IntegerAttr.get(i1, 1)))


def is_vector(value: ir.Value) -> bool:
    return isinstance(value.type, ir.VectorType)


def _as_bool(loaded: ir.Value) -> ir.Value:
    i1 = ir.IntegerType.get_signless(1)
    kind = ir.VectorType.get(list(ir.VectorType(loaded.type).shape), i1) if is_vector(loaded) else i1
    return value_of("arith.trunci", kind, [loaded])


class Body:
    """Evaluates the body of a linalg op at one point of its loops, in `lanes` lanes.

    `indices` are the loops' indices; `captured` maps values from outside the body to their storage (tensors) or value (scalars).
    """

    def __init__(self, lanes: Lanes, indices: list[LinearIndex], captured: Captured):
        self.lanes, self.indices, self.captured = lanes, indices, captured
        self.reps: dict[ir.Value, Rep] = {}

    def evaluate(self, block: ir.Block, arguments: list[Rep]) -> list[Rep]:
        """What the block yields, given its arguments."""
        self.reps.update(zip(block.arguments, arguments))
        for op in block.operations:
            op = op.operation
            if op.name in ("linalg.yield", "scf.yield"):
                return [self._rep(v) for v in op.operands]
            self._evaluate_op(op)
        return []

    def _rep(self, value: ir.Value) -> Rep:
        return self.reps[value] if value in self.reps else self.captured(value)

    def _evaluate_op(self, op: ir.Operation) -> None:
        if op.name == "linalg.index":
            self.reps[op.results[0]] = self.indices[ir.IntegerAttr(op.attributes["dim"]).value]
        elif op.name == "tensor.extract":
            self.reps[op.results[0]] = self._extract(op)
        elif op.name == "scf.if":
            self._branch(op)
        else:
            operands = [self._rep(v) for v in op.operands]
            linear = self._linear(op, operands)
            if linear is not None:
                self.reps[op.results[0]] = linear
                return
            for result, rep in zip(op.results, self._widened(op, operands)):
                self.reps[result] = rep

    def _linear(self, op: ir.Operation, operands: list[Rep]) -> LinearIndex | None:
        """Sums and multiples of indices stay linear."""
        if not op.results or not isinstance(op.results[0].type, ir.IndexType):
            return None
        if op.name == "arith.constant":
            return LinearIndex(constant=ir.IntegerAttr(op.attributes["value"]).value)
        if op.name in ("arith.index_cast", "arith.index_castui"):
            return None if not isinstance(operands[0], ir.Value) or is_vector(operands[0]) else LinearIndex.of(self._scalar(op, operands))
        if not all(isinstance(o, LinearIndex) for o in operands):
            return None
        if op.name == "arith.addi":
            return operands[0] + operands[1]
        if op.name == "arith.subi":
            return operands[0] - operands[1]
        if op.name == "arith.muli" and (operands[0].is_constant or operands[1].is_constant):
            a, b = operands if operands[1].is_constant else operands[::-1]
            return a * b.constant
        if all(not o.lanes for o in operands):
            return LinearIndex.of(self._scalar(op, operands))
        return None

    def _scalar(self, op: ir.Operation, operands: list[Rep]) -> ir.Value:
        return self._create(op, [o.value() if isinstance(o, LinearIndex) else o for o in operands], [r.type for r in op.results])[0]

    def _widened(self, op: ir.Operation, operands: list[Rep]) -> list[ir.Value]:
        uniform = all((isinstance(o, LinearIndex) and not o.lanes) or (isinstance(o, ir.Value) and not is_vector(o)) for o in operands)
        if uniform:
            values = [o.value() if isinstance(o, LinearIndex) else o for o in operands]
            return self._create(op, values, [r.type for r in op.results])
        values = [self.lanes.widen(o) for o in operands]
        if op.name == "arith.divf" and isinstance(operands[1], ir.Value) and not is_vector(operands[1]):
            return [self._divide_by_scalar(op, values, operands[1])]
        return self._create(op, values, [self.lanes.type(r.type) for r in op.results])

    def _divide_by_scalar(self, op: ir.Operation, values: list[ir.Value], divisor: ir.Value) -> ir.Value:
        """x / c for a scalar c by its reciprocal, corrected to the rounding of a division (a vector division costs as much as an
        exponential).

        q = x * (1 / c), then q + (x - q * c) / c, which is the quotient as long as no step leaves the normal numbers. Where it might (c
        very large or small; any lane's quotient zero, infinite, NaN, very large or small) the chunk is divided.
        """
        element = divisor.type
        if not isinstance(element, (ir.F32Type, ir.F64Type)):
            return self._create(op, values, [values[0].type])[0]
        narrow = isinstance(element, ir.F32Type)
        least_divisor, least_quotient, most_quotient = (2.0**-24, 2.0**-76, 2.0**100) if narrow else (2.0**-200, 2.0**-700, 2.0**700)
        i1 = ir.IntegerType.get_signless(1)
        wide = values[0].type
        one = value_of("arith.constant", element, value=ir.FloatAttr.get(element, 1.0))
        reciprocal = self.lanes.widen(value_of("arith.divf", element, [one, divisor]))
        quotient = value_of("arith.mulf", wide, [values[0], reciprocal])
        rest = value_of("math.fma", wide, [value_of("arith.negf", wide, [quotient]), values[1], values[0]])
        corrected = value_of("math.fma", wide, [rest, reciprocal, quotient])
        right = self._between(corrected, least_quotient, most_quotient)
        all_right = value_of("vector.reduction", i1, [right], kind=ir.Attribute.parse("#vector.kind<and>"))
        usual = value_of("arith.andi", i1, [self._between(divisor, least_divisor, 1 / least_divisor), all_right])
        branch = create("scf.if", [wide], [usual], regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            create("scf.yield", [], [corrected])
        with ir.InsertionPoint(branch.regions[1].blocks.append()):
            create("scf.yield", [], self._create(op, values, [wide]))
        return branch.results[0]

    def _between(self, value: ir.Value, low: float, high: float) -> ir.Value:
        """Whether |value| is in [low, high]; of vectors, lane by lane. The bits of positive floats are in the order of the floats, those
        of NaN after all of them, so one comparison of the distance from `low`, without sign, tells."""
        element = ir.VectorType(value.type).element_type if is_vector(value) else value.type
        width = bit_width(element)
        integer = ir.IntegerType.get_signless(width)
        first, last = (int(np.array(bound, f"f{width // 8}").view(f"i{width // 8}")) for bound in (low, high))

        def constant(number: int) -> ir.Value:
            made = value_of("arith.constant", integer, value=ir.IntegerAttr.get(integer, number))
            return self.lanes.widen(made) if is_vector(value) else made

        kind = self.lanes.type(integer) if is_vector(value) else integer
        size = value_of("arith.bitcast", kind, [value_of("math.absf", value.type, [value])])
        above = value_of("arith.subi", kind, [size, constant(first)])
        i1, i64 = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(64)
        flags = self.lanes.type(i1) if is_vector(value) else i1
        at_most = ir.IntegerAttr.get(i64, 7)  # ule
        return value_of("arith.cmpi", flags, [above, constant(last - first)], predicate=at_most)

    def _create(self, op: ir.Operation, operands: list[ir.Value], types: list[ir.Type]) -> list[ir.Value]:
        """The op of the body on other operands and types."""
        return list(ir.Operation.create(op.name, results=types, operands=operands, attributes=attributes_of(op), loc=op.location).results)

    def _extract(self, op: ir.Operation) -> Rep:
        storage = self.captured(op.operands[0])
        return self.read(storage, [self._rep(v) for v in list(op.operands)[1:]])

    def read(self, storage: Storage, indices: list[Rep]) -> Rep:
        """The element of `storage` at `indices`, in each lane."""
        linear = storage.offset
        rest: ir.Value | None = None
        for index, stride in zip(indices, storage.strides):
            if isinstance(index, LinearIndex):
                linear = linear + index * stride
            elif not is_vector(index):
                linear = linear + LinearIndex.of(index) * stride
            else:
                scaled = (
                    index if stride == 1 else value_of("arith.muli", index.type, [index, self.lanes.widen(LinearIndex(constant=stride))])
                )
                rest = scaled if rest is None else value_of("arith.addi", rest.type, [rest, scaled])
        if rest is None:
            return self.lanes.load(storage, linear)
        return self.lanes.load(storage, value_of("arith.addi", rest.type, [rest, self.lanes.widen(linear)]))

    def _branch(self, op: ir.Operation) -> None:
        """scf.if: taken as a branch where the condition is uniform, else if any live lane takes it, and selected by lane."""
        condition = self._rep(op.operands[0])
        assert isinstance(condition, ir.Value)
        then_block, else_block = op.regions[0].blocks[0], op.regions[1].blocks[0]
        types = [self.lanes.type(r.type) for r in op.results]
        taken = condition
        if is_vector(condition):
            live = condition if self.lanes.mask is None else value_of("arith.andi", condition.type, [condition, self.lanes.mask])
            kind = ir.Attribute.parse("#vector.kind<or>")
            taken = value_of("vector.reduction", ir.IntegerType.get_signless(1), [live], kind=kind)
        branch = create("scf.if", types, [taken], regions=2)
        outside = dict(self.reps)
        with ir.InsertionPoint(branch.regions[1].blocks.append()):
            no = [self.lanes.widen(r) for r in self.evaluate(else_block, [])]
            create("scf.yield", [], no)
        self.reps = dict(outside)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            yes = [self.lanes.widen(r) for r in self.evaluate(then_block, [])]
            if is_vector(condition):
                self.reps = dict(outside)
                other = [self.lanes.widen(r) for r in self.evaluate(else_block, [])]
                yes = [self.lanes.select(condition, a, b) for a, b in zip(yes, other)]
            create("scf.yield", [], yes)
        self.reps = outside
        self.reps.update(zip(op.results, branch.results))


def affine_reps(body: Body, m: ir.AffineMap) -> list[Rep]:
    """The results of an indexing map at the body's point."""
    return [_affine(body, e) for e in m.results]


def _affine(body: Body, expr: ir.AffineExpr) -> Rep:
    if isinstance(expr, ir.AffineDimExpr):
        return body.indices[ir.AffineDimExpr(expr).position]
    if isinstance(expr, ir.AffineConstantExpr):
        return LinearIndex(constant=ir.AffineConstantExpr(expr).value)
    binary = ir.AffineBinaryExpr(expr)
    left, right = _affine(body, binary.lhs), _affine(body, binary.rhs)
    if isinstance(left, LinearIndex) and isinstance(right, LinearIndex):
        if isinstance(expr, ir.AffineAddExpr):
            return left + right
        if isinstance(expr, ir.AffineMulExpr) and (left.is_constant or right.is_constant):
            return left * right.constant if right.is_constant else right * left.constant
    names = {ir.AffineAddExpr: "addi", ir.AffineMulExpr: "muli", ir.AffineFloorDivExpr: "divui", ir.AffineModExpr: "remui"}
    name = next(n for kind, n in names.items() if isinstance(expr, kind))
    operands = [left, right]
    if all(isinstance(o, LinearIndex) and not o.lanes for o in operands):
        scalar = value_of(f"arith.{name}", ir.IndexType.get(), [o.value() for o in operands])
        return LinearIndex.of(scalar)
    wide = [body.lanes.widen(o) for o in operands]
    return value_of(f"arith.{name}", wide[0].type, wide)


def reduction_kind(block: ir.Block) -> tuple[str, ir.Operation] | None:
    """(vector reduction kind, op) if the body is `yield op(acc, f(inputs))` with one accumulator that is used once, else None."""
    accumulator = block.arguments[len(block.arguments) - 1]
    uses = list(accumulator.uses)
    yielded = list(block.operations)[-1].operands
    if len(uses) != 1 or len(yielded) != 1:
        return None
    op = uses[0].owner.operation
    if op.name not in _REDUCTION_KINDS or yielded[0] != op.results[0] or len(list(op.results[0].uses)) != 1:
        return None
    return _REDUCTION_KINDS[op.name], op


def neutral_element(kind: str, element: ir.Type) -> ir.Attribute:
    """The value that the reduction `kind` leaves unchanged."""
    if isinstance(element, ir.FloatType):
        infinity = float("inf")
        value = {"add": -0.0, "mul": 1.0, "maximumf": -infinity, "minimumf": infinity, "maxnumf": float("nan"), "minnumf": float("nan")}[
            kind
        ]
        return ir.FloatAttr.get(element, value)
    width = ir.IntegerType(element).width
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if width > 1 else (-1, 0)
    value = {"add": 0, "mul": 1, "maxsi": low, "minsi": high, "maxui": 0, "minui": -1, "and": -1, "or": 0, "xor": 0}[kind]
    return ir.IntegerAttr.get(element, value)
