"""Floating-point instructions; those that integers have too are told apart here by their type."""

from __future__ import annotations

from .ops_integer import integer, multiply
from .syntax import Instruction, Operand
from .translate import PREDICATE, Translator, emits, kind_of

_FLOATS = ("f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "f32x2")
_MODES = ("rn", "rz", "rm", "rp")


def _options(ins: Instruction) -> str:
    """Arguments behind the operands."""
    mode = next((part for part in ins.parts if part in _MODES), "rn")
    return f'"{mode}", {"ftz" in ins.parts}, {"sat" in ins.parts}'


def _apply(t: Translator, ins: Instruction, function: str, operands: list[Operand], more: str = "") -> None:
    """`function` of the operands, half by half where the type is a pair."""
    target, kind = ins.operands[0], ins.parts[-1]
    if kind.endswith("x2"):
        word = kind_of(kind)
        values = ", ".join(t.read(operand, word) for operand in operands)
        t.result(target, f"bits.pairs(lambda *x: {function}(*x{more}), {kind[:-2]}, {values})", word)
        return
    t.result(target, f"{function}({', '.join(t.read(operand, kind) for operand in operands)}{more})", kind)


@emits("add", "sub", "mul", "fma", "mad")
def _arithmetic(t: Translator, ins: Instruction) -> None:
    name, kind = ins.parts[0], ins.parts[-1]
    if kind not in _FLOATS:
        multiply(t, ins) if name in ("mul", "mad") else integer(t, ins)
        return
    plain = not {"ftz", "sat", "rz", "rm", "rp"} & set(ins.parts) and not kind.endswith("x2")
    sign = {"add": "+", "sub": "-", "mul": "*"}.get(name)
    if sign and plain:
        target, a, b = ins.operands
        t.result(target, f"({t.read(a, kind)} {sign} {t.read(b, kind)})", kind)
        return
    more = f", {_options(ins)}" + (", True" if "relu" in ins.parts else "")
    _apply(t, ins, f"floats.{'fma' if name == 'mad' else name}", list(ins.operands[1:]), more)


@emits("div")
def _divide(t: Translator, ins: Instruction) -> None:
    if ins.parts[-1] not in _FLOATS:
        return integer(t, ins)
    mode = next((part for part in ins.parts if part in _MODES), "rn")
    _apply(t, ins, "floats.divide", list(ins.operands[1:]), f', "{mode}", {"ftz" in ins.parts}')


@emits("min", "max")
def _extreme(t: Translator, ins: Instruction) -> None:
    if ins.parts[-1] not in _FLOATS:
        return integer(t, ins)
    if {"xorsign", "abs"} & set(ins.parts) or len(ins.operands) > 3:
        t.unknown(ins)
    function = f"floats.{ins.parts[0]}imum"
    if "ftz" in ins.parts:
        function = f"(lambda a, b, nan: {function}(floats.flush(a), floats.flush(b), nan))"
    _apply(t, ins, function, list(ins.operands[1:]), f", {'NaN' in ins.parts}")


@emits("neg", "abs")
def _sign(t: Translator, ins: Instruction) -> None:
    if ins.parts[-1] not in _FLOATS:
        return integer(t, ins)
    function = "np.negative" if ins.parts[0] == "neg" else "np.abs"
    _apply(t, ins, f"(lambda x: floats.flush({function}(x)))" if "ftz" in ins.parts else function, [ins.operands[1]])


@emits("copysign")
def _copysign(t: Translator, ins: Instruction) -> None:
    """The sign is the first operand's."""
    _, sign, value = ins.operands
    _apply(t, ins, "np.copysign", [value, sign])


_FUNCTIONS = {"ex2": "np.exp2", "lg2": "np.log2", "sin": "np.sin", "cos": "np.cos", "tanh": "np.tanh", "rsqrt": "floats.rsqrt"}


@emits("ex2", "lg2", "sin", "cos", "tanh", "rsqrt")
def _function(t: Translator, ins: Instruction) -> None:
    _apply(t, ins, f"(lambda x: floats.by_f64({_FUNCTIONS[ins.parts[0]]}, x, {'ftz' in ins.parts}))", [ins.operands[1]])


@emits("sqrt")
def _sqrt(t: Translator, ins: Instruction) -> None:
    if {"rz", "rm", "rp"} & set(ins.parts):
        t.unknown(ins)
    if "ftz" in ins.parts or "approx" in ins.parts:
        _apply(t, ins, f"(lambda x: floats.by_f64(np.sqrt, x, {'ftz' in ins.parts}))", [ins.operands[1]])
    else:
        _apply(t, ins, "np.sqrt", [ins.operands[1]])


@emits("rcp")
def _reciprocal(t: Translator, ins: Instruction) -> None:
    mode = next((part for part in ins.parts if part in _MODES), "rn")
    function = f'(lambda x: floats.divide(x.dtype.type(1), x, "{mode}", {"ftz" in ins.parts}))'
    _apply(t, ins, function, [ins.operands[1]])


@emits("testp")
def _test(t: Translator, ins: Instruction) -> None:
    target, source = ins.operands
    kind = ins.parts[-1]
    functions = {"finite": "np.isfinite({})", "infinite": "np.isinf({})", "notanumber": "np.isnan({})", "number": "~np.isnan({})"}
    if ins.parts[1] not in functions:
        t.unknown(ins)
    t.result(target, functions[ins.parts[1]].format(t.read(source, kind)), PREDICATE)


@emits("cvt")
def _convert(t: Translator, ins: Instruction) -> None:
    target, *sources = ins.operands
    modes, (to, source) = ins.parts[1:-2], ins.parts[-2:]
    if to in ("f16x2", "bf16x2") and source in ("e4m3x2", "e5m2x2"):
        found = f"matrices.from_bytes({t.read(sources[0], 'b16')}, {source[:-2]}, {to[:-2]})"
        t.result(target, found, "b32")
    elif to.endswith("x2"):
        _pack(t, ins, modes, to[:-2], source)
    elif kind_of(to) == kind_of(source) and to[0] != "f" and "tf32" not in ins.parts:
        t.result(target, t.read(sources[0], source), to)
    else:
        more = [*modes, "tf32"] if to == "tf32" else modes
        t.result(target, f"conversions.convert({t.read(sources[0], source)}, {kind_of(to)}, {more})", to)


def _pack(t: Translator, ins: Instruction, modes: list[str], to: str, source: str) -> None:
    """Two values in one register, the first operand in the high half; a pair of halves as two bytes."""
    target, *sources = ins.operands
    if source.endswith("x2"):
        t.result(target, f"matrices.to_bytes({t.read(sources[0], 'b32')}, {source[:-2]}, {to}, {modes})", "b16")
        return
    top, low = (f"conversions.convert({t.read(operand, source)}, {to}, {modes})" for operand in sources)
    half, whole = ("u8", "u16") if to in ("e4m3", "e5m2") else ("u16", "u32")
    t.result(target, f"bits.joined({low}.view({half}), {top}.view({half}), {whole})", whole)
