"""Programs of any number of ops, in shapes that real programs have: the text of each grows with the number that is asked for.

text = program("residual", 10_000)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

ROWS, WIDTH = 64, 128
MATRIX = f"tensor<{ROWS}x{WIDTH}xf32>"
SQUARE = f"tensor<{WIDTH}x{WIDTH}xf32>"
ROW = f"tensor<{WIDTH}xf32>"
COLUMN = f"tensor<{ROWS}xf32>"
UNARY = ("tanh", "sine", "negate", "abs", "cosine", "floor")
BINARY = ("add", "multiply", "maximum", "subtract", "minimum")


class _Text:
    """The lines of a function while it is written; `count` is how many ops it has."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: list[str] = []
        self.count = 0

    def argument(self, kind: str) -> str:
        name = f"%arg{len(self.arguments)}"
        self.arguments.append(f"{name}: {kind}")
        return name

    def op(self, text: str) -> str:
        """Writes an op, of which `text` is all but its result; the name of that."""
        name = f"%{self.count}"
        self.lines.append(f"    {name} = stablehlo.{text}")
        self.count += 1
        return name

    def unary(self, name: str, value: str, kind: str = MATRIX) -> str:
        return self.op(f"{name} {value} : {kind}")

    def binary(self, name: str, a: str, b: str, kind: str = MATRIX) -> str:
        return self.op(f"{name} {a}, {b} : {kind}")

    def constant(self, value: str, kind: str) -> str:
        return self.op(f"constant dense<{value}> : {kind}")

    def along(self, value: str, dim: int, source: str, kind: str = MATRIX) -> str:
        return self.op(f"broadcast_in_dim {value}, dims = [{dim}] : ({source}) -> {kind}")

    def product(self, a: str, b: str) -> str:
        return self.op(f"dot_general {a}, {b}, contracting_dims = [1] x [0] : ({MATRIX}, {SQUARE}) -> {MATRIX}")

    def row_sum(self, value: str, zero: str, body: str = "add") -> str:
        kinds = f"({MATRIX}, tensor<f32>) -> {COLUMN}"
        return self.op(f"reduce({value} init: {zero}) applies stablehlo.{body} across dimensions = [1] : {kinds}")

    def function(self, results: list[str], kinds: list[str]) -> str:
        returned = f"    return {', '.join(results)} : {', '.join(kinds)}"
        head = f"  func.func @main({', '.join(self.arguments)}) -> ({', '.join(kinds)}) {{"
        return "\n".join(["module {", head, *self.lines, returned, "  }", "}"])


