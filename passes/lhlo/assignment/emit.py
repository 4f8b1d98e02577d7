"""Writes an assigned program back as an lhlo function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod

from torch_mlir import ir

from hloom.dialects import lhlo
from hloom.dialects.storage import storage_type

from ...common.custom_calls import NUMBERS
from ...common.dense_constants import is_splat, splat_bytes, storage_constant
from ...common.init_function import UPDATED_BY, argument_attributes
from ...common.launches import LAUNCH
from ...common.ops import Kind
from ...common.rewriting import create, i64_array, i64_attr, index_constant, kind_of, location_texts, value_of
from ...errors import PassFailure
from ...library_calls.contraction import contraction_in
from ...library_calls.fft import transform_in
from ...library_calls.lapack import solver_of
from .assignment import Assignment
from .coalesce import SharedBuffer
from .program import Call, Loop, Move, Node, walk
from .source import source_names

Pairs = tuple[tuple[int, int], ...]


class Globals:
    """The module's constants as memref.global ops, one for each value."""

    def __init__(self, module: ir.Operation, taken: set[str]):
        self.block = module.regions[0].blocks[0]
        self.taken = taken
        self.names: dict[ir.Attribute, str] = {}

    def name(self, constant: ir.Attribute) -> str:
        if constant not in self.names:
            name = f"constant_{len(self.names)}"
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.names[constant] = name
            initial = storage_constant(constant)
            with ir.InsertionPoint.at_block_begin(self.block):
                create(
                    "memref.global",
                    sym_name=ir.StringAttr.get(name),
                    sym_visibility=ir.StringAttr.get("private"),
                    type=ir.TypeAttr.get(storage_type(constant.type)),
                    initial_value=initial,
                    constant=ir.UnitAttr.get(),
                )
        return self.names[constant]


class Groups:
    """The group functions, with a copy of its own for each way in which the calls of one share buffers.

    `plain_only`: libraries do matrix products of f32 and f64, as on a CPU, and nothing else.
    """

    def __init__(self, functions: dict[str, ir.Operation], plain_only: bool = True):
        self.functions = functions
        self.plain_only = plain_only
        self.names: dict[tuple[str, Pairs], str] = {}
        self.sources: dict[str, list[str]] = {}
        self.location = location_texts()

    def specialised(self, assignment: Assignment, callee: str, pairs: Pairs) -> str:
        """The name of the function for calls of `callee` that share these (input, output) pairs."""
        if (callee, pairs) not in self.names:
            name = callee
            if any(known == callee for known, _ in self.names):
                name = self._copy(callee)
            self.names[callee, pairs] = name
            function = self.functions[name]
            windows = [pair for pair in pairs if assignment.inplace.window_update(callee, *pair)]
            for key, held in (("hloom.inplace", pairs), ("hloom.window_update", windows)):
                if held:
                    function.attributes[key] = i64_array(i for pair in held for i in pair)
                elif key in function.attributes:
                    del function.attributes[key]
        return self.names[callee, pairs]

    def _copy(self, callee: str) -> str:
        number = 0
        while (name := f"{callee}_buffers_{number}") in self.functions:
            number += 1
        original = self.functions[callee]
        copy = original.clone(ip=ir.InsertionPoint(original)).operation
        copy.attributes["sym_name"] = ir.StringAttr.get(name)
        self.functions[name] = copy
        return name

    def source(self, callee: str) -> ir.ArrayAttr:
        if callee not in self.sources:
            self.sources[callee] = source_names(self.functions[callee], self.location)
        return ir.ArrayAttr.get([ir.StringAttr.get(name) for name in self.sources[callee]])

    def kind(self, callee: str) -> str:
        return kind_of(self.functions[callee])


