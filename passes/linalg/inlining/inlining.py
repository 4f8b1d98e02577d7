"""Builds one generic out of many: the scalar of a tensor at a point, emitted from its producers' bodies with composed maps.

A point holds an index expression a dimension. A producer that is inlined contributes its body at the point; what is not inlined becomes an
input with the expressions as its map, or a tensor.extract where an index is computed at run time. Each (tensor, point) is emitted once, so
that a producer used twice at one point is shared and the work is linear in the result. Requests are generators run by an explicit stack:
chains may be longer than Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.affine import index_at, loops_where, to_affine, used_dims
from ...common.edge import RESHAPES
from ...common.index_expression import ZERO, Point, loops_of, reshape_point
from ...common.rewriting import captured_values, clone_with, defining_op, integers, is_used, ops_in, shape_of
from ...common.scalars import Scalars
from ..lowering import generic
from ..lowering.generic import Generic
from ..lowering.views import fitted, restored
from .body_indices import IndexCode, Scope

Request = tuple[ir.Value, Point]
Steps = Generator[Request, ir.Value, ir.Value]

SLICE = "tensor.extract_slice"
VIEWS = (*RESHAPES, SLICE)


def view_source(value: ir.Value) -> ir.Value | None:
    """What `value` is a view of: reshaped, or a static slice."""
    op = defining_op(value)
    if op is None or op.name not in VIEWS or len(op.operands) != 1:
        return None
    drops_dims = op.name == SLICE and len(shape_of(value)) != len(shape_of(op.operands[0]))
    return None if drops_dims else op.operands[0]


def view_base(value: ir.Value) -> ir.Value:
    """What `value` is a view of, through any number of views; `value` itself if it is none."""
    while (source := view_source(value)) is not None:
        value = source
    return value


def point_in_base(value: ir.Value, point: Point) -> Point:
    """Where the element `point` of `value` lies in its base."""
    while (source := view_source(value)) is not None:
        point = point_in_source(value, source, point)
        value = source
    return point


def point_in_source(value: ir.Value, source: ir.Value, point: Point) -> Point:
    """Where the element `point` of `value`, a view of `source`, lies there."""
    op = value.owner.operation
    if op.name != SLICE:
        return reshape_point(point, shape_of(value), shape_of(source))
    offsets, strides = (integers(op, name) for name in ("static_offsets", "static_strides"))
    return tuple(index * stride + offset for index, offset, stride in zip(point, offsets, strides))


class Sources:
    """Which tensors of a function are inlined, and where the others are now."""

    def __init__(self, function: ir.Operation):
        self.scalars = Scalars(function)
        self.inlined: dict[ir.Value, tuple[Generic, int]] = {}
        self._replaced: dict[ir.Value, ir.Value] = {}

    def replace(self, old: ir.Value, new: ir.Value) -> None:
        self._replaced[old] = new
        old.replace_all_uses_with(new)

    def current(self, value: ir.Value) -> ir.Value:
        return self._replaced.get(value, value)


def input_reads(source: Generic) -> list[tuple[ir.Value, ir.AffineMap, ir.Value]]:
    """(operand, map, block argument) of all that a parallel generic reads: its inputs, and the outs whose value its body uses."""
    reads = list(zip(source.inputs, source.in_maps, source.block.arguments))
    outs = zip(source.outs, source.out_maps, source.out_arguments)
    return [*reads, *((v, m, a) for v, m, a in outs if is_used(a))]


def loops_at(source: Generic, number: int, point: Point) -> Point:
    """The loops of a parallel generic at which its result `number` has the element `point`; the result's map must be a permutation."""
    return tuple(loops_where(source.out_maps[number], point, ZERO))


