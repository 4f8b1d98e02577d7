"""Dots and convolutions of small integers, summed in i32 several products at a time, against numpy: exact, modulo 2^32."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from x86_emulation import emulate

from hloom.compiler.codegen import emit_assembly
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import Target, load_target, resolve

TYPES = {"i8": np.int8, "ui8": np.uint8, "i16": np.int16}
TARGETS = Path(__file__).parents[1] / "targets"
PAIRS = [("i8", "i8"), ("ui8", "i8"), ("i8", "ui8"), ("ui8", "ui8"), ("i16", "i16")]


def kind(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


def numbers(shape: tuple[int, ...], element: str, seed: int) -> np.ndarray:
    limits = np.iinfo(TYPES[element])
    values = np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype=TYPES[element], endpoint=True)
    values.flat[: values.size // 8] = limits.min
    return values


class Program:
    """One function with a result for each op that is added to it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: list[tuple[np.ndarray, str]] = []
        self.results: list[tuple[np.ndarray, str]] = []

    def add(self, op: str, operands: list[tuple[np.ndarray, str]], expected: np.ndarray) -> None:
        names = [f"%a{len(self.arguments) + n}" for n in range(2)]
        self.arguments += [(values, kind(values.shape, element)) for values, element in operands]
        wrapped = expected.astype(np.int64).astype(np.uint64).astype(np.uint32).view(np.int32)
        self.results.append((wrapped, kind(expected.shape, "i32")))
        types = ", ".join(text for _, text in self.arguments[-2:])
        self.lines.append(f"%r{len(self.results)} = {op.format(*names)} : ({types}) -> {self.results[-1][1]}")

    def text(self) -> str:
        arguments = ", ".join(f"%a{n}: {text}" for n, (_, text) in enumerate(self.arguments))
        types = ", ".join(text for _, text in self.results)
        names = ", ".join(f"%r{n + 1}" for n in range(len(self.results)))
        body = "\n".join(self.lines)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {names} : {types} }}"

    def check(self, target: str | Target = "auto", bound: bool = False) -> str:
        """Compiles and runs it; the text of its kernels. `bound`: the right operands are packed beforehand."""
        weights = range(1, len(self.arguments), 2) if bound else ()
        compilation = Compilation(load_program(self.text()), target=resolve(target), bound=weights)
        compilation.to("vector")
        kernels = str(compilation.module)
        exe = compilation.executable()
        if bound:
            exe.bind({number: self.arguments[number][0] for number in weights})
        found = exe(*(values for number, (values, _) in enumerate(self.arguments) if number not in weights))
        for line, value, (expected, _) in zip(self.lines, found if len(self.results) > 1 else [found], self.results):
            np.testing.assert_array_equal(value, expected, err_msg=line)
        return kernels


def dot(program: Program, sizes: tuple[int, int, int], by_depth: tuple[int, int], elements: tuple[str, str]) -> None:
    m, n, k = sizes
    a = numbers((k, m) if by_depth[0] else (m, k), elements[0], m)
    b = numbers((k, n) if by_depth[1] else (n, k), elements[1], n)
    op = f"stablehlo.dot_general {{}}, {{}}, contracting_dims = [{1 - by_depth[0]}] x [{1 - by_depth[1]}]"
    exact = (a.T if by_depth[0] else a).astype(np.int64) @ (b if by_depth[1] else b.T).astype(np.int64)
    program.add(op, [(a, elements[0]), (b, elements[1])], exact)


@pytest.mark.parametrize("elements", PAIRS)
def test_layouts(elements):
    program = Program()
    for sizes, by_depth in zip([(37, 101, 53), (70, 66, 64), (9, 17, 31), (100, 130, 37)], product((0, 1), (0, 1))):
        dot(program, sizes, by_depth, elements)
    program.check()


@pytest.mark.parametrize("elements", PAIRS)
def test_bound_weights(elements, monkeypatch):
    program = Program()
    for sizes, by_depth in zip([(1, 130, 52), (5, 64, 40), (33, 100, 64), (9, 66, 31)], product((0, 1), (0, 1))):
        dot(program, sizes, by_depth, elements)
    kernels = program.check(emulate(monkeypatch, load_target(str(TARGETS / "small-vnni.toml"))), bound=True)
    assert elements[0] == "i16" or "builtin.unrealized_conversion_cast" in kernels


@settings(max_examples=4, deadline=None)
@given(st.data())
def test_any_sizes(data):
    program = Program()
    for _ in range(3):
        sizes = tuple(data.draw(st.integers(1, most)) for most in (40, 140, 90))
        dot(program, sizes, data.draw(st.tuples(*[st.integers(0, 1)] * 2)), data.draw(st.sampled_from(PAIRS)))
    program.check()


def test_sums_wrap_around():
    """More than 2^32 in one sum, and panels that no cache holds."""
    program = Program()
    for depth in (70_000, 300_000):
        a, b = np.full((5, depth), 255, np.uint8), np.full((7, depth), 255, np.uint8)
        op = "stablehlo.dot_general {}, {}, contracting_dims = [1] x [1]"
        program.add(op, [(a, "ui8"), (b, "ui8")], np.full((5, 7), 255 * 255 * depth))
    program.check()