class Emitter:
    """Emits one function; `emit` returns it."""

    def __init__(self, assignment: Assignment, groups: Groups, globals_: Globals):
        self.assignment = assignment
        self.groups = groups
        self.globals = globals_
        self.memrefs: dict[SharedBuffer, ir.Value] = {}
        self.refs: dict[tuple[SharedBuffer, ir.Type], ir.Value] = {}
        """Each buffer, by the types that calls see it as."""
        self.arguments: list[ir.Value] = []

    def emit(self, original: ir.Operation) -> ir.Operation:
        assignment, program = self.assignment, self.assignment.program
        arena = ir.MemRefType.get([assignment.arena_bytes], ir.IntegerType.get_signless(8))
        inputs = [*(storage_type(value.type) for value in (*program.arguments, *program.results)), arena]
        with original.location, ir.InsertionPoint(original):
            function = create("func.func", regions=1, **self._attributes(original, ir.FunctionType.get(inputs, [])))
            block = function.regions[0].blocks.append(*inputs)
        self.arguments = list(block.arguments)
        with original.location, ir.InsertionPoint(block):
            for storage in assignment.used:
                self.memrefs[storage] = self._memref(storage)
            for call in (node for node in walk(program.body) if isinstance(node, Call)):
                for storage, kind in zip(chain(*assignment.operands(call)), self._types(call)):
                    if storage in self.memrefs and (storage, kind) not in self.refs:
                        seen = _seen_as(self.memrefs[storage], kind)
                        self.refs[storage, kind] = value_of("lhlo.ref", ir.Type.parse("!lhlo.buffer"), [seen])
            self._nodes(program.body)
            create("func.return")
        for ref in self.refs.values():
            if not list(ref.uses):
                ref.owner.erase()
        return function

    def _attributes(self, original: ir.Operation, kind: ir.FunctionType) -> dict[str, ir.Attribute]:
        """The original's attributes; those of its results move to the arguments that stand for them now."""
        attributes = {name: original.attributes[name] for name in original.attributes}
        signature = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
        empty = ir.DictAttr.get({})
        attributes.pop("arg_attrs", None)
        of_arguments = [ir.DictAttr.get(given) for given in self._argument_attributes(original)]
        of_results = list(attributes.pop("res_attrs", None) or [empty] * len(signature.results))
        return {
            **attributes,
            "function_type": ir.TypeAttr.get(kind),
            "arg_attrs": ir.ArrayAttr.get([*of_arguments, *of_results, empty]),
            "hloom.signature": ir.TypeAttr.get(signature),
            "hloom.arena_bytes": i64_attr(self.assignment.arena_bytes),
            "hloom.live_bytes": i64_attr(self.assignment.live_bytes),
        }

    def _argument_attributes(self, original: ir.Operation) -> Iterator[dict[str, ir.Attribute]]:
        """Those of each argument; one whose memory takes no result, as it was meant to, does not say so any more."""
        for value, given in zip(self.assignment.program.arguments, argument_attributes(original)):
            yield given if value.updated_by is not None else {name: held for name, held in given.items() if name != UPDATED_BY}

    def _memref(self, storage: SharedBuffer) -> ir.Value:
        value, arguments = storage.values[0], self.arguments
        kind = storage_type(value.type)
        if storage.result is not None:
            assert storage.result.result is not None
            return arguments[len(self.assignment.program.arguments) + storage.result.result]
        if value.argument is not None:
            return arguments[value.argument]
        if value.constant is not None and value.bytes:
            symbol = ir.FlatSymbolRefAttr.get(self.globals.name(value.constant))
            return ir.Operation.create("memref.get_global", [kind], attributes={"name": symbol}).results[0]
        return value_of("memref.view", kind, [arguments[-1], index_constant(storage.offset or 0)])

    def _nodes(self, nodes: list[Node]) -> None:
        for node in nodes:
            with node.loc:
                if isinstance(node, Call):
                    self._call(node)
                elif isinstance(node, Move):
                    for source, target in self.assignment.copies[node]:
                        self._copy(source, target)
                elif isinstance(node, Loop):
                    self._loop(node)
                else:
                    index = self.memrefs[self.assignment.storages[node.index]]
                    (inside,) = self._regions("lhlo.case", [index], 1)
                    with ir.InsertionPoint(inside):
                        for branch in node.branches:
                            self._fill_region(self._regions("lhlo.branch", [], 1)[0], branch)

    def _loop(self, loop: Loop) -> None:
        if loop.trip_count is not None:
            count = i64_attr(loop.trip_count)
            self._fill_region(self._regions("lhlo.for", [], 1, trip_count=count)[0], loop.body)
            return
        assert loop.pred is not None
        cond, body = self._regions("lhlo.while", [self.memrefs[self.assignment.storages[loop.pred]]], 2)
        self._fill_region(cond, loop.cond)
        self._fill_region(body, loop.body)

    def _regions(self, name: str, operands: list[ir.Value], count: int, **attributes: ir.Attribute) -> list[ir.Block]:
        op = create(name, operands=operands, regions=count, **attributes)
        return [region.blocks.append() for region in op.regions]

    def _fill_region(self, block: ir.Block, nodes: list[Node]) -> None:
        with ir.InsertionPoint(block):
            self._nodes(nodes)

    def _copy(self, source: SharedBuffer, target: SharedBuffer) -> None:
        constant = source.values[0].constant
        if is_splat(constant):
            signed = [byte - 256 * (byte > 127) for byte in splat_bytes(constant)]
            create("lhlo.fill", operands=[self.memrefs[target]], pattern=ir.DenseI8ArrayAttr.get(signed))
        else:
            create("lhlo.copy", operands=[_seen_as(self.memrefs[source], self.memrefs[target].type), self.memrefs[target]])

    def _call(self, call: Call) -> None:
        if not any(output.bytes for output in call.outputs):
            return
        inputs, outputs = self.assignment.operands(call)
        for pair in self.assignment.copies_before(call):
            self._copy(*pair)
        source = self.groups.source(call.callee)
        if self.groups.kind(call.callee) == "library":
            self._library(call, inputs, outputs[0], source)
            return
        if self.groups.kind(call.callee) == Kind.CALL.label:
            self._outside(call, inputs, outputs, source)
            return
        told: dict[str, ir.Attribute]
        if self.groups.kind(call.callee) == "evaluate":
            name, told = "lhlo.evaluate", {"numbers": self.groups.functions[call.callee].attributes["hloom.numbers"]}
        else:
            pairs = self.assignment.inplace_pairs(call)
            callee = ir.FlatSymbolRefAttr.get(self.groups.specialised(self.assignment, call.callee, pairs))
            name, told = "lhlo.fusion", {"callee": callee, "inplace": i64_array(i for pair in pairs for i in pair)}
            if call.launch is not None:
                told[LAUNCH] = i64_attr(call.launch)
        create(
            name,
            operands=self._refs(call, [*inputs, *outputs]),
            source=source,
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
            **told,
        )

    def _types(self, call: Call) -> list[ir.Type]:
        return lhlo.signature(self.groups.functions[call.callee])

    def _refs(self, call: Call, storages: Sequence[SharedBuffer]) -> list[ir.Value]:
        """Of buffers in the order of the group's inputs and outputs."""
        return [self.refs[storage, kind] for storage, kind in zip(storages, self._types(call), strict=True)]

    def _outside(self, call: Call, inputs: list[SharedBuffer], outputs: list[SharedBuffer], source: ir.ArrayAttr) -> None:
        """The group's operands and results in the order of its custom call."""
        block = self.groups.functions[call.callee].regions[0].blocks[0]
        op, returned = (each.operation for each in block.operations)
        places = list(returned.operands)
        refs = self._refs(call, [*inputs, *outputs])
        taken = [refs[ir.BlockArgument(value).arg_number] for value in op.operands]
        made = [refs[len(inputs) + places.index(result)] for result in op.results]
        if self.groups.plain_only:
            name = "lhlo.custom_call"
            told = {"target": op.attributes["call_target_name"], "numbers": op.attributes[NUMBERS], "config": op.attributes["hloom.config"]}
        else:
            name, told = "lhlo.lapack", solver_of(op)
        create(
            name,
            operands=[*taken, *made],
            source=source,
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(taken), len(made)]),
            **told,
        )

    def _library(self, call: Call, inputs: list[SharedBuffer], output: SharedBuffer, source: ir.ArrayAttr) -> None:
        function = self.groups.functions[call.callee]
        if transform := transform_in(function):
            operands = [lhlo.referenced(ref) for ref in self._refs(call, [inputs[0], output])]
            create("lhlo.fft", operands=operands, source=source, **transform)
            return
        found = contraction_in(function)
        if isinstance(found, str) or (self.groups.plain_only and not found.is_plain):
            op = function.regions[0].blocks[0].operations[0].operation
            why = found if isinstance(found, str) else "a CPU's multiplies matrices of f32 and f64"
            raise PassFailure(f"a library group that no library does: {why}", op=op.name, loc=str(op.location), stage="lhlo")
        refs = self._refs(call, [*inputs, output])
        taken = [refs[ir.BlockArgument(value).arg_number] for value in (*found.operands, *found.more)]
        operands = [*map(lhlo.referenced, taken[:2]), *taken[2:], lhlo.referenced(refs[-1])]
        segments = ir.DenseI32ArrayAttr.get([1, 1, len(found.more), 1])
        attributes = found.form.attributes(found.epilogue)
        create(f"lhlo.{found.form.library}", operands=operands, source=source, operandSegmentSizes=segments, **attributes)


def _seen_as(memref: ir.Value, kind: ir.Type) -> ir.Value:
    """A buffer as one of as many elements in another shape."""
    if memref.type == kind:
        return memref
    sizes = list(ir.MemRefType(kind).shape)
    steps = [prod(sizes[d + 1 :]) for d in range(len(sizes))]
    known = {"static_offsets": i64_array([0]), "static_sizes": i64_array(sizes), "static_strides": i64_array(steps)}
    parts = ir.DenseI32ArrayAttr.get([1, 0, 0, 0])
    return value_of("memref.reinterpret_cast", kind, [memref], operandSegmentSizes=parts, **known)
