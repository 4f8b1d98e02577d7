"""PTX text → Module: target, variables and entries. Functions are only known by name."""

from __future__ import annotations

import struct

from .body import BodyParser
from .lexer import Tokens
from .syntax import Entry, Variable, place

BYTES = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4,
         "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8}  # fmt: skip
_LINKAGE = (".visible", ".extern", ".weak", ".common")
_SPACES = (".global", ".const", ".shared", ".local", ".param")


class ModuleParser:
    """What a text declares."""

    def __init__(self, text: str):
        self.tokens = Tokens(text)
        self.version, self.target = "", ""
        self.variables: dict[str, Variable] = {}
        self.entries: dict[str, Entry] = {}
        while not self.tokens.done:
            self._declaration()

    def _declaration(self) -> None:
        t, external = self.tokens, False
        while t.next.text in _LINKAGE:
            external |= t.take().text == ".extern"
        what = t.take()
        if what.text == ".version":
            self.version = t.take().text
        elif what.text == ".target":
            self.target = t.take().text
            while t.accept(","):
                t.take()
        elif what.text == ".address_size":
            t.take()
        elif what.text == ".entry":
            entry = self._entry()
            self.entries[entry.name] = entry
        elif what.text == ".func":
            self._function()
        elif what.text in _SPACES:
            variable = read_variable(t, what.text[1:], external)
            self.variables[variable.name] = variable
        else:
            raise t.fail(f"what {what.text} declares is not known", what)

    def _function(self) -> None:
        """Skips one: what calls it fails, unless it is given from outside."""
        while self.tokens.next.text not in ("{", ";"):
            self.tokens.take()
        if not self.tokens.accept(";"):
            self.tokens.skip_braces()

    def _entry(self) -> Entry:
        t = self.tokens
        entry = Entry(t.take().text, [])
        if t.accept("("):
            self._parameters(entry)
        while t.next.text != "{":
            self._directive(entry)
        BodyParser(t, entry, read_variable).run()
        shared = [v for v in self.variables.values() if v.space == "shared"]
        used = {name for instruction in entry.instructions for name in instruction.text.replace("+", " ").replace("]", " ").split()}
        for variable in shared:
            mentioned = any(variable.name in word for word in used)
            if mentioned:
                entry.variables[variable.name] = Variable(**vars(variable))
                entry.dynamic_shared |= variable.external
        place([v for v in entry.variables.values() if v.space == "local"], 0)
        return entry

    def _parameters(self, entry: Entry) -> None:
        t, offset = self.tokens, 0
        while not t.accept(")"):
            t.expect(".param")
            size, align = 0, 0
            while t.next.text.startswith("."):
                word = t.take().text[1:]
                if word == "ptr":
                    self._pointee()
                elif word == "align":
                    align = t.integer()
                else:
                    size = BYTES[word]
            name = t.take().text
            if t.accept("["):
                size *= t.integer()
                t.expect("]")
            align = align or size
            offset = -(-offset // align) * align
            entry.params.append((name, size, align, offset))
            offset += size
            t.accept(",")

    def _pointee(self) -> None:
        while self.tokens.next.text in _SPACES:
            self.tokens.take()
        if self.tokens.accept(".align"):
            self.tokens.integer()

    def _directive(self, entry: Entry) -> None:
        t = self.tokens
        word = t.take().text
        numbers = []
        while t.next.kind == "number":
            numbers.append(t.integer())
            t.accept(",")
        if word in (".maxntid", ".reqntid"):
            entry.max_threads = 1
            for number in numbers:
                entry.max_threads *= number
        if word == ".reqntid":
            entry.required_block = (*numbers, 1, 1)[:3]
        if word == ".reqnctapercluster":
            entry.cluster = numbers[0]
            if set(numbers[1:]) - {1}:
                raise t.fail("clusters along y and z are not simulated")


def read_variable(t: Tokens, space: str, external: bool = False) -> Variable:
    """The rest of a declaration, behind the name of the space."""
    align, size, kind = 0, 0, "b8"
    while t.next.text.startswith("."):
        word = t.take().text[1:]
        if word == "align":
            align = t.integer()
        elif word in ("v2", "v4"):
            raise t.fail("variables of vectors are not known")
        elif word in BYTES:
            kind, size = word, BYTES[word]
    name = t.take().text
    unit = size
    while t.accept("["):
        size *= 0 if t.next.text == "]" else t.integer()
        t.expect("]")
    content = _content(t, kind, size) if t.accept("=") else None
    t.expect(";")
    return Variable(name, space, size, align or unit, content, external)


def _content(t: Tokens, kind: str, size: int) -> bytes:
    unit, found = BYTES[kind], []
    braces = t.accept("{")
    while not t.accept("}"):
        found.append(_number(t, unit))
        if not braces:
            break
        t.accept(",")
    return b"".join(found).ljust(size, b"\0")


def _number(t: Tokens, unit: int) -> bytes:
    token = t.next
    if token.text[:2].lower() in ("0f", "0d"):
        return int(t.take().text[2:], 16).to_bytes(unit, "little")
    if "." in token.text:
        return struct.pack("<f" if unit == 4 else "<d", float(t.take().text))
    return (t.integer() % (1 << 8 * unit)).to_bytes(unit, "little")
