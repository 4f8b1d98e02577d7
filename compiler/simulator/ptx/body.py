"""The body of an entry: registers, variables, labels and instructions, in scopes."""

from __future__ import annotations

import re
from collections.abc import Callable

from .lexer import Token, Tokens
from .syntax import Address, Entry, Group, Immediate, Instruction, Negated, Operand, Register, Symbol, Variable

_NUMBERED = re.compile(r"(.*?)(\d+)$")
_SPECIAL = re.compile(r"%(tid|ntid|ctaid|nctaid|laneid|warpid|nwarpid|clock|clock64|lanemask_\w+|smid|nsmid|cluster\w*|is_explicit_cluster"
                      r"|globaltimer|dynamic_smem_size|total_smem_size|envreg\d+|pm\d+|gridid)(\.[xyz])?$")  # fmt: skip


class _Scope:
    def __init__(self, number: int, outer: _Scope | None):
        self.number, self.outer = number, outer
        self.registers: dict[str, int] = {}
        self.families: dict[str, tuple[int, int]] = {}
        """%r<12>: bits and count, by what stands before the number."""
        self.labels: set[str] = set()
        self.variables: dict[str, str] = {}

    def register(self, name: str) -> Register | None:
        bits = self.registers.get(name)
        if bits is None and (found := _NUMBERED.match(name)) and found[1] in self.families:
            bits, count = self.families[found[1]]
            bits = bits if int(found[2]) < count else None
        if bits is None:
            return self.outer.register(name) if self.outer else None
        plain = re.sub(r"\W", "_", name.lstrip("%"))
        return Register(f"{plain}_s{self.number}" if self.number else plain, bits)

    def label(self, name: str) -> str | None:
        if name in self.labels:
            return f"{name}#{self.number}"
        return self.outer.label(name) if self.outer else None

    def variable(self, name: str) -> str:
        if name in self.variables:
            return self.variables[name]
        return self.outer.variable(name) if self.outer else name


class BodyParser:
    """Fills an entry with what its braces hold."""

    def __init__(self, tokens: Tokens, entry: Entry, read_variable: Callable[[Tokens, str], Variable]):
        self.tokens, self.entry, self._read_variable = tokens, entry, read_variable
        self.scopes = 0
        self.jumps: list[tuple[int, str, _Scope]] = []

    def run(self) -> None:
        self.tokens.expect("{")
        self._scope(None)
        for number, name, scope in self.jumps:
            label = scope.label(name)
            if label is None:
                raise self.tokens.fail(f"there is no label {name}")
            old = self.entry.instructions[number]
            self.entry.instructions[number] = Instruction(old.line, old.opcode, old.operands, old.predicate, old.text, label)

    def _scope(self, outer: _Scope | None) -> None:
        scope, t = _Scope(self.scopes, outer), self.tokens
        self.scopes += 1
        while not t.accept("}"):
            if t.accept("{"):
                self._scope(scope)
            elif t.next.text == ".reg":
                self._registers(scope)
            elif t.next.text in (".shared", ".local", ".param", ".global", ".const"):
                self._variable(scope)
            elif t.next.text in (".loc", ".file", ".pragma"):
                t.skip_past(";") if t.next.text == ".pragma" else self._skip_line()
            elif t.ahead(1) == ":":
                name = t.take().text
                t.take()
                scope.labels.add(name)
                self.entry.labels[f"{name}#{scope.number}"] = len(self.entry.instructions)
            else:
                self._instruction(scope)

    def _skip_line(self) -> None:
        line = self.tokens.next.line
        while self.tokens.next.line == line:
            self.tokens.take()

    def _variable(self, scope: _Scope) -> None:
        space = self.tokens.take().text[1:]
        variable = self._read_variable(self.tokens, space)
        name = f"{variable.name}#{scope.number}" if scope.number else variable.name
        scope.variables[variable.name] = variable.name = name
        self.entry.variables[name] = variable

    def _registers(self, scope: _Scope) -> None:
        t = self.tokens
        t.take()
        kind = t.take().text[1:]
        bits = 1 if kind == "pred" else 32 if kind.endswith("x2") else int(re.sub(r"\D", "", kind))
        while True:
            name = t.take().text
            if t.accept("<"):
                scope.families[name] = bits, t.integer()
                t.expect(">")
            else:
                scope.registers[name] = bits
            if not t.accept(","):
                break
        t.expect(";")

    def _instruction(self, scope: _Scope) -> None:
        t, predicate, first = self.tokens, None, self.tokens.next
        if t.accept("@"):
            negated = t.accept("!")
            predicate = self._operand(scope)
            predicate = Negated(predicate) if negated else predicate
        opcode = t.take()
        operands: list[Operand] = []
        if opcode.text.split(".")[0] == "bra":
            self.jumps.append((len(self.entry.instructions), t.take().text, scope))
        while t.next.text != ";":
            operands.append(self._operand(scope))
            t.accept(",")
        end = t.expect(";")
        text = " ".join(t.text[first.begin : end.begin].split())
        self.entry.instructions.append(Instruction(opcode.line, opcode.text, tuple(operands), predicate, text))

    def _operand(self, scope: _Scope) -> Operand:
        t = self.tokens
        token = t.next
        if t.accept("["):
            return self._address(scope)
        if t.accept("!"):
            return Negated(self._operand(scope))
        if token.text in ("{", "("):
            return self._group(scope, {"{": "}", "(": ")"}[t.take().text])
        if token.kind == "number" or token.text == "-":
            return self._number()
        found = self._named(t.take(), scope)
        if t.accept("|"):
            return Group((found, self._operand(scope)))
        if isinstance(found, Symbol) and t.next.text in ("+", "-"):
            return Address(found, self._offset())
        return found

    def _group(self, scope: _Scope, end: str) -> Group:
        parts = []
        while not self.tokens.accept(end):
            parts.append(self._operand(scope))
            self.tokens.accept(",")
        return Group(tuple(parts))

    def _address(self, scope: _Scope) -> Address:
        t = self.tokens
        base = self._number() if t.next.kind == "number" else self._named(t.take(), scope)
        offset = self._offset() if t.next.text in ("+", "-") else 0
        coordinates = None
        if t.accept(","):
            t.expect("{")
            coordinates = self._group(scope, "}")
        t.expect("]")
        return Address(base, offset, coordinates)

    def _offset(self) -> int:
        self.tokens.accept("+")
        return self.tokens.integer()

    def _number(self) -> Immediate:
        text = self.tokens.next.text
        if text[:2].lower() in ("0f", "0d"):
            self.tokens.take()
            return Immediate(int(text[2:], 16), 4 * len(text[2:]))
        return Immediate(self.tokens.integer())

    def _named(self, token: Token, scope: _Scope) -> Operand:
        register = scope.register(token.text)
        if register is not None:
            return register
        if _SPECIAL.match(token.text):
            return Register(token.text, 0)
        if token.text.startswith("%"):
            raise self.tokens.fail(f"there is no register {token.text}", token)
        return Symbol(scope.variable(token.text))
