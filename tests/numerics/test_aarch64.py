"""Programs for AArch64 under qemu-user, which Debian has (tests/aarch64.py): the examples, and what is other code there than on x86.

`pytest --cpu=small-neon tests/conformance tests/numerics` runs all that chooses its processor there; a fifth of tests/conformance always
does.
"""

from __future__ import annotations

import re
import struct

import aarch64
import numpy as np
import pytest
from numerics.test_integer_dots import Program, convolve, dot
from numerics.test_simulated_programs import EXAMPLES, agree, listed, name_of

import hloom
from hloom.compiler.codegen import emit_assembly
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import load_program
from hloom.compiler.target import load_target
from hloom.runtime.dtypes import numpy_dtype

pytestmark = pytest.mark.skipif(bool(aarch64.MISSING), reason=aarch64.MISSING)


@pytest.fixture(autouse=True)
def any_cpu(monkeypatch):
    monkeypatch.setenv("HLOOM_TARGET", "cpu-neon")
    with aarch64.emulated():
        yield


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_examples_agree_with_this_machine(path):
    rng = np.random.default_rng(5)
    here, there = (hloom.compile(path, target=target) for target in ("cpu", "cpu-neon"))

    def values(spec):
        made = rng.standard_normal(spec.shape) * 0.1 if spec.numpy_dtype.kind not in "iub" else rng.integers(0, 2, spec.shape)
        return made.astype(spec.numpy_dtype)

    bound = {index: np.abs(values(spec)) for index, spec in here.signature.bound.items()}
    for exe in (here, there):
        if bound:
            exe.bind(bound)
    inputs = [values(spec) for spec in here.signature.inputs]
    for found, expected in zip(listed(there(*inputs)), listed(here(*inputs)), strict=True):
        agree(found, expected)


@pytest.mark.parametrize("entries", [{}, {"int8_dot": False}], ids=["sdot", "smlal"])
def test_dots_of_integers(entries):
    program = Program()
    signs = [("i8", "i8"), ("ui8", "i8"), ("i8", "ui8"), ("ui8", "ui8"), ("i16", "i16")]
    for elements, sizes, by_depth in zip(
        signs, [(37, 51, 53), (30, 66, 64), (40, 33, 10), (9, 17, 31), (35, 50, 41)], [(0, 0), (0, 1)] * 3
    ):
        dot(program, sizes, by_depth, elements)
    convolve(program, ("i8", "i8"))
    kernels = program.check(load_target("cpu-neon").with_entries(entries))
    assert ("neon.sdot" in kernels) == ("neon.udot" in kernels) == (not entries)


LENGTHS = (1, 3, 4, 7, 15, 16, 17, 31, 63, 100)
TYPES = ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8")


def test_tails_of_every_type():
    """Vectors that are not whole: x + x, and where x is above 0 its square; booleans beside them."""
    lines, inputs, results = [], [], []
    for element in TYPES:
        for length in LENGTHS:
            n, kind, bits = len(inputs), f"tensor<{length}x{element}>", f"tensor<{length}xi1>"
            values = np.random.default_rng(n).integers(-9, 10, length)
            inputs.append(values.astype(numpy_dtype(element)))
            lines += [
                f"%s{n} = stablehlo.add %a{n}, %a{n} : {kind}",
                f"%q{n} = stablehlo.multiply %a{n}, %a{n} : {kind}",
                f"%z{n} = stablehlo.subtract %a{n}, %a{n} : {kind}",
                f"%p{n} = stablehlo.compare GT, %a{n}, %z{n} : ({kind}, {kind}) -> {bits}",
                f"%c{n} = stablehlo.select %p{n}, %q{n}, %s{n} : {bits}, {kind}",
            ]
            results += [(f"%c{n}", kind, np.where(values > 0, values * values, 2 * values)), (f"%p{n}", bits, values > 0)]
    arguments = [f"%a{n}: tensor<{len(values)}x{element}>" for n, (values, element) in enumerate(zip(inputs, _each(TYPES)))]
    kinds = ", ".join(kind for _, kind, _ in results)
    body = "\n".join([*lines, f"return {', '.join(name for name, _, _ in results)} : {kinds}"])
    found = hloom.compile(f"func.func @main({', '.join(arguments)}) -> ({kinds}) {{ {body} }}")(*inputs)
    for value, (name, kind, expected) in zip(found, results, strict=True):
        np.testing.assert_array_equal(np.asarray(value).astype(np.float64), expected, err_msg=f"{name}: {kind}")


def _each(types):
    return [element for element in types for _ in LENGTHS]


