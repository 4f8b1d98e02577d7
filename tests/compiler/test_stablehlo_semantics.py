"""The passes of the stage stablehlo change no result: random programs before and after, on StableHLO's reference interpreter."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from torch_mlir import ir

from hloom.compiler.frontend import load_program
from hloom.compiler.interpreter import Interpreter
from hloom.compiler.passmanager import parse_pipeline, run_steps
from hloom.compiler.stage_passes import STABLEHLO
from hloom.runtime.dtypes import numpy_dtype

EDGES = {
    "f32": [np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-40, 3.0, -2.5, 1e38, 0.5],
    "f16": [np.nan, 0.0, -0.0, np.inf, -np.inf, 6e-8, 3.0, -2.5, 6e4, 0.5],
    "bf16": [np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-39, 3.0, -2.5, 1e38, 0.5],
    "f64": [np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-310, 3.0, -2.5, 1e300, 0.5],
    "i8": [0, 1, -1, 127, -128, 7, -7, 3, 2, 8],
    "i32": [0, 1, -1, 2**31 - 1, -(2**31), 7, -7, 3, 31, 32],
    "ui8": [0, 1, 255, 128, 127, 7, 9, 3, 2, 8],
    "ui64": [0, 1, 2**64 - 1, 2**63, 2**63 - 1, 7, 9, 63, 64, 65],
    "i1": [0, 1, 1, 0, 0, 1, 1, 0, 1, 1],
}
UNARY = ["abs", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log", "log_plus_one", "negate", "not"]
UNARY += ["round_nearest_even", "rsqrt", "sign", "sine", "sqrt", "tanh"]
BINARY = ["add", "and", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder"]
BINARY += ["shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor"]
FLOAT_ONLY = {"ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log", "log_plus_one", "round_nearest_even", "rsqrt"}
FLOAT_ONLY |= {"sine", "sqrt", "tanh"}
INTEGER_ONLY = {"and", "or", "xor", "not", "shift_left", "shift_right_arithmetic", "shift_right_logical"}
NOT_ON_FLAGS = {"abs", "negate", "sign", "divide", "power", "remainder", "subtract"}
NOT_ON_FLAGS |= {"shift_left", "shift_right_arithmetic", "shift_right_logical"}


@pytest.fixture(scope="module")
def interpreter() -> Iterator[Interpreter]:
    with Interpreter() as running:
        yield running


def canonical(source: str) -> str:
    program = load_program(source)
    module = program.module.operation
    with module.context, ir.Location.unknown():
        run_steps(module, parse_pipeline(",".join(STABLEHLO), module.context))
    return str(program.module)


def literal(values: list, dtype: str) -> str:
    if dtype == "i1":
        return str([bool(value) for value in values]).lower()
    return '"0x' + np.array(values, dtype=numpy_dtype(dtype)).tobytes().hex() + '"'


def applies(name: str, dtype: str) -> bool:
    is_float = dtype[0] in "fb"
    if name in FLOAT_ONLY or name in INTEGER_ONLY:
        return is_float == (name in FLOAT_ONLY) and not (dtype == "i1" and name in NOT_ON_FLAGS)
    return not (dtype == "i1" and name in NOT_ON_FLAGS) and not (dtype.startswith("ui") and name in ("abs", "negate", "sign"))


def folding_program(dtype: str) -> str:
    """Every elementwise op that folds, on all edge values of a type."""
    x = EDGES[dtype]
    kind = f"tensor<{len(x)}x{dtype}>"
    lines, results = [f"%x = stablehlo.constant dense<{literal(x, dtype)}> : {kind}", f"%y = stablehlo.reverse %x, dims = [0] : {kind}"], []

    def add(line: str, kind: str) -> None:
        results.append((f"%r{len(results)}", kind))
        lines.append(f"{results[-1][0]} = {line}")

    for name in UNARY:
        if applies(name, dtype):
            add(f"stablehlo.{name} %x : {kind}", kind)
    divisors = literal([3, 7, 2, 5, 9, 4, 3, 1, 6, 7], dtype)  # zero would end the interpreter
    lines.append(f"%d = stablehlo.constant dense<{divisors}> : {kind}")
    for name in BINARY:
        if applies(name, dtype):
            divides = name in ("divide", "remainder") and name not in FLOAT_ONLY and dtype[0] in "iu"
            add(f"stablehlo.{name} %x, {'%d' if divides else '%y'} : {kind}", kind)
    for way in ("EQ", "NE", "LT", "LE", "GT", "GE"):
        add(f"stablehlo.compare {way}, %x, %y : ({kind}, {kind}) -> tensor<{len(x)}xi1>", f"tensor<{len(x)}xi1>")
    for other in ("f32", "bf16", "i32", "i1"):
        add(f"stablehlo.convert %x : ({kind}) -> tensor<{len(x)}x{other}>", f"tensor<{len(x)}x{other}>")
    types = ", ".join(kind for _, kind in results)
    body = "\n  ".join(lines)
    return f"func.func @main() -> ({types}) {{\n  {body}\n  return {', '.join(name for name, _ in results)} : {types}\n}}"


@pytest.mark.parametrize("dtype", EDGES)
def test_folding_agrees_with_the_interpreter(dtype: str, interpreter: Interpreter) -> None:
    source = folding_program(dtype)
    folded = canonical(source)
    assert folded.count("stablehlo.constant") > source.count("stablehlo.constant")
    for number, (expected, got) in enumerate(zip(interpreter.run(source, []).results, interpreter.run(folded, []).results, strict=True)):
        assert_same(expected, got, f"result {number} of {source}", ulp=2)


def assert_same(expected: np.ndarray, got: np.ndarray, where: str, ulp: int = 0) -> None:
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(expected, got, err_msg=where)
        return
    a, b = expected.astype(np.float64), got.astype(np.float64)
    bits = np.finfo(np.float32).eps if expected.itemsize >= 4 else 2.0**-7
    near = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
    with np.errstate(invalid="ignore"):
        near |= np.abs(a - b) <= ulp * bits * np.abs(a)
    assert near.all(), f"{where}: {a[~near][:4]} became {b[~near][:4]}"


class Generator:
    """A random program of data movement, arithmetic with special constants and loops, over small f32 tensors."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, tuple[int, ...]]] = []
        self.count = 0

    def program(self, steps: int = 25) -> str:
        arguments = [(f"%a{i}", shape) for i, shape in enumerate([(4, 6), (6,), (2, 3, 4), (1, 6)])]
        self.values = list(arguments)
        for _ in range(steps):
            getattr(self, self.random.choice(self.KINDS))()
        results = self.values[len(arguments) :][-6:]
        types = ", ".join(self.type(shape) for _, shape in results)
        signature = ", ".join(f"{name}: {self.type(shape)}" for name, shape in arguments)
        body = "\n  ".join(self.lines)
        return f"func.func @main({signature}) -> ({types}) {{\n  {body}\n  return {', '.join(name for name, _ in results)} : {types}\n}}"

    KINDS = "binary binary unary constant reshape broadcast transpose slice concatenate pad loop reduce dot".split()

    @staticmethod
    def type(shape: tuple[int, ...], element: str = "f32") -> str:
        return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"

    def pick(self) -> tuple[str, tuple[int, ...]]:
        return self.random.choice(self.values)

    def add(self, line: str, shape: tuple[int, ...]) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {line}")
        self.values.append((f"%v{self.count}", shape))
        return f"%v{self.count}"

    def unary(self) -> None:
        x, shape = self.pick()
        self.add(f"stablehlo.{self.random.choice(['negate', 'abs', 'floor', 'sign'])} {x} : {self.type(shape)}", shape)

    def binary(self) -> None:
        x, shape = self.pick()
        y = self.random.choice([name for name, other in self.values if other == shape])
        name = self.random.choice(["add", "multiply", "subtract", "maximum", "divide", "minimum"])
        self.add(f"stablehlo.{name} {x}, {y} : {self.type(shape)}", shape)

    def constant(self) -> None:
        _, shape = self.pick()
        value = self.random.choice(["0.0", "-0.0", "1.0", "2.0", "0xFF800000", "0x7F800000", "3.0", "1024.0"])
        self.add(f"stablehlo.constant dense<{value}> : {self.type(shape)}", shape)

    def reshape(self) -> None:
        x, shape = self.pick()
        new = [extent for extent in shape if extent != 1 or self.random.random() < 0.5]
        for _ in range(self.random.randrange(3)):
            new.insert(self.random.randrange(len(new) + 1), 1)
        self.add(f"stablehlo.reshape {x} : ({self.type(shape)}) -> {self.type(tuple(new))}", tuple(new))

    def broadcast(self) -> None:
        x, shape = self.pick()
        if len(shape) > 3:
            return
        new, dims = [], []
        for extent in shape:
            if self.random.random() < 0.4:
                new.append(self.random.choice([1, 2]))
            dims.append(len(new))
            new.append(self.random.choice([2, 3]) if extent == 1 and self.random.random() < 0.5 else extent)
        if np.prod(new, dtype=int) <= 256:
            self.add(f"stablehlo.broadcast_in_dim {x}, dims = {dims} : ({self.type(shape)}) -> {self.type(tuple(new))}", tuple(new))

    def transpose(self) -> None:
        x, shape = self.pick()
        order = self.random.sample(range(len(shape)), len(shape))
        new = tuple(shape[d] for d in order)
        self.add(f"stablehlo.transpose {x}, dims = {order} : ({self.type(shape)}) -> {self.type(new)}", new)

    def slice(self) -> None:
        x, shape = self.pick()
        bounds, new = [], []
        for extent in shape:
            start = self.random.randrange(extent) if extent else 0
            limit, step = self.random.randrange(start, extent + 1), self.random.choice([1, 1, 2])
            if self.random.random() < 0.5:
                start, limit, step = 0, extent, 1
            bounds.append(f"{start}:{limit}:{step}")
            new.append(-(-(limit - start) // step))
        self.add(f"stablehlo.slice {x} [{', '.join(bounds)}] : ({self.type(shape)}) -> {self.type(tuple(new))}", tuple(new))

    def concatenate(self) -> None:
        x, shape = self.pick()
        if not shape:
            return
        axis = self.random.randrange(len(shape))

        def fits(other: tuple[int, ...]) -> bool:
            return len(other) == len(shape) and all(a == b or d == axis for d, (a, b) in enumerate(zip(shape, other)))

        parts = [(x, shape), *self.random.choices([v for v in self.values if fits(v[1])], k=self.random.randrange(3))]
        new = list(shape)
        new[axis] = sum(other[axis] for _, other in parts)
        operands, types = ", ".join(name for name, _ in parts), ", ".join(self.type(other) for _, other in parts)
        if np.prod(new, dtype=int) <= 256:
            self.add(f"stablehlo.concatenate {operands}, dim = {axis} : ({types}) -> {self.type(tuple(new))}", tuple(new))

    def pad(self) -> None:
        x, shape = self.pick()
        zero = self.add("stablehlo.constant dense<0.0> : tensor<f32>", ())
        low, high = ([self.random.choice([0, 0, 1]) for _ in shape] for _ in range(2))
        gaps = [self.random.choice([0, 0, 1]) for _ in shape]
        new = tuple(a + n + max(n - 1, 0) * g + b for n, a, b, g in zip(shape, low, high, gaps))
        if np.prod(new, dtype=int) <= 256:
            types = f"({self.type(shape)}, tensor<f32>) -> {self.type(new)}"
            self.add(f"stablehlo.pad {x}, {zero}, low = {low}, high = {high}, interior = {gaps} : {types}", new)

    def reduce(self) -> None:
        x, shape = self.pick()
        if not shape:
            return
        zero = self.add("stablehlo.constant dense<0.0> : tensor<f32>", ())
        axis = self.random.randrange(len(shape))
        new = shape[:axis] + shape[axis + 1 :]
        types = f"({self.type(shape)}, tensor<f32>) -> {self.type(new)}"
        self.add(f"stablehlo.reduce({x} init: {zero}) applies stablehlo.add across dimensions = [{axis}] : {types}", new)

    def dot(self) -> None:
        x, left = self.pick()
        y, right = self.pick()
        pairs = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
        if not pairs:
            return
        i, j = self.random.choice(pairs)
        new = left[:i] + left[i + 1 :] + right[:j] + right[j + 1 :]
        if np.prod(new, dtype=int) <= 256 and len(new) <= 4:
            types = f"({self.type(left)}, {self.type(right)}) -> {self.type(new)}"
            self.add(f"stablehlo.dot_general {x}, {y}, contracting_dims = [{i}] x [{j}] : {types}", new)

    def loop(self) -> None:
        """A counted loop over two values, one of which may never change or not be used."""
        (x, shape), (y, other) = self.pick(), self.pick()
        self.count += 1
        n, trips = self.count, self.random.choice([0, 1, 3, 20])
        kinds = f"tensor<i32>, {self.type(shape)}, {self.type(other)}"
        half = f"%h{n} = stablehlo.constant dense<0.5> : {self.type(shape)}"
        kept = self.random.random() < 0.5
        update = f"%y{n}" if kept else f"%w{n}"
        self.lines += [
            f"%c{n} = stablehlo.constant dense<0> : tensor<i32>",
            f"%o{n} = stablehlo.constant dense<1> : tensor<i32>",
            f"%t{n} = stablehlo.constant dense<{trips}> : tensor<i32>",
            f"%l{n}:3 = stablehlo.while(%i{n} = %c{n}, %x{n} = {x}, %y{n} = {y}) : {kinds}",
            f"cond {{ %p{n} = stablehlo.compare LT, %i{n}, %t{n} : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            f"stablehlo.return %p{n} : tensor<i1> }} do {{",
            f"%j{n} = stablehlo.add %i{n}, %o{n} : tensor<i32>",
            half,
            f"%f{n} = stablehlo.convert %i{n} : (tensor<i32>) -> tensor<f32>",
            f"%b{n} = stablehlo.broadcast_in_dim %f{n}, dims = [] : (tensor<f32>) -> {self.type(shape)}",
            f"%m{n} = stablehlo.multiply %x{n}, %h{n} : {self.type(shape)}",
            f"%q{n} = stablehlo.add %m{n}, %b{n} : {self.type(shape)}",
            f"%w{n} = stablehlo.abs %y{n} : {self.type(other)}",
            f"stablehlo.return %j{n}, %q{n}, {update} : {kinds} }}",
        ]
        self.values.append((f"%l{n}#1", shape))
        if self.random.random() < 0.5:
            self.values.append((f"%l{n}#2", other))


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_keep_their_results(seed: int, interpreter: Interpreter) -> None:
    source = Generator(seed).program()
    rng = np.random.default_rng(seed)
    shapes = [(4, 6), (6,), (2, 3, 4), (1, 6)]
    inputs = [rng.choice(np.float32([0.0, -0.0, 1.5, -2.0, 3.0, 0.25]), shape) for shape in shapes]
    after = canonical(source)
    for expected, got in zip(interpreter.run(source, inputs).results, interpreter.run(after, inputs).results, strict=True):
        assert_same(expected, got, source, ulp=8)
