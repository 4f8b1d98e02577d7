"""The host program as plain records: what buffer assignment works on, and writes back once as lhlo.

A `Value` is a tensor at one place of the program. Everything that happens is one of four nodes: a `Call` to a group, a `Move` (targets ←
sources, all sources read before any target is written: a loop's entry and back edge, a branch's end, the return), a `Loop` and a `Case`.
A loop's carry is one value, defined by the move before the loop and by the move that ends the body. A group that reshapes and does
nothing else is no node: its result is its operand's value, whose memory has another shape there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.dialects.storage import byte_size, storage_type

from ...common.init_function import argument_attributes, updates
from ...common.launches import launch_of
from ...common.rewriting import callee_of, is_block_argument, ops_in
from ...errors import PassFailure


@dataclass(eq=False)
class Value:
    """A tensor. `constant` is its value where that is known; `argument` and `result` are positions in the entry's signature.
    `updated_by`: the result that is written into the argument's memory."""

    type: ir.Type
    bytes: int
    constant: ir.Attribute | None = None
    argument: int | None = None
    result: int | None = None
    updated_by: Value | None = None

    @property
    def readonly(self) -> bool:
        return self.constant is not None or (self.argument is not None and self.updated_by is None)


@dataclass(eq=False)
class Call:
    """`launch`: the number of the launch that it shares with other calls of its block, which stand beside it."""

    callee: str
    inputs: list[Value]
    outputs: list[Value]
    loc: ir.Location
    position: int = -1
    launch: int | None = None


@dataclass(eq=False)
class Move:
    sources: list[Value]
    targets: list[Value]
    loc: ir.Location
    position: int = -1


@dataclass(eq=False)
class Loop:
    """Runs `cond`, tests `pred`, runs `body`, until `pred` is 0. Where `trip_count` is known, runs the body that often; `cond` is empty."""

    carries: list[Value]
    results: list[Value]
    cond: list[Node]
    pred: Value | None
    body: list[Node]
    loc: ir.Location
    trip_count: int | None = None
    op: ir.Operation | None = None
    start: int = -1
    test: int = -1
    end: int = -1


@dataclass(eq=False)
class Case:
    """Runs the branch that `index` counts, the last one if there is none; each ends with a move to `results`."""

    index: Value
    results: list[Value]
    branches: list[list[Node]]
    loc: ir.Location
    start: int = -1
    end: int = -1


Node = Call | Move | Loop | Case


@dataclass(eq=False)
class Entry:
    """One entry function: its body ends with the move to `results`."""

    name: str
    arguments: list[Value]
    results: list[Value]
    body: list[Node] = field(default_factory=list)


def walk(nodes: list[Node]) -> Iterator[Node]:
    """All nodes, those in loops and branches included, in program order."""
    for node in nodes:
        yield node
        if isinstance(node, Loop):
            yield from walk([*node.cond, *node.body])
        elif isinstance(node, Case):
            for branch in node.branches:
                yield from walk(branch)


def loops_in(program: Entry) -> list[Loop]:
    """The loops of an entry, each before those in it."""
    return [node for node in walk(program.body) if isinstance(node, Loop)]


def read_entry(function: ir.Operation, groups: Mapping[str, ir.Operation]) -> Entry:
    """The records of a host function at the fused stage."""
    return _Reader(groups).read(function)


