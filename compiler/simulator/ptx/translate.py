"""From the basic blocks of an entry to the numpy source that runs them.

A block becomes a function of the machine `M`, the registers that live on `R`, and the mask `m` of the threads that are there. Registers of
one block are Python variables, unsigned integers unless an instruction left them as a float.

    ld.global.nc.b32 %r1, [%rd3+16];    _r1, = M.read("global", _rd3 + K1, 4, 1, m, 7)       # 7: the site, for error messages
    add.rn.f32 %r2, %r1, 0f3F800000;    _r2 = _r1.view(f32) + K2
    @%p1 bra $L__BB0_2;                 M.branch(_p1, 3, 2, m)

A register that another block reads keeps what it has in threads that are not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import ml_dtypes
import numpy as np

from .. import floats, wgmma
from ..errors import SimulationError
from . import bits, conversions, matrices, mbarriers
from .flow import ARRIVES, AWAITS, LOOKS, Block, Flow, flow_of, registers_of
from .spaces import RESERVED, WINDOWS
from .syntax import Address, Entry, Group, Immediate, Instruction, Negated, Operand, Register, Symbol, Variable, place

Emitter = Callable[["Translator", Instruction], None]
EMITTERS: dict[str, Emitter] = {}
"""By the first part of the opcode, or by its first two."""
KINDS: dict[str, Any] = {
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_MODULES = (bits, conversions, floats, matrices, mbarriers, wgmma)
_HELPERS = {"np": np, **{module.__name__.rpartition(".")[2]: module for module in _MODULES}, **KINDS}
_BITS = {"b8": "u8", "b16": "u16", "b32": "u32", "b64": "u64", "f16x2": "u32", "bf16x2": "u32", "f32x2": "u64", "tf32": "f32"}
PREDICATE = "pred"


def emits(*names: str) -> Callable[[Emitter], Emitter]:
    def register(function: Emitter) -> Emitter:
        EMITTERS.update(dict.fromkeys(names, function))
        return function

    return register


def kind_of(part: str) -> str:
    """What generated code calls a type: u32 for b32 and for pairs of halves."""
    return _BITS.get(part, part)


def size_of(kind: str) -> int:
    return int(np.dtype(KINDS[kind_of(kind)]).itemsize)


class Translator:
    """The code of one entry, as it grows."""

    def __init__(self, entry: Entry, variables: dict[str, Variable]):
        self.entry, self.variables = entry, {**variables, **entry.variables}
        self.params = {name: (offset, size) for name, size, _, offset in entry.params}
        self.sites = entry.instructions
        self.flow: Flow = flow_of(entry)
        self.constants: dict[str, Any] = {}
        self._names: dict[tuple[str, str], str] = {}
        self.lines: list[str] = []
        self._number = {id(instruction): at for at, instruction in enumerate(entry.instructions)}
        self.opaque = _accumulators(entry)
        """Registers that may stand for sums that tensor cores still work on."""
        self._lay_out_shared()
        for block in self.flow.blocks:
            self._block(block)
        self.source = "\n".join(self.lines)
        environment = {**_HELPERS, **self.constants}
        exec(compile(self.source, f"<PTX {entry.name}>", "exec"), environment)
        self.looks, self.arrives, self.awaits = (
            {block.number for block in self.flow.blocks if block.begins(what)} for what in (LOOKS, ARRIVES, AWAITS)
        )
        """The blocks in which threads look for what others write, and those in which they tell that they have come."""
        self.code = [environment[f"block_{block.number}"] for block in self.flow.blocks]

    def _lay_out_shared(self) -> None:
        mine = [v for v in self.entry.variables.values() if v.space == "shared"]
        end = place([v for v in mine if not v.external], RESERVED)
        dynamic = [v for v in mine if v.external]
        for variable in dynamic:
            variable.address = -(-end // max(v.align for v in dynamic)) * max(v.align for v in dynamic)
        self.shared_start = dynamic[0].address if dynamic else end
        """Where dynamic shared memory begins."""

    def registers(self) -> dict[str, Any]:
        """The registers that live on, before a launch."""
        kinds = {"u1": np.bool_, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
        found: dict[str, Any] = {}
        for instruction in self.entry.instructions:
            for register in registers_of(instruction):
                if register.name in self.flow.lasting:
                    found[register.name] = kinds[f"u{register.bits}"](0)
        return found

    # Blocks.

    def _block(self, block: Block) -> None:
        self.kinds: dict[str, str] = {}
        self.mask = "m"
        self._written: dict[str, Register] = {}
        self.lines += [f"def block_{block.number}(M, R, m):"]
        self._ended = False
        self.block = block
        for instruction in block.instructions:
            self._instruction(instruction)
        if not self._ended:
            self._store()
            self.line(f"M.go({block.next}, m)" if block.next is not None else "pass")

    def _instruction(self, instruction: Instruction) -> None:
        parts = instruction.parts
        emitter = EMITTERS.get(".".join(parts[:2])) or EMITTERS.get(parts[0])
        if emitter is None:
            raise self.fail(instruction, f"the simulator does not know {instruction.opcode}")
        self.mask = "m"
        if instruction.predicate is not None and parts[0] not in ("bra", "ret", "exit", "bar", "barrier"):
            self.mask = "n"
            self.line(f"n = M.narrow(m, {self.read(instruction.predicate, PREDICATE)})")
        emitter(self, instruction)

    def end(self, call: str) -> None:
        """The block ends with this."""
        self._store()
        self.line(call)
        self._ended = True

    def _store(self) -> None:
        for name, register in self._written.items():
            if name in self.flow.lasting:
                value = self._as_unsigned(register)
                self.line(f'R["{name}"] = M.update(m, {value}, R["{name}"])')

    def _as_unsigned(self, register: Register) -> str:
        plain = PREDICATE if register.bits == 1 else f"u{register.bits}"
        known = self.kinds.get(register.name)
        return f"_{register.name}" if known in (plain, None, "") else f"_{register.name}.view({plain})"

    # What emitters call.

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def site(self, instruction: Instruction) -> int:
        return self._number[id(instruction)]

    def fail(self, instruction: Instruction, message: str) -> SimulationError:
        return SimulationError(message, kernel=self.entry.name, op=instruction.text, loc=instruction.location)

    def constant(self, value: Any) -> str:
        """The name of a numpy scalar."""
        key = (str(np.dtype(type(value))), value.tobytes().hex())
        if key not in self._names:
            self._names[key] = f"K{len(self._names)}"
            self.constants[self._names[key]] = value
        return self._names[key]

    def read(self, operand: Operand, part: str) -> str:
        """An operand as an expression of the type that a part of an opcode names."""
        if isinstance(operand, Negated):
            return f"np.logical_not({self.read(operand.predicate, PREDICATE)})"
        if part == PREDICATE and isinstance(operand, Immediate):
            return f"np.bool_({bool(operand.value)})"
        kind = kind_of(part)
        if isinstance(operand, Register):
            return self._register(operand, kind)
        if isinstance(operand, Immediate):
            return self.constant(_scalar(operand, kind))
        if isinstance(operand, Symbol | Address):
            address = self.constant(KINDS[kind](self.address_of(operand)))
            return f"M.own({address})" if self._is_shared(operand) else address
        raise SimulationError(f"{operand} where a value is wanted", kernel=self.entry.name)

    def _register(self, register: Register, kind: str) -> str:
        if not register.bits:
            name = f"M.special({register.name!r})"
            return name if kind == "u32" else f"{name}.astype({kind})"
        name, known = self.raw(register), self.kinds.get(register.name)
        if register.bits == 1 or known == kind:
            return name
        if register.bits == 8 * size_of(kind):
            return f"{name}.view({kind})"
        if known != f"u{register.bits}":
            name = f"{name}.view(u{register.bits})"
        unsigned = f"u{8 * size_of(kind)}"
        return f"{name}.astype({unsigned})" + (f".view({kind})" if kind != unsigned else "")

    def raw(self, register: Register) -> str:
        """The register's variable, whatever type it has now."""
        name = f"_{register.name}"
        if register.name not in self.kinds and register.name not in self._written:
            self.line(f'{name} = R["{register.name}"]')
            self.kinds[register.name] = PREDICATE if register.bits == 1 else "" if register.name in self.opaque else f"u{register.bits}"
        return name

    def address_of(self, operand: Operand) -> int:
        """Of a variable, in its own space."""
        symbol = operand.base if isinstance(operand, Address) else operand
        offset = operand.offset if isinstance(operand, Address) else 0
        if isinstance(symbol, Symbol) and symbol.name in self.params:
            return self.params[symbol.name][0] + offset
        if isinstance(symbol, Symbol) and symbol.name in self.variables:
            return self.variables[symbol.name].address + offset
        raise SimulationError(f"nothing is known of {symbol}", kernel=self.entry.name)

    def _is_shared(self, operand: Operand) -> bool:
        symbol = operand.base if isinstance(operand, Address) else operand
        return isinstance(symbol, Symbol) and symbol.name in self.variables and self.variables[symbol.name].space == "shared"

    def address(self, operand: Operand) -> str:
        """The expression of an address in brackets."""
        if not isinstance(operand, Address):
            raise SimulationError(f"{operand} where an address is wanted", kernel=self.entry.name)
        if isinstance(operand.base, Symbol):
            return self.constant(np.uint64(self.address_of(operand)))
        bits_ = operand.base.bits if isinstance(operand.base, Register) else 64
        base = self.read(operand.base, f"u{bits_}")
        return f"{base} + {self.constant(KINDS[f'u{bits_}'](operand.offset % (1 << bits_)))}" if operand.offset else base

    def result(self, register: Operand, expression: str, part: str) -> None:
        """The register becomes an expression of that type; one that is wider is extended."""
        if not isinstance(register, Register):
            return
        kind = kind_of(part)
        if register.bits > 1 and kind and register.bits != 8 * size_of(kind):
            wide = f"{'s' if kind.startswith('s') else 'u'}{register.bits}"
            expression, kind = f"({expression}).astype({wide})", wide
        name = f"_{register.name}"
        if self.mask == "m":
            self.line(f"{name} = {expression}")
            self.kinds[register.name] = kind if register.bits > 1 else PREDICATE
        else:
            plain = PREDICATE if register.bits == 1 else f"u{register.bits}"
            known = register.name in self.kinds or register.name in self._written or register.name in self.flow.lasting
            old = self._register(register, plain) if known else "None"
            view = "" if plain in (kind, PREDICATE) else f".view({plain})"
            self.line(f"{name} = M.update({self.mask}, ({expression}){view}, {old})")
            self.kinds[register.name] = plain
        self._written[register.name] = register

    def unknown(self, instruction: Instruction) -> NoReturn:
        raise self.fail(instruction, f"the simulator does not know {instruction.opcode}")


