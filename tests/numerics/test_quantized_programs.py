"""Products of small integers as quantized programs write them, with converts, zero points and scales beside, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_integer_dots import convolved, numbers
from x86_emulation import emulate

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import Target, load_target, resolve

BYTES = ["i8", "ui8"]
DIRECT = {"kernel": [{"op": "convolution", "use": "direct"}]}
"""Winograd's errors are others (docs/numerics.md)."""


def kind(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


class Program:
    """One function with a result for each product that is added to it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: list[tuple[np.ndarray, str]] = []
        self.results: list[tuple[str, np.ndarray, str, np.ndarray]] = []

    def argument(self, values: np.ndarray, element: str) -> str:
        self.arguments.append((values, kind(values.shape, element)))
        return f"%a{len(self.arguments) - 1}"

    def op(self, text: str, shape: tuple[int, ...], element: str) -> str:
        """The name of the one result of `text`, which ends before its result's type."""
        self.lines.append(f"%v{len(self.lines)} = {text}{kind(shape, element)}")
        return f"%v{len(self.lines) - 1}"

    def dequantized(self, values: np.ndarray, element: str, wide: str, zero: int, scales: np.ndarray | None = None, axis: int = 0) -> str:
        """The values as `wide`, less the zero point, times a scale for each index of an axis."""
        shape = values.shape
        name = self.op(f"stablehlo.convert {self.argument(values, element)} : ({kind(shape, element)}) -> ", shape, wide)
        if zero:
            number = f"{zero}.0" if wide == "f32" else zero
            name = self.op(f"stablehlo.subtract {name}, {self.op(f'stablehlo.constant dense<{number}> : ', shape, wide)} : ", shape, wide)
        if scales is not None:
            source = self.argument(scales, "f32")
            spread = self.op(f"stablehlo.broadcast_in_dim {source}, dims = [{axis}] : ({kind(scales.shape, 'f32')}) -> ", shape, "f32")
            name = self.op(f"stablehlo.multiply {name}, {spread} : ", shape, "f32")
        return name

    def product(self, op: str, names: list[str], shapes: list[tuple[int, ...]], wide: str, expected: np.ndarray, sizes: np.ndarray) -> None:
        """`sizes`: the sums of the products' absolute values, which errors of f32 are measured by."""
        text = f"{op.format(*names)} : ({', '.join(kind(shape, wide) for shape in shapes)}) -> "
        self.results.append((self.op(text, expected.shape, wide), expected, wide, sizes))

    def check(self, target: str | Target = "auto") -> str:
        """Compiles and runs it; the text of its kernels."""
        arguments = ", ".join(f"%a{n}: {text}" for n, (_, text) in enumerate(self.arguments))
        types = ", ".join(kind(expected.shape, wide) for _, expected, wide, _ in self.results)
        names, body = ", ".join(name for name, *_ in self.results), "\n".join(self.lines)
        text = f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {names} : {types} }}"
        compilation = Compilation(load_program(text), target=resolve(target), policy=DIRECT)
        compilation.to("vector")
        kernels = str(compilation.module)
        found = compilation.executable()(*(values for values, _ in self.arguments))
        for (name, expected, wide, sizes), value in zip(self.results, found if len(self.results) > 1 else [found]):
            if wide == "i32":
                np.testing.assert_array_equal(value, expected, err_msg=name)
            else:
                errors = np.abs(value - expected)
                assert (errors <= 4e-7 * sizes + 1e-30).all(), (name, errors.max())
        return kernels


