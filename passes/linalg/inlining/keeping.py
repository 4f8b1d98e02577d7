"""Which of a function's generics keep a tensor of their own, which are inlined, and which are emitted together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import target_of

from ...common.affine import dim_position, index_at
from ...common.index_expression import Atom, Point, cuts, loops_of
from ...common.rewriting import element_of, is_used, shape_of
from ..lowering.generic import PARALLEL, Generic, is_contraction, is_tensor, read_generic
from .costs import CAP, body_cost, only_moves_or_extends
from .inlining import input_reads, loops_at, point_in_base, view_base, view_source

LOOPS = ("scf.for", "scf.while")
Order = tuple[int | None, ...]
"""Of each dim of a value the dim of the reader's result whose index is its index, counted without unit dims; None if it is another."""
SLACK = 4  # additions of recomputation an element that are cheaper than a store and a load
MOST_POINTS = 64


@dataclass(eq=False)
class Use:
    """A read of a result: by `node` through `indexing` of the view `through`, at computed indices (no map), or by another op (no node)."""

    node: Node | None
    indexing: ir.AffineMap | None = None
    through: ir.Value | None = None
    reader: ir.Operation | None = None  # the opaque op


@dataclass(eq=False)
class Node:
    """A generic of the function, and what is decided of it."""

    generic: Generic
    position: int
    pure: bool  # parallel, without a loop in its body, and every result's map is a permutation of the loops
    contraction: bool
    uses: list[list[Use]] = field(default_factory=list)  # a list a result
    cost: int = 0  # of one element with all producers inlined
    points: list[tuple[Node | None, Point | int]] = field(default_factory=list)  # (root, or None for itself; its loops)
    stored: bool = False  # has a generic in the rebuilt function
    inlined: bool = False  # is emitted in the bodies of its readers
    depends: set[int] = field(default_factory=set)  # positions of the stored nodes whose tensors it reads
    fixed: bool = False  # an op other than the return and generics reads it: it stays where it is
    reads: dict[int, set[Order]] = field(default_factory=dict)  # by the position of what is stored: how it reads that

    @property
    def shape(self) -> list[int]:
        return shape_of(self.generic.op.results[0])

    @property
    def wide_shape(self) -> list[int]:
        """The shape but for unit dims."""
        return [extent for extent in self.shape if extent != 1]


def read_nodes(ops: Sequence[ir.Operation]) -> list[Node]:
    nodes: dict[ir.Operation, Node] = {}
    for position, op in enumerate(ops):
        if op.name == "linalg.generic":
            source = read_generic(op)
            nodes[op] = Node(source, position, _is_pure(source), is_contraction(source))
    for node in nodes.values():
        node.uses = [_uses(result, None, nodes) for result in node.generic.op.results]
    return list(nodes.values())


def _is_pure(source: Generic) -> bool:
    every = list(range(len(source.extents)))
    if any(op.operation.name in LOOPS for op in source.block.operations):
        return False
    return source.is_parallel and all(sorted(d for e in m.results if (d := dim_position(e)) is not None) == every for m in source.out_maps)


def _uses(value: ir.Value, through: ir.Value | None, nodes: dict[ir.Operation, Node]) -> list[Use]:
    found: list[Use] = []
    for use in value.uses:
        owner = use.owner.operation
        if len(owner.results) == 1 and view_source(owner.results[0]) is not None:
            found += _uses(owner.results[0], owner.results[0], nodes)
        elif owner in nodes:
            node, number = nodes[owner], use.operand_number
            if number < len(node.generic.inputs) or (node.pure and is_used(node.generic.block.arguments[number])):
                found.append(Use(node, node.generic.maps[number], through))
            elif not node.pure:
                found.append(Use(None, reader=owner))
        elif owner.name == "tensor.extract" and owner.parent.operation in nodes:
            found.append(Use(nodes[owner.parent.operation], None, through))
        else:
            found.append(Use(None, reader=owner))
    return found


def producer_of(value: ir.Value, by_result: dict[ir.Value, Node]) -> Node | None:
    return by_result.get(view_base(value))


def reads_of(node: Node) -> list[ir.Value]:
    """All tensors whose elements a generic's body needs, and the outs that a reduction starts from."""
    source = node.generic
    reads = [v for v, _, _ in input_reads(source)] if node.pure else [*source.inputs, *source.outs]
    extracts = [o.operation.operands[0] for o in source.block.operations if o.operation.name == "tensor.extract"]
    return [v for v in (*reads, *extracts) if is_tensor(v)]


