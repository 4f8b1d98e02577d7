"""Moves, integers, bits and predicates."""

from __future__ import annotations

import numpy as np

from .syntax import Group, Instruction, Register
from .translate import KINDS, PREDICATE, Translator, emits, kind_of, size_of, window

_PLAIN = {
    "add": "{} + {}", "sub": "{} - {}", "min": "np.minimum({}, {})", "max": "np.maximum({}, {})", "div": "bits.divide({}, {})",
    "rem": "bits.remainder({}, {})", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}", "not": "~{}", "neg": "-{}", "abs": "np.abs({})",
}  # fmt: skip


def integer(t: Translator, ins: Instruction) -> None:
    """An instruction of integers or bits, of the type that its opcode ends with."""
    name, kind = ins.parts[0], ins.parts[-1]
    target, *sources = ins.operands
    if kind == PREDICATE:
        values = [t.read(source, PREDICATE) for source in sources]
        t.result(target, "np.logical_not({})".format(*values) if name == "not" else _PLAIN[name].format(*values), PREDICATE)
        return
    if "cc" in ins.parts or "sat" in ins.parts:
        t.unknown(ins)
    t.result(target, "(" + _PLAIN[name].format(*(t.read(source, kind) for source in sources)) + ")", kind)


emits("rem", "and", "or", "xor", "not")(integer)


def multiply(t: Translator, ins: Instruction) -> None:
    """mul and mad of integers."""
    name, how, kind = ins.parts[0], ins.parts[1], ins.parts[-1]
    target, a, b, *rest = ins.operands
    left, right = t.read(a, kind), t.read(b, kind)
    result = kind
    if how == "wide":
        result = f"{kind[0]}{16 * size_of(kind)}"
        found = f"({left}).astype({result}) * ({right}).astype({result})"
    else:
        found = f"bits.high({left}, {right})" if how == "hi" else f"{left} * {right}"
    if name == "mad":
        found = f"{found} + {t.read(rest[0], result)}"
    t.result(target, found, result)


@emits("mov")
def _move(t: Translator, ins: Instruction) -> None:
    target, source = ins.operands
    kind = ins.parts[-1]
    if isinstance(target, Group):
        part = f"u{8 * size_of(kind) // len(target.parts)}"
        value = t.read(source, kind)
        for i, register in enumerate(target.parts):
            shift = t.constant(KINDS[kind_of(kind)](i * 8 * size_of(part)))
            t.result(register, f"({value} >> {shift}).astype({part})", part)
    elif isinstance(source, Group):
        half = f"u{8 * size_of(kind) // len(source.parts)}"
        if len(source.parts) != 2:
            t.unknown(ins)
        low, top = (t.read(part, half) for part in source.parts)
        t.result(target, f"bits.joined({low}, {top}, {kind_of(kind)})", kind)
    elif isinstance(source, Register) and source.name in t.opaque:
        t.result(target, t.raw(source), "")
    else:
        t.result(target, t.read(source, kind), kind)


@emits("cvta")
def _window(t: Translator, ins: Instruction) -> None:
    target, source = ins.operands
    to = ins.parts[1] == "to"
    space, kind = ins.parts[2 if to else 1], ins.parts[-1]
    value, begin = t.read(source, kind), window(space)
    if not begin or kind != "u64":
        t.result(target, value, kind)
        return
    t.result(target, f"{value} {'-' if to else '+'} {t.constant(np.uint64(begin))}", kind)


@emits("shl", "shr")
def _shift(t: Translator, ins: Instruction) -> None:
    target, value, count = ins.operands
    kind = kind_of(ins.parts[-1])
    amount = t.read(count, "u32")
    by = amount if kind == "u32" else f"({amount}).astype({kind})"
    t.result(target, f"{t.read(value, kind)} {'<<' if ins.parts[0] == 'shl' else '>>'} {by}", kind)


@emits("shf")
def _funnel(t: Translator, ins: Instruction) -> None:
    target, low, top, count = ins.operands
    values = ", ".join(t.read(operand, "b32") for operand in (low, top, count))
    t.result(target, f"bits.funnel({values}, {ins.parts[1] == 'l'}, {ins.parts[2] == 'clamp'})", "b32")


