"""One walk over the host functions of a module: IR in, a `Program` and the handles of its ops out.

The handles serve the rewriting at the end; the planner in between sees records only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.byte_floats import sees_floats
from ...common.init_function import argument_attributes, updates
from ...common.nibbles import sees_nibbles
from ...common.ops import FLOAT, FREE, INTEGER, Kind, name_in_table, named
from ...common.rewriting import captured_values, functions, has_one_use, integers, is_block_argument, location_texts, ops_in, symbol_name
from ...common.storage import MOST_PLACES
from ...errors import InvalidProgramError
from ...stablehlo.support.dimensions import DotDims
from .access import Facts, facts_of
from .records import IDENTITY, SCALAR, AccessMap, Block, Op, Program, Read, Value

CONTROL = named(Kind.CONTROL) | {"func.call"}
TERMINATORS = named(Kind.TERMINATOR) | {"func.return"}
CONSTANT = "stablehlo.constant"
VIEWS = FREE & named(Kind.MOVEMENT)
_BYTES = frozenset({"i8", "ui8"})
_READ_THROUGH = VIEWS | {"stablehlo.convert", "stablehlo.bitcast_convert", "stablehlo.transpose"}
"""The free ops through which a contraction reads its operands."""
SCALAR_CHAIN = 32
"""A chain of scalar ops is cloned into its users while it is no longer than this, and none of its ops costs more than a division."""


@dataclass
class Handles:
    """The MLIR objects behind the records, each list by number."""

    ops: list[ir.Operation] = field(default_factory=list)
    values: list[ir.Value] = field(default_factory=list)
    blocks: list[ir.Block] = field(default_factory=list)
    numbers: dict[ir.Value, int] = field(default_factory=dict)


@dataclass
class _OpDraft:
    """An op while it is being read; whether it is a node is known only when the whole program was seen."""

    name: str
    facts: Facts
    operands: tuple[int, ...]
    results: tuple[int, ...]
    loc: str
    block: int
    free: bool = False
    chain: int = 0
    blocks: tuple[int, ...] = ()


@dataclass
class _BlockDraft:
    function: str
    depth: int
    ops: list[int] = field(default_factory=list)
    pinned: set[int] = field(default_factory=set)
    handed: frozenset[int] = frozenset()


def read_program(module: ir.Operation) -> tuple[Program, Handles]:
    """Reads every function that is not itself a group."""
    reader = _Reader()
    for function in functions(module):
        blocks = function.regions[0].blocks
        if "hloom.kind" in function.attributes or not blocks:
            continue
        if len(blocks) != 1:
            name = symbol_name(function)
            raise InvalidProgramError(f"function @{name} has several blocks", stage="fused", remedy="use stablehlo control flow")
        reader.block(blocks[0], symbol_name(function), 0)
        reader.updates_of(function)
    return reader.finish(), reader.handles


def captures(op: ir.Operation) -> list[ir.Value]:
    """What the bodies of a reduction use from outside, as constants that upstream's canonicaliser moved out; they count as operands."""
    return [] if op.name in CONTROL else captured_values(op)


def _unpacks_weights(op: ir.Operation) -> bool:
    """Whether a transpose of an argument, split from there on, is read by convolutions or dots as weights: an index of what is packed."""
    if op.name != "stablehlo.transpose" or not is_block_argument(op.operands[0]):
        return False
    uses = list(op.results[0].uses)
    if not uses or any(use.owner.operation.name != "stablehlo.reshape" for use in uses):
        return False
    while uses:
        use = uses.pop()
        user = use.owner.operation
        if user.name in ("stablehlo.reshape", "stablehlo.slice"):
            uses += list(user.results[0].uses)
        elif user.name not in ("stablehlo.convolution", "stablehlo.dot_general") or use.operand_number != 1:
            return False
    return True


def _widens(source: str, result: str) -> bool:
    """Whether elements of the one type are a contraction's operands as elements of the other, which has more bits."""
    return {source, result} <= FLOAT or {source, result} <= INTEGER


def _dequantises(op: ir.Operation, source: str, result: str) -> bool:
    """Whether a convert makes floats of bytes for dots alone, whose kernels on a CPU read the bytes."""
    if source not in _BYTES or result not in FLOAT or target_of(op).kind != "cpu":
        return False
    return all(use.owner.name == "stablehlo.dot_general" for use in op.results[0].uses)


