"""Random programs of movement, elementwise, reductions, windows and contractions: they compile, and compute what they say.

Ingress must not change what they compute, by upstream's plain loops; and what is compiled for the CPU agrees with the reference interpreter.
"""

# ruff: noqa: E501  ops of programs stay on one line

from __future__ import annotations

import os
import random
from collections.abc import Callable

import numpy as np
import pytest
from linalg_oracle import INGRESS, TYPES, parse_type, run_lowered, tensor_types
from machines import any_cpu as any_cpu

import hloom
from hloom.compiler.interpreter import Interpreter


class Program:
    """Grows a program op by op; every value is an f32 tensor of integers, so that any order of sums is exact."""

    extents: tuple[int, ...] = (1, 2, 3, 4, 6)
    most = 2000
    """Elements of a value."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.values: list[tuple[str, tuple[int, ...]]] = []
        self.lines: list[str] = []
        shapes = [tuple(self.rng.choice(self.extents) for _ in range(self.rng.randrange(1, 4))) for _ in range(3)]
        self.arguments = [(f"%a{i}", shape) for i, shape in enumerate(shapes)]
        self.values += self.arguments
        self.lines.append("%zero = stablehlo.constant dense<0.0> : tensor<f32>")
        self.lines.append("%low = stablehlo.constant dense<-9.0> : tensor<f32>")
        self.lines.append("%high = stablehlo.constant dense<9.0> : tensor<f32>")

    def makers(self) -> list[Callable[[], None]]:
        return [self.unary, self.binary, self.binary, self.transpose, self.reshape, self.slice, self.reverse, self.broadcast, self.pad,
                self.concatenate, self.reduce, self.dot, self.dynamic_slice, self.iota, self.select, self.clamp, self.update,
                self.gather, self.window, self.convolution, self.first_largest]  # fmt: skip

    def text(self, ops: int) -> str:
        makers = self.makers()
        for _ in range(ops):
            self.rng.choice(makers)()
        results = self.rng.sample(self.values[3:], min(3, len(self.values) - 3)) + self.values[-1:]
        signature = ", ".join(f"{n}: {self.kind(s)}" for n, s in self.arguments)
        types = ", ".join(self.kind(s) for _, s in results)
        body = "\n".join(self.lines)
        return f"func.func @main({signature}) -> ({types}) {{\n{body}\nreturn {', '.join(n for n, _ in results)} : {types}\n}}"

    @staticmethod
    def kind(shape: tuple[int, ...]) -> str:
        return f"tensor<{''.join(f'{d}x' for d in shape)}f32>"

    def emit(self, op: str, operands: list[tuple[str, tuple[int, ...]]], shape: tuple[int, ...], types: str | None = None) -> None:
        if int(np.prod(shape)) > self.most:
            return
        name = f"%v{len(self.lines)}"
        ins = types or ", ".join(self.kind(s) for _, s in operands)
        self.lines.append(f"{name} = {op} : ({ins}) -> {self.kind(shape)}")
        self.values.append((name, shape))

    def pick(self) -> tuple[str, tuple[int, ...]]:
        return self.rng.choice(self.values[-6:] if self.rng.random() < 0.7 else self.values)

    def unary(self) -> None:
        name, shape = self.pick()
        self.emit(f'"stablehlo.{self.rng.choice(["negate", "abs", "sign"])}"({name})', [(name, shape)], shape)

    def binary(self) -> None:
        name, shape = self.pick()
        other = self.rng.choice([v for v in self.values if v[1] == shape])
        op = self.rng.choice(["add", "subtract", "maximum", "minimum"])
        self.emit(f'"stablehlo.{op}"({name}, {other[0]})', [(name, shape), other], shape)

    def transpose(self) -> None:
        name, shape = self.pick()
        order = self.rng.sample(range(len(shape)), len(shape))
        self.emit(f"stablehlo.transpose {name}, dims = {order}", [(name, shape)], tuple(shape[d] for d in order))

    def reshape(self) -> None:
        name, shape = self.pick()
        rest, new = int(np.prod(shape)), []
        while rest > 1 and len(new) < 3:
            factor = self.rng.choice([d for d in range(1, rest + 1) if rest % d == 0])
            new.append(factor)
            rest //= factor
        self.emit(f"stablehlo.reshape {name}", [(name, shape)], (*new, rest))

    def slice(self) -> None:
        name, shape = self.pick()
        parts, new = [], []
        for extent in shape:
            start = self.rng.randrange(extent)
            stop = self.rng.randrange(start + 1, extent + 1)
            step = self.rng.choice([1, 1, 2])
            parts.append(f"{start}:{stop}:{step}")
            new.append(-(-(stop - start) // step))
        self.emit(f"stablehlo.slice {name} [{', '.join(parts)}]", [(name, shape)], tuple(new))

    def reverse(self) -> None:
        name, shape = self.pick()
        dims = [d for d in range(len(shape)) if self.rng.random() < 0.5]
        self.lines.append(f"%v{len(self.lines)} = stablehlo.reverse {name}, dims = {dims} : {self.kind(shape)}")
        self.values.append((f"%v{len(self.lines) - 1}", shape))

    def broadcast(self) -> None:
        name, shape = self.pick()
        position = self.rng.randrange(len(shape) + 1)
        dims = [d if d < position else d + 1 for d in range(len(shape))]
        new = (*shape[:position], self.rng.choice([2, 3]), *shape[position:])
        if len(new) < 5:
            self.emit(f"stablehlo.broadcast_in_dim {name}, dims = {dims}", [(name, shape)], new)

    def pad(self) -> None:
        name, shape = self.pick()
        low = [self.rng.choice([-1, 0, 0, 1, 2]) for _ in shape]
        high = [self.rng.choice([-1, 0, 0, 1]) for _ in shape]
        interior = [self.rng.choice([0, 0, 1]) for _ in shape]
        new = tuple(a + b + e + (e - 1) * i for a, b, e, i in zip(low, high, shape, interior))
        if min(new, default=1) > 0:
            self.emit(f"stablehlo.pad {name}, %low, low = {low}, high = {high}, interior = {interior}", [(name, shape), ("", ())], new)

    def concatenate(self) -> None:
        _name, shape = self.pick()
        if not shape:
            return
        axis = self.rng.randrange(len(shape))
        fits = [v for v in self.values if len(v[1]) == len(shape) and all(v[1][d] == shape[d] for d in range(len(shape)) if d != axis)]
        parts = [self.rng.choice(fits) for _ in range(self.rng.choice([2, 3]))]
        new = tuple(sum(p[1][axis] for p in parts) if d == axis else e for d, e in enumerate(shape))
        self.emit(f"stablehlo.concatenate {', '.join(n for n, _ in parts)}, dim = {axis}", parts, new)

    def reduce(self) -> None:
        name, shape = self.pick()
        dims = [d for d in range(len(shape)) if self.rng.random() < 0.5]
        op, init = self.rng.choice([("add", "%zero"), ("maximum", "%low")])
        new = tuple(e for d, e in enumerate(shape) if d not in dims)
        self.emit(
            f"stablehlo.reduce({name} init: {init}) applies stablehlo.{op} across dimensions = {dims}", [(name, shape), ("", ())], new
        )

    def dot(self) -> None:
        (x, a), (y, b) = self.pick(), self.pick()
        pairs = [(i, j) for i in range(len(a)) for j in range(len(b)) if a[i] == b[j]]
        if not pairs or len(a) + len(b) > 5:
            return
        i, j = self.rng.choice(pairs)
        batch = [(m, n) for m, n in pairs if m != i and n != j][:1] if self.rng.random() < 0.4 else []
        mine, theirs = [m for m, _ in batch], [n for _, n in batch]
        free = [e for d, e in enumerate(a) if d not in (i, *mine)] + [e for d, e in enumerate(b) if d not in (j, *theirs)]
        batching = f"batching_dims = {mine} x {theirs}, " if batch else ""
        new = (*(a[m] for m in mine), *free)
        self.emit(f"stablehlo.dot_general {x}, {y}, {batching}contracting_dims = [{i}] x [{j}]", [(x, a), (y, b)], new)

    def dynamic_slice(self) -> None:
        name, shape = self.pick()
        if not shape:
            return
        sizes = [self.rng.randrange(1, e + 1) for e in shape]
        starts = self.scalars(len(shape))
        types = ", ".join([self.kind(shape)] + ["tensor<i32>"] * len(shape))
        self.emit(f"stablehlo.dynamic_slice {name}, {', '.join(starts)}, sizes = {sizes}", [], tuple(sizes), types)

    def scalars(self, count: int) -> list[str]:
        """Start indices, some of them out of bounds."""
        names = []
        for _ in range(count):
            names.append(f"%v{len(self.lines)}")
            self.lines.append(f"{names[-1]} = stablehlo.constant dense<{self.rng.randrange(-1, 5)}> : tensor<i32>")
        return names

    def select(self) -> None:
        name, shape = self.pick()
        other, third = (self.rng.choice([v for v in self.values if v[1] == shape]) for _ in range(2))
        flag = f"%v{len(self.lines)}"
        flags = self.kind(shape).replace("f32", "i1")
        self.lines.append(f"{flag} = stablehlo.compare GT, {name}, {other[0]} : ({self.kind(shape)}, {self.kind(shape)}) -> {flags}")
        self.emit(f"stablehlo.select {flag}, {third[0]}, {name}", [], shape, f"{flags}, {self.kind(shape)}, {self.kind(shape)}")
        self.lines[-1] = self.lines[-1].replace(f"({flags}, {self.kind(shape)}, {self.kind(shape)}) -> ", f"{flags}, ")

    def clamp(self) -> None:
        name, shape = self.pick()
        self.emit(f'"stablehlo.clamp"(%low, {name}, %high)', [("", ()), (name, shape), ("", ())], shape)

    def update(self) -> None:
        name, shape = self.pick()
        fits = [v for v in self.values if len(v[1]) == len(shape) and all(a <= b for a, b in zip(v[1], shape))]
        window = self.rng.choice(fits)
        types = ", ".join([self.kind(shape), self.kind(window[1])] + ["tensor<i32>"] * len(shape))
        self.emit(f"stablehlo.dynamic_update_slice {', '.join([name, window[0], *self.scalars(len(shape))])}", [], shape, types)

    def gather(self) -> None:
        """Rows of the first dimension, in any order, some clamped."""
        name, shape = self.pick()
        if not shape:
            return
        rows = [self.rng.randrange(-1, shape[0] + 1) for _ in range(self.rng.choice([1, 3, 5]))]
        table = f"%v{len(self.lines)}"
        self.lines.append(f"{table} = stablehlo.constant dense<{rows}> : tensor<{len(rows)}xi32>")
        last = self.rng.random() < 0.3
        offset = list(range(len(shape) - 1)) if last else list(range(1, len(shape)))
        new = (*shape[1:], len(rows)) if last else (len(rows), *shape[1:])
        numbers = f"#stablehlo.gather<offset_dims = {offset}, collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
        sizes = ", ".join(map(str, (1, *shape[1:])))
        attributes = f"dimension_numbers = {numbers}, slice_sizes = array<i64: {sizes}>, indices_are_sorted = false"
        op = f'"stablehlo.gather"({name}, {table}) {{{attributes}}}'
        self.emit(op, [], new, f"{self.kind(shape)}, tensor<{len(rows)}xi32>")

    def window(self) -> None:
        name, shape = self.pick()
        if not shape:
            return
        size, stride, dilation = (
            [self.rng.choice([1, 1, 2, 3]) for _ in shape],
            [self.rng.choice([1, 1, 2]) for _ in shape],
            [1] * len(shape),
        )
        dilation[-1] = self.rng.choice([1, 2])
        pads = [(self.rng.choice([-1, 0, 0, 1]), self.rng.choice([0, 0, s - 1])) for s in size]
        spans = [low + e + high - (s - 1) * d - 1 for (low, high), e, s, d in zip(pads, shape, size, dilation)]
        if min(spans) < 0:
            return
        op, init = self.rng.choice([("add", "%zero"), ("maximum", "%low")])
        scalar, arrays = "tensor<f32>", [f"array<i64: {', '.join(map(str, x))}>" for x in (size, stride, dilation)]
        body = f"^bb0(%x: {scalar}, %y: {scalar}):\n%z = stablehlo.{op} %x, %y : {scalar}\nstablehlo.return %z : {scalar}"
        padding = f"dense<{[list(p) for p in pads]}> : tensor<{len(shape)}x2xi64>"
        attributes = f"window_dimensions = {arrays[0]}, window_strides = {arrays[1]}, window_dilations = {arrays[2]}, padding = {padding}"
        new = tuple(span // step + 1 for span, step in zip(spans, stride))
        self.emit(f'"stablehlo.reduce_window"({name}, {init}) ({{\n{body}\n}}) {{{attributes}}}', [(name, shape), ("", ())], new)

    def convolution(self) -> None:
        """Of a value's own window, perhaps one group a channel; pixels lie along the first dimension."""
        name, shape = self.pick()
        if len(shape) != 3:
            return
        taps, groups = self.rng.choice([1, 2, 3]), self.rng.choice([1, shape[2]])
        kernel = (taps, shape[2] // groups, groups * self.rng.choice([1, 2]))
        low, stride = self.rng.choice([0, 1, 2]), self.rng.choice([1, 2])
        if shape[0] + low < taps:
            return
        weights = f"%v{len(self.lines)}"
        values = np.random.default_rng(self.rng.randrange(1000)).integers(-1, 2, kernel).astype(np.float32).tolist()
        self.lines.append(f"{weights} = stablehlo.constant dense<{values}> : {self.kind(kernel)}")
        window = f"window = {{stride = [{stride}], pad = [[{low}, 0]]}}"
        counts = f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}"
        op = f"stablehlo.convolution({name}, {weights}) dim_numbers = [0, b, f]x[0, i, o]->[0, b, f], {window} {counts}"
        self.emit(op, [(name, shape), (weights, kernel)], ((shape[0] + low - taps) // stride + 1, shape[1], kernel[2]))

    def first_largest(self) -> None:
        """A reduction of two operands: the largest, and the sum of what stands beside."""
        name, shape = self.pick()
        if not shape:
            return
        other = self.rng.choice([v for v in self.values if v[1] == shape])
        dim, pair, scalar = self.rng.randrange(len(shape)), f"%v{len(self.lines)}", "tensor<f32>"
        kind, new = self.kind(shape), shape[:dim] + shape[dim + 1 :]
        body = f"^bb0(%x: {scalar}, %s: {scalar}, %y: {scalar}, %t: {scalar}):\n%z = stablehlo.maximum %x, %y : {scalar}\n"
        body += f'%u = stablehlo.add %s, %t : {scalar}\n"stablehlo.return"(%z, %u) : ({scalar}, {scalar}) -> ()'
        types = f"({kind}, {kind}, {scalar}, {scalar}) -> ({self.kind(new)}, {self.kind(new)})"
        inputs = f"{name}, {other[0]}, %low, %zero"
        self.lines.append(f'{pair}:2 = "stablehlo.reduce"({inputs}) ({{\n{body}\n}}) {{dimensions = array<i64: {dim}>}} : {types}')
        self.values += [(f"{pair}#0", new), (f"{pair}#1", new)]

    def iota(self) -> None:
        _, shape = self.pick()
        if shape:
            self.lines.append(f"%v{len(self.lines)} = stablehlo.iota dim = {self.rng.randrange(len(shape))} : {self.kind(shape)}")
            self.values.append((f"%v{len(self.lines) - 1}", shape))


def integers(text: str, seed: int) -> list[np.ndarray]:
    """Inputs of a program; so small that any order of sums is exact."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-4, 5, parse_type(t)[0]).astype(np.float32) for t in tensor_types(text)[0]]


def compare(seed: int) -> None:
    text = Program(seed).text(14)
    inputs = integers(text, seed)
    wanted = run_lowered(text, inputs, ["lower-to-linalg"])
    for passes in (INGRESS, [*INGRESS, *INGRESS[1:]]):  # twice is once more the same
        for w, g in zip(wanted, run_lowered(text, inputs, passes)):
            np.testing.assert_array_equal(g, w, err_msg=text)


@pytest.mark.parametrize("seed", range(12))
def test_ingress_keeps_the_values(seed):
    compare(seed)


class Ragged(Program):
    """Extents around the widths of registers and tiles."""

    extents = (1, 4, 8, 16, 33)
    most = 20_000


class Viewed(Program):
    """Products of matrices and sums among views, as attention is made of: heads split off, turned, cut out, repeated and merged."""

    extents = (2, 3, 4, 6, 8, 9)
    most = 6_000

    def makers(self) -> list[Callable[[], None]]:
        views = [self.reshape, self.reshape, self.transpose, self.slice, self.heads, self.heads, self.repeat]
        return [*views, self.dot, self.dot, self.dot, self.binary, self.unary, self.reduce, self.concatenate, self.broadcast, self.square]

    def heads(self) -> None:
        """The last dimension split, and the pieces put before another dimension, or beside it."""
        name, shape = self.pick()
        wide = [d for d in range(len(shape)) if shape[d] > 3 and shape[d] % 2 == 0]
        if not wide or len(shape) > 3:
            return
        d = self.rng.choice(wide)
        split = (*shape[:d], 2, shape[d] // 2, *shape[d + 1 :])
        order = self.rng.sample(range(len(split)), len(split))
        self.emit(f"stablehlo.reshape {name}", [(name, shape)], split)
        if self.values[-1][1] == split:
            turned, name = tuple(split[i] for i in order), self.values[-1][0]
            self.emit(f"stablehlo.transpose {name}, dims = {order}", [(name, split)], turned)
            merged = (turned[0] * turned[1], *turned[2:])
            self.emit(f"stablehlo.reshape {self.values[-1][0]}", [self.values[-1]], merged)

    def repeat(self) -> None:
        """Each index of a dimension twice, as grouped queries share their keys."""
        name, shape = self.pick()
        if not shape or len(shape) > 3:
            return
        d = self.rng.randrange(len(shape))
        kept, wide = [i for i in range(len(shape) + 1) if i != d + 1], (*shape[: d + 1], 2, *shape[d + 1 :])
        self.emit(f"stablehlo.broadcast_in_dim {name}, dims = {kept}", [(name, shape)], wide)
        if self.values[-1][1] == wide:
            self.emit(f"stablehlo.reshape {self.values[-1][0]}", [self.values[-1]], (*shape[:d], 2 * shape[d], *shape[d + 1 :]))

    def square(self) -> None:
        """A value's product with its own transposition: the two share what comes before them."""
        name, shape = self.pick()
        if len(shape) < 2:
            return
        batch, rows = list(range(len(shape) - 2)), shape[-2]
        batching = f"batching_dims = {batch} x {batch}, " if batch else ""
        last = len(shape) - 1
        new = (*shape[:-2], rows, rows)
        self.emit(f"stablehlo.dot_general {name}, {name}, {batching}contracting_dims = [{last}] x [{last}]", [(name, shape)] * 2, new)


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter() as process:
        yield process


@pytest.mark.parametrize("seed", range(24))
def test_a_program_compiles_and_agrees_with_the_interpreter(seed, interpreter):
    text = (Program, Ragged)[seed % 2](seed).text(14)
    inputs = integers(text, seed)
    wanted = interpreter.run(text, inputs).results
    for w, g in zip(wanted, hloom.compile(text).flat(inputs)):
        np.testing.assert_array_equal(g, w, err_msg=text)


def test_a_row_of_bf16_whose_last_register_has_one_lane():
    """LLVM made a scalar access of that lane, of a type that x86 has not, and ended the process."""
    kind, wide = "tensor<7x33xbf16>", "tensor<9x33xbf16>"
    text = f"""func.func @main(%x: {kind}) -> {wide} {{
      %zero = stablehlo.constant dense<0.0> : tensor<bf16>
      %y = stablehlo.pad %x, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] : ({kind}, tensor<bf16>) -> {wide}
      return %y : {wide}
    }}"""
    x = np.arange(7 * 33).astype(np.float32).astype(TYPES["bf16"]).reshape(7, 33)
    (y,) = hloom.compile(text).flat([x])
    np.testing.assert_array_equal(y, np.concatenate([np.zeros((2, 33), x.dtype), x]))


@pytest.mark.parametrize("seed", range(int(os.environ.get("HLOOM_RANDOM_VIEWS", 12))))
def test_views_between_products_compile_and_agree_with_the_interpreter(seed, interpreter):
    text = Viewed(seed).text(14)
    inputs = integers(text, seed)
    wanted = interpreter.run(text, inputs).results
    for w, g in zip(wanted, hloom.compile(text).flat(inputs)):
        np.testing.assert_array_equal(g, w, err_msg=text)