def dot(program: Program, sizes: tuple[int, int, int], elements: tuple[str, str], wide: str, zeros: tuple[int, int], turned: bool) -> None:
    m, n, k = sizes
    a, b = numbers((m, k), elements[0], m), numbers((k, n) if turned else (n, k), elements[1], n)
    random = np.random.default_rng(m)
    scales = [None, None] if wide == "i32" else [random.uniform(0.5, 2, size).astype(np.float32) for size in (m, n)]
    names = [program.dequantized(a, elements[0], wide, zeros[0], scales[0], 0)]
    names.append(program.dequantized(b, elements[1], wide, zeros[1], scales[1], int(turned)))
    left, right = a.astype(np.int64) - zeros[0], (b if turned else b.T).astype(np.int64) - zeros[1]
    factors = 1 if scales[0] is None or scales[1] is None else scales[0][:, None].astype(np.float64) * scales[1].astype(np.float64)
    exact, absolute = left @ right * factors, np.abs(left) @ np.abs(right) * factors
    op = f"stablehlo.dot_general {{}}, {{}}, contracting_dims = [1] x [{1 - int(turned)}]"
    program.product(op, names, [a.shape, b.shape], wide, exact, absolute)


def convolve(program: Program, elements: tuple[str, str], wide: str, zero: int, groups: int = 1, features: int = 24) -> None:
    a, b = numbers((2, 9, 11, 20), elements[0], 1), numbers((3, 3, 20 // groups, features), elements[1], 2)
    scales = None if wide == "i32" else np.random.default_rng(3).uniform(0.5, 2, features).astype(np.float32)
    names = [program.dequantized(a, elements[0], wide, zero), program.dequantized(b, elements[1], wide, 0, scales, 3)]
    moved, dims = a.astype(np.int64) - zero, "[b,0,1,f]x[0,1,i,o]->[b,0,1,f]"
    parts = zip(np.split(moved, groups, 3), np.split(b, groups, 3))
    pairs = [(image, kernel, np.abs(image), np.abs(kernel.astype(np.int64))) for image, kernel in parts]
    exact, sizes = (
        np.concatenate([convolved(pair[n], pair[n + 1], dims, (1, 1), (1, 1), 1) for pair in pairs], 3)
        * (1 if scales is None else scales.astype(np.float64))
        for n in (0, 2)
    )
    counts = f"batch_group_count = 1 : i64, feature_group_count = {groups} : i64"
    op = f"stablehlo.convolution({{}}, {{}}) dim_numbers = {dims}, window = {{{{pad = [[1, 1], [1, 1]]}}}} {{{{{counts}}}}}"
    program.product(op, names, [a.shape, b.shape], wide, exact, sizes)


def several() -> Program:
    program = Program()
    dot(program, (33, 50, 41), ("i8", "i8"), "i32", (0, 0), False)
    dot(program, (37, 21, 30), ("ui8", "i8"), "i32", (0, 0), True)
    dot(program, (1, 40, 70), ("i8", "i8"), "i32", (0, 0), False)
    dot(program, (9, 40, 70), ("ui8", "i8"), "f32", (7, 0), False)
    dot(program, (35, 17, 64), ("ui8", "ui8"), "f32", (255, 128), True)
    dot(program, (35, 17, 64), ("i16", "i8"), "i32", (0, -128), True)
    convolve(program, ("i8", "i8"), "i32", 0)
    convolve(program, ("ui8", "i8"), "i32", 131, groups=2)
    convolve(program, ("ui8", "i8"), "f32", 3)
    convolve(program, ("i8", "i8"), "i32", 0, groups=20, features=40)
    return program


def test_here():
    several().check()


@pytest.mark.parametrize(("base", "entries", "instruction"), [("cpu-avx512", {"int8_dot": True}, "vpdpbusd"), ("cpu-amx", {}, "tile_muli")])
def test_instructions_of_other_processors(base, entries, instruction, monkeypatch):
    assert instruction in several().check(emulate(monkeypatch, load_target(base).with_entries(entries)))


@settings(max_examples=2, deadline=None)
@given(st.data())
def test_any_sizes(data):
    program = Program()
    for _ in range(3):
        sizes = tuple(data.draw(st.integers(1, most)) for most in (40, 60, 90))
        elements, wide = tuple(data.draw(st.sampled_from(BYTES)) for _ in range(2)), data.draw(st.sampled_from(["i32", "f32"]))
        dot(program, sizes, elements, wide, tuple(data.draw(st.integers(-128, 255)) for _ in range(2)), data.draw(st.booleans()))
    program.check()