@pytest.mark.parametrize("element", ["f32", "i32", "f64"])
def test_sorts(element):
    """By registers, by parting, beside another array; few of many."""
    lengths = (3, 50, 3000)
    rng = np.random.default_rng(3)
    inputs = [(rng.standard_normal((2, n)) * 50).astype(numpy_dtype(element)) for n in lengths]
    texts, names, kinds = [], [], []
    for n, length in enumerate(lengths):
        kind, places, bits = f"tensor<2x{length}x{element}>", f"tensor<2x{length}xi32>", "tensor<i1>"
        scalar, order = f"tensor<{element}>", "FLOAT" if element.startswith("f") else "SIGNED"
        compare = f"%l = stablehlo.compare LT, %x, %y, {order} : ({scalar}, {scalar}) -> {bits}"
        returned = f"{compare} stablehlo.return %l : {bits}"
        options = "dimension = 1 : i64, is_stable = true"
        texts += [
            f'%s{n} = "stablehlo.sort"(%a{n}) ({{ ^bb0(%x: {scalar}, %y: {scalar}): {returned} }}) {{{options}}} : ({kind}) -> {kind}',
            f"%i{n} = stablehlo.iota dim = 1 : {places}",
            f'%b{n}:2 = "stablehlo.sort"(%a{n}, %i{n}) ({{ ^bb0(%x: {scalar}, %y: {scalar}, %u: tensor<i32>, %v: tensor<i32>): '
            f"{returned} }})  {{{options}}} : ({kind}, {places}) -> ({kind}, {places})",
        ]
        names += [f"%s{n}", f"%b{n}#1"]
        kinds += [kind, places]
    arguments = ", ".join(f"%a{n}: tensor<2x{length}x{element}>" for n, length in enumerate(lengths))
    body = "\n".join([*texts, f"return {', '.join(names)} : {', '.join(kinds)}"])
    found = hloom.compile(f"func.func @main({arguments}) -> ({', '.join(kinds)}) {{ {body} }}")(*inputs)
    for values, by_value, places in zip(inputs, found[::2], found[1::2]):
        np.testing.assert_array_equal(by_value, np.sort(values, axis=1))
        np.testing.assert_array_equal(places, np.argsort(values, axis=1, kind="stable"))


def test_fourier_transforms():
    lengths = (16, 60, 97)
    inputs = [np.random.default_rng(n).standard_normal((3, n)).astype(np.float32) for n in lengths]
    kinds = [f"tensor<3x{n // 2 + 1}xcomplex<f32>>" for n in lengths]
    texts = [f"%f{n} = stablehlo.fft %a{n}, type = RFFT, length = [{n}] : (tensor<3x{n}xf32>) -> {kind}" for n, kind in zip(lengths, kinds)]
    arguments = ", ".join(f"%a{n}: tensor<3x{n}xf32>" for n in lengths)
    body = "\n".join([*texts, f"return {', '.join(f'%f{n}' for n in lengths)} : {', '.join(kinds)}"])
    found = hloom.compile(f"func.func @main({arguments}) -> ({', '.join(kinds)}) {{ {body} }}")(*inputs)
    for values, value in zip(inputs, found, strict=True):
        np.testing.assert_allclose(value, np.fft.rfft(values), rtol=1e-5, atol=1e-5)


def test_several_threads_give_what_one_gives(monkeypatch):
    x = np.random.default_rng(0).standard_normal((512, 2000)).astype(np.float32)
    exe = hloom.compile(
        "func.func @main(%x: tensor<512x2000xf32>) -> tensor<512x2000xf32> { %y = stablehlo.exponential %x : "
        "tensor<512x2000xf32> return %y : tensor<512x2000xf32> }",
        target=load_target("cpu-neon").with_entries({"cores": 8}),
    )
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        results.append(exe(x))
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], np.exp(x), rtol=1e-6)


HALVES = (
    "func.func @main(%x: tensor<512xf16>) -> tensor<512xf16> { %y = stablehlo.add %x, %x : tensor<512xf16> return %y : tensor<512xf16> }"
)


def code(target: str) -> list[bytes]:
    blobs = Compilation(load_program(HALVES), target=target).artifact().blobs
    return [bytes(blob) for name, blob in blobs.items() if name.startswith("code")]


def test_objects_are_of_the_system_of_their_target():
    assert all(elf[:20] == b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 1, 183) for elf in code("cpu-neon"))
    for macho in (objects := code("cpu-apple")):
        magic, processor, _, kind = struct.unpack("<IIII", macho[:16])
        assert (magic, processor, kind) == (0xFEEDFACF, 0x0100000C, 1)
    assert all(any(name in macho for macho in objects) for name in (b"\0_hloom_main\0", b"\0_hloom_interface\0"))


def test_halves_are_added_as_such():
    compilation = Compilation(load_program(HALVES), target="cpu-neon")
    compilation.to("llvm")
    assert re.search(r"fadd\s+v\d+\.8h", emit_assembly(compilation.module))