def _chain(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """One op after the other, now and then with an earlier value."""
    x = text.argument(MATRIX)
    earlier = x
    while text.count < ops:
        x = text.unary(UNARY[text.count % len(UNARY)], x)
        x = text.binary(BINARY[text.count % len(BINARY)], x, earlier)
        if text.count % 16 == 0:
            earlier = x
    yield x, MATRIX


def _wide(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """Layers of many ops, of which each reads two of the layer before."""
    across = max(2, int(ops**0.5))
    layer = [text.argument(MATRIX) for _ in range(across)]
    while text.count < ops:
        step = text.count % 7 + 1
        layer = [text.binary(BINARY[i % len(BINARY)], x, layer[(i + step) % across]) for i, x in enumerate(layer)]
    yield from ((x, MATRIX) for x in layer)


def _residual(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """A deep residual network: norm of rows, product, bias, activation, product, sum with what came in."""
    x, weight, bias = text.argument(MATRIX), text.argument(SQUARE), text.argument(ROW)
    while text.count < ops:
        zero, scale = text.constant("0.0", "tensor<f32>"), text.constant("0.0078125", COLUMN)
        mean = text.binary("multiply", text.row_sum(x, zero), scale, COLUMN)
        centred = text.binary("subtract", x, text.along(mean, 0, COLUMN))
        square = text.binary("multiply", text.row_sum(text.binary("multiply", centred, centred), zero), scale, COLUMN)
        normed = text.binary("multiply", centred, text.along(text.unary("rsqrt", square, COLUMN), 0, COLUMN))
        hidden = text.unary("tanh", text.binary("add", text.product(normed, weight), text.along(bias, 1, ROW)))
        x = text.binary("add", x, text.product(hidden, weight))
    yield x, MATRIX


def _updates(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """Many small updates, as Adam's, of parameters of different shapes, that share one step size."""
    rate = text.argument("tensor<f32>")
    sizes = 0
    while text.count < ops:
        sizes += 1
        kind = f"tensor<{16 + sizes % 37}x{8 + sizes % 11}xf32>"
        weight, gradient, first, second = (text.argument(kind) for _ in range(4))
        decay, tiny = text.constant("0.9", kind), text.constant("1.0e-08", kind)
        first = text.binary("add", text.binary("multiply", first, decay, kind), gradient, kind)
        square = text.binary("multiply", gradient, gradient, kind)
        second = text.binary("add", text.binary("multiply", second, decay, kind), square, kind)
        step = text.binary("divide", first, text.binary("add", text.unary("sqrt", second, kind), tiny, kind), kind)
        spread = text.op(f"broadcast_in_dim {rate}, dims = [] : (tensor<f32>) -> {kind}")
        weight = text.binary("subtract", weight, text.binary("multiply", step, spread, kind), kind)
        yield from ((value, kind) for value in (weight, first, second))


def _constants(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """A constant at every other op: tables, none like another, and numbers."""
    x = text.argument(ROW)
    while text.count < ops:
        table = text.constant(f"[{', '.join(f'{text.count + i}.5' for i in range(8))}]", "tensor<8xf32>")
        spread = text.op(f"broadcast_in_dim {table}, dims = [0] : (tensor<8xf32>) -> tensor<8x{WIDTH // 8}xf32>")
        flat = text.op(f"reshape {spread} : (tensor<8x{WIDTH // 8}xf32>) -> {ROW}")
        x = text.binary(BINARY[text.count % len(BINARY)], x, flat, ROW)
        x = text.binary("multiply", x, text.constant(f"{text.count}.25", ROW), ROW)
    yield x, ROW


def _fan(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """One value that all ops read, in short chains, whose ends are summed one by one."""
    x = text.argument(MATRIX)
    hub = text.unary("tanh", x)
    total = hub
    while text.count < ops:
        end = text.unary("exponential", text.binary("multiply", hub, text.constant(f"{text.count}.5", MATRIX)))
        total = text.binary("add", total, end)
    yield total, MATRIX


def _scalars(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """Arithmetic on single numbers, as of counters and schedules, which a few arrays read."""
    x, n = text.argument(ROW), text.argument("tensor<f32>")
    while text.count < ops:
        for _ in range(10):
            n = text.unary("cosine", text.binary("add", n, text.constant("0.5", "tensor<f32>"), "tensor<f32>"), "tensor<f32>")
        x = text.binary("multiply", x, text.op(f"broadcast_in_dim {n}, dims = [] : (tensor<f32>) -> {ROW}"), ROW)
    yield x, ROW


def _branches(text: _Text, ops: int) -> Iterator[tuple[str, str]]:
    """Blocks of parallel branches, each a product with what follows it, joined by concatenation and cut again."""
    x, weight = text.argument(MATRIX), text.argument(SQUARE)
    half = f"tensor<{ROWS}x{WIDTH // 2}xf32>"
    while text.count < ops:
        ends = []
        for name in ("tanh", "abs", "negate", "cosine"):
            wide = text.unary(name, text.product(x, weight))
            ends.append(text.op(f"slice {wide} [0:{ROWS}, 0:{WIDTH // 2}] : ({MATRIX}) -> {half}"))
        pairs = [text.op(f"concatenate {a}, {b}, dim = 1 : ({half}, {half}) -> {MATRIX}") for a, b in (ends[:2], ends[2:])]
        x = text.binary("add", *pairs)
    yield x, MATRIX


SHAPES: dict[str, Callable[[_Text, int], Iterator[tuple[str, str]]]] = {
    "chain": _chain, "wide": _wide, "residual": _residual, "updates": _updates, "constants": _constants, "fan": _fan,
    "scalars": _scalars, "branches": _branches,
}  # fmt: skip


def program(shape: str, ops: int) -> str:
    """A module of about so many ops."""
    text = _Text()
    results = list(SHAPES[shape](text, ops))
    return text.function([name for name, _ in results], [kind for _, kind in results])
