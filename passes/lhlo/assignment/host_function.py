"""The text of the LLVM-dialect function that a thunk program compiles to.

Pointers into the buffers are set up once, in the entry block. A kernel takes its pointers as an array on the stack: in a loop each has
its own, filled in the entry block; outside of loops all share one that is filled before each call, so that the stack does not grow with
the program.

LLVM optimises loops alone. Outside of them no kernel is inlined, and the stores into the shared array are volatile: LLVM would compare
each with those after it, a time that grows with the square of the program.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.thunk import Slice, integers, slices

from ...errors import PassFailure

_POINTER = "!llvm.ptr"


class HostFunction:
    """Compiles `program` on construction; `callees` are the functions it calls, with their types."""

    def __init__(self, program: ir.Operation):
        self.name = "hloom_" + ir.StringAttr(program.attributes["sym_name"]).value
        self.callees: dict[str, str] = {}
        self.entry: list[str] = []
        self.body: list[str] = []
        self.cached: dict[object, str] = {}
        self.count = 0
        self.shared = 0
        self.block(program.regions[0].blocks[0], loops=0)

    def module_text(self) -> str:
        """The function, and declarations of the functions it calls."""
        return "\n".join([*(f"llvm.func {symbol(name)}{kind}" for name, kind in self.callees.items()), self.text()])

    def text(self) -> str:
        shared = [*self.alloca("%shared", self.shared)] if self.shared else []
        lines = [*shared, *self.entry, "llvm.br ^start", "^start:", *self.body, "llvm.return"]
        return f"llvm.func {symbol(self.name)}(%buffers: {_POINTER}) {{\n" + "\n".join(lines) + "\n}"

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

    def call(self, callee: str, arguments: list[str], kinds: str, *, attributes: str = "") -> None:
        self.callees[callee] = f"({kinds})"
        self.body.append(f"llvm.call {symbol(callee)}({', '.join(arguments)}) {attributes} : ({kinds}) -> ()")

    def alloca(self, name: str, count: int) -> list[str]:
        size = f"{name}_count"
        return [f"{size} = llvm.mlir.constant({count} : i64) : i64", f"{name} = llvm.alloca {size} x {_POINTER} : (i64) -> {_POINTER}"]

    def pointer(self, at: Slice) -> str:
        buffer, offset, _ = at
        place = self.element("%buffers", buffer, entry=True)
        base = self.value(f"llvm.load {place} : {_POINTER} -> {_POINTER}", entry=True)
        return self.value(f"llvm.getelementptr {base}[{offset}] : ({_POINTER}) -> {_POINTER}, i8", entry=True) if offset else base

    def element(self, array: str, index: int, *, entry: bool) -> str:
        return self.value(f"llvm.getelementptr {array}[{index}] : ({_POINTER}) -> {_POINTER}, {_POINTER}", entry=entry)

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
        return [f"llvm.store {how} {value}, {place} : {_POINTER}, {_POINTER}" for value, place in zip(values, places)]

    # One method for each thunk.

    def block(self, block: ir.Block, loops: int) -> None:
        for op in block.operations:
            getattr(self, op.operation.name.removeprefix("thunk.").replace(".", "_") + "_")(op.operation, loops)

    def region(self, op: ir.Operation, index: int, loops: int) -> None:
        for block in op.regions[index].blocks:
            self.block(block, loops)

    def kernel_(self, op: ir.Operation, loops: int) -> None:
        name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        tiles, grain = (ir.IntegerAttr(op.attributes[key]).value for key in ("tiles", "grain"))
        if not tiles:
            return
        array = self.pointers(slices(op, "reads") + slices(op, "writes"), loops)
        if not grain:
            attributes = "" if loops else "{no_inline}"
            self.call(name, [self.constant(0), self.constant(tiles), array], f"i64, i64, {_POINTER}", attributes=attributes)
            return
        self.callees[name] = f"(i64, i64, {_POINTER})"
        kernel = self.value(f"llvm.mlir.addressof {symbol(name)} : {_POINTER}", entry=True)
        self.call("hloom_parallel_for", [kernel, self.constant(tiles), self.constant(grain), array], f"{_POINTER}, i64, i64, {_POINTER}")

    def gemm_(self, op: ir.Operation, loops: int) -> None:
        names = ("transposed", "sizes", "leading", "strides")
        transposed, sizes, leading, strides = ([self.constant(number) for number in integers(op.attributes[name])] for name in names)
        matrices = [self.pointer(at) for at in slices(op, "reads") + slices(op, "writes")]
        operands = [part for matrix in zip(matrices, leading, strides) for part in matrix]
        element = str(ir.TypeAttr(op.attributes["element"]).value)
        if element not in ("f32", "f64") or ir.StringAttr(op.attributes["epilogue"]).value != "none" or len(matrices) != 3:
            raise PassFailure("no matrix product of the CPU's library", op=op.name, loc=str(op.location), stage="llvm")
        self.call(f"hloom_gemm_{element}", [*transposed, *sizes, *operands], ", ".join(["i64"] * 6 + [_POINTER, "i64", "i64"] * 3))

    def copy_(self, op: ir.Operation, loops: int) -> None:
        (source,), (target,) = slices(op, "reads"), slices(op, "writes")
        operands = f"{self.pointer(target)}, {self.pointer(source)}, {self.constant(target[2])}"
        self.body.append(f'"llvm.intr.memcpy"({operands}) <{{isVolatile = false}}> : ({_POINTER}, {_POINTER}, i64) -> ()')

    def fill_(self, op: ir.Operation, loops: int) -> None:
        (target,) = slices(op, "writes")
        pattern = [byte & 255 for byte in ir.DenseI8ArrayAttr(op.attributes["pattern"])]
        start = self.pointer(target)
        if len(set(pattern)) == 1:
            operands = f"{start}, {self.constant(signed(bytes(pattern[:1])), 'i8')}, {self.constant(target[2])}"
            self.body.append(f'"llvm.intr.memset"({operands}) <{{isVolatile = false}}> : ({_POINTER}, i8, i64) -> ()')
            return
        kind = f"i{8 * len(pattern)}"
        value = self.constant(signed(bytes(pattern)), kind)
        index, close = self.open_loop(target[2] // len(pattern))
        place = self.value(f"llvm.getelementptr {start}[{index}] : ({_POINTER}, i64) -> {_POINTER}, {kind}")
        # A result is where its caller put it: no more than the element's own alignment is known, and for i128 not even that.
        self.body.append(f"llvm.store {value}, {place} {{alignment = {min(len(pattern), 8)} : i64}} : {kind}, {_POINTER}")
        self.body.extend(close)

    def while_(self, op: ir.Operation, loops: int) -> None:
        test, inside, after = self.label(), self.label(), self.label()
        (pred,) = slices(op, "reads")
        pointer, zero = self.pointer(pred), self.constant(0, "i8")
        self.body.extend([f"llvm.br {test}", f"{test}:"])
        self.region(op, 0, loops + 1)
        loaded = self.value(f"llvm.load {pointer} : {_POINTER} -> i8")
        holds = self.value(f'llvm.icmp "ne" {loaded}, {zero} : i8')
        self.body.extend([f"llvm.cond_br {holds}, {inside}, {after}", f"{inside}:"])
        self.region(op, 1, loops + 1)
        self.body.extend([f"llvm.br {test}", f"{after}:"])

    def for_(self, op: ir.Operation, loops: int) -> None:
        _, close = self.open_loop(ir.IntegerAttr(op.attributes["trip_count"]).value)
        self.region(op, 0, loops + 1)
        self.body.extend(close)

    def open_loop(self, count: int) -> tuple[str, list[str]]:
        """Begins a loop that runs `count` times; its counter, and the lines that end it."""
        test, inside, after, index = self.label(), self.label(), self.label(), self.fresh()
        zero, one, limit = self.constant(0), self.constant(1), self.constant(count)
        self.body.extend([f"llvm.br {test}({zero} : i64)", f"{test}({index}: i64):"])
        more = self.value(f'llvm.icmp "slt" {index}, {limit} : i64')
        self.body.extend([f"llvm.cond_br {more}, {inside}, {after}", f"{inside}:"])
        following = self.fresh()
        return index, [f"{following} = llvm.add {index}, {one} : i64", f"llvm.br {test}({following} : i64)", f"{after}:"]

    def case_(self, op: ir.Operation, loops: int) -> None:
        (at,) = slices(op, "reads")
        branches = [branch.operation for branch in op.regions[0].blocks[0].operations]
        labels, after = [self.label() for _ in branches], self.label()
        index = self.value(f"llvm.load {self.pointer(at)} : {_POINTER} -> i{8 * at[2]}")
        targets = ", ".join(f"{i}: {label}" for i, label in enumerate(labels[:-1]))
        self.body.append(f"llvm.switch {index} : i{8 * at[2]}, {labels[-1]} [{targets}]")
        for label, branch in zip(labels, branches):
            self.body.append(f"{label}:")
            self.region(branch, 0, loops)
            self.body.append(f"llvm.br {after}")
        self.body.append(f"{after}:")

    def sequence_(self, op: ir.Operation, loops: int) -> None:
        self.region(op, 0, loops)

    def profile_begin_(self, op: ir.Operation, loops: int) -> None:
        self.call(op.name.replace("thunk.", "hloom_"), [self.constant(ir.IntegerAttr(op.attributes["id"]).value)], "i64")

    profile_end_ = profile_begin_


def symbol(name: str) -> str:
    return str(ir.FlatSymbolRefAttr.get(name))


def signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)
