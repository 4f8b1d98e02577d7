"""Random programs of movement, elementwise, reductions and contractions: ingress must not change what they compute."""

# ruff: noqa: E501  ops of programs stay on one line

from __future__ import annotations

import random

import numpy as np
import pytest
from linalg_oracle import INGRESS, parse_type, run_lowered, tensor_types


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

    def text(self, ops: int) -> str:
        makers = [self.unary, self.binary, self.binary, self.transpose, self.reshape, self.slice, self.reverse, self.broadcast, self.pad,
                  self.concatenate, self.reduce, self.dot, self.dynamic_slice, self.iota]  # fmt: skip
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
        name, shape = self.pick()
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
        self.emit(f"stablehlo.reduce({name} init: {init}) applies stablehlo.{op} across dimensions = {dims}", [(name, shape), ("", ())], new)

    def dot(self) -> None:
        (x, a), (y, b) = self.pick(), self.pick()
        pairs = [(i, j) for i in range(len(a)) for j in range(len(b)) if a[i] == b[j]]
        if not pairs or len(a) + len(b) > 5:
            return
        i, j = self.rng.choice(pairs)
        new = tuple(e for d, e in enumerate(a) if d != i) + tuple(e for d, e in enumerate(b) if d != j)
        self.emit(f"stablehlo.dot_general {x}, {y}, contracting_dims = [{i}] x [{j}]", [(x, a), (y, b)], new)

    def dynamic_slice(self) -> None:
        name, shape = self.pick()
        if not shape:
            return
        sizes = [self.rng.randrange(1, e + 1) for e in shape]
        starts = []
        for _ in shape:
            starts.append(f"%v{len(self.lines)}")
            self.lines.append(f"{starts[-1]} = stablehlo.constant dense<{self.rng.randrange(-1, 5)}> : tensor<i32>")
        types = ", ".join([self.kind(shape)] + ["tensor<i32>"] * len(shape))
        self.emit(f"stablehlo.dynamic_slice {name}, {', '.join(starts)}, sizes = {sizes}", [], tuple(sizes), types)

    def iota(self) -> None:
        _, shape = self.pick()
        if shape:
            self.lines.append(f"%v{len(self.lines)} = stablehlo.iota dim = {self.rng.randrange(len(shape))} : {self.kind(shape)}")
            self.values.append((f"%v{len(self.lines) - 1}", shape))


def compare(seed: int) -> None:
    text = Program(seed).text(14)
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(-4, 5, parse_type(t)[0]).astype(np.float32) for t in tensor_types(text)[0]]
    wanted = run_lowered(text, inputs, ["lower-to-linalg"])
    for passes in (INGRESS, [*INGRESS, *INGRESS[1:]]):  # twice is once more the same
        for w, g in zip(wanted, run_lowered(text, inputs, passes)):
            np.testing.assert_array_equal(g, w, err_msg=text)


@pytest.mark.parametrize("seed", range(12))
def test_ingress_keeps_the_values(seed):
    compare(seed)
