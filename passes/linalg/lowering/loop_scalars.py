"""Emits the scalars of a loop (fused/loops/nodes.py) in the body of a generic: loops within it are scf.for and scf.while."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

from ...common.control_flow import while_loop
from ...common.index_emitter import ExpressionEmitter
from ...common.index_expression import Atom, Expr
from ...common.ops import emit_scalar
from ...common.rewriting import create, element_of, value_of
from ...common.scalars import is_float, is_unsigned, signless, signless_attribute
from ...fused.loops.nodes import Carry, Computed, Dot, Element, Folded, Known, Loop, Node, Position, Result, Start
from . import generic
from .lowering import Lowering


class _Index(ExpressionEmitter):
    """An index; what it is made of is not remembered, for it may be asked for in another loop."""

    def __init__(self, emitter: Emitter):
        super().__init__()
        self.emitter = emitter

    def plain(self, atom: Atom) -> ir.Value:
        return self.emitter.dims[atom.number] if atom.kind == "dim" else self.emitter.starts[atom.number]


class Emitter:
    """Emits nodes in the body of a generic; `made` are those that are there, `dims` the indices of its loops."""

    def __init__(self, low: Lowering, dims: Sequence[ir.Value], made: dict[Node, ir.Value]):
        self.low, self.made, self.dims = low, made, dims
        self.starts: dict[int, ir.Value] = {}
        self.results: dict[Loop, list[ir.Value]] = {}

    def values(self, nodes: Sequence[Node]) -> list[ir.Value]:
        """The nodes' values, emitted here with all that they need and is not there yet."""
        stack = list(reversed(nodes))
        while stack:
            node = stack[-1]
            missing = [each for each in self._needs(node) if each not in self.made] if node not in self.made else []
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if node not in self.made:
                self.made[node] = self._emit(node)
        return [self.made[node] for node in nodes]

    def _needs(self, node: Node) -> list[Node]:
        if not isinstance(node, Result) or node.loop in self.results:
            return list(node.operands)
        return [*node.loop.starts, *_captured(node.loop)]

    def _emit(self, node: Node) -> ir.Value:
        if isinstance(node, Result):
            if node.loop not in self.results:
                self.results[node.loop] = self._loop(node.loop)
            return self.results[node.loop][node.slot]
        return _EMIT[type(node)](self, node)

    def _loop(self, loop: Loop) -> list[ir.Value]:
        starts = [self.made[node] for node in loop.starts]
        if loop.goes_on is None:
            assert loop.trips is not None
            bounds = [self.low.scalars.index(bound) for bound in (0, loop.trips, 1)]
            made = create("scf.for", [v.type for v in starts], [*bounds, *starts], regions=1)
            block = made.regions[0].blocks.append(ir.IndexType.get(), *[v.type for v in starts])
            with ir.InsertionPoint(block):
                create("scf.yield", [], self._turn(loop, list(block.arguments)[1:]))
            return list(made.results)

        def goes_on(*carried: ir.Value) -> ir.Value:
            assert loop.goes_on is not None
            return self._within(loop, loop.condition, carried, [loop.goes_on])[0]

        return while_loop(starts, goes_on, lambda *carried: self._turn(loop, carried))

    def _turn(self, loop: Loop, carried: Sequence[ir.Value]) -> list[ir.Value]:
        return self._within(loop, loop.body, carried, loop.nexts)

    def _within(self, loop: Loop, scope: object, carried: Sequence[ir.Value], nodes: Sequence[Node]) -> list[ir.Value]:
        """The nodes' values in a region of the loop, behind which nothing of it is known."""
        before = dict(self.made), dict(self.starts), dict(self.results)
        for node in carries(loop):
            if node.scope is scope:
                self.made[node] = carried[node.slot]
        found = self.values(nodes)
        self.made, self.starts, self.results = before
        return found

    def index(self, x: Expr) -> ir.Value:
        return _Index(self).expression(x) if x.terms else self.low.scalars.index(x.constant)

    def _element(self, node: Element) -> ir.Value:
        known = self.low.scalar_constant(node.value)
        return known if known is not None else self.low.scalars.extract(self.low.tensor(node.value), [self.index(x) for x in node.point])

    def _known(self, node: Known) -> ir.Value:
        attribute = signless_attribute(node.attribute)
        return self.low.scalars.attribute(attribute.type, attribute)

    def _position(self, node: Position) -> ir.Value:
        s, kind = self.low.scalars, signless(node.element)
        if is_float(kind):
            wide = s.cast("arith.index_cast", ir.IntegerType.get_signless(64), self.index(node.index))
            return value_of("arith.uitofp", kind, [wide])
        return s.cast("arith.index_cast", kind, self.index(node.index))

    def _computed(self, node: Computed) -> ir.Value:
        return emit_scalar(self.low.scalars, node.op, [self.made[each] for each in node.operands])

    def _start(self, node: Start) -> ir.Value:
        s, (old,) = self.low.scalars, node.operands
        self.starts[node.number] = s.clamp_index(s.to_index(self.made[old], node.element), 0, node.limit) if node.limit else s.index(0)
        return self.starts[node.number]

    def _folded(self, node: Folded) -> ir.Value:
        total, *elements = (self.made[each] for each in node.operands)
        block = node.op.regions[0].blocks[0]
        for element in elements:
            (total,) = self.low.region(block, [total, element])
        return total

    def _dot(self, node: Dot) -> ir.Value:
        s, kind = self.low.scalars, generic.signless_element(node.op.results[0])
        numbers = [self.made[each] for each in node.operands]
        wide = [self._widened(value, kind, old) for value, old in zip(numbers, [*node.op.operands] * (len(numbers) // 2))]
        times, plus = ("arith.mulf", "arith.addf") if is_float(kind) else ("arith.muli", "arith.addi")
        total = None
        for x, y in zip(wide[::2], wide[1::2]):
            product = s.op(times, x, y)
            total = product if total is None else s.op(plus, total, product)
        return total if total is not None else s.constant(kind, 0)

    def _widened(self, value: ir.Value, kind: ir.Type, old: ir.Value) -> ir.Value:
        if is_float(kind):
            return self.low.scalars.cast("arith.extf", kind, value)
        unsigned = is_unsigned(element_of(old))
        return self.low.scalars.cast("arith.extui" if unsigned else "arith.extsi", kind, value)


_EMIT: dict[type[Node], Callable[[Emitter, Any], ir.Value]] = {
    Element: Emitter._element,
    Known: Emitter._known,
    Position: Emitter._position,
    Computed: Emitter._computed,
    Start: Emitter._start,
    Folded: Emitter._folded,
    Dot: Emitter._dot,
}


def carries(loop: Loop) -> list[Carry]:
    """The loop's slots as its regions read them."""
    return [node for node in _reached(loop) if isinstance(node, Carry) and node.loop is loop]


def _captured(loop: Loop) -> list[Node]:
    """What the loop's regions read from around it."""
    return [node for node in _reached(loop) if node.scope.depth <= loop.scope.depth]


def _reached(loop: Loop) -> list[Node]:
    """The nodes that the loop's regions need, up to those from around it."""
    stack = [*loop.nexts, *([] if loop.goes_on is None else [loop.goes_on])]
    found: dict[Node, None] = {}
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found[node] = None
        if node.scope.depth <= loop.scope.depth:
            continue
        stack.extend(node.operands)
        if isinstance(node, Result):
            stack += [*node.loop.starts, *_reached(node.loop)]
    return list(found)
