"""Replaces types throughout a module: each value of a converted type becomes the values, none or several, of the types that stand for it.

    convert_types(module, Conversion(parts_of, rules))

A function is rebuilt op by op, with a map from each old value to its parts:

- ops none of whose values are of a converted type are cloned, their regions too, reading the mapped values;
- an op whose name is in `rules` is its rule's: from the parts of the operands to the parts of the results;
- an op that only moves elements (`MOVEMENT`) is done once for each part; operands that have one part, indices say, are the same each time;
- ops with regions, terminators and calls take and give all parts, one after the other, and so do the arguments of their regions;
- any other op raises UnsupportedOpError.

Arguments and results of the entries keep one value each: `Edge` says which, and how it becomes the parts and is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from ...common.rewriting import attributes_of, clone_with, create, functions, ops_in, symbol_name, walk
from ...errors import UnsupportedOpError

Parts = list[ir.Value]
Rule = Callable[[ir.Operation, list[Parts]], "list[Parts]"]
"""From an op and the parts of each operand to the parts of each result. It builds at the insertion point, with the op's location."""

ENTRIES = ("main", "init")

MOVEMENT = frozenset(
    f"stablehlo.{name}"
    for name in (
        "broadcast broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_gather dynamic_pad dynamic_reshape dynamic_slice "
        "dynamic_update_slice gather get_dimension_size pad real_dynamic_slice reshape reverse select set_dimension_size slice "
        "torch_index_select transpose"
    ).split()
)
"""Ops whose results are elements of their operands, whatever those are."""

_ALL_PARTS = frozenset(
    "chlo.scan func.call func.return stablehlo.after_all stablehlo.case stablehlo.composite stablehlo.get_tuple_element stablehlo.if "
    "stablehlo.optimization_barrier stablehlo.reduce stablehlo.reduce_window stablehlo.return stablehlo.scatter stablehlo.sort "
    "stablehlo.while".split()
)
_ONE_OPERAND = frozenset(f"stablehlo.{name}" for name in "all_reduce map reduce_scatter select_and_scatter".split())
"""Their regions are for one operand: they take the types that one type stands for."""
MOVED = MOVEMENT | _ALL_PARTS | _ONE_OPERAND
"""What needs no rule where one type stands for one."""


@dataclass(frozen=True)
class Edge:
    """How values of converted types stand in the signature of an entry."""

    stored: Callable[[ir.Type], ir.Type]
    """The type of the one value that stands there."""
    load: Callable[[ir.Value, ir.Type], Parts]
    """The parts of an argument that was of that type."""
    store: Callable[[Parts, ir.Type], ir.Value]
    """The result that stands for the parts of a value of that type."""


@dataclass(frozen=True)
class Conversion:
    """What becomes of types and of ops."""

    parts_of: Callable[[ir.Type], Sequence[ir.Type] | None]
    """The types that stand for a type, None for one that stays."""
    rules: Mapping[str, Rule] = field(default_factory=dict)
    edge: Edge | None = None
    """None: entries take and give the parts, as other functions do."""
    remedy: str | None = None
    """What to do about an op that has no rule."""

    def types(self, kind: ir.Type) -> list[ir.Type]:
        parts = self.parts_of(kind)
        return [kind] if parts is None else list(parts)

    def touches(self, op: ir.Operation) -> bool:
        """Whether the op, or one in its regions, has a value of a converted type."""
        return any(self._has(each) for each in (walk(op) if len(op.regions) else [op]))

    def _has(self, op: ir.Operation) -> bool:
        arguments = (argument for region in op.regions for block in region.blocks for argument in block.arguments)
        return any(self.parts_of(value.type) is not None for group in (op.operands, op.results, arguments) for value in group)


def convert_types(module: ir.Operation, conversion: Conversion) -> bool:
    """Rebuilds the functions in which a converted type is. Returns whether there was one."""
    touched = [function for function in functions(module) if _declares(function, conversion) or conversion.touches(function)]
    for function in touched:
        _Function(function, conversion).rebuild()
    return bool(touched)


def per_part(op: ir.Operation, operands: list[Parts], conversion: Conversion) -> list[Parts]:
    """The op once for each part of its results, which may be one; an operand with one part is the same each time."""
    kinds = [conversion.types(result.type) for result in op.results]
    count = max(map(len, kinds))
    made = []
    for number in range(count):
        values = [parts[min(number, len(parts) - 1)] for parts in operands]
        made.append(create(op.name, [kind[number] for kind in kinds], values, **attributes_of(op)))
    return [[each.results[index] for each in made] for index in range(len(kinds))]


def retyped(op: ir.Operation, operands: list[Parts], conversion: Conversion) -> list[Parts]:
    """The op itself on all parts; it has no regions."""
    kinds = [conversion.types(result.type) for result in op.results]
    flat = [value for parts in operands for value in parts]
    new = create(op.name, [kind for group in kinds for kind in group], flat, **attributes_of(op))
    return _grouped(list(new.results), kinds)


def _grouped(values: Parts, kinds: Sequence[Sequence[ir.Type]]) -> list[Parts]:
    rest = iter(values)
    return [[next(rest) for _ in group] for group in kinds]


def _declares(function: ir.Operation, conversion: Conversion) -> bool:
    """Whether a converted type is in the signature: a function without a body has no values."""
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return any(conversion.parts_of(each) is not None for each in (*kind.inputs, *kind.results))


