"""Values of a group at points: between its contractions those of a row and a column, behind them those of a row and a result's column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir

from ...common.axes import TileOp
from ...common.control_flow import if_then
from ...common.edge import RESHAPES
from ...common.linear_index import LinearIndex, linear_results
from ...common.ranges import Ranges
from ...common.rewriting import defining_op, is_block_argument, ops_in
from ...common.scalar_body import clone_on
from ..contraction.contraction import ContractionGroup, ElementAccess, result_number
from ..contraction.epilogue import EpilogueEmitter
from ..contraction.runs import Run
from ..support.emit import all_of, less_than
from .diagonals import Diagonal, diagonals
from .exponents import Exponents
from .group import AttentionGroup, combiner

OpLoops = Mapping[ir.Operation, Sequence[LinearIndex]]
Known = dict[tuple[ir.Value, tuple[LinearIndex, ...]], ir.Value]


class Points(EpilogueEmitter):
    """Evaluates, at a point, what depends on the contractions of a group: of an op's body no more than is asked for."""

    def __init__(self, contraction: ContractionGroup, buffers: Sequence[ir.Value], loops: OpLoops):
        super().__init__(contraction, buffers)
        self._op_loops = loops
        self.diagonals: Mapping[ir.Operation, Diagonal] = {}
        self.inside = False
        """Whether no column is behind a diagonal: what these choose is known."""
        self._scalars: dict[ir.Value, ir.Value] = {}

    def go(self, run: Run, known: Known) -> None:
        """Goes to a point, or to neighbours along a loop, where these values are known."""
        self._run, self._made, self._bodies, self._scalars = run, known, {}, {}

    def _known(self) -> Known:
        self._scalars = {}
        return {}

    def _evaluate(self, value: ir.Value, indices: Sequence[LinearIndex]) -> ir.Value:
        if value not in self.contraction.forms:
            return super()._evaluate(value, indices)
        op = defining_op(value)
        assert op is not None
        if op.name in RESHAPES:
            return self._value(op.operands[0], [])
        tile = self._ops[value]
        return self._scalar(tile, ops_in(op.regions[0].blocks[0])[-1].operands[result_number(tile, value)])

    def _scalar(self, tile: TileOp, value: ir.Value) -> ir.Value:
        """A value of the op's body."""
        if value not in self._scalars:
            self._scalars[value] = self._computed(tile, value)
        return self._scalars[value]

    def _computed(self, tile: TileOp, value: ir.Value) -> ir.Value:
        loops = self._op_loops[tile.op]
        if is_block_argument(value):
            number = ir.BlockArgument(value).arg_number
            operand = [*tile.inputs, *tile.inits][number]
            if not isinstance(operand.type, ir.RankedTensorType):
                return self._outside(operand, [])
            at = linear_results(tile.maps[number], loops)
            assert at is not None
            return self._value(operand, at)
        op = defining_op(value)
        assert op is not None
        if op.name == "linalg.index":
            return self._index(loops[ir.IntegerAttr(op.attributes["dim"]).value])
        if op.name == "arith.constant":
            return self._outside(value, [])
        return self._emitted(tile, op)

    def _emitted(self, tile: TileOp, op: ir.Operation) -> ir.Value:
        """What an op of a body makes."""
        if self.inside and op in self.diagonals:
            return self._scalar(tile, op.operands[1])
        operands = [self._scalar(tile, v) for v in op.operands]
        kept = _unless_zero(*operands) if self.inside and op.name == "arith.addf" else None
        return clone_on(op, operands)[0] if kept is None else kept

    def _clone(self, op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
        return operands[1] if self.inside and op in self.diagonals else super()._clone(op, operands)


def _unless_zero(left: ir.Value, right: ir.Value) -> ir.Value | None:
    """The one summand where the other is 0, as a mask's bias is: only the sign of a zero might differ."""
    return next((one for one, other in ((left, right), (right, left)) if Ranges().of(other) == (0.0, 0.0)), None)


class Between(Points):
    """Evaluates what lies between the contractions: whatever a value's body reads of others, at the same row and column."""

    def __init__(self, group: AttentionGroup, buffers: Sequence[ir.Value]):
        super().__init__(group.first, buffers, group.loops)
        self.group = group
        self.score = group.first.op.results[0]
        self.exponents = Exponents(self._ops, self.score, group.largest, _term(group.largest))
        known = diagonals(group.first.rows.last, group.first.cols.last, group.loops, self._ops)
        self.diagonals = {choice: side for choice, side in known.items() if side.sign > 0}
        self._carried: ir.Value | None = None
        self.small = False

    def at(self, loops: Mapping[int, LinearIndex], score: ir.Value, carried: ir.Value | None, length: int, inside: bool) -> None:
        """Goes to a point, or to `length` neighbours along the columns, with the score there and the row's maximum as it is carried.

        `inside`: no column is behind a diagonal.
        """
        self.inside, self._carried = inside, carried
        self.go(Run(loops, self.contraction.cols.last if length > 1 else None, length), {(self.score, ()): score})
        if carried is not None:
            self._made[(self.group.largest.op.results[0], ())] = self.exponents.maximum(carried)

    def candidate(self) -> ir.Value:
        """What the maximum is carried of."""
        found = self._exponent(self.group.largest, _term(self.group.largest))
        assert found is not None
        return found

    def term(self) -> ir.Value:
        """What the sum adds."""
        return self._scalar(self.group.total, _term(self.group.total))

    def weights(self) -> ir.Value:
        """What the second contraction multiplies with its right operand."""
        return self._scalar(*self.group.weights)

    def _emitted(self, tile: TileOp, op: ir.Operation) -> ir.Value:
        if op.name == "math.exp" and (found := self._against_maximum(tile, defining_op(op.operands[0]))) is not None:
            return found
        return super()._emitted(tile, op)

    def _against_maximum(self, tile: TileOp, difference: ir.Operation | None) -> ir.Value | None:
        """exp of a difference from the row's maximum; None of other values."""
        if self._carried is None or difference is None or difference.name != "arith.subf":
            return None
        if self._scalar(tile, difference.operands[1]) != self._made[(self.group.largest.op.results[0], ())]:
            return None
        found = self._exponent(tile, difference.operands[0])
        return None if found is None else self.exponents.against(found, self._carried, self.small)

    def _exponent(self, tile: TileOp, value: ir.Value) -> ir.Value | None:
        known = self.diagonals if self.inside else ()
        return self.exponents.carried(tile, value, self._made[(self.score, ())], self._scalar, known)


def _term(tile: TileOp) -> ir.Value:
    """What a reduction combines."""
    block = tile.op.regions[0].blocks[0]
    accumulator = block.arguments[len(block.arguments) - 1]
    (term,) = [value for value in combiner(tile).operands if value != accumulator]
    return term


class Behind(EpilogueEmitter):
    """Evaluates what lies behind the second contraction; `row_values` gives what is known of the rows at a point's loops."""

    def __init__(
        self,
        group: AttentionGroup,
        buffers: Sequence[ir.Value],
        row_values: Callable[[Mapping[int, LinearIndex]], Mapping[ir.Value, ir.Value]],
    ):
        super().__init__(group.second, buffers)
        self.group = group
        self._row_values = row_values

    def _known(self) -> Known:
        return {(value, ()): number for value, number in self._row_values(self._run.loops).items()}

    def _store(self, value: ir.Value, access: ElementAccess) -> None:
        """What is a number of each row, the thread of the row's first column stores."""
        columns = self.contraction.cols.loops
        if any(access.index.coefficient(loop) for loop, _ in columns):
            return super()._store(value, access)
        run, made, bodies = self._run, dict(self._made), dict(self._bodies)
        with if_then(all_of([less_than(run.loops[loop], 1) for loop, _ in columns])):
            self._run = Run(run.loops, None)
            super()._store(value, access)
        self._run, self._made, self._bodies = run, made, bodies
        return None

    def _evaluate(self, value: ir.Value, indices: Sequence[LinearIndex]) -> ir.Value:
        op = None if is_block_argument(value) else defining_op(value)
        if op is not None and op.name in RESHAPES and value in self.contraction.forms:
            return self._value(op.operands[0], self.contraction.forms[op.operands[0]])
        return super()._evaluate(value, indices)

    def _clone(self, op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
        """Divisions by the rows' sums are the hardware's: exact ones hold a call, around which the assembler lets no wgmma run on."""
        made = super()._clone(op, operands)
        if op.name == "arith.divf" and operands[1] == self._made.get((self.group.total.op.results[0], ())):
            return by_hardware(made)
        return made


def by_hardware(quotient: ir.Value) -> ir.Value:
    """The same by the hardware's division: 2 ulp, for divisors below 2^126."""
    quotient.owner.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<afn>")
    return quotient
