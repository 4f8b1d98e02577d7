"""mma.sync, ldmatrix and wgmma."""

from __future__ import annotations

import re

from .syntax import Group, Immediate, Instruction, Operand
from .translate import PREDICATE, Translator, emits, size_of

_TYPES = {"f16": "f16", "bf16": "bf16", "tf32": "f32", "s8": "s8", "u8": "u8", "e4m3": "e4m3", "e5m2": "e5m2", "f64": "f64"}
_SUMS = {"f32": "f32", "f16": "f16", "s32": "s32", "f64": "f64"}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


def _words(t: Translator, operand: Operand, kind: str) -> str:
    assert isinstance(operand, Group)
    return "[" + ", ".join(t.read(part, kind) for part in operand.parts) + "]"


@emits("mma.sync")
def _mma(t: Translator, ins: Instruction) -> None:
    target, a, b, c = ins.operands[:4]
    kinds = ins.parts[-4:]
    left, right, total = _TYPES.get(kinds[1]), _TYPES.get(kinds[2]), _SUMS.get(kinds[3])
    shape = next(part for part in ins.parts if _SHAPE.fullmatch(part))
    if None in (left, right, total) or kinds[0] != kinds[3] or {"satfinite", "sp"} & set(ins.parts) or "col" not in ins.parts:
        t.unknown(ins)
    if not shape.startswith("m16n8") and not (shape == "m8n8k4" and left == "f64"):
        t.unknown(ins)
    word = "u64" if left == "f64" else "u32"
    assert isinstance(target, Group)
    names = [f"_w{i}" for i in range(len(target.parts))]
    operands = ", ".join(_words(t, operand, word) for operand in (a, b, c))
    tf32 = kinds[1] == "tf32"
    t.line(f"{', '.join(names)}, = matrices.mma(M, {operands}, ({left}, {right}, {total}), {tf32}, {t.mask}, {t.site(ins)})")
    for register, name in zip(target.parts, names):
        t.result(register, name, word)


@emits("ldmatrix.sync")
def _ldmatrix(t: Translator, ins: Instruction) -> None:
    target, source = ins.operands
    if ins.parts[-1] != "b16" or "m8n8" not in ins.parts or not any(part.startswith("shared") for part in ins.parts):
        t.unknown(ins)
    assert isinstance(target, Group)
    names = [f"_w{i}" for i in range(len(target.parts))]
    arguments = f"{t.address(source)}, {len(names)}, {'trans' in ins.parts}, {t.mask}, {t.site(ins)}"
    t.line(f"{', '.join(names)}, = matrices.load(M, {arguments})")
    for register, name in zip(target.parts, names):
        t.result(register, name, "b32")


@emits("wgmma.fence")
def _fence(t: Translator, ins: Instruction) -> None:
    t.line(f"for w, _ in wgmma.warp_groups_of(M, {t.mask}): w.fence()")


@emits("wgmma.commit_group")
def _commit(t: Translator, ins: Instruction) -> None:
    t.line(f"for w, _ in wgmma.warp_groups_of(M, {t.mask}): w.commit()")


@emits("wgmma.wait_group")
def _wait(t: Translator, ins: Instruction) -> None:
    operand = ins.operands[0]
    assert isinstance(operand, Immediate)
    t.line(f"for w, _ in wgmma.warp_groups_of(M, {t.mask}): w.wait({operand.value})")


@emits("wgmma.mma_async")
def _multiply(t: Translator, ins: Instruction) -> None:
    sums, left, right, keep, *immediates = ins.operands
    shape = next(found for part in ins.parts if (found := _SHAPE.fullmatch(part)))
    total, *given = ins.parts[-3:]
    kinds = [_TYPES.get(name) for name in given]
    values = [operand.value for operand in immediates if isinstance(operand, Immediate)]
    if None in kinds or total not in ("f32", "s32") or "satfinite" in ins.parts or t.mask != "m":
        t.unknown(ins)
    floats = kinds[0] not in ("s8", "u8")
    scales, layouts = (values[:2], values[2:]) if floats else ([], values)
    if any(scale != 1 for scale in scales):
        t.unknown(ins)
    if isinstance(left, Group) and layouts:
        layouts = [0, *layouts]
    along_k = tuple(not turned for turned in (layouts or [0, 0]))
    assert isinstance(sums, Group)
    before = ", ".join(t.raw(part) for part in sums.parts if hasattr(part, "bits"))  # type: ignore[arg-type]
    columns, depth = int(shape[2]), int(shape[3])
    names = [f"_w{i}" for i in range(len(sums.parts))]
    first = _words(t, left, "u32") if isinstance(left, Group) else t.read(left, "b64")
    arguments = f"{first}, {t.read(right, 'b64')}, [{before}], {t.read(keep, PREDICATE)}, {columns}, {depth}"
    arguments += f", ({kinds[0]}, {kinds[1]}, {total}), {along_k}, {t.mask}, {t.site(ins)}"
    t.line(f"{', '.join(names)}, = matrices.multiply(M, {arguments})")
    for register, name in zip(sums.parts, names):
        t.result(register, name, "")
    assert size_of(total) == 4