class _Function:
    """Rebuilds one function beside the old one, which it erases."""

    def __init__(self, function: ir.Operation, conversion: Conversion):
        self.function = function
        self.conversion = conversion
        self.edge = conversion.edge if symbol_name(function) in ENTRIES else None
        self.parts: dict[ir.Value, Parts] = {}
        self.same: dict[ir.Value, ir.Value] = {}
        """Old values that stay, for the ops that are cloned."""

    def rebuild(self) -> None:
        kind = ir.FunctionType(ir.TypeAttr(self.function.attributes["function_type"]).value)
        attributes = attributes_of(self.function)
        inputs, results = ([self._declared(each) for each in group] for group in (kind.inputs, kind.results))
        for name, groups in (("arg_attrs", inputs), ("res_attrs", results)):
            if name in attributes:
                given = zip(ir.ArrayAttr(attributes[name]), groups, strict=True)
                attributes[name] = ir.ArrayAttr.get([entry for entry, group in given for _ in group], self.function.context)
        flat = [[each for group in groups for each in group] for groups in (inputs, results)]
        with self.function.location, ir.InsertionPoint(self.function):
            attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*flat))
            new = create("func.func", regions=1, **attributes)
        for block in self.function.regions[0].blocks:
            made = new.regions[0].blocks.append(*flat[0], arg_locs=[self.function.location] * len(flat[0]))
            with self.function.location, ir.InsertionPoint(made):
                for argument, parts in zip(block.arguments, _grouped(list(made.arguments), inputs)):
                    self._bind(argument, self._loaded(argument, parts))
            self._fill(made, block)
        self.function.erase()

    def _declared(self, kind: ir.Type) -> list[ir.Type]:
        return [self.edge.stored(kind)] if self._at_edge(kind) and self.edge else self.conversion.types(kind)

    def _at_edge(self, kind: ir.Type) -> bool:
        return self.edge is not None and self.conversion.parts_of(kind) is not None

    def _loaded(self, argument: ir.Value, parts: Parts) -> Parts:
        return self.edge.load(parts[0], argument.type) if self._at_edge(argument.type) and self.edge else parts

    def _bind(self, old: ir.Value, parts: Parts) -> None:
        self.parts[old] = parts
        if self.conversion.parts_of(old.type) is None:
            self.same[old] = parts[0]

    def _fill(self, made: ir.Block, old: ir.Block) -> None:
        for op in ops_in(old):
            with op.location, ir.InsertionPoint(made):
                self._convert(op)

    def _convert(self, op: ir.Operation) -> None:
        if not self.conversion.touches(op):
            copy = clone_with(op, self.same)
            self.parts.update((old, [new]) for old, new in zip(op.results, copy.results))
            return
        operands = [self.parts[value] for value in op.operands]
        if op.name == "func.return" and self.edge:
            edge, old = self.edge, op.operands
            operands = [[edge.store(parts, v.type)] if self._at_edge(v.type) else parts for v, parts in zip(old, operands)]
        for old_result, parts in zip(op.results, self._converted(op, operands), strict=True):
            self._bind(old_result, parts)

    def _converted(self, op: ir.Operation, operands: list[Parts]) -> list[Parts]:
        rule = self.conversion.rules.get(op.name)
        if rule is not None:
            return rule(op, operands)
        if op.name in MOVEMENT:
            return per_part(op, operands, self.conversion)
        if op.name in _ALL_PARTS or (op.name in _ONE_OPERAND and all(len(parts) == 1 for parts in operands)):
            return self._with_regions(op, operands) if len(op.regions) else retyped(op, operands, self.conversion)
        kinds = ", ".join(dict.fromkeys(str(v.type) for v in (*op.operands, *op.results) if self.conversion.parts_of(v.type) is not None))
        message = f"hloom does not compile {op.name} of {kinds}"
        raise UnsupportedOpError(message, op=op.name, loc=str(op.location), stage="stablehlo", remedy=self.conversion.remedy)

    def _with_regions(self, op: ir.Operation, operands: list[Parts]) -> list[Parts]:
        kinds = [self.conversion.types(result.type) for result in op.results]
        flat = [value for parts in operands for value in parts]
        new = create(op.name, [kind for group in kinds for kind in group], flat, len(op.regions), **attributes_of(op))
        for region, made in zip(op.regions, new.regions):
            for block in region.blocks:
                self._region(op, made, block)
        return _grouped(list(new.results), kinds)

    def _region(self, op: ir.Operation, region: ir.Region, old: ir.Block) -> None:
        order = _order(op, [(argument, self.conversion.types(argument.type)) for argument in old.arguments])
        made = region.blocks.append(*[kind for _, kind in order], arg_locs=[op.location] * len(order))
        parts: dict[ir.Value, Parts] = {argument: [] for argument in old.arguments}
        for (argument, _), value in zip(order, made.arguments):
            parts[argument].append(value)
        for argument in old.arguments:
            self._bind(argument, parts[argument])
        self._fill(made, old)


def _order(op: ir.Operation, arguments: Sequence[tuple[ir.Value, list[ir.Type]]]) -> list[tuple[ir.Value, ir.Type]]:
    """The parts of a region's arguments in order. A comparator has those of each operand side by side: parts become pairs."""
    if op.name != "stablehlo.sort":
        return [(argument, kind) for argument, kinds in arguments for kind in kinds]
    pairs = zip(arguments[::2], arguments[1::2])
    return [(argument, kinds[number]) for pair in pairs for number in range(len(pair[0][1])) for argument, kinds in pair]
