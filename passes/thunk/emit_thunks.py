"""emit-thunks: lhlo → thunk. Each host function becomes a thunk.program: what the runtime does on a call, over slices of numbered buffers.

Before:

    func.func @main(%a: memref<8xf32>, %out: memref<8xf32>, %arena: memref<64xi8>) {
      %c0 = arith.constant 0 : index
      %t = memref.view %arena[%c0][] : memref<64xi8> to memref<8xf32>
      %0 = "lhlo.ref"(%a) …
      "lhlo.fusion"(%0, %1) {callee = @fusion_0, …}
      "lhlo.copy"(%t, %out)

After:

    "thunk.program"() ({
      "thunk.kernel"() {callee = @fusion_0, reads = array<i64: 0, 0, 32>, writes = array<i64: 2, 0, 32>, cost_ps = …, tiles = -1, …}
      "thunk.copy"() {reads = array<i64: 2, 0, 32>, writes = array<i64: 1, 0, 32>}
    }) {sym_name = "main", argument_bytes = array<i64: 32>, result_bytes = array<i64: 32>, arena_bytes = 64 : i64, constants = [], …}

Must hold: the lhlo stage. Constants stay in the module as memref.global ops. A kernel's cost is the callee's `hloom.cost_ps`, or what
moving its bytes takes; its tiles are the callee's `hloom.tiles`, -1 if it has none yet (lower-thunks fills them in).

Declined, with an error: memref ops other than views of the arena at constant offsets, other shapes and reads of globals; an arena
that is larger than the policy's limit (MemoryLimitError).
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects import lhlo, thunk
from hloom.dialects.storage import Slice, byte_size

from ..common.rewriting import attributes_of, create, functions, i64_array, i64_attr, symbol_name, top_level, walk
from ..errors import PassFailure
from ..fused.planner.policy import within_limit
from ..registry import register_pass


@register_pass("emit-thunks", "turns the host functions into thunk programs: lhlo to thunk")
def emit_thunks(module: ir.Operation) -> None:
    kernels = [kernel for holder in top_level(module, "gpu.module") for kernel in walk(holder, "gpu.func")]
    named = {symbol_name(function): function for function in [*functions(module), *kernels]}
    hosts = [function for function in named.values() if "hloom.signature" in function.attributes]
    with module.context, ir.Location.unknown():
        for host in hosts:
            if symbol_name(host) == "main":
                within_limit(module, byte_size(host.regions[0].blocks[0].arguments[-1].type), "thunk")
            _Emitter(host, named).emit()
            host.erase()


class _Emitter:
    def __init__(self, host: ir.Operation, named: dict[str, ir.Operation]):
        self.host, self.named = host, named
        self.signature = ir.FunctionType(ir.TypeAttr(host.attributes["hloom.signature"]).value)
        names = dict.fromkeys(symbol.value for symbol in self._globals())
        self.constants = {name: i for i, name in enumerate(names)}
        self.slices: dict[ir.Value, Slice] = {}
        self.fields = thunk.fields()

    def _globals(self) -> list[ir.FlatSymbolRefAttr]:
        return [ir.FlatSymbolRefAttr(op.attributes["name"]) for op in walk(self.host, "memref.get_global")]

    def emit(self) -> None:
        block = self.host.regions[0].blocks[0]
        sizes = [byte_size(argument.type) for argument in block.arguments]
        inputs, outputs = len(self.signature.inputs), len(self.signature.results)
        for i, argument in enumerate(block.arguments):
            self.slices[argument] = (i, 0, sizes[i])
        with self.host.location, ir.InsertionPoint(self.host):
            program = create(
                "thunk.program",
                regions=1,
                sym_name=self.host.attributes["sym_name"],
                signature=ir.TypeAttr.get(self.signature),
                value_attributes=self._value_attributes(),
                argument_bytes=i64_array(sizes[:inputs]),
                result_bytes=i64_array(sizes[inputs : inputs + outputs]),
                arena_bytes=i64_attr(sizes[-1]),
                constants=ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(name) for name in self.constants]),
            )
        self._block(block, program.regions[0].blocks.append())

    def _value_attributes(self) -> ir.ArrayAttr:
        """The attributes of the arguments and results; the arena's are none of the caller's business."""
        if "arg_attrs" in self.host.attributes:
            return ir.ArrayAttr.get(list(self.host.attributes["arg_attrs"])[:-1])
        return ir.ArrayAttr.get([ir.DictAttr.get({})] * (len(self.signature.inputs) + len(self.signature.results)))

    def _block(self, source: ir.Block, target: ir.Block) -> None:
        with ir.InsertionPoint(target):
            for op in source.operations:
                op = op.operation
                with op.location:
                    if not self._value(op) and op.name != "func.return":
                        self._convert(op)

    def _value(self, op: ir.Operation) -> bool:
        """Notes the slice that an op names; False if it names none."""
        if op.name == "memref.get_global":
            first = len(self.signature.inputs) + len(self.signature.results) + 1
            number = first + self.constants[ir.FlatSymbolRefAttr(op.attributes["name"]).value]
            self.slices[op.results[0]] = (number, 0, byte_size(op.results[0].type))
        elif op.name == "memref.view":
            buffer, start, _ = self.slices[op.operands[0]]
            offset = ir.IntegerAttr(op.operands[1].owner.operation.attributes["value"]).value
            self.slices[op.results[0]] = (buffer, start + offset, byte_size(op.results[0].type))
        elif op.name in ("lhlo.ref", "memref.reinterpret_cast"):
            self.slices[op.results[0]] = self.slices[op.operands[0]]
        else:
            return op.name == "arith.constant"
        return True

    def _convert(self, op: ir.Operation) -> None:
        """Creates the op's thunk: its fields are the op's slices and attributes, and what the op computes for it."""
        view = op.opview
        if not isinstance(view, lhlo.LhloOp):
            raise PassFailure("the host function holds an op that is not an lhlo op", op=op.name, loc=str(op.location), stage="thunk")
        first = len(op.operands) - view.written
        reads, writes = (self._of(*part) for part in (list(op.operands)[:first], list(op.operands)[first:]))
        known = {**attributes_of(op), "reads": reads, "writes": writes, **view.computed(self.named)}
        name = f"thunk.{view.thunk}"
        made = create(name, regions=len(op.regions), **{field: known[field] for field in self.fields[name]})
        for source, target in zip(op.regions, made.regions):
            block = target.blocks.append()
            if source.blocks:
                self._block(source.blocks[0], block)

    def _of(self, *values: ir.Value) -> ir.Attribute:
        return i64_array(number for value in values for number in self.slices[value])
