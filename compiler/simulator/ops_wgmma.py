"""nvvm.wgmma and nvvm.mma.sync: what tensor cores do with tiles in shared memory and with words, and the llvm ops that handle sums."""

from __future__ import annotations

import re

from torch_mlir import ir

from .ops_memory import in_shared_memory, word_of
from .translate import Translator, emits, static_integers

_BYTES = {"s8": "np.int8", "u8": "np.uint8", "e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}
_SHAPE = re.compile(r"m = (\d+), n = (\d+), k = (\d+)")
_TYPES = {"f16": "f16", "bf16": "bf16", "tf32": "np.float32", **_BYTES}
_FROM_REGISTERS = re.compile(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.(\w+)\.(\w+)\.\w+ {.*}, {.*}, \$\d+, p, 1, 1, ([01])")
_SUMS = {"f32": "np.float32", "s32": "np.int32"}


@emits("memref.extract_aligned_pointer_as_index")
def _address(t: Translator, op: ir.Operation) -> None:
    made_by = op.operands[0].owner
    if not in_shared_memory(op.operands[0].type) or isinstance(made_by, ir.Block) or made_by.name == "memref.subview":
        raise t.fail(op, "only whole buffers and views of shared memory have addresses that can be simulated")
    t.result(op, f"R.shared_address({t.names[op.operands[0]]})")


@emits("nvvm.wgmma.fence.aligned")
def _fence(t: Translator, op: ir.Operation) -> None:
    t.line("warp_groups(R).fence()")


@emits("nvvm.wgmma.mma_async")
def _multiply(t: Translator, op: ir.Operation) -> None:
    sums, left, right = t.operands(op)
    rows, columns, depth = map(int, _SHAPE.findall(str(op.attributes["shape"]))[0])
    names = [word_of(op.attributes[name]) for name in ("typeA", "typeB")]
    kinds, total = [_TYPES.get(name) for name in names], _SUMS.get(word_of(op.attributes["typeD"]))
    wraps = "satfinite" not in op.attributes or word_of(op.attributes["satfinite"]) == "wrapped"
    plain = all(word_of(op.attributes[name]) == "one" for name in ("scaleA", "scaleB"))
    if word_of(op.attributes["scaleD"]) == "zero":
        sums = f"sums_of(R, np.zeros(({columns // 2}, 1, 1), {total}))"
    alike = names[0] == names[1] or set(names) <= _BYTES.keys()
    if rows != 64 or None in (*kinds, total) or not (plain and wraps and alike):
        raise t.fail(op, "only sums of plain products of f16, bf16, tf32 and bytes are simulated, which may wrap")
    dtypes = f"({kinds[0]}, {kinds[1]}, {total})"
    along_k = word_of(op.attributes["layoutA"]) == "row", word_of(op.attributes["layoutB"]) == "col"
    t.result(op, f"warp_groups(R).multiply({left}, {right}, {sums}, {columns}, {depth}, {dtypes}, {along_k}, {t.mask}, {t.site(op)})")


@emits("nvvm.mma.sync")
def _mma(t: Translator, op: ir.Operation) -> None:
    """Of bytes; of wider types it is nvgpu.mma.sync."""
    counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    kinds = [_BYTES.get(word_of(op.attributes[f"multiplicand{side}PtxType"])) for side in "AB"]
    wraps = "intOverflowBehavior" not in op.attributes or word_of(op.attributes["intOverflowBehavior"]) == "wrapped"
    if _SHAPE.findall(str(op.attributes["shape"])) != [("16", "8", "32")] or counts != [4, 2, 4] or None in kinds or not wraps:
        raise t.fail(op, "only m16n8k32 of bytes, of sums that wrap, is simulated", "use nvgpu.mma.sync for wider types")
    names = t.operands(op)
    a, b, c = (f"[{', '.join(part)}]" for part in (names[:4], names[4:6], names[6:]))
    t.result(op, f"sums_of(R, mma_of_bytes(R, {a}, {b}, {c}, ({kinds[0]}, {kinds[1]}), {t.mask}, {t.site(op)}))")


@emits("nvvm.wgmma.commit.group.sync.aligned")
def _commit(t: Translator, op: ir.Operation) -> None:
    t.line("warp_groups(R).commit()")


@emits("nvvm.wgmma.wait.group.sync.aligned")
def _wait(t: Translator, op: ir.Operation) -> None:
    t.line(f"warp_groups(R).wait({ir.IntegerAttr(op.attributes['group']).value})")


@emits("nvvm.fence.proxy")
def _nothing(t: Translator, op: ir.Operation) -> None:
    """Writes are seen at once here."""


@emits("llvm.extractvalue")
def _extract(t: Translator, op: ir.Operation) -> None:
    _registers(t, op, op.operands[0].type)
    if all(_on_registers(use.owner.operation) for use in op.results[0].uses):
        t.result(op, t.names[op.operands[0]])  # the instruction reads all of them, or none
        return
    (position,) = static_integers(op, "position")
    t.result(op, f"warp_groups(R).settled({t.names[op.operands[0]]}, {t.site(op)})[{position}]")


@emits("llvm.inline_asm")
def _assembly(t: Translator, op: ir.Operation) -> None:
    """wgmma with its left operand in registers; without instructions a fence for the compiler, whose results are the operands."""
    if (instruction := _on_registers(op)) is not None:
        _multiply_registers(t, op, instruction)
        return
    if ir.StringAttr(op.attributes["asm_string"]).value:
        raise t.fail(op, "llvm.inline_asm cannot be simulated", "use an op of gpu, nvgpu, vector, arith or math instead")
    values = t.operands(op)
    if _registers(t, op, op.results[0].type) != len(values):
        raise t.fail(op, "inline assembly without instructions that gives other values than it takes")
    t.result(op, f"sums_of(R, stack([{', '.join(values)}], [{len(values)}]))")


def _on_registers(op: ir.Operation) -> re.Match[str] | None:
    """What inline assembly multiplies, if that is wgmma with its left operand in registers."""
    text = ir.StringAttr(op.attributes["asm_string"]).value if op.name == "llvm.inline_asm" else ""
    return _FROM_REGISTERS.search(text)


def _multiply_registers(t: Translator, op: ir.Operation, instruction: re.Match[str]) -> None:
    columns, depth = int(instruction[1]), int(instruction[2])
    sums, words, right = op.operands[0], list(op.operands)[-5:-1], op.operands[len(op.operands) - 1]
    if len(op.operands) != columns // 2 + 5 or instruction[3] != "f32" or instruction[4] not in ("f16", "bf16"):
        raise t.fail(op, "only sums in f32 of f16 and bf16 in registers are simulated")
    kind = _TYPES[instruction[4]]
    names = f"[{', '.join(t.names[word] for word in words)}], {t.names[right]}, {t.names[sums]}"
    dtypes, along_k = f"({kind}, {kind}, np.float32)", (True, instruction[5] == "0")
    t.result(op, f"warp_groups(R).multiply({names}, {columns}, {depth}, {dtypes}, {along_k}, {t.mask}, {t.site(op)})")


def _registers(t: Translator, op: ir.Operation, kind: ir.Type) -> int:
    found = re.fullmatch(r"!llvm\.struct<\((f32(?:, f32)*|i32(?:, i32)*)\)>", str(kind))
    if found is None:
        raise t.fail(op, f"the simulator has no values of type {kind}")
    return found[1].count("32")
