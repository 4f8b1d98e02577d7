"""A loop that writes something turn by turn: a generic whose first loop is the turns, its carries the results so far.

    %h, %ys = linalg.generic {maps = (t, d0) -> (t, d0), (d0), (t, d0), iterators = [reduction, parallel], hloom.sequential = "up"}
        ins(%xs) outs(%h0, %empty) { (x, h, _): %n = …; yield %n, %n }

It has a scan's form (scan.py), but its body is no reduction's: its steps are taken in order, from the first on (`hloom.sequential = "up"`)
or from the last (`"down"`). The counter is computed from the index of the loop; other carries that are the same for all elements each
element has for itself. Without carries the turns are a loop like the others.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.affine import to_affine
from ...common.combiner import SEQUENTIAL
from ...common.index_expression import Atom, Expr, Point, loop
from ...common.rewriting import defining_op, linalg_index
from ...common.scalars import signless
from ...fused.loops.nodes import Carry, Element, Node, Result, Start
from ...fused.loops.parts import Part
from ...fused.loops.streams import is_counter, turn_index
from ...stablehlo.rules.loops import find_counter
from . import generic
from .loop_scalars import Emitter
from .lowering import Lowering, Read


def lower_sequential(low: Lowering, part: Part) -> list[ir.Value]:
    """A tensor for each root: over the turns and the tile's loops for what is written turn by turn, else over the tile's."""
    return _Sequential(low, part).lower()


class _Sequential:
    """Of a part: its nest's loops are the turns, then the tile's; in points the turns are the loop behind the tile's."""

    def __init__(self, low: Lowering, part: Part):
        self.low, self.part, self.loop = low, part, part.outer
        assert self.loop.trips is not None  # streams have a counter
        self.rank, self.extents = len(part.extents), [self.loop.trips, *part.extents]
        self.dims = [ir.AffineExpr.get_dim((d + 1) % (self.rank + 1)) for d in range(self.rank + 1)]
        row = loop(self.rank, self.loop.trips)
        self.turn = row * -1 + (self.loop.trips - 1) if part.down else row
        self.starts = self._turn_indices()
        self.carries = [carry for carry, _ in self.loop.slots]

    def lower(self) -> list[ir.Value]:
        low, part, outer = self.low, self.part, self.loop
        read = (node for node in part.tracer.nodes if isinstance(node, Carry) and node.scope is outer.body)  # by a next turn, or a row
        own = {node.slot: node for node in read}
        kept = [slot for slot in range(len(outer.slots)) if slot not in own or not is_counter(own[slot], outer)]
        written = [(n, node) for n in part.streams for _, node in part.roots[n]]
        begun = self._begun(kept)
        rows = [generic.empty(self.extents, generic.signless_element(outer.op.results[n])) for n, _ in written]
        tile, whole = generic.affine_map(self.rank + 1, generic.dims(range(1, self.rank + 1))), generic.identity(self.rank + 1)
        outs, out_maps = [*begun, *rows], [tile] * len(kept) + [whole] * len(written)
        inputs = [node for node in part.tracer.nodes if isinstance(node, Element) and self._is_input(node)]
        reads: list[Read] = [(node.value, self._map(node.point)) for node in inputs]

        def body(scalars: list[ir.Value], totals: list[ir.Value]) -> list[ir.Value]:
            dims = [linalg_index((d + 1) % (self.rank + 1)) for d in range(self.rank + 1)]
            emitter = Emitter(low, dims, dict(zip(inputs, scalars)))
            emitter.made |= {own[slot]: total for slot, total in zip(kept, totals) if slot in own}
            emitter.made |= {node: self._counter(emitter.index(self.turn)) for node in own.values() if is_counter(node, outer)}
            for number, index in self.starts.items():
                emitter.starts[number] = emitter.index(index)
                emitter.made[part.tracer.nodes[number]] = emitter.starts[number]
            return emitter.values([*[outer.nexts[slot] for slot in kept], *[node for _, node in written]])

        iterators = [generic.REDUCTION if kept else generic.PARALLEL] + [generic.PARALLEL] * self.rank
        made = low.structured(reads, outs, out_maps, iterators, body)
        owner = defining_op(made[0])
        assert owner is not None
        if kept:
            owner.attributes[SEQUENTIAL] = ir.StringAttr.get("down" if part.down else "up")
        of_row = iter(made[len(kept) :])
        streamed = {n: [next(of_row) for _ in part.roots[n]] for n in part.streams}
        return [
            value
            for n in part.roots
            for value in (streamed[n] if n in streamed else [self._last(node, kept, made) for _, node in part.roots[n]])
        ]

    def _last(self, node: Node, kept: list[int], made: list[ir.Value]) -> ir.Value:
        assert isinstance(node, Result) and node.loop is self.loop
        return made[kept.index(node.slot)]

    def _begun(self, kept: list[int]) -> list[ir.Value]:
        """What these slots start from, over the tile."""
        low, extents = self.low, self.part.extents
        inputs = [node for node in self.part.tracer.nodes if isinstance(node, Element) and self._is_input(node) and not node.scope.depth]
        reads: list[Read] = [(node.value, generic.affine_map(self.rank, [to_affine(i) for i in node.point])) for node in inputs]
        outs = [generic.empty(extents, generic.signless_element(self.loop.op.results[self.carries[slot]])) for slot in kept]
        if not outs:
            return []

        def body(scalars: list[ir.Value], _: list[ir.Value]) -> list[ir.Value]:
            dims = [linalg_index(d) for d in range(self.rank)]
            return Emitter(low, dims, dict(zip(inputs, scalars))).values([self.loop.starts[slot] for slot in kept])

        return low.structured(reads, outs, [generic.identity(self.rank)] * len(outs), [generic.PARALLEL] * self.rank, body)

    def _turn_indices(self) -> dict[int, Expr]:
        """Run-time indices that are the turn, or a multiple of it and a constant, by their number."""
        found = {}
        for node in self.part.tracer.nodes:
            if isinstance(node, Start):
                index = turn_index(node.operands[0], self.loop, self.turn, node.limit)
                if index is not None:
                    found[node.number] = index
        return found

    def _plain(self, point: Point) -> list[Expr]:
        """The point with run-time indices that are turns replaced by them."""
        return [sum((self._of_turn(atom) * k for atom, k in x.terms), Expr(x.constant)) for x in point]

    def _of_turn(self, atom: Atom) -> Expr:
        return self.starts[atom.number] if atom.kind == "value" and atom.number in self.starts else Expr(0, ((atom, 1),))

    def _map(self, point: Point) -> ir.AffineMap:
        exprs = [to_affine(x) for x in self._plain(point)]
        return generic.affine_map(self.rank + 1, [x.compose(ir.AffineMap.get(self.rank + 1, 0, self.dims)) for x in exprs])

    def _is_input(self, node: Element) -> bool:
        """Whether its index is one of the nest's loops alone, so that a map tells it."""
        return node.scope.depth <= 1 and all(x.is_linear and not x.depends_on("value") for x in self._plain(node.point))

    def _counter(self, turn: ir.Value) -> ir.Value:
        counter = find_counter(self.loop.op)
        assert counter is not None
        s, kind = self.low.scalars, signless(generic.signless_element(self.loop.op.results[counter.index]))
        number = s.cast("arith.index_cast", kind, turn)
        scaled = number if counter.step == 1 else s.op("arith.muli", number, s.constant(kind, counter.step))
        return scaled if not counter.start else s.op("arith.addi", scaled, s.constant(kind, counter.start))
