"""The plan written into the IR: each kernel becomes a private function and a call; equal functions are made once.

Free ops are cloned into every group that uses them; a value becomes an argument exactly if the plan says that the group reads it. Blocks
are rewritten outermost first, because regions use values of the blocks around them; the old ops are erased at the end, users first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from ...common.rewriting import clone_with, functions, symbol_name
from ...errors import PassFailure
from .kernels import Kernel
from .observed import Call
from .reader import CONSTANT, CONTROL, Handles
from .records import Program

Item = Kernel | int
"""What a planned block holds, in order: kernels, and control ops by number."""


class Outliner:
    """`names[op]`: the functions that hold an op, in order of their calls. `calls`: all calls, in that order block by block."""

    def __init__(self, module: ir.Operation, program: Program, handles: Handles):
        self.module, self.program, self.handles = module, program, handles
        self.current: dict[int, ir.Value] = {}
        self.bodies: dict[str, str] = {}
        self.taken = {symbol_name(function) for function in functions(module)}
        self.names: dict[int, list[str]] = {}
        self.calls: list[Call] = []

    def rewrite(self, blocks: Mapping[int, Sequence[Item]]) -> None:
        """Writes what the blocks hold, by their numbers: calls of new functions in place of the planned ops."""
        i64 = ir.IntegerType.get_signless(64)
        for number in sorted(blocks):
            block = self.handles.blocks[number]
            terminator = block.operations[len(block.operations) - 1].operation
            for item in blocks[number]:
                if isinstance(item, Kernel):
                    self.call(item, terminator, i64)
                else:
                    self.keep(item, terminator)
            self.redirect(terminator)
        for number in reversed(range(len(self.program.ops))):
            op = self.handles.ops[number]
            unused = op.name == CONSTANT and not any(True for _ in op.results[0].uses)
            if unused or (op.name not in CONTROL and op.name != CONSTANT):
                if any(True for result in op.results for _ in result.uses):
                    raise PassFailure("a value is used outside of every group", op=op.name, loc=str(op.location), stage="fused")
                op.erase()

    def call(self, kernel: Kernel, terminator: ir.Operation, i64: ir.Type) -> None:
        """Calls the kernel's function before the terminator."""
        name, emitted, arguments = self.function(kernel, i64)
        types = [self.handles.values[value].type for value in kernel.results]
        operands = [self.value(value) for value in arguments]
        hero = self.handles.ops[kernel.ops[-1]]
        with ir.InsertionPoint(terminator), hero.location:
            call = func.CallOp(types, ir.FlatSymbolRefAttr.get(name), operands)
        self.calls.append(Call(name, self.program.ops[kernel.ops[-1]].loc, emitted, arguments, kernel.results))
        self.current.update(zip(kernel.results, call.operation.results))
        for op in emitted:
            self.names.setdefault(op, []).append(name)

    def keep(self, number: int, terminator: ir.Operation) -> None:
        """Moves a control op to its place before the terminator."""
        op = self.handles.ops[number]
        op.move_before(terminator)
        self.redirect(op)

    def redirect(self, op: ir.Operation) -> None:
        """Operands that the plan moved into groups become results of calls."""
        numbers = self.handles.numbers
        for i, operand in enumerate(op.operands):
            new = self.current.get(numbers[operand]) if operand in numbers else None
            if new is not None:
                op.operands[i] = new

    def value(self, number: int) -> ir.Value:
        """The value as it is now: a call's result, or what it was."""
        return self.current.get(number) or self.handles.values[number]

    def function(self, kernel: Kernel, i64: ir.Type) -> tuple[str, list[int], list[int]]:
        """The name of a function with the kernel's body, new or shared, the ops in it and the values it takes."""
        emitted, arguments = self.needed(kernel)
        inputs = [self.handles.values[v].type for v in arguments]
        results = [self.handles.values[v].type for v in kernel.results]
        with ir.InsertionPoint.at_block_begin(self.module.regions[0].blocks[0]), self.handles.ops[kernel.ops[-1]].location:
            function = func.FuncOp("group", ir.FunctionType.get(inputs, results), visibility="private")
            entry = function.add_entry_block([self.handles.ops[kernel.ops[-1]].location] * len(inputs))
        mapping = {self.handles.values[v]: argument for v, argument in zip(arguments, entry.arguments)}
        with ir.InsertionPoint(entry):
            for number in emitted:
                clone_with(self.handles.ops[number], mapping)
            with self.handles.ops[kernel.ops[-1]].location:
                func.ReturnOp([mapping[self.handles.values[v]] for v in kernel.results])
        attributes = function.operation.attributes
        attributes["hloom.kind"] = ir.StringAttr.get(kernel.kind)
        if kernel.library:
            attributes["hloom.library"] = ir.StringAttr.get(kernel.library)
        if kernel.tile:
            attributes["hloom.tile"] = ir.DenseI64ArrayAttr.get(list(kernel.tile))
        if kernel.blocks:
            attributes["hloom.blocks"] = ir.DictAttr.get({name: ir.IntegerAttr.get(i64, asked) for name, asked in kernel.blocks})
        if kernel.tile_rule:
            attributes["hloom.tile_rule"] = ir.StringAttr.get(kernel.tile_rule)
        if kernel.tile_required:
            attributes["hloom.tile_required"] = ir.UnitAttr.get()
        for key, figure in (("cost_ps", kernel.cost_ps), ("bytes", kernel.bytes), ("flops", kernel.flops)):
            attributes[f"hloom.{key}"] = ir.IntegerAttr.get(i64, figure)
        return self.share(function), emitted, arguments

    def share(self, function: func.FuncOp) -> str:
        """The name under which an equal function exists already, else a new one."""
        text = function.operation.get_asm(enable_debug_info=False, use_local_scope=True)  # else the whole module is numbered, for each
        if text in self.bodies:
            function.operation.erase()
            return self.bodies[text]
        number = len(self.bodies)
        while f"fusion_{number}" in self.taken:
            number += 1
        name = f"fusion_{number}"
        self.taken.add(name)
        function.operation.attributes["sym_name"] = ir.StringAttr.get(name)
        self.module.regions[0].blocks[0].append(function.operation)
        self.bodies[text] = name
        return name

    def needed(self, kernel: Kernel) -> tuple[list[int], list[int]]:
        """The kernel's ops, each after the free ops that it is the first to use, and the values they take: in an order that depends on the
        kernel alone, so that equal kernels have equal text."""
        done: dict[int, None] = {}
        arguments: dict[int, None] = {}
        for op in kernel.ops:
            todo = [(op, iter(self.program.ops[op].operands))] if op not in done else []
            while todo:
                current, operands = todo[-1]
                value = next(operands, None)
                producer = None if value is None else self.program.values[value].producer
                if value is None:
                    done[current] = None
                    todo.pop()
                elif value in kernel.reads:
                    arguments[value] = None
                elif producer is not None and producer not in done:
                    todo.append((producer, iter(self.program.ops[producer].operands)))
        return list(done), list(arguments)