def _tells_places(op: ir.Operation) -> bool:
    """Whether a constant is nothing but the places at which gathers read, which a kernel wants to know (vector/nests/places.py)."""
    kind = ir.RankedTensorType(op.results[0].type)
    if kind.rank != 1 or kind.shape[0] > MOST_PLACES or not isinstance(kind.element_type, ir.IntegerType):
        return False
    indices = all(use.owner.name == "stablehlo.gather" and use.operand_number == 1 for use in op.results[0].uses)
    return indices and target_of(op).kind == "cpu"


def _is_read_by_lines(op: ir.Operation, side: int) -> bool:
    """Whether a contraction's kernel on a CPU reads what lies side by side in an operand, for each of its tiles again: the steps of its
    sums, or the taps of weights."""
    if target_of(op).kind != "cpu":
        return False
    if op.name != "stablehlo.dot_general":
        return side == 1
    dims = DotDims.of(op)
    return dims.ranks[side] - 1 in dims.contracting[side]


def _leaves_gaps(op: ir.Operation) -> bool:
    """Whether a slice takes no neighbours of a line."""
    return op.name == "stablehlo.slice" and integers(op, "strides")[-1:] > [1]


class _Reader:
    def __init__(self) -> None:
        self.handles = Handles()
        self.values: list[Value] = []
        self.home: list[int] = []  # the block in which a value is defined
        self.ops: list[_OpDraft] = []
        self.blocks: list[_BlockDraft] = []
        self.location = location_texts()
        self.kinds: dict[ir.Type, tuple[tuple[int, ...], str, int, str]] = {}
        self.updates: dict[int, int] = {}

    def updates_of(self, function: ir.Operation) -> None:
        """Reads which results are written over arguments."""
        block = function.regions[0].blocks[0]
        results = ops_in(block)[-1].operands
        pairs = updates(argument_attributes(function)).items()
        self.updates.update({self.handles.numbers[block.arguments[a]]: self.handles.numbers[results[r]] for a, r in pairs})

    # -- the walk --------------------------------------------------------------------------------------------------------------------

    def block(self, block: ir.Block, function: str, depth: int) -> int:
        """Reads a block and the regions in it; its number."""
        number, draft = len(self.blocks), _BlockDraft(function, depth)
        self.blocks.append(draft)
        self.handles.blocks.append(block)
        for argument in block.arguments:
            self.value(argument, None, number)
        for view in block.operations:
            op = view.operation
            operands = [self.values[self.handles.numbers[v]] for v in (*op.operands, *captures(op))]
            if op.name not in TERMINATORS:
                draft.ops.append(self.op(op, operands, number, function, depth))
            if op.name in TERMINATORS or op.name in CONTROL:
                draft.pinned.update(v.id for v in operands)
            if op.name in TERMINATORS:
                draft.handed = frozenset(v.id for v in operands)
        return number

    def op(self, op: ir.Operation, operands: Sequence[Value], block: int, function: str, depth: int) -> int:
        """Reads an op of a block; its number."""
        number = len(self.ops)
        results = [self.value(result, number, block) for result in op.results]
        control = op.name in CONTROL
        own = operands[: len(op.operands)]
        facts = Facts(Kind.CONTROL, tuple(IDENTITY for _ in own)) if control else facts_of(op, number, own, results)
        facts = replace(facts, maps=facts.maps + (SCALAR,) * (len(operands) - len(facts.maps)))
        draft = _OpDraft(name_in_table(op), facts, tuple(v.id for v in operands), tuple(v.id for v in results), self.location(op), block)
        self.ops.append(draft)
        self.handles.ops.append(op)
        draft.free = self.is_free(op, draft, operands, results)
        if control:
            draft.blocks = tuple(self.block(inner, function, depth + 1) for region in op.regions for inner in region.blocks)
        return number

    def value(self, value: ir.Value, producer: int | None, block: int) -> Value:
        """The record of a new value."""
        shape, element, bits, text = self.kind(value)
        record = Value(len(self.values), shape, element, bits, producer, text)
        self.handles.numbers[value] = record.id
        self.values.append(record)
        self.home.append(block)
        self.handles.values.append(value)
        return record

    def kind(self, value: ir.Value) -> tuple[tuple[int, ...], str, int, str]:
        """What the record tells of a value's type: its shape, its elements and their bits, its text."""
        kind = value.type
        if kind not in self.kinds:
            if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
                raise InvalidProgramError(f"a value of type {kind} has no buffer of known size", loc=str(value.location), stage="fused")
            element = kind.element_type
            bits = element.width if isinstance(element, ir.IntegerType | ir.FloatType) else 64
            self.kinds[kind] = tuple(kind.shape), str(element), bits, str(kind)
        return self.kinds[kind]

    def is_free(self, op: ir.Operation, draft: _OpDraft, operands: Sequence[Value], results: Sequence[Value]) -> bool:
        """Whether the op is cloned into every group that uses its result; sets the length of the scalar chain that ends in it."""
        kind = draft.facts.kind
        if kind.has_ranges or kind.alone or kind is Kind.CONTROL:
            return False
        if op.name == CONSTANT:
            return isinstance(op.attributes["value"], ir.DenseElementsAttr) and (op.attributes["value"].is_splat or _tells_places(op))
        draft.chain = sum(self.ops[v.producer].chain for v in operands if v.producer is not None)
        if draft.name in FREE or sees_floats(op) or sees_nibbles(op) or _unpacks_weights(op):
            return True
        if op.name == "stablehlo.convert" and operands[0].bits < results[0].bits:
            types = operands[0].element, results[0].element
            if _widens(*types) or _dequantises(op, *types):
                return True
        if any(v.elements != 1 for v in (*operands, *results)) or draft.facts.work > 8:
            draft.chain = 0
            return False
        draft.chain += 1
        return draft.chain <= SCALAR_CHAIN

    # -- what needs the whole program --------------------------------------------------------------------------------------------------

    def finish(self) -> Program:
        """The records, now that all readers of every value are known."""
        demanded = {value for block in self.blocks for value in block.pinned}
        demanded.update(read.value for draft in self.ops if draft.facts.kind.contracts for read in self.packed(draft))
        demanded.update(value for draft in self.ops if draft.facts.kind.alone for value in draft.operands)
        resolved: list[tuple[Read, ...]] = [(Read(value.id, IDENTITY),) for value in self.values]
        ops: list[Op] = []
        for number, draft in enumerate(self.ops):
            wanted = any(value in demanded for value in draft.results)
            if draft.free and wanted and self.keeps_buffer(draft, resolved):
                draft.free = False
            reads = self.buffers(draft, resolved)
            if draft.free:
                resolved[draft.results[0]] = reads
            ops.append(self.record(number, draft, reads, wanted))
        for number in reversed(range(len(ops))):  # inner control ops come later, and are needed first
            if self.ops[number].blocks:
                ops[number] = self.with_captures(ops[number], ops)
        blocks = (Block(i, b.function, tuple(b.ops), frozenset(b.pinned), b.depth, b.handed) for i, b in enumerate(self.blocks))
        return Program(tuple(self.values), tuple(ops), tuple(blocks), self.updates)

    def record(self, number: int, draft: _OpDraft, reads: tuple[Read, ...], wanted: bool) -> Op:
        """`wanted`: a result is needed as a buffer."""
        facts = draft.facts
        node = facts.kind is not Kind.CONTROL and draft.name != CONSTANT and (not draft.free or wanted)
        return Op(
            number, draft.name, facts.kind, draft.operands, draft.results, reads, facts.ranges, facts.work, facts.row, draft.free, node,
            draft.operands[0] if facts.overwrites else None, draft.loc, facts.scanned, facts.grows,
            self.values[draft.results[0]].type if draft.results else "", window=self.window(number, draft), computes=facts.computes,
            products_percent=facts.products_percent,
        )  # fmt: skip

    def window(self, number: int, draft: _OpDraft) -> int | None:
        """What a dynamic_update_slice writes where nobody else reads its operand, and it is no argument of the program's."""
        if not draft.facts.overwrites:
            return None
        source, (given, update, *_) = self.handles.ops[number].operands[0], draft.operands
        kept = self.values[given].producer is None and not self.blocks[self.home[given]].depth
        return None if kept or not has_one_use(source) else update

    def with_captures(self, op: Op, ops: list[Op]) -> Op:
        """A control op also reads what its regions read from outside; in the block around it those values are needed as buffers."""
        captured: set[int] = set()
        for number in self.ops[op.id].blocks:
            block = self.blocks[number]
            members = (ops[number] for number in block.ops)
            used = {read.value for each in members for read in each.reads if each.node or each.kind is Kind.CONTROL}
            captured |= {value for value in used | block.pinned if self.home[value] != number}
        outer = self.ops[op.id].block
        self.blocks[outer].pinned.update(value for value in captured if self.home[value] == outer)
        reads = (*op.reads, *(Read(value, IDENTITY) for value in sorted(captured - set(op.operands))))
        inside = self.ops[op.id].blocks
        return Op(op.id, op.name, op.kind, op.operands, op.results, reads, (), 0, False, False, False, None, op.loc, blocks=inside)

    def keeps_buffer(self, draft: _OpDraft, resolved: list[tuple[Read, ...]]) -> bool:
        """A view that must exist as a buffer of a value that otherwise need not: its users read the view, and the value is not kept."""
        for operand in draft.operands:
            for read in resolved[operand]:
                source = self.values[read.value]
                if source.producer is None or source.elements == 1:
                    continue
                if self.ops[source.producer].name != CONSTANT and self.ops[source.producer].facts.kind is not Kind.CONTROL:
                    return True
        return False

    def buffers(self, draft: _OpDraft, resolved: list[tuple[Read, ...]]) -> tuple[Read, ...]:
        """What an op reads: a contraction and an op that is alone in its kernel have a rule of their own."""
        if draft.facts.kind.contracts:
            return self.packed(draft)
        return self.whole(draft) if draft.facts.kind.alone else self.reads(draft, resolved)

    def whole(self, draft: _OpDraft) -> tuple[Read, ...]:
        """Every operand as it is, whatever made it; splats are cloned, save those that a scatter updates or outside code reads."""
        updated = {Kind.SCATTER: len(draft.results), Kind.CALL: len(draft.operands)}.get(draft.facts.kind, 0)
        operands = enumerate(zip(draft.operands, draft.facts.maps, strict=True))
        return tuple(dict.fromkeys(Read(value, access) for i, (value, access) in operands if i < updated or not self.is_splat(value)))

    def is_splat(self, value: int) -> bool:
        """Whether a value is a constant that is cloned into every group."""
        producer = self.producer(value)
        return producer is not None and producer.name == CONSTANT and producer.free

    def reads(self, draft: _OpDraft, resolved: list[tuple[Read, ...]]) -> tuple[Read, ...]:
        """The buffers that an op reads, through the free ops before it, each with the composed map; equal reads once."""
        if draft.facts.kind is Kind.CONTROL:
            return tuple(Read(value, IDENTITY) for value in dict.fromkeys(draft.operands))
        found: dict[tuple[int, AccessMap], Read] = {}
        for operand, access in zip(draft.operands, draft.facts.maps, strict=True):
            for inner in resolved[operand]:
                read = Read(inner.value, inner.map.of(access))
                found.setdefault((read.value, read.map), read)
        return tuple(found.values())

    def packed(self, draft: _OpDraft) -> tuple[Read, ...]:
        """A contraction reads its operands through views, widening converts and bytes seen as floats only; any other free op before it
        must exist as a buffer, and so must a slice with gaps that it reads by lines."""
        reads = []
        for side, (value, access) in enumerate(zip(draft.operands, draft.facts.maps, strict=True)):
            by_lines = _is_read_by_lines(self.handles.ops[self.number(draft.results[0])], side)
            while (producer := self.producer(value)) and producer.free and producer.name in _READ_THROUGH:
                if by_lines and _leaves_gaps(self.handles.ops[self.number(value)]):
                    break
                access, value = producer.facts.maps[0].of(access), producer.operands[0]
            if not self.is_splat(value):
                reads.append(Read(value, access, packed=True))
        return tuple(reads)

    def number(self, value: int) -> int:
        """That of the op which makes a value that is no argument."""
        number = self.values[value].producer
        assert number is not None
        return number

    def producer(self, value: int) -> _OpDraft | None:
        number = self.values[value].producer
        return None if number is None else self.ops[number]