@emits("bfe")
def _extract(t: Translator, ins: Instruction) -> None:
    target, value, start, length = ins.operands
    kind = ins.parts[-1]
    t.result(target, f"bits.extract({t.read(value, kind)}, {t.read(start, 'u32')}, {t.read(length, 'u32')})", kind)


@emits("bfi")
def _insert(t: Translator, ins: Instruction) -> None:
    target, a, b, start, length = ins.operands
    kind = ins.parts[-1]
    values = f"{t.read(a, kind)}, {t.read(b, kind)}, {t.read(start, 'u32')}, {t.read(length, 'u32')}"
    t.result(target, f"bits.insert({values})", kind)


@emits("prmt")
def _permute(t: Translator, ins: Instruction) -> None:
    if len(ins.parts) > 2:
        t.unknown(ins)
    target, *sources = ins.operands
    t.result(target, f"bits.permute({', '.join(t.read(source, 'b32') for source in sources)})", "b32")


@emits("lop3")
def _lookup(t: Translator, ins: Instruction) -> None:
    target, *sources, table = ins.operands
    t.result(target, f"bits.lookup({', '.join(t.read(source, 'b32') for source in sources)}, int({t.read(table, 'u32')}))", "b32")


@emits("popc", "clz", "brev", "bfind")
def _count(t: Translator, ins: Instruction) -> None:
    target, source = ins.operands
    name, kind = ins.parts[0], ins.parts[-1]
    value = t.read(source, kind)
    found = {
        "popc": f"np.bitwise_count({value}).astype(u32)",
        "clz": f"bits.leading_zeros({value}).astype(u32)",
        "brev": f"bits.reverse({value})",
        "bfind": f"bits.find({value})",
    }[name]
    t.result(target, found, kind if name == "brev" else "u32")


_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}


@emits("setp", "set")
def _compare(t: Translator, ins: Instruction) -> None:
    name, comparison, *combine = ins.parts[:-1]
    combine = [part for part in combine if part in ("and", "or", "xor")]
    kind = ins.parts[-1]
    target, a, b, *rest = ins.operands
    left, right = t.read(a, kind), t.read(b, kind)
    if "ftz" in ins.parts:
        left, right = f"floats.flush({left})", f"floats.flush({right})"
    found = _comparison(comparison, left, right, kind in ("f16", "bf16", "f32", "f64"))
    if name == "set" or kind in ("f16x2", "bf16x2"):
        t.unknown(ins)
    targets = target.parts if isinstance(target, Group) else (target,)
    values = [found, f"np.logical_not({found})"]
    for register, value in zip(targets, values):
        if combine:
            value = f"({value}) {({'and': '&', 'or': '|', 'xor': '^'})[combine[0]]} {t.read(rest[0], PREDICATE)}"
        t.result(register, value, PREDICATE)


def _comparison(name: str, left: str, right: str, floating: bool) -> str:
    if name in ("num", "nan"):
        found = f"np.isnan({left}) | np.isnan({right})"
        return f"({found})" if name == "nan" else f"np.logical_not({found})"
    if name in ("equ", "neu", "ltu", "leu", "gtu", "geu"):  # or unordered
        if name == "neu":
            return f"({left} != {right})"
        opposite = {"equ": "!=", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}[name]
        if name == "equ":
            return f"(({left} == {right}) | np.isnan({left}) | np.isnan({right}))"
        return f"np.logical_not({left} {opposite} {right})"
    if name == "ne" and floating:  # ordered, which Python's is not
        return f"(({left} < {right}) | ({left} > {right}))"
    return f"({left} {_COMPARISONS[name]} {right})"


@emits("selp")
def _select(t: Translator, ins: Instruction) -> None:
    target, a, b, predicate = ins.operands
    kind = ins.parts[-1]
    t.result(target, f"np.where({t.read(predicate, PREDICATE)}, {t.read(a, kind)}, {t.read(b, kind)})", kind)


@emits("slct")
def _sign_select(t: Translator, ins: Instruction) -> None:
    target, a, b, c = ins.operands
    kind = ins.parts[-2]
    t.result(target, f"np.where({t.read(c, ins.parts[-1])} >= 0, {t.read(a, kind)}, {t.read(b, kind)})", kind)


@emits("sad", "mul24", "mad24", "addc", "subc", "madc")
def _declined(t: Translator, ins: Instruction) -> None:
    t.unknown(ins)