def decide(nodes: list[Node], by_result: dict[ir.Value, Node]) -> None:
    """Sets `stored`, `inlined` and `depends`."""
    for node in nodes:
        producers = [p for v in reads_of(node) if (p := producer_of(v, by_result)) is not None]
        node.cost = min(CAP, body_cost(node.generic) + sum(_cost_within(p, node) for p in producers))
    without_reductions = all(node.pure for node in nodes)
    for number, node in enumerate(reversed(nodes)):  # readers before what they read
        _decide_one(node, number, without_reductions)
    for node in (n for n in nodes if n.stored and not n.inlined):
        _tell_orders(node)
    for node in nodes:
        for value in reads_of(node):
            producer = producer_of(value, by_result)
            if producer is not None:
                node.depends |= producer.depends if producer.inlined else {producer.position}


def _cost_within(producer: Node, reader: Node) -> int:
    """What inlining `producer` adds to an element of `reader`; nothing if it will be kept for being read over and over."""
    repeated = reader.generic.trips / max(1, producer.generic.trips) - 1
    return producer.cost if producer.pure and repeated * producer.cost <= SLACK else 0


def _decide_one(node: Node, number: int, without_reductions: bool) -> None:
    uses = [(result, use) for result, uses in enumerate(node.uses) for use in uses]
    opaque = any(use.node is None for _, use in uses)
    node.fixed = any(use.reader is not None and use.reader.name != "func.return" for _, use in uses)
    node.stored = opaque or not node.pure
    if not node.pure:
        node.points = [(None, loops_of(node.generic.extents))]
        return
    points = [(root, at) for (_, at), root in {(root.position, at): root for root, at in _reader_points(node, uses, number)}.items()]
    node.inlined = without_reductions or _pays_inlined(node, points) or _is_never_kept(node, uses, points)
    node.stored = opaque or (not node.inlined and bool(uses))
    node.points = [] if node.stored and not node.inlined else [*points]
    if node.stored:
        node.points.append((None, loops_of(node.generic.extents)))


def _reader_points(node: Node, uses: list[tuple[int, Use]], number: int) -> Iterator[tuple[Node, Point | int]]:
    """(root, loops of `node`) for each point at which a root's body would evaluate `node` if it were inlined."""
    for result, use in uses:
        reader = use.node
        if reader is None:
            continue
        if use.indexing is None:
            for k, (root, _) in enumerate(reader.points):
                yield root or reader, -(number * MOST_POINTS + k) - 1  # unlike any other point
            continue
        for root, at in reader.points:
            if isinstance(at, int):
                yield root or reader, at
                continue
            yield root or reader, loops_at(node.generic, result, _element(use.indexing, use.through, at))


def _element(indexing: ir.AffineMap, through: ir.Value | None, loops: Point) -> Point:
    """The element of the base of the view `through` that is read at these loops."""
    point = tuple(index_at(e, loops) for e in indexing.results)
    return point if through is None else point_in_base(through, point)


def _tell_orders(node: Node) -> None:
    """Tells the parallel nodes whose bodies read the node how they do, and itself how it makes its first result."""
    if node.pure:
        node.reads[node.position] = {_order(node, _element(node.generic.out_maps[0], None, loops_of(node.generic.extents)))}
    for use in (use for uses in node.uses for use in uses):
        if use.node is None or use.indexing is None:
            continue
        for root, at in use.node.points:
            reader = root or use.node
            if reader.pure and not isinstance(at, int):
                reader.reads.setdefault(node.position, set()).add(_order(reader, _element(use.indexing, use.through, at)))


def _order(reader: Node, point: Point) -> Order:
    dims = map(dim_position, reader.generic.out_maps[0].results)
    wide = [d for d in dims if d is not None and reader.generic.extents[d] != 1]
    return tuple(wide.index(index.dim) if index.dim in wide else None for index in point)


def _pays_inlined(node: Node, points: list[tuple[Node, Point | int]]) -> bool:
    evaluations = sum(root.generic.trips for root, _ in points) / max(1, node.generic.trips)
    cheaper = (evaluations + node.stored - 1) * node.cost <= SLACK
    return len(points) <= MOST_POINTS and cheaper and all(_fits(node, root, at) for root, at in points)


