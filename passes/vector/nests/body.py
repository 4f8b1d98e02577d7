"""The body of a linalg op in code for several lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.vector import CombiningKind

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import target_of

from ...common.control_flow import if_else
from ...common.linear_index import LinearIndex, linear_form
from ...common.quotients import is_multiplied, quotient
from ...common.rewriting import defining_op, integer, value_of
from ...common.scalar_body import ScalarBody, affine, clone_on, is_same_for_all, same_for_all
from ...common.storage import Storage
from ...common.vectors import is_vector, reduced
from .choices import chosen_sides
from .code import Code, Step
from .comparisons import PREDICATES, clamped, compared, divided
from .guarded_reads import Clamp, Spans, is_guarded
from .lanes import Lanes, Rep
from .places import Places

Captured = Callable[[ir.Value], Any]
"""The storage of a tensor or the value of a scalar that a body uses from outside."""


_LONG_ROW = 8
"""Times the distance at which it is prefetched: the processor follows what is shorter."""


class LanesBody(ScalarBody):
    """The body of a linalg op at one point of its loops, in `lanes` lanes."""

    def __init__(self, lanes: Lanes, indices: Sequence[Rep], captured: Captured):
        super().__init__(indices, {})
        self.lanes, self.captured = lanes, captured
        self.places = Places(lanes)
        self.decided: dict[ir.Value, bool] = {}
        """Conditions that are known."""
        self.loaded: dict[ir.Value, bool] = {}
        """Numbers of which is known whether they are in memory, or made of one that is."""
        self.clamps: dict[ir.Value, Clamp] = {}
        self.spans: Spans = {}

    def outside(self, value: ir.Value) -> Rep:
        return self.captured(value)

    def _evaluate(self, op: ir.Operation) -> Sequence[Rep]:
        guarded = self._guarded(op) if op.name == "tensor.extract" and self.clamps else None
        return super()._evaluate(op) if guarded is None else [guarded]

    def _guarded(self, op: ir.Operation) -> ir.Value | None:
        """What is read of neighbours, masked, where only those lanes take it of which the index lies inside."""
        storage, places = self.captured(op.operands[0]), list(op.operands)[1:]
        indices = [self.rep(place) for place in places]
        clamps = [(number, self.clamps[rep]) for number, rep in enumerate(indices) if isinstance(rep, ir.Value) and rep in self.clamps]
        if len(clamps) != 1 or storage.panels is not None or not target_of(op).masks(8 * element_bytes(storage.element)):
            return None
        number, clamp = clamps[0]
        others = [rep for rep in indices if not is_same_for_all(rep)]
        if len(others) > 1 or storage.strides[number] != 1 or not is_guarded(op, places[number], clamp, self.spans):
            return None
        mask = self.lanes.where_live(clamp.inside(self.lanes))
        known = [LinearIndex.of(rep) if at != number else clamp.index for at, rep in enumerate(indices)]
        return replace(self.lanes, mask=mask).load(replace(storage, ahead=0), storage.address(known))

    def extract(self, tensor: ir.Value, indices: list[Rep]) -> ir.Value:
        """Where rows are found by what is in memory, what lies ahead of one's end is a row that nobody asks for: it is not prefetched."""
        storage = self.captured(tensor)
        rows = [stride for index, stride in zip(indices, storage.strides) if any(map(self._is_loaded, LinearIndex.of(index).terms))]
        short = bool(rows) and min(rows) < _LONG_ROW * abs(storage.ahead)
        return self.read(replace(storage, ahead=0) if short else storage, indices)

    def _is_loaded(self, value: ir.Value) -> bool:
        if value not in self.loaded:
            op = defining_op(value)
            self.loaded[value] = op is not None and (op.name == "memref.load" or any(map(self._is_loaded, op.operands)))
        return self.loaded[value]

    def values(self, operands: Sequence[Rep]) -> list[ir.Value]:
        if any(o.lanes if isinstance(o, LinearIndex) else is_vector(o) for o in operands):
            return [self.lanes.widen(o) for o in operands]
        return [o.value() if isinstance(o, LinearIndex) else o for o in operands]

    def wide(self, rep: Rep) -> ir.Value:
        return self.lanes.widen(rep)

    def index_op(self, op: ir.Operation, operands: list[LinearIndex]) -> LinearIndex | None:
        for rule in (clamped, divided) if len(operands) == 2 else ():
            if (known := rule(op.name, operands[0], operands[1], self.lanes)) is not None:
                return known
        uniform = isinstance(op.results[0].type, ir.IndexType) and not any(o.lanes for o in operands)
        return LinearIndex.of(self.emit(op, list(operands))[0]) if uniform else None

    def at(self, m: ir.AffineMap) -> list[Rep]:
        """The results of an indexing map at the body's point."""
        form, indices = linear_form(m), [index for index in self.indices if isinstance(index, LinearIndex)]
        if form is not None and len(indices) == len(self.indices):
            return [index.at(indices) for index in form]
        return [affine(e, self.indices, self._arithmetic) for e in m.results]

    def _arithmetic(self, name: str, a: Rep, b: Rep) -> Rep:
        if isinstance(a, LinearIndex) and isinstance(b, LinearIndex) and (known := divided(f"arith.{name}", a, b, self.lanes)) is not None:
            return known
        if isinstance(a, LinearIndex) and isinstance(b, LinearIndex) and not a.lanes and not b.lanes:
            return LinearIndex.of(value_of(f"arith.{name}", ir.IndexType.get(), [a.value(), b.value()]))
        if (known := self.places.fold(f"arith.{name}", ir.IndexType.get(), (a, b))) is not None:
            return known
        wide = [self.lanes.widen(o) for o in (a, b)]
        return value_of(f"arith.{name}", wide[0].type, wide)

    def read(self, storage: Storage, indices: Sequence[Rep]) -> ir.Value:
        """The element of `storage` at `indices`, in each lane."""
        if storage.panels is not None:
            return self.lanes.load(storage, storage.address([LinearIndex.of(index) for index in indices]))
        known = self.places.read(storage, indices)
        if known is not None:
            return known
        linear = storage.offset
        rest: ir.Value | None = None
        for index, stride in zip(indices, storage.strides):
            if isinstance(index, LinearIndex) or not is_vector(index):
                linear = linear + LinearIndex.of(index) * stride
            else:
                scaled = index if stride == 1 else arith.muli(index, self.lanes.widen(LinearIndex(constant=stride)))
                rest = scaled if rest is None else arith.addi(rest, scaled)
        if rest is None and (entry := self.places.entry(storage, linear)) is not None:
            return entry
        return self.lanes.load(storage, linear if rest is None else arith.addi(rest, self.lanes.widen(linear)))

    def results(self, code: Code) -> list[Rep]:
        """Evaluates a body; what its terminator yields."""
        chosen = chosen_sides(code, self.indices, self.rep, self.lanes) if code.conditions else {}
        for step in code.needed(chosen) if chosen else code.steps:
            if step in chosen:
                self.reps[step.results[0]] = self.rep(chosen[step])
            elif step.plain:
                self.reps[step.results[0]] = self._float(step)
            else:
                self.run([step.op])
        return [self.rep(value) for value in code.yielded]

    def _float(self, step: Step) -> ir.Value:
        """The result of a plain step. A product that is the same in all lanes is made once, and not added with each of them."""
        operands: list[ir.Value] = [self.rep(value) for value in step.operands]  # type: ignore[misc]
        wide = [value for value in operands if is_vector(value)]
        if step.product is not None and len(wide) == 1 and is_vector(operands[2]):
            made = step.product.emit(operands[:2], step.results[0].type)
            return clone_on(step.op, [made, operands[2]], step.location)[0]
        if not wide:
            return step.emit(operands, step.results[0].type)
        kind = wide[0].type if step.keeps_type else self.lanes.type(step.results[0].type)
        return step.emit([value if is_vector(value) else self.lanes.widen(value) for value in operands], kind)

    def emit(self, op: ir.Operation, operands: list[Rep]) -> list[Rep]:
        if op.name == "arith.cmpi" and (holds := compared(op, operands[0], operands[1], self.lanes)) is not None:
            return [self._decided(holds)]
        if op.name == "arith.cmpi" and (found := self.places.compared(op, operands[0], operands[1])) is not None:
            return [self._decided(found) if isinstance(found, bool) else found]
        if op.name == "arith.cmpi" and (clamp := self._compares(op, operands)) is not None:
            return [clamp.inside(self.lanes)]
        if op.name in ("arith.andi", "arith.ori") and any(operand in self.decided for operand in operands):
            return [self._joined(op.name == "arith.andi", *operands)]
        if op.name == "arith.select" and operands[0] in self.decided:
            return [operands[1] if self.decided[operands[0]] else operands[2]]
        if (known := self.places.fold(op.name, op.results[0].type, operands)) is not None:
            return [known]
        if not self.lanes.even_first and (clamp := Clamp.of(op, operands, self.clamps)) is not None:
            made = super().emit(op, operands)
            self.clamps[made[0]] = clamp
            return made
        if op.name == "arith.divf" and is_vector(operands[0]) and not is_vector(operands[1]):
            return [self._divided_by_scalar(op, operands)]
        return super().emit(op, operands)

    def _compares(self, op: ir.Operation, operands: list[Rep]) -> Clamp | None:
        """The clamp of which a comparison asks whether it changed nothing."""
        for index, other in (operands, operands[::-1]):
            clamp = self.clamps.get(other) if isinstance(other, ir.Value) else None
            if clamp is not None and clamp.index == index and PREDICATES[integer(op, "predicate")] == "eq":
                return clamp
        return None

    def _decided(self, holds: bool) -> ir.Value:
        made = arith.constant(ir.IntegerType.get_signless(1), holds)
        self.decided[made] = holds
        return made

    def _joined(self, both: bool, x: ir.Value, y: ir.Value) -> Rep:
        """Both of two conditions, or either; one of them is known."""
        known, other = (x, y) if x in self.decided else (y, x)
        return other if self.decided[known] == both else known

    def _divided_by_scalar(self, op: ir.Operation, operands: list[Rep]) -> ir.Value:
        x, divisor = operands
        assert isinstance(x, ir.Value) and isinstance(divisor, ir.Value)

        def divided() -> ir.Value:
            return clone_on(op, self.values(operands), op.location)[0]

        return quotient(x, divisor, target_of(op), divided) if is_multiplied(divisor.type, target_of(op)) else divided()

    def branch(self, op: ir.Operation) -> list[ir.Value]:
        """A branch where the condition is uniform; else a branch that is taken if any live lane takes it, and a select lane by lane."""
        condition = self.rep(op.operands[0])
        assert isinstance(condition, ir.Value)
        then_block, else_block = (region.blocks[0] for region in op.regions)
        same = all(map(is_same_for_all, self.around(op)))
        before = dict(self.reps)

        def side(block: ir.Block) -> list[ir.Value]:
            self.reps = dict(before)
            return [same_for_all(r) if same else self.lanes.widen(r) for r in self.yielded(block)]

        def then() -> list[ir.Value]:
            yes = side(then_block)
            return [self.lanes.select(condition, a, b) for a, b in zip(yes, side(else_block))] if is_vector(condition) else yes

        taken = condition
        if is_vector(condition):
            taken = reduced(self.lanes.where_live(condition), CombiningKind.OR)
        found = if_else(taken, [r.type if same else self.lanes.type(r.type) for r in op.results], then, lambda: side(else_block))
        self.reps = before
        return found