class _Reader:
    def __init__(self, groups: Mapping[str, ir.Operation]) -> None:
        self.groups = groups
        self.values: dict[ir.Value, Value] = {}

    def read(self, function: ir.Operation) -> Entry:
        block = function.regions[0].blocks[0]
        arguments = []
        for i, argument in enumerate(block.arguments):
            value = self.new(argument.type, function)
            value.argument = i
            arguments.append(value)
            self.values[argument] = value
        body, returned, loc = self.read_block(block)
        results = [self.new(value.type, function) for value in ops_in(block)[-1].operands]
        for i, value in enumerate(results):
            value.result = i
        for number, result in updates(argument_attributes(function)).items():
            of = results[result : result + 1] if result >= 0 else []
            if of and storage_type(arguments[number].type) == storage_type(of[0].type):
                arguments[number].updated_by = of[0]
        body.append(Move(returned, results, loc))
        return Entry(ir.StringAttr(function.attributes["sym_name"]).value, arguments, results, body)

    def new(self, kind: ir.Type, op: ir.Operation) -> Value:
        try:
            return Value(kind, byte_size(kind))
        except ValueError as error:
            raise PassFailure(str(error), op=op.name, loc=str(op.location), stage="lhlo") from error

    def read_block(self, block: ir.Block) -> tuple[list[Node], list[Value], ir.Location]:
        """The nodes of a block, and what its terminator hands on."""
        nodes: list[Node] = []
        for op in block.operations:
            op = op.operation
            if op.name in ("func.return", "stablehlo.return"):
                return nodes, [self.values[v] for v in op.operands], op.location
            self.read_op(op, nodes)
        raise PassFailure("a block has no return", stage="lhlo")

    def read_op(self, op: ir.Operation, nodes: list[Node]) -> None:
        if op.name == "stablehlo.constant":
            value = self.new(op.results[0].type, op)
            value.constant = op.attributes["value"]
            self.values[op.results[0]] = value
        elif op.name == "func.call":
            callee = callee_of(op)
            inputs = [self.values[v] for v in op.operands]
            if _only_reshapes(self.groups.get(callee)):
                self.values[op.results[0]] = inputs[0]
                return
            nodes.append(Call(callee, inputs, self.results(op), op.location, launch=launch_of(op)))
        elif op.name == "stablehlo.while":
            self.read_while(op, nodes)
        elif op.name in ("stablehlo.case", "stablehlo.if"):
            self.read_case(op, nodes)
        else:
            message = "the host program holds an op that belongs to no group"
            raise PassFailure(message, op=op.name, loc=str(op.location), stage="lhlo", remedy="run plan-fusion first")

    def results(self, op: ir.Operation) -> list[Value]:
        values = [self.new(result.type, op) for result in op.results]
        self.values.update(zip(op.results, values))
        return values

    def read_while(self, op: ir.Operation, nodes: list[Node]) -> None:
        cond, body = op.regions[0].blocks[0], op.regions[1].blocks[0]
        yielded = list(list(body.operations)[-1].operation.operands)
        inits: list[Value] = []
        carries: list[Value] = []
        results: list[Value] = []
        carried: list[int] = []
        for i, operand in enumerate(op.operands):
            init = self.values[operand]
            if self.is_invariant(yielded[i], body, i, operand):
                for alias in (cond.arguments[i], body.arguments[i], op.results[i]):
                    self.values[alias] = init
                continue
            carry, result = self.new(operand.type, op), self.new(operand.type, op)
            self.values[cond.arguments[i]] = self.values[body.arguments[i]] = carry
            self.values[op.results[i]] = result
            inits.append(init)
            carries.append(carry)
            results.append(result)
            carried.append(i)
        cond_nodes, (pred,), _ = self.read_block(cond)
        body_nodes, after, loc = self.read_block(body)
        body_nodes.append(Move([after[i] for i in carried], carries, loc))
        nodes.append(Move(inits, carries, op.location))
        nodes.append(Loop(carries, results, cond_nodes, pred, body_nodes, op.location, op=op))

    def is_invariant(self, yielded: ir.Value, body: ir.Block, i: int, init: ir.Value) -> bool:
        """Whether carry i is handed on unchanged, or set to what it was at first."""
        return yielded == init or (is_block_argument(yielded) and yielded == body.arguments[i])

    def read_case(self, op: ir.Operation, nodes: list[Node]) -> None:
        # stablehlo.if has the branch for true first; as an index its predicate counts false as 0.
        regions = list(op.regions) if op.name == "stablehlo.case" else list(op.regions)[::-1]
        index = self.values[op.operands[0]]
        branches = [self.read_block(region.blocks[0]) for region in regions]
        results = self.results(op)
        for nodes_inside, yielded, loc in branches:
            nodes_inside.append(Move(yielded, results, loc))
        nodes.append(Case(index, results, [inside for inside, _, _ in branches], op.location))


def _only_reshapes(group: ir.Operation | None) -> bool:
    """Whether a group gives its operand in another shape. Single numbers keep buffers of their own, as loops and cases read them."""
    if group is None:
        return False
    ops = ops_in(group.regions[0].blocks[0])
    if len(ops) != 2 or ops[0].name != "stablehlo.reshape":
        return False
    return all(ir.ShapedType(value.type).rank for value in (ops[0].operands[0], ops[0].results[0]))
