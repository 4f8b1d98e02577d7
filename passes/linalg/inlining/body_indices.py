"""Index arithmetic inside bodies: read as index expressions as far as their bounds are known, and emitted again where a value is needed."""

from __future__ import annotations

from torch_mlir import ir

from ...common.index_emitter import ExpressionEmitter
from ...common.index_expression import ZERO, Atom, Expr, Point, run_time_index
from ...common.rewriting import defining_op, linalg_index
from ...common.scalars import INTEGER_PREDICATES, Scalars, constant_integer

_PREDICATE_NAMES = {number: name for name, number in INTEGER_PREDICATES.items()}


class IndexCode(ExpressionEmitter):
    """The indices computed at run time and the code already emitted for expressions, in one block."""

    def __init__(self, scalars: Scalars):
        super().__init__()
        self.scalars = scalars
        self._numbers: dict[ir.Value, int] = {}

    def scope(self, env: dict[ir.Value, ir.Value], loops: Point) -> Scope:
        return Scope(self, env, loops)

    def atom(self, value: ir.Value, extent: int) -> Expr:
        """A run-time value known to lie in [0, extent)."""
        return run_time_index(self._numbers.setdefault(value, len(self._numbers)), extent)

    def constant(self, number: int) -> ir.Value:
        return self.scalars.index(number)

    def plain(self, atom: Atom) -> ir.Value:
        return linalg_index(atom.number) if atom.kind == "dim" else list(self._numbers)[atom.number]


class Scope:
    """One body being copied: `env` holds the new values of its values, and expressions those of its indices that are understood."""

    def __init__(self, code: IndexCode, env: dict[ir.Value, ir.Value], loops: Point):
        self._code, self._env, self._loops = code, env, loops
        self._expressions: dict[ir.Value, Expr] = {}
        self._booleans: dict[ir.Value, bool] = {}
        self._not_negative: set[ir.Value] = set()

    def take(self, op: ir.Operation) -> bool:
        """Understands `op` as index arithmetic, emitting nothing; False if it must be copied."""
        if op.name == "linalg.index":
            self._expressions[op.results[0]] = self._loops[int(ir.IntegerAttr(op.attributes["dim"]).value)]
            return True
        if op.name == "arith.index_cast" and isinstance(op.results[0].type, ir.IndexType):
            source = self._env.get(op.operands[0], op.operands[0])
            number = None if ir.IntegerType(source.type).width == 1 else constant_integer(source)
            self._expressions |= {} if number is None else {op.results[0]: ZERO + number}
            return number is not None
        if len(op.results) != 1 or len(op.operands) != 2 or not isinstance(op.operands[0].type, ir.IndexType):
            return False
        x, y = (self.expression(v) for v in op.operands)
        if op.name == "arith.cmpi":
            return self._take_comparison(op, x, y)
        result = self._arithmetic(op, x, y)
        if result is None:
            return False
        self._expressions[op.results[0]] = result
        return True

    def expression(self, value: ir.Value) -> Expr | None:
        if value not in self._expressions:
            op = defining_op(value)
            if op is None or op.name != "arith.constant" or not isinstance(value.type, ir.IndexType):
                return None
            self._expressions[value] = ZERO + ir.IntegerAttr(op.attributes["value"]).value
        return self._expressions[value]

    def bounded(self, value: ir.Value, extent: int) -> Expr:
        """The index of an element of a dimension of that extent."""
        known = self.expression(value)
        if known is not None and known.low >= 0 and known.high < extent:
            return known
        return self._code.atom(self.value(value), extent)

    def value(self, old: ir.Value) -> ir.Value:
        """The new value of a body's value; a value from outside the body is its own."""
        if old in self._env:
            return self._env[old]
        if old in self._booleans:
            return self._code.scalars.constant(old.type, int(self._booleans[old]))
        known = self._expressions.get(old)
        return old if known is None else self._code.expression(known)

    def decided(self, condition: ir.Value) -> bool | None:
        """The value of a comparison that the bounds decide."""
        return self._booleans.get(condition)

    def _arithmetic(self, op: ir.Operation, x: Expr | None, y: Expr | None) -> Expr | None:
        name = op.name
        if name in ("arith.maxsi", "arith.minsi"):
            return self._clamped(op, x, y.constant) if y is not None and y.is_constant else None
        if x is None or y is None:
            return None
        if name == "arith.addi":
            return x + y
        if name == "arith.subi":
            return x - y
        if name == "arith.muli" and (x.is_constant or y.is_constant):
            return x * y.constant if y.is_constant else y * x.constant
        if name in ("arith.divui", "arith.remui") and y.is_constant and y.constant > 0 and x.low >= 0:
            return x // y.constant if name == "arith.divui" else x % y.constant
        return None

    def _clamped(self, op: ir.Operation, x: Expr | None, bound: int) -> Expr | None:
        """The maximum or minimum of an index and a constant."""
        if x is not None and x.is_constant:
            return ZERO + (max if op.name == "arith.maxsi" else min)(x.constant, bound)
        if op.name == "arith.maxsi":
            if x is not None and x.low >= bound:
                return x
            if bound >= 0:
                self._not_negative.add(op.results[0])
            return None
        if x is not None and x.high <= bound:
            return x
        if op.operands[0] in self._not_negative or (x is not None and x.low >= 0):
            value = self._code.scalars.op(op.name, *(self.value(v) for v in op.operands))
            return self._code.atom(value, bound + 1)
        return None

    def _take_comparison(self, op: ir.Operation, x: Expr | None, y: Expr | None) -> bool:
        if x is None or y is None:
            return False
        difference = x - y
        low, high = difference.low, difference.high
        predicate = _PREDICATE_NAMES[int(ir.IntegerAttr(op.attributes["predicate"]).value)]
        verdicts = {
            "eq": (low == high == 0, low > 0 or high < 0),
            "slt": (high < 0, low >= 0),
            "sge": (low >= 0, high < 0),
        }
        surely, never = verdicts.get(predicate, (False, False))
        if surely or never:
            self._booleans[op.results[0]] = surely
        return surely or never