class Builder:
    """One generic under construction: its loops, the inputs found so far, and the block that computes its scalars."""

    def __init__(self, sources: Sources, extents: Sequence[int], members: dict[ir.Value, tuple[Generic, int]]):
        self._sources, self._extents, self._members = sources, list(extents), members
        self._anchor = ir.InsertionPoint.current
        self._inputs: list[ir.Value] = []
        self._maps: list[ir.AffineMap] = []
        self._holder = ir.Module.create()  # the block lives here until its operands, and so the op, are known
        self._block = ir.Block.create_at_start(self._holder.operation.regions[0], [])
        self._memo: dict[Request, ir.Value] = {}
        self._index_code = IndexCode(sources.scalars)

    @property
    def loops(self) -> Point:
        return loops_of(self._extents)

    def scalars_of(self, requests: Iterable[Request]) -> list[ir.Value]:
        with ir.InsertionPoint(self._block):
            return [self._run(_ask(request)) for request in requests]

    def body_of(self, source: Generic, outs: Sequence[ir.Value]) -> list[ir.Value]:
        """Emits the body of a generic with these very loops, `outs` standing for its outs' block arguments; returns what it yields."""
        reads = list(zip(source.inputs, source.in_maps, source.block.arguments))
        given: dict[ir.Value, ir.Value] = dict(zip(source.out_arguments, outs))
        results: list[ir.Value] = []
        scans = _is_scan(source)

        def steps() -> Steps:
            given.update((a, element) for v, _, a in reads if scans and (element := self._scanned_splat(v)) is not None)
            results.extend((yield from self._body(source, reads, self.loops, given, list(source.terminator.operands))))
            return results[0]

        with ir.InsertionPoint(self._block):
            self._run(steps())
        return results

    def finish(
        self,
        results: Sequence[ir.Value],
        outs: Sequence[ir.Value],
        out_maps: Sequence[ir.AffineMap],
        iterators: Sequence[str],
        like: ir.Operation | None = None,
    ) -> tuple[ir.Operation, list[ir.BlockArgument]]:
        """The generic that yields `results`, and the block arguments of its outs."""
        with self._anchor:
            op = generic.new_generic(self._inputs, outs, [*self._maps, *out_maps], iterators, like)
        for value in outs:
            self._block.add_argument(generic.signless_element(value), op.location)
        with ir.InsertionPoint(self._block):
            ir.Operation.create("linalg.yield", operands=list(results))
        self._block.append_to(op.regions[0])
        with self._anchor:
            op = generic.lend_extents(op, self._extents)
        return op, generic.read_generic(op).out_arguments

    def _run(self, first: Steps) -> ir.Value:
        stack: list[tuple[Steps, Request | None]] = [(first, None)]
        answer: ir.Value | None = None
        while stack:
            steps, request = stack[-1]
            try:
                value, point = steps.send(answer)  # type: ignore[arg-type]
            except StopIteration as done:
                stack.pop()
                answer = done.value
                if request is not None:
                    self._memo[request] = done.value
                continue
            request = (value if self._producer(value) else self._sources.current(value), point)
            answer = self._memo.get(request)
            if answer is None:
                stack.append((self._at(*request), request))
        assert answer is not None
        return answer

    def _producer(self, value: ir.Value) -> tuple[Generic, int] | None:
        return self._members.get(value) or self._sources.inlined.get(value)

    def _at(self, value: ir.Value, point: Point) -> Steps:
        producer = self._producer(value)
        if producer is not None:
            source, number = producer
            loops = loops_at(source, number, point)
            wanted = [source.terminator.operands[number]]
            (result,) = yield from self._body(source, input_reads(source), loops, {}, wanted)
            return result
        base = view_base(value)
        if base != value and (self._producer(base) or known_scalar(self._sources.scalars, defining_op(base)) is not None):
            return (yield base, point_in_base(value, point))
        viewed = view_source(value)
        if viewed is not None and value.owner.operation.name == SLICE:
            return (yield viewed, point_in_source(value, viewed, point))
        known = known_scalar(self._sources.scalars, defining_op(value))
        return self._load(value, point) if known is None else known

    def _body(
        self,
        source: Generic,
        reads: Sequence[tuple[ir.Value, ir.AffineMap, ir.Value]],
        loops: Point,
        given: dict[ir.Value, ir.Value],
        wanted: Sequence[ir.Value],
    ) -> Generator[Request, ir.Value, list[ir.Value]]:
        ops = _needed(source, wanted)
        used = {v for op in ops for v in _operands(op)} | set(wanted)
        env = dict(given)
        for operand, indexing, argument in reads:
            if argument not in used or argument in env:
                continue
            if not generic.is_tensor(operand):
                env[argument] = operand
                continue
            env[argument] = yield operand, tuple(index_at(e, loops) for e in indexing.results)
        code = self._index_code.scope(env, loops)
        for op in ops:
            if op.name == "tensor.extract":
                tensor, *position = op.operands
                point = tuple(code.bounded(v, extent) for v, extent in zip(position, shape_of(tensor)))
                env[op.results[0]] = yield tensor, point
            elif not code.take(op):
                self._copy(op, env, code)
        return [code.value(v) for v in wanted]

    def _copy(self, op: ir.Operation, env: dict[ir.Value, ir.Value], code: Scope) -> None:
        if op.name == "arith.constant":
            env[op.results[0]] = self._sources.scalars.attribute(op.results[0].type, op.attributes["value"])
            return
        if op.name == "arith.select" and (chosen := code.decided(op.operands[0])) is not None:
            env[op.results[0]] = code.value(op.operands[1 if chosen else 2])
            return
        named = {value: code.value(value) for value in (*op.operands, *captured_values(op))}  # may emit, so before the op itself
        env.update(zip(op.results, clone_with(op, named).results))

    def _scanned_splat(self, value: ir.Value) -> ir.Value | None:
        """A constant that is scanned stays an input, of one element: of a constant in the body nobody could tell that it is what each step
        adds."""
        scalar = known_scalar(self._sources.scalars, defining_op(view_base(value)))
        constant = None if scalar is None else defining_op(scalar)
        if scalar is None or constant is None or constant.name != "arith.constant":
            return None
        with self._anchor:
            kind = ir.RankedTensorType.get([], scalar.type)
            return self._load(arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, constant.attributes["value"])), ())

    def _load(self, value: ir.Value, point: Point) -> ir.Value:
        if any(index.depends_on("value") for index in point):
            return self._sources.scalars.extract(value, [self._index_code.expression(index) for index in point])
        with self._anchor:
            value, point = restored(value, point)
            value = fitted(value, point, self._extents)
        self._inputs.append(value)
        self._maps.append(generic.affine_map(len(self._extents), [to_affine(index) for index in point]))
        return self._block.add_argument(generic.signless_element(value), ir.Location.unknown())


