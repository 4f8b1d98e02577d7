"""From a gpu.func to the numpy source that runs it.

Each op becomes a line or a few; values are Python variables, `R` is the batch (batch.py). A line for each op family is emitted by the
functions that `emits` registers, in the modules ops_*.py:

    %2 = arith.addf %0, %1 : f32               v2 = v0 + v1
    %3 = memref.load %a[%i] : memref<64xf32>   v3 = R.load(a0, [i], 0, None, 0, 7)      # 7: the site, for error messages
    scf.if %p { … }                            m1 = R.narrow(None, p)
                                               if m1 is not False: …                    # under the mask m1

Values are dropped after their last use, so that the arrays that are alive stay in the caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.common.rewriting import integer, ops_in

from . import async_copies, atomics, tensor_cores, tma, values, warpgroups, wgmma
from .element_types import element_name, element_type, vector_shape
from .errors import SimulationError
from .lockstep import first_line
from .memory import MemRef, row_major
from .values import DTYPES

Emitter = Callable[["Translator", ir.Operation], None]
_HELPERS = (values, atomics, tensor_cores, async_copies, tma, warpgroups, wgmma)
NOTHING = "None"
"""The name of a value that nothing depends on, such as a token."""
EMITTERS: dict[str, Emitter] = {}
"""By the op's name."""


def emits(*names: str) -> Callable[[Emitter], Emitter]:
    def register(function: Emitter) -> Emitter:
        EMITTERS.update(dict.fromkeys(names, function))
        return function

    return register


class Translator:
    """The source of one kernel, as it grows. `mask` is the expression of the current mask."""

    def __init__(self, function: ir.Operation, globals_: dict[str, ir.Operation]):
        self.kernel = ir.StringAttr(function.attributes["sym_name"]).value
        self.globals = globals_
        self.names: dict[ir.Value, str] = {}
        self.constants: dict[str, Any] = {}
        self.sites: list[ir.Operation] = []
        """Ops that may fail, printed only when they do."""
        self.lines: list[str] = []
        self.prologue: list[str] = []
        self.known_globals: dict[str, str] = {}
        self.indent, self.mask, self.count = "  ", "None", 0
        self.shared_unit = 16
        """The smallest element in views of dynamic shared memory."""
        self.stored: set[int] = set()
        self.loaded: set[int] = set()
        """Arguments that the kernel writes, and those that it reads."""
        self.roots: dict[ir.Value, int] = {}
        self._translate(function)

    def _translate(self, function: ir.Operation) -> None:
        block = function.regions[0].blocks[0]
        self.types = list(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
        shared = integer(function, "workgroup_attributions", 0)
        arguments = []
        for i, argument in enumerate(block.arguments):
            name = self.names[argument] = f"a{i}"
            if i < len(self.types):
                arguments.append(name)
                self.roots[argument] = i
            else:
                maker = "shared" if i < len(self.types) + shared else "private"
                self.prologue.append(
                    f"  {name} = R.{maker}({self.shape_and_type(argument.type)}, {f'{maker} memory {i - len(self.types)}'!r})"
                )
        self.block(block)
        self.source = "\n".join([f"def run({', '.join(['R', *arguments])}):", *self.prologue, *self.lines, "  return", ""])
        helpers = {name: value for module in _HELPERS for name, value in vars(module).items()}
        environment = {**helpers, **DTYPES, "MemRef": MemRef, "np": np, "C": self.constants}
        exec(compile(self.source, f"<kernel {self.kernel}>", "exec"), environment)
        self.run: Callable[..., None] = environment["run"]

    # What emitters call.

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def new(self, value: ir.Value | None = None, prefix: str = "v") -> str:
        """A fresh name, that of `value`."""
        self.count += 1
        name = f"{prefix}{self.count}"
        if value is not None:
            self.names[value] = name
        return name

    def result(self, op: ir.Operation, expression: str) -> None:
        """The op's one result is this."""
        self.line(f"{self.new(op.results[0])} = {expression}")

    def operands(self, op: ir.Operation) -> list[str]:
        return [self.names[value] for value in op.operands]

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return f'C["{name}"]'

    def site(self, op: ir.Operation) -> int:
        """The number by which the batch names this op in an error."""
        self.sites.append(op)
        return len(self.sites) - 1

    def fail(self, op: ir.Operation, message: str, remedy: str | None = None) -> SimulationError:
        return SimulationError(message, kernel=self.kernel, op=first_line(op), loc=str(op.location), remedy=remedy)

    def shape_and_type(self, kind: ir.Type) -> str:
        return f"{list(kind.shape)}, {element_name(kind)}"

    def alias(self, op: ir.Operation, source: int = 0) -> None:
        """The result is a view of an operand."""
        root = self.roots.get(op.operands[source])
        if root is not None:
            self.roots[op.results[0]] = root

    def touches(self, memory: ir.Value, *, read: bool = False, write: bool = False) -> None:
        """Notes an access, for what is checked of arguments."""
        root = self.roots.get(memory)
        if root is None:
            return
        if read:
            self.loaded.add(root)
        if write:
            self.stored.add(root)

    @contextmanager
    def nested(self, mask: str | None = None) -> Iterator[None]:
        """Lines within are indented, under this mask."""
        indent, outer = self.indent, self.mask
        self.indent, self.mask = indent + "  ", outer if mask is None else mask
        yield
        self.indent, self.mask = indent, outer

    def block(self, block: ir.Block) -> list[str]:
        """Translates the ops of a block; gives the names of what its terminator yields."""
        ops = ops_in(block)
        last = _last_uses(ops)
        for op, dead in zip(ops, last):
            emitter = EMITTERS.get(op.name)
            if emitter is None:
                raise self.fail(op, f"the simulator does not know {op.name}")
            self._check_types(op)
            emitter(self, op)
            names = sorted({self.names[value] for value in dead if value in self.names} - self.lasting)
            if names:
                self.line(f"del {', '.join(names)}")
        return [self.names[value] for value in ops[-1].operands]

    def _check_types(self, op: ir.Operation) -> None:
        for result in op.results:
            element = element_type(result.type)
            if isinstance(element, ir.IntegerType | ir.FloatType) and str(element) not in DTYPES:
                raise self.fail(op, f"the simulator has no values of type {result.type}")

    @property
    def lasting(self) -> set[str]:
        """Names that stay: memory that is made once, and what stands for values without meaning here."""
        return {*self.known_globals.values(), NOTHING}


def _last_uses(ops: list[ir.Operation]) -> list[list[ir.Value]]:
    """For each op of a block the results of ops of the block that no later op uses, nor the terminator."""
    mine = {result for op in ops for result in op.results}
    kept = set(ops[-1].operands)
    seen: set[ir.Value] = set()
    dead: list[list[ir.Value]] = []
    for op in reversed(ops[:-1]):
        used = ((set(op.results) | _used_within(op)) & mine) - seen - kept
        seen |= used
        dead.append(list(used))
    return [*reversed(dead), []]


def _used_within(op: ir.Operation) -> set[ir.Value]:
    used = set(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                used |= _used_within(inner.operation)
    return used


def index_list(names: list[str]) -> str:
    return f"[{', '.join(names)}]"


def static_integers(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def width_of(kind: ir.Type) -> int:
    """The elements of a 1-D vector type, 0 for a scalar."""
    shape = vector_shape(kind)
    return shape[-1] if shape else 0


def memory_layout(kind: ir.MemRefType) -> list[int]:
    return row_major(list(kind.shape))
