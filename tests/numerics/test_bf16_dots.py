"""Dots of bf16 summed in f32 by instructions for pairs of them: AVX512-BF16 by functions in its place, BF16 of AArch64 under qemu-user."""

from __future__ import annotations

from pathlib import Path

import aarch64
import ml_dtypes
import numpy as np
import pytest
from x86_emulation import emulate

from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import load_target

TARGETS = Path(__file__).parents[1] / "targets"
SIZES = [
    (65, 67, 129, 1, 0),
    (1, 64, 40, 1, 1),
    (5, 100, 38, 1, 0),
    (33, 20, 64, 1, 1),
    (7, 40, 31, 0, 0),
    (32, 64, 96, 0, 1),
    (3, 50, 20, 1, 0),
    (40, 3, 9, 1, 0),
]
"""Rows, columns, depth; which dimension is contracted of the left operand, and of the right one."""


def program() -> tuple[str, list[np.ndarray], list[np.ndarray]]:
    """A function with each dot twice, summed in f32 and rounded; its inputs and what it gives."""
    rng, lines, arguments, inputs, expected, kinds = np.random.default_rng(1), [], [], [], [], []
    for number, (m, n, k, left, right) in enumerate(SIZES):
        shapes = ((m, k) if left else (k, m)), ((n, k) if right else (k, n))
        a, b = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in shapes)
        types = [f"tensor<{rows}x{columns}xbf16>" for rows, columns in shapes]
        for result in ("f32", "bf16"):
            kinds.append(f"tensor<{m}x{n}x{result}>")
            dims = f"contracting_dims = [{left}] x [{right}]"
            dot = f"stablehlo.dot_general %a{number}, %b{number}, {dims} : ({', '.join(types)}) -> {kinds[-1]}"
            lines.append(f"%r{len(kinds) - 1} = {dot}")
            exact = np.einsum(f"{'mk' if left else 'km'},{'nk' if right else 'kn'}->mn", a.astype(np.float64), b.astype(np.float64))
            expected.append(exact)
        inputs += [a, b]
        arguments += [f"%a{number}: {types[0]}", f"%b{number}: {types[1]}"]
    results = ", ".join(f"%r{number}" for number in range(len(kinds)))
    body = "\n".join([*lines, f"return {results} : {', '.join(kinds)}"])
    return f"func.func @main({', '.join(arguments)}) -> ({', '.join(kinds)}) {{ {body} }}", inputs, expected


def check(target, instruction: str, bound: bool = False) -> None:
    """`bound`: the right operands are packed beforehand."""
    text, inputs, expected = program()
    weights = range(1, len(inputs), 2) if bound else ()
    compilation = Compilation(load_program(text), target=target, bound=weights)
    compilation.to("vector")
    kernels = str(compilation.module)
    exe = compilation.executable()
    if bound:
        exe.bind({number: inputs[number] for number in weights})
    for value, exact in zip(exe(*[x for number, x in enumerate(inputs) if number not in weights]), expected, strict=True):
        tolerance = 1e-5 if value.dtype == np.float32 else 2**-7
        np.testing.assert_allclose(value.astype(np.float64), exact, rtol=tolerance, atol=tolerance)
    assert instruction in kernels


def test_avx512(monkeypatch):
    check(emulate(monkeypatch, load_target("cpu-avx512").with_entries({"bf16_dot": True})), "dpbf16ps.512")


def test_avx512_with_bound_weights(monkeypatch):
    check(emulate(monkeypatch, load_target("cpu-avx512").with_entries({"bf16_dot": True})), "dpbf16ps.512", bound=True)


@pytest.mark.skipif(bool(aarch64.MISSING), reason=aarch64.MISSING)
def test_aarch64():
    with aarch64.emulated():
        check(load_target(str(TARGETS / "small-neon-bf16.toml")), "neon.bfdot")
