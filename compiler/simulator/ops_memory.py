"""memref: loads and stores of scalars, views, allocations, atomics."""

from __future__ import annotations

import re

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.passes.common.rewriting import DYNAMIC, integer

from .element_types import element_name
from .ops_arith import dense_array
from .translate import Translator, emits, index_list, memory_layout, static_integers
from .values import DTYPES

_ATOMICS = {
    "addf": "np.add", "addi": "np.add", "andi": "np.bitwise_and", "assign": "assign", "maximumf": "np.maximum", "maxnumf": "np.fmax",
    "maxs": "np.maximum", "maxu": "unsigned_maximum", "minimumf": "np.minimum", "minnumf": "np.fmin", "mins": "np.minimum",
    "minu": "unsigned_minimum", "ori": "np.bitwise_or", "xori": "np.bitwise_xor",
}  # fmt: skip
WORKGROUP = "#gpu.address_space<workgroup>"


def in_shared_memory(kind: ir.MemRefType) -> bool:
    return kind.memory_space is not None and str(kind.memory_space) in (WORKGROUP, "3 : i64", "3 : i32")


@emits("memref.load")
def _load(t: Translator, op: ir.Operation) -> None:
    memory, *indices = t.operands(op)
    t.touches(op.operands[0], read=True)
    t.result(op, f"R.load({memory}, {index_list(indices)}, 0, {t.mask}, 0, {t.site(op)})")


@emits("memref.store")
def _store(t: Translator, op: ir.Operation) -> None:
    value, memory, *indices = t.operands(op)
    t.touches(op.operands[1], write=True)
    t.line(f"R.store({memory}, {index_list(indices)}, {value}, 0, {t.mask}, 0, {t.site(op)})")


@emits("memref.get_global")
def _get_global(t: Translator, op: ir.Operation) -> None:
    symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    if symbol not in t.known_globals:
        t.known_globals[symbol] = _make_global(t, op, symbol)
    t.names[op.results[0]] = t.known_globals[symbol]


def _make_global(t: Translator, op: ir.Operation, symbol: str) -> str:
    kind, name = op.results[0].type, t.new(prefix="g")
    if in_shared_memory(kind):
        t.prologue.append(f"  {name} = R.shared({t.shape_and_type(kind)}, {f'@{symbol}'!r})")
        return name
    held = t.globals.get(symbol)
    if held is None or "initial_value" not in held.attributes or isinstance(held.attributes["initial_value"], ir.UnitAttr):
        raise t.fail(op, f"@{symbol} is neither in shared memory nor a constant of this module")
    values = np.ascontiguousarray(dense_array(held.attributes["initial_value"], DTYPES[element_name(kind)])).reshape(-1)
    t.prologue.append(
        f"  {name} = MemRef({t.constant(values)}, {list(kind.shape)}, {memory_layout(kind)}, {f'@{symbol}'!r}, readonly=True)"
    )
    return name


@emits("gpu.dynamic_shared_memory")
def _dynamic_shared(t: Translator, op: ir.Operation) -> None:
    t.result(op, f"R.dynamic_shared({t.site(op)})")


@emits("memref.alloca")
def _alloca(t: Translator, op: ir.Operation) -> None:
    kind = op.results[0].type
    maker = "shared" if in_shared_memory(kind) else "private"
    t.result(op, f"R.{maker}({t.shape_and_type(kind)}, {'memory of memref.alloca'!r})")


@emits("memref.view")
def _view(t: Translator, op: ir.Operation) -> None:
    kind, (memory, offset, *_) = op.results[0].type, t.operands(op)
    if not kind.has_static_shape:
        raise t.fail(op, "a view of dynamic shape")
    t.alias(op)
    t.shared_unit = min(t.shared_unit, np.dtype(DTYPES[element_name(kind)]).itemsize)
    t.result(op, f"{memory}.view({offset}, {list(kind.shape)}, {element_name(kind)})")


@emits("memref.subview")
def _subview(t: Translator, op: ir.Operation) -> None:
    memory, *dynamic = t.operands(op)
    offsets, sizes, steps = (filled(op, part, dynamic) for part in ("offsets", "sizes", "strides"))
    shape = list(op.results[0].type.shape)
    kept = _kept_dimensions(sizes, shape)
    t.alias(op)
    parts = (index_list(list(map(str, part))) for part in (offsets, sizes, steps))
    t.result(op, f"{memory}.part({', '.join(parts)}, {kept})")


