"""What one element of a loop's results is made of: scalars of loops within loops, without IR.

A node is a scalar. It lies in a scope: before the loop, in a loop's body, or in a loop's condition, the outermost in which all is known
that it depends on. A carry of a loop is one slot for each index at which it is needed: of a key of two words two slots, of a vector over
which the tile lies one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch_mlir import ir

from ...common.index_expression import Expr, Point


@dataclass(eq=False)
class Scope:
    """A region: where nodes are computed. `depth`: how many scopes are around it; `loop`: whose region it is."""

    parent: Scope | None = None
    loop: Loop | None = None
    depth: int = 0


@dataclass(eq=False)
class Node:
    """A scalar. `operands` are the nodes it reads, `varies`: it differs between the elements of a tile."""

    number: int
    scope: Scope
    operands: tuple[Node, ...] = ()
    varies: bool = False


@dataclass(eq=False)
class Element(Node):
    """An element of a tensor from outside the loop."""

    value: ir.Value = field(kw_only=True)
    point: Point = field(kw_only=True)


@dataclass(eq=False)
class Known(Node):
    """A constant."""

    attribute: ir.Attribute = field(kw_only=True)


@dataclass(eq=False)
class Position(Node):
    """An index as a number of the type `element`."""

    index: Expr = field(kw_only=True)
    element: ir.Type = field(kw_only=True)


@dataclass(eq=False)
class Computed(Node):
    """The scalar code of an elementwise op."""

    op: ir.Operation = field(kw_only=True)


@dataclass(eq=False)
class Start(Node):
    """Its operand, an integer of the type `element`, as an index from 0 to `limit`: a run-time index of its number in others' points."""

    limit: int = field(kw_only=True)
    element: ir.Type = field(kw_only=True)


@dataclass(eq=False)
class Folded(Node):
    """A reduction of few elements: the first operand is what it starts from."""

    op: ir.Operation = field(kw_only=True)


@dataclass(eq=False)
class Dot(Node):
    """A sum of few products: its operands are pairs."""

    op: ir.Operation = field(kw_only=True)


@dataclass(eq=False)
class Carry(Node):
    """A slot of a loop, within it: in its body, or in its condition."""

    loop: Loop = field(kw_only=True)
    slot: int = field(kw_only=True)


@dataclass(eq=False)
class Result(Node):
    """A slot of a loop after its last turn."""

    loop: Loop = field(kw_only=True)
    slot: int = field(kw_only=True)


@dataclass(eq=False)
class Loop:
    """A while. `slots`: (carry, index) each, with the nodes it starts from and those of the next turn. `trips`: how often it turns, if
    that is known; else `goes_on` says whether it does."""

    op: ir.Operation
    scope: Scope
    trips: int | None
    body: Scope = field(init=False)
    condition: Scope = field(init=False)
    slots: dict[tuple[int, Point], int] = field(default_factory=dict)
    starts: list[Node] = field(default_factory=list)
    nexts: list[Node] = field(default_factory=list)
    goes_on: Node | None = None

    def __post_init__(self) -> None:
        self.body, self.condition = (Scope(self.scope, self, self.scope.depth + 1) for _ in range(2))