def _scalar(operand: Immediate, kind: str) -> Any:
    dtype = KINDS[kind]
    if kind in ("f16", "bf16"):
        return np.uint16(operand.value % (1 << 16)).view(dtype)
    if kind in ("f32", "f64"):
        if not operand.bits:
            return dtype(operand.value)
        given = (np.uint32 if operand.bits == 32 else np.uint64)(operand.value).view(np.float32 if operand.bits == 32 else np.float64)
        return dtype(given)
    width = np.dtype(dtype).itemsize
    unsigned = KINDS[f"u{8 * width}"](operand.value % (1 << 8 * width))
    return unsigned.view(dtype)


def _accumulators(entry: Entry) -> set[str]:
    found: set[str] = set()
    for instruction in entry.instructions:
        if instruction.opcode.startswith("wgmma.mma_async") and isinstance(instruction.operands[0], Group):
            found |= {part.name for part in instruction.operands[0].parts if isinstance(part, Register)}
    moves = [instruction.operands for instruction in entry.instructions if instruction.parts[0] == "mov"] if found else []
    size = -1
    while size != len(found):
        size = len(found)
        for target, source, *_ in moves:
            if isinstance(source, Register) and source.name in found and isinstance(target, Register):
                found.add(target.name)
    return found


def window(space: str) -> int:
    return WINDOWS.get(space.partition("::")[0], 0)
