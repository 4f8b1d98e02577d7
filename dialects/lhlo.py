"""lhlo: the program over buffers. Each op reads its inputs and writes its destination, which comes last."""

# No `from __future__ import annotations` here: the definitions below are read from the annotations as types, not as text.

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from hloom.runtime.thunk_schema import reach

from ._support import Violation, symbols, violation, walk
from .storage import byte_size, element_bytes, storage_type


class Lhlo(ext.Dialect, name="lhlo"):
    """The program over buffers: each op reads its inputs and writes its destination, which comes last."""


class Buffer(Lhlo.Type, name="buffer"):
    """Stands for a memref in an operand list: the definition language wants all operands of a list to have one type."""


class LhloOp(Lhlo.Operation):
    """What every op of the dialect is. The ops that do work are subclasses in dialects/kinds, one file a kind."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)

    @property
    def thunk(self) -> str:
        """The kind of the thunk that the op becomes."""
        return self.operation.name.removeprefix("lhlo.")

    @property
    def written(self) -> int:
        """How many of its operands, the last ones, the op writes."""
        return len(self.outputs) if hasattr(self, "outputs") else int(hasattr(self, "out"))

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        """What does not hold of the op; `named` are the module's symbols."""
        yield from ()

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        """The attributes of the thunk that are no attributes of the op, beside its slices."""
        return {}


class RefOp(LhloOp, name="ref", traits=[ext.Pure]):
    """The reference to a buffer, for operand lists that hold several."""

    buffer: Operand[ir.MemRefType]
    ref: Result[Buffer]


def verify(module: ir.Operation) -> list[Violation]:
    """What does not hold of the module's lhlo ops beyond what their definitions constrain."""
    named = symbols(module)
    found: list[Violation] = []
    for function in named.values():
        on_gpu = function.name in ("gpu.func", "gpu.module")  # kernels divide up their shared memory as they like
        for op in walk(function, "lhlo." if on_gpu else ("lhlo.", "memref.view")):
            messages = _check_view(op) if op.name == "memref.view" else op.opview.violations(named)
            found.extend(violation(op, message) for message in messages)
    return found


def referenced(ref: ir.Value) -> ir.Value:
    """The memref behind an operand that is an `!lhlo.buffer`."""
    return ref.owner.operation.operands[0]


def element_width(memref: ir.Type) -> int:
    return element_bytes(ir.MemRefType(memref).element_type)


def past_buffers(tensors: Iterable[tuple[str, ir.Value, Sequence[int], Sequence[int]]]) -> Iterator[str]:
    """What does not hold of (name, buffer, sizes, strides in elements) where a tensor does not lie in its buffer."""
    for name, value, sizes, strides in tensors:
        if min(sizes) and (min(strides) < 0 or (reach(sizes, strides) + 1) * element_width(value.type) > byte_size(value.type)):
            yield f"{name} reaches past its buffer {value.type}"


def signature(function: ir.Operation) -> list[ir.Type]:
    """The buffers a group function takes: inputs, then outputs. Before `vector` it is a function over tensors, from there over memrefs.

    A kernel's tensor maps, which describe some of its buffers once more, do not count.
    """
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = list(kind.inputs)
    if [str(t) for t in inputs[:2]] == ["index", "index"]:
        return inputs[2:]
    inputs = [t for t in inputs if not str(t).startswith("!nvgpu.tensormap.descriptor<")]
    return [t if isinstance(t, ir.MemRefType) else storage_type(t) for t in [*inputs, *kind.results]]


def _check_view(op: ir.Operation) -> Iterator[str]:
    source, offset = op.operands[0], op.operands[1].owner
    if isinstance(offset, ir.Block) or offset.operation.name != "arith.constant":
        yield "the offset is no constant"
        return
    start, size, arena = ir.IntegerAttr(offset.operation.attributes["value"]).value, byte_size(op.results[0].type), byte_size(source.type)
    if start % 64:
        yield f"offset {start} is not aligned to 64 bytes"
    if start < 0 or start + size > arena:
        yield f"bytes {start} to {start + size} lie outside the arena of {arena}"