def _is_never_kept(node: Node, uses: list[tuple[int, Use]], points: list[tuple[Node, Point | int]]) -> bool:
    """Whether a GPU's threads evaluate the node wherever they read it: in windows, and at computed places. Kept, it would only be whole in
    every tile."""
    if target_of(node.generic.op).kind != "cuda" or len(points) > MOST_POINTS or not all(_fits(node, root, at) for root, at in points):
        return False
    in_windows = any(use.indexing is not None and any(dim_position(e) is None for e in use.indexing.results) for _, use in uses)
    return in_windows or any(isinstance(at, int) for _, at in points)


def _fits(node: Node, root: Node, at: Point | int) -> bool:
    """Contractions read their operands as they are, through plain maps and the quotients that split-loops makes plain."""
    if not root.contraction:
        return True
    if isinstance(at, int) or not only_moves_or_extends(node.generic):
        return False
    atoms = [atom for index in at for atom, _ in index.terms]
    others = [atom for atom in atoms if not _is_plain_where_split(atom, node.generic, root.generic)]
    return not others or _in_panels(others, root.generic)


def _in_panels(atoms: list[Atom], reader: Generic) -> bool:
    """Whether all are of one loop of a CPU's, cut into blocks of one size, the last perhaps in part: packed columns, whose tiles are whole
    blocks."""
    cut = [cuts(atom) for atom in atoms]
    loops, sizes = {number for number, _ in cut}, {step for _, steps in cut for step in steps}
    if any(atom.is_plain for atom in atoms) or len(loops) != 1 or len(sizes) != 1:
        return False
    (number,) = loops
    return number is not None and reader.iterators[number] == PARALLEL and target_of(reader.op).kind == "cpu"


def _is_plain_where_split(atom: Atom, source: Generic, reader: Generic) -> bool:
    """Whether the atom is a loop of `reader`, or made of one that can be split until it is."""
    if atom.is_plain:
        return atom.kind == "dim"
    number, steps = cuts(atom)
    if number is None or any(reader.extents[number] % step for step in steps):
        return False
    return reader.iterators[number] == PARALLEL or _are_lanes(source, steps)


def _are_lanes(source: Generic, steps: set[int]) -> bool:
    """Whether a summed loop is cut into what fills lanes of 32 bits with narrow elements of `source`: a CPU's products read them so."""
    sizes = {element_bytes(element_of(value)) for value in source.inputs if is_tensor(value)}
    return target_of(source.op).kind == "cpu" and all({step * size for size in sizes} == {4} for step in steps)


def clusters(nodes: list[Node]) -> list[list[Node]]:
    """The stored nodes in order; parallel ones of equal shape (but for unit dims) together at the place of the last.

    Only where no stored node between them reads the earlier, and what contractions make is of the same ones: each may have its loops in
    an order of its own. And none where one reads a stored value as it is and the other turned, as square ones may be: no tile has both.
    """
    groups: list[list[Node]] = []
    contractions = {n.position for n in nodes if n.contraction}
    for node in (n for n in nodes if n.stored):
        joined = _joinable(groups, node, contractions) if node.pure else None
        if joined is None:
            groups.append([node])
        else:
            groups.remove(joined)
            groups.append([*joined, node])
    return groups


def _joinable(groups: list[list[Node]], node: Node, contractions: set[int]) -> list[Node] | None:
    needed: set[int] = set()  # what groups already passed over read
    own = node.depends & contractions
    for group in reversed(groups):
        positions = {n.position for n in group}
        alike = group[0].pure and group[0].wide_shape == node.wide_shape and not any(n.fixed for n in group)
        others = set().union(*(n.depends for n in group)) & contractions
        turned = any(_read_apart(n, node) for n in group)
        if not positions & needed and alike and not (own and others and not own & others) and not turned:
            return group
        needed |= set().union(*(n.depends for n in group))
    return None


def _read_apart(one: Node, other: Node) -> bool:
    """Whether the two read a stored value at different loops, wherever they read it."""
    for value in one.reads.keys() & other.reads.keys():
        pairs = [zip(a, b) for a in one.reads[value] for b in other.reads[value]]
        if all(any(None not in (x, y) and x != y for x, y in pair) for pair in pairs):
            return True
    return False
