"""Loads, stores and atomics of PTX."""

from __future__ import annotations

from .syntax import Address, Group, Instruction, Operand, Register, Symbol
from .translate import Translator, emits, kind_of, size_of

_SPACES = ("global", "shared", "local", "const", "param", "shared::cta", "shared::cluster")


def space_of(ins: Instruction) -> str:
    return next((part for part in ins.parts if part in _SPACES), "generic")


def _parts(operand: Operand) -> list[Operand]:
    return list(operand.parts) if isinstance(operand, Group) else [operand]


@emits("ld", "ldu")
def _load(t: Translator, ins: Instruction) -> None:
    targets, source = ins.operands
    kind, space = ins.parts[-1], space_of(ins)
    registers = _parts(targets)
    if space == "param" and _in_call(t, source):
        t.result(registers[0], _call_parameter(t, source), kind)
        return
    names = [f"_w{i}" for i in range(len(registers))]
    arguments = f'"{space}", {t.address(source)}, {size_of(kind)}, {len(registers)}, {t.mask}, {t.site(ins)}'
    t.line(f"{', '.join(names)}, = M.read({arguments})")
    if "acquire" in ins.parts:
        t.line("M.acquired()")
    plain = f"u{8 * size_of(kind)}"
    for register, name in zip(registers, names):
        signed = kind.startswith("s")
        t.result(register, f"{name}.view({kind})" if signed else name, kind if signed else plain)


@emits("st")
def _store(t: Translator, ins: Instruction) -> None:
    target, sources = ins.operands
    kind, space = kind_of(ins.parts[-1]), space_of(ins)
    if space == "param":
        t.line(f"{_call_parameter(t, target)} = {t.read(sources, kind)}")
        return
    values = ", ".join(t.read(source, f"u{8 * size_of(kind)}") for source in _parts(sources))
    t.line(f'M.write("{space}", {t.address(target)}, [{values}], {size_of(kind)}, {t.mask}, {t.site(ins)})')


def _in_call(t: Translator, operand: Operand) -> bool:
    base = operand.base if isinstance(operand, Address) else operand
    return isinstance(base, Symbol) and base.name not in t.params


def _call_parameter(t: Translator, operand: Operand) -> str:
    """The variable that stands for a .param of a call."""
    base = operand.base if isinstance(operand, Address) else operand
    assert isinstance(base, Symbol)
    return "_param_" + "".join(c if c.isalnum() else "_" for c in base.name)


@emits("call")
def _call(t: Translator, ins: Instruction) -> None:
    """Of a function that the launch was given from outside."""
    operands = list(ins.operands)
    if not operands or not isinstance(operands[0], Symbol):
        raise t.fail(ins, "a call of a function that gives a result cannot be simulated")
    arguments = [part for operand in operands[1:] for part in _parts(operand)]
    names = ", ".join(_call_parameter(t, argument) for argument in arguments)
    t.line(f'M.call("{operands[0].name}", [{names}], {t.mask}, {t.site(ins)})')


@emits("atom", "red")
def _atomic(t: Translator, ins: Instruction) -> None:
    used = ins.parts[0] == "atom"
    operands = list(ins.operands)
    target = operands.pop(0) if used else None
    address, *sources = operands
    kind, op = ins.parts[-1], _operation(ins)
    if kind.endswith("x2") or op is None:
        t.unknown(ins)
    dtype = kind_of(kind)
    if op in ("exch", "cas", "and", "or", "xor") or (op == "add" and dtype.startswith(("s", "u"))):
        dtype = f"u{8 * size_of(kind)}"
    values = ", ".join(t.read(source, dtype) for source in sources)
    wanted = isinstance(target, Register)
    if {"acq_rel", "release"} & set(ins.parts):
        t.line(f"M.released({t.mask})")
    call = f'M.atomic("{space_of(ins)}", {t.address(address)}, "{op}", {dtype}, [{values}], {wanted}, {t.mask}, {t.site(ins)})'
    if target is None or not wanted:
        t.line(call)
    else:
        t.result(target, call, dtype)


def _operation(ins: Instruction) -> str | None:
    known = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
    return next((part for part in ins.parts if part in known), None)


@emits("fence", "membar", "prefetch", "prefetchu", "nanosleep", "griddepcontrol", "setmaxnreg", "applypriority", "discard")
def _nothing(t: Translator, ins: Instruction) -> None:
    """Writes are seen at once here, and hints say nothing of results."""