def test_batches_and_several_contracted_dims():
    program = Program()
    in_batches(program)
    program.check()


def in_batches(program: Program) -> None:
    a, b = numbers((2, 9, 3, 20, 4), "i8", 0), numbers((2, 4, 20, 33, 3), "ui8", 1)
    op = "stablehlo.dot_general {}, {}, batching_dims = [0, 2] x [0, 4], contracting_dims = [3, 4] x [2, 1]"
    program.add(op, [(a, "i8"), (b, "ui8")], np.einsum("bmckd,bdknc->bcmn", a.astype(np.int64), b.astype(np.int64)))


CONVOLUTIONS = [
    ((2, 14, 19, 20), (3, 3, 20, 24), "[b,0,1,f]x[0,1,i,o]->[b,0,1,f]", (1, 1), (1, 1), 1),
    ((1, 15, 21, 3), (5, 5, 3, 9), "[b,0,1,f]x[0,1,i,o]->[b,0,1,f]", (2, 2), (1, 1), 2),
    ((1, 12, 13, 18), (10, 12, 3, 3), "[b,f,0,1]x[o,i,0,1]->[b,f,0,1]", (1, 1), (2, 1), 0),
    ((1, 12, 11, 16), (8, 12, 1, 1), "[b,f,0,1]x[o,i,0,1]->[b,f,0,1]", (1, 1), (1, 1), 0),
]


@pytest.mark.parametrize("elements", [("i8", "i8"), ("ui8", "ui8")])
def test_convolutions(elements):
    program = Program()
    convolve(program, elements)
    program.check()


def convolve(program: Program, elements: tuple[str, str]) -> None:
    for image, kernel, dims, stride, dilation, pad in CONVOLUTIONS:
        a, b = numbers(image, elements[0], 2), numbers(kernel, elements[1], 3)
        window = f"stride = {list(stride)}, pad = {[[pad, pad]] * 2}, rhs_dilate = {list(dilation)}"
        counts = "batch_group_count = 1 : i64, feature_group_count = 1 : i64"
        op = f"stablehlo.convolution({{}}, {{}}) dim_numbers = {dims}, window = {{{{{window}}}}} {{{{{counts}}}}}"
        program.add(op, [(a, elements[0]), (b, elements[1])], convolved(a, b, dims, stride, dilation, pad))


def convolved(a: np.ndarray, b: np.ndarray, dims: str, stride: tuple[int, int], dilation: tuple[int, int], pad: int) -> np.ndarray:
    channels_first = dims.startswith("[b,f")
    image = (a if channels_first else a.transpose(0, 3, 1, 2)).astype(np.int64)
    kernel = (b if channels_first else b.transpose(3, 2, 0, 1)).astype(np.int64)
    image = np.pad(image, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    reach = [(size - 1) * step + 1 for size, step in zip(kernel.shape[2:], dilation)]
    windows = np.lib.stride_tricks.sliding_window_view(image, reach, (2, 3))
    windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    result = np.einsum("bihwyx,oiyx->bohw", windows, kernel)
    return result if channels_first else result.transpose(0, 2, 3, 1)


EMULATED = {
    "avx-vnni": (load_target("cpu-avx2"), {"int8_dot": True}, "vpdpbusd.256"),
    "avx512-vnni": (load_target("cpu-avx512"), {"int8_dot": True}, "vpdpbusd.512"),
    "amx": (load_target("cpu-avx512"), {"amx_int8": True, "int8_dot": True}, "x86.amx.tile_muli"),
}


@pytest.mark.parametrize("name", EMULATED)
def test_instructions_of_other_processors(name, monkeypatch):
    base, entries, instruction = EMULATED[name]
    target = emulate(monkeypatch, base.with_entries(entries))
    program = Program()
    for elements, sizes, by_depth in zip(PAIRS, [(37, 101, 53), (70, 66, 64), (40, 33, 100), (33, 130, 37)], [(0, 0), (0, 1)] * 2):
        dot(program, sizes, by_depth, elements)
    dot(program, (35, 50, 41), (1, 1), ("i8", "i8"))
    in_batches(program)
    convolve(program, ("i8", "i8"))
    assert instruction in program.check(target)


def test_bytes_packed_for_tiles(monkeypatch):
    """Bound weights lie in quads; of 3 rows a tile has three, those of 40 overlap."""
    base, entries, instruction = EMULATED["amx"]
    program = Program()
    for elements, rows in zip(PAIRS, (3, 40, 20, 70)):
        dot(program, (rows, 70, 192), (0, 0), elements)
    kernels = program.check(emulate(monkeypatch, base.with_entries(entries)), bound=True)
    assert instruction in kernels and "tile<3x64xi8>" in kernels


@pytest.mark.parametrize("name", ["small-vnni", "small-avx-vnni"])
def test_quads_are_one_instruction(name):
    program = Program()
    dot(program, (64, 64, 64), (0, 1), ("i8", "i8"))
    compilation = Compilation(load_program(program.text()), target=load_target(f"{TARGETS}/{name}.toml"))
    compilation.to("llvm")
    assembly = emit_assembly(compilation.module)
    assert "vpdpbusd" in assembly and "vpmulld" not in assembly
