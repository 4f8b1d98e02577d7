"""Immutable records of a program: what the planner reads instead of IR.

A `Program` lists values, ops and blocks by number, in program order, all host functions together. An op is
- *free*: cloned into every group that uses its result and never planned (splats, iota, views, short scalar chains, widening converts);
- a *node*: planned, the seed of one group. A free op whose result the host itself needs (returned, carried by a loop) is a node as well;
- *control*: while, case, if, a call: stays in the host and bounds every group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from ...common.index_expression import substitute
from ...common.ops import Kind
from .axes import Signature
from .codes import DecisionCode


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value. `producer` is the number of the op that defines it, or None for a block argument. `elements`: how many there are;
    i1 is stored as one byte an element."""

    id: int
    shape: tuple[int, ...]
    element: str
    bits: int
    producer: int | None
    type: str
    elements: int = field(init=False)
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "elements", prod(self.shape))
        object.__setattr__(self, "bytes", self.elements * max(1, self.bits // 8))


@dataclass(frozen=True)
class AccessMap:
    """Result index → operand index; None is the identity. `masked`: outside some window the operand is not read."""

    index: Signature | None
    masked: bool = False

    def at(self, signature: Signature) -> Signature:
        """The operand's index where the result's is `signature`."""
        return signature if self.index is None else substitute(self.index, dict(enumerate(signature)))

    def of(self, outer: AccessMap) -> AccessMap:
        """The map that first applies `outer`, then this one."""
        if self.index is None and not self.masked:
            return outer
        index = self.index if outer.index is None else self.at(outer.index)
        return AccessMap(index, self.masked or outer.masked)


IDENTITY = AccessMap(None)
SCALAR = AccessMap(())


@dataclass(frozen=True, slots=True)
class Read:
    """A node reads the buffer `value` at `map` of its own index. `packed`: as an operand of a contraction, which needs it whole."""

    value: int
    map: AccessMap
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Op:
    """One op, also a call.

    `ranges`: extents reduced over; `work`: f32 operations for each point of results × ranges; `row`: a reduction over the contiguous
    dimension; `overwrites`: the value that a dynamic_update_slice may update in place; `scanned`: the dimension of its result along which
    each element needs all before it; `grows`: it updates in place, in a kernel of its own; `type`: of its first result; `blocks`: those
    that it runs; `window`: of a dynamic_update_slice whose operand dies there, what it writes into it; `computes`: of a scatter, the most
    work for an element of its updates that its kernel may do itself; `products_percent`: of a contraction, how much of its products its
    algorithm multiplies.
    """

    id: int
    name: str
    kind: Kind
    operands: tuple[int, ...]
    results: tuple[int, ...]
    reads: tuple[Read, ...]
    ranges: tuple[int, ...]
    work: int
    row: bool
    free: bool
    node: bool
    overwrites: int | None
    loc: str
    scanned: int | None = None
    grows: bool = False
    type: str = ""
    blocks: tuple[int, ...] = ()
    window: int | None = None
    computes: int = 0
    products_percent: int = 100


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a host function or of a region inside one. `pinned`: values that its terminator or its control ops need as buffers;
    `handed`: those that its terminator hands on, which have memory of their own."""

    id: int
    function: str
    ops: tuple[int, ...]
    pinned: frozenset[int]
    depth: int
    handed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Program:
    """All host functions together; each record lies at its number. `updates`: arguments, with the results that a call writes over them."""

    values: tuple[Value, ...]
    ops: tuple[Op, ...]
    blocks: tuple[Block, ...]
    updates: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """Why two groups became one, or did not. Times in picoseconds; `rho`: times each element of the producer is evaluated; `rule`: the
    policy's, if one decided; `bytes_again`: what both read."""

    code: DecisionCode
    ops: tuple[int, ...]
    reason: str
    edge: int | None = None
    before: int = 0
    after: int = 0
    bytes_saved: int = 0
    rho: float = 1.0
    rule: str = ""
    bytes_again: int = 0