def _kept_dimensions(sizes: list, shape: list[int]) -> list[int]:
    """Which dimensions of a subview's sizes a result of that shape keeps: units are dropped from the left as long as there are too many."""
    dropped = len(sizes) - len(shape)
    kept: list[int] = []
    for d, size in enumerate(sizes):
        fits = len(kept) < len(shape) and (size == shape[len(kept)] or not isinstance(size, int))
        if size == 1 and dropped and not (fits and len(sizes) - d == len(shape) - len(kept)):
            dropped -= 1
            continue
        kept.append(d)
    return kept


@emits("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
def _same(t: Translator, op: ir.Operation) -> None:
    if not op.results:
        return
    t.alias(op)
    t.result(op, t.names[op.operands[0]])


@emits("memref.collapse_shape", "memref.expand_shape")
def _reshape(t: Translator, op: ir.Operation) -> None:
    source, kind = op.operands[0].type, op.results[0].type
    if source.get_strides_and_offset()[0] != memory_layout(source) or not kind.has_static_shape:
        raise t.fail(op, "a reshape of memory that is not contiguous, or to a dynamic shape")
    t.alias(op)
    t.result(op, f"{t.names[op.operands[0]]}.reshaped({list(kind.shape)})")


@emits("memref.reinterpret_cast")
def _reinterpret_cast(t: Translator, op: ir.Operation) -> None:
    memory, *dynamic = t.operands(op)
    offsets, sizes, strides = (filled(op, part, dynamic) for part in ("offsets", "sizes", "strides"))
    t.alias(op)
    shape, steps = (index_list(list(map(str, part))) for part in (sizes, strides))
    t.result(op, f"{memory}.reshaped({shape}, {steps}, {memory}.origin + {offsets[0]})")


@emits("memref.dim")
def _dim(t: Translator, op: ir.Operation) -> None:
    memory, axis = t.operands(op)
    t.result(op, f"{memory}.shape[{axis}]")


@emits("memref.prefetch", "memref.dealloc")
def _nothing(t: Translator, op: ir.Operation) -> None:
    """Neither does anything that could be seen."""


@emits("memref.atomic_rmw")
def _atomic(t: Translator, op: ir.Operation) -> None:
    value, memory, *indices = t.operands(op)
    t.touches(op.operands[1], read=True, write=True)
    kind = arith.AtomicRMWKind(integer(op, "kind")).name
    function = _ATOMICS.get(kind)
    if function is None:
        raise t.fail(op, f"a GPU has no atomic {kind}", "use memref.generic_atomic_rmw")
    used = next(iter(op.results[0].uses), None) is not None
    t.result(op, f"atomic(R, {memory}, {index_list(indices)}, {value}, {function}, {used}, {t.mask}, {t.site(op)})")


@emits("memref.generic_atomic_rmw")
def _generic_atomic(t: Translator, op: ir.Operation) -> None:
    memory, *indices = t.operands(op)
    t.touches(op.operands[0], read=True, write=True)
    block = op.regions[0].blocks[0]
    result, mask, turn = t.new(op.results[0]), t.new(prefix="m"), t.new(prefix="t")
    t.line(f"{turn} = Turns(R, {memory}, {index_list(indices)}, {t.mask}, {t.site(op)})")
    t.line(f"for {mask}, {t.new(block.arguments[0])} in {turn}:")
    with t.nested(mask):
        (new,) = t.block(block)
        t.line(f"{turn}.put({mask}, {new})")
    t.line(f"{result} = {turn}.before")


def filled(op: ir.Operation, part: str, dynamic: list[str]) -> list[int | str]:
    """The attribute static_<part>, where the next names of `dynamic` stand for what is not static: they are taken from the list."""
    return [dynamic.pop(0) if n == DYNAMIC else n for n in static_integers(op, f"static_{part}")]


def operand_groups(op: ir.Operation, names: list[str]) -> list[list[str]]:
    """An op's operands by its operandSegmentSizes."""
    groups, start = [], 0
    for size in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]):
        groups.append(names[start : start + size])
        start += size
    return groups


def word_of(attribute: ir.Attribute) -> str:
    """The last word of an enum attribute: add of #vector.kind<add>."""
    return re.findall(r"\w+", str(attribute))[-1]
