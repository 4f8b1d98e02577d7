"""The text of the LLVM-dialect function that a thunk program compiles to.

Pointers into the buffers are set up once, in the entry block. A kernel takes its pointers as an array on the stack: in a loop each has
its own, filled in the entry block; outside of loops all share one that is filled before each call, so that the stack does not grow with
the program.

LLVM optimises loops alone. Outside of them no kernel is inlined, and the stores into the shared array are volatile: LLVM would compare
each with those after it, a time that grows with the square of the program.
"""

from __future__ import annotations

from torch_mlir import ir

from .storage import Slice

POINTER = "!llvm.ptr"


class HostFunction:
    """Compiles `program` on construction; `callees` are the functions it calls, with their types."""

    def __init__(self, program: ir.Operation):
        self.name = "hloom_" + ir.StringAttr(program.attributes["sym_name"]).value
        self.callees: dict[str, str] = {}
        self.constants: list[str] = []
        self.defined: dict[str, str] = {}
        self.turns: list[str] = []
        """The counters of the counted loops around what is written, the innermost last."""
        self.entry: list[str] = []
        self.body: list[str] = []
        self.cached: dict[object, str] = {}
        self.count = 0
        self.shared = 0
        self.region(program.regions[0], loops=0)

    def module_text(self) -> str:
        """The function, declarations of the functions it calls, its constants, and the functions it defines."""
        declared = (f"llvm.func {symbol(name)}{kind}" for name, kind in self.callees.items())
        return "\n".join([*declared, *self.constants, *self.defined.values(), self.text()])

    def text(self) -> str:
        shared = [*self.alloca("%shared", self.shared)] if self.shared else []
        lines = [*shared, *self.entry, "llvm.br ^start", "^start:", *self.body, "llvm.return"]
        return f"llvm.func {symbol(self.name)}(%buffers: {POINTER}) {{\n" + "\n".join(lines) + "\n}"

    # What the text is made of.

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def label(self) -> str:
        self.count += 1
        return f"^b{self.count}"

    def value(self, expression: str, *, entry: bool = False) -> str:
        """Names the result of an op; in the entry block each op stands once."""
        if entry and expression in self.cached:
            return self.cached[expression]
        name = self.fresh()
        (self.entry if entry else self.body).append(f"{name} = {expression}")
        if entry:
            self.cached[expression] = name
        return name

    def constant(self, value: int, kind: str = "i64") -> str:
        return self.value(f"llvm.mlir.constant({value} : {kind}) : {kind}", entry=True)

    def data(self, content: bytes) -> str:
        """The address of a constant of these bytes, aligned for 64-bit integers."""
        if content not in self.cached:
            name, kind = symbol(f"{self.name}.data{len(self.constants)}"), f"!llvm.array<{len(content)} x i8>"
            text = ir.StringAttr.get(content)
            self.constants.append(
                f"llvm.mlir.global internal constant {name}({text}) {{addr_space = 0 : i32, alignment = 8 : i64}} : {kind}"
            )
            self.cached[content] = self.value(f"llvm.mlir.addressof {name} : {POINTER}", entry=True)
        return self.cached[content]

    def call(self, callee: str, arguments: list[str], kinds: str, *, attributes: str = "") -> None:
        self.callees[callee] = f"({kinds})"
        self.body.append(f"llvm.call {symbol(callee)}({', '.join(arguments)}) {attributes} : ({kinds}) -> ()")

    def define(self, name: str, text: str) -> None:
        """A function beside this one, which it calls."""
        self.defined[name] = text

    def alloca(self, name: str, count: int) -> list[str]:
        size = f"{name}_count"
        return [f"{size} = llvm.mlir.constant({count} : i64) : i64", f"{name} = llvm.alloca {size} x {POINTER} : (i64) -> {POINTER}"]

    def pointer(self, at: Slice) -> str:
        buffer, offset, _ = at
        place = self.element("%buffers", buffer, entry=True)
        base = self.value(f"llvm.load {place} : {POINTER} -> {POINTER}", entry=True)
        return self.value(f"llvm.getelementptr {base}[{offset}] : ({POINTER}) -> {POINTER}, i8", entry=True) if offset else base

    def element(self, array: str, index: int, *, entry: bool) -> str:
        return self.value(f"llvm.getelementptr {array}[{index}] : ({POINTER}) -> {POINTER}, {POINTER}", entry=entry)

    def pointers(self, at: list[Slice], loops: int) -> str:
        """An array that holds the pointers of these slices."""
        values = [self.pointer(one) for one in at]
        if not loops:
            self.shared = max(self.shared, len(at))
            self.body.extend(self.stores("%shared", values, entry=False, how="volatile"))
            return "%shared"
        key = tuple(values)
        if key not in self.cached:
            self.cached[key] = array = self.fresh()
            self.entry.extend(self.alloca(array, len(at)))
            self.entry.extend(self.stores(array, values, entry=True))
        return self.cached[key]

    def stores(self, array: str, values: list[str], *, entry: bool, how: str = "") -> list[str]:
        places = [self.element(array, i, entry=entry) for i in range(len(values))]
        return [f"llvm.store {how} {value}, {place} : {POINTER}, {POINTER}" for value, place in zip(values, places)]

    def region(self, region: ir.Region, loops: int) -> None:
        """Writes the thunks of a region, each as its kind says (dialects/kinds)."""
        for block in region.blocks:
            for op in block.operations:
                op.lower(self, loops)

    def open_loop(self, count: int) -> tuple[str, list[str]]:
        """Begins a loop that runs `count` times; its counter, and the lines that end it."""
        test, inside, after, index = self.label(), self.label(), self.label(), self.fresh()
        zero, one, limit = self.constant(0), self.constant(1), self.constant(count)
        self.body.extend([f"llvm.br {test}({zero} : i64)", f"{test}({index}: i64):"])
        more = self.value(f'llvm.icmp "slt" {index}, {limit} : i64')
        self.body.extend([f"llvm.cond_br {more}, {inside}, {after}", f"{inside}:"])
        following = self.fresh()
        return index, [f"{following} = llvm.add {index}, {one} : i64", f"llvm.br {test}({following} : i64)", f"{after}:"]


def symbol(name: str) -> str:
    return str(ir.FlatSymbolRefAttr.get(name))


def signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)