def _is_scan(source: Generic) -> bool:
    """Whether a result has an element for each step of a loop that is reduced."""
    reduced = [d for d, kind in enumerate(source.iterators) if kind == generic.REDUCTION]
    return any(not used_dims(index).isdisjoint(reduced) for m in source.out_maps for index in m.results)


def known_scalar(scalars: Scalars, op: ir.Operation | None) -> ir.Value | None:
    """The scalar that every element of a fill or of a splat constant has."""
    if op is not None and op.name == "linalg.fill":
        return op.operands[0]
    if op is not None and op.name == "arith.constant" and isinstance(op.attributes["value"], ir.DenseElementsAttr):
        dense = ir.DenseElementsAttr(op.attributes["value"])
        return scalars.attribute(generic.signless_element(op.results[0]), dense.get_splat_value()) if dense.is_splat else None
    return None


def _ask(request: Request) -> Steps:
    return (yield request)


def _needed(source: Generic, wanted: Sequence[ir.Value]) -> list[ir.Operation]:
    """The body's ops that `wanted` depends on, in order, without the terminator."""
    ops = ops_in(source.block)[:-1]
    if len(source.outs) == 1:
        return ops
    live, needed = set(wanted), []
    for op in reversed(ops):
        if any(r in live for r in op.results):
            live.update(_operands(op))
            needed.append(op)
    return needed[::-1]


def _operands(op: ir.Operation) -> list[ir.Value]:
    found = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                found.extend(_operands(inner.operation))
    return found
