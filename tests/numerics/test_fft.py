"""Fourier transforms of real and imaginary parts against NumPy in long double: as near to it as twice what NumPy's own transforms are."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom
from hloom.passes.common.fourier_plan import is_smooth, smooth_from
from hloom.passes.common.roots_of_unity import divisors, prime_factors, roots_of_unity

KINDS = ["FFT", "IFFT", "RFFT", "IRFFT"]
OF_NUMPY = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}
DTYPES = {"f32": np.float32, "f64": np.float64}


class Case:
    """A transform of the last `rank` dimensions of a signal."""

    def __init__(self, kind: str, shape: tuple[int, ...], rank: int = 1, element: str = "f32"):
        self.kind, self.shape, self.lengths, self.element = kind, shape, shape[len(shape) - rank :], element
        half = (*shape[:-1], shape[-1] // 2 + 1 if shape[-1] else 0)
        self.takes = {"RFFT": [shape], "IRFFT": [half] * 2}.get(kind, [shape] * 2)
        self.gives = {"RFFT": [half] * 2, "IRFFT": [shape]}.get(kind, [shape] * 2)

    def types(self, shapes) -> list[str]:
        return [f"tensor<{'x'.join(map(str, (*shape, self.element)))}>" for shape in shapes]

    def text(self, number: int) -> str:
        names = ", ".join(f"%x{number}_{i}" for i in range(len(self.takes)))
        lengths = ", ".join(map(str, self.lengths))
        return f"""  %y{number}:{len(self.gives)} = "stablehlo.custom_call"({names}) {{call_target_name = "hloom.fft",
    hloom.fft = {{fft_type = "{self.kind}", fft_length = array<i64: {lengths}>}}}}
    : ({", ".join(self.types(self.takes))}) -> ({", ".join(self.types(self.gives))})"""

    def arrays(self, seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        return [rng.standard_normal(shape).astype(DTYPES[self.element]) for shape in self.takes]

    def of_numpy(self, arrays: list[np.ndarray], dtype) -> list[np.ndarray]:
        re, *im = (array.astype(dtype) for array in arrays)
        axes = tuple(range(len(self.shape) - len(self.lengths), len(self.shape)))
        made = OF_NUMPY[self.kind](re + 1j * im[0] if im else re, s=self.lengths, axes=axes)
        return [made] if self.kind == "IRFFT" else [made.real, made.imag]

    def check(self, got: list[np.ndarray], arrays: list[np.ndarray]) -> None:
        assert [(g.shape, g.dtype) for g in got] == [(shape, DTYPES[self.element]) for shape in self.gives]
        if 0 in self.shape:
            return
        wanted, numpys = (self.of_numpy(arrays, dtype) for dtype in (np.longdouble, DTYPES[self.element]))
        largest = max(np.abs(w).max() for w in wanted)
        error, allowed = (max(np.abs(x - w).max() for x, w in zip(each, wanted, strict=True)) for each in (got, numpys))
        # a convolution for a large prime is three transforms and two products: NumPy's own f64 is off by up to 2.7 eps there
        most = 2 if all(map(is_smooth, self.lengths)) else 4
        assert error <= 2 * allowed + most * np.finfo(DTYPES[self.element]).eps * largest, (
            self.kind,
            self.shape,
            self.element,
            error,
            allowed,
        )


def check(cases: list[Case], target: str = "cpu", seed: int = 0) -> None:
    """All in one program."""
    arguments = [f"%x{n}_{i}: {t}" for n, case in enumerate(cases) for i, t in enumerate(case.types(case.takes))]
    results = [f"%y{n}#{i}" for n, case in enumerate(cases) for i in range(len(case.gives))]
    types = ", ".join(t for case in cases for t in case.types(case.gives))
    body = "\n".join(case.text(n) for n, case in enumerate(cases))
    text = f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n{body}\n  return {', '.join(results)} : {types}\n}}"
    arrays = [case.arrays(seed) for case in cases]
    made = hloom.compile(text, target=target)(*(array for each in arrays for array in each))
    made = iter(made if len(results) > 1 else [made])
    for case, given_ in zip(cases, arrays):
        case.check([next(made) for _ in case.gives], given_)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 19, 23, 29, 31, 37, 82, 97, 121])
def test_short_ones(length):
    check([Case("FFT", (3, length)), Case("RFFT", (3, length), 1, "f64")])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("element", "length"), [("f32", 1000), ("f64", 180), ("f32", 41 * 5), ("f32", 17 * 29), ("f64", 50)])
def test_types(kind, element, length):
    check([Case(kind, (3, length), 1, element)])


@pytest.mark.parametrize("kind", KINDS)
def test_batches_and_dimensions(kind):
    shapes = [((70, 8), 1), ((3, 4, 25), 2), ((9, 64, 41), 2), ((2, 4, 3, 6), 3), ((2, 3, 75), 1), ((5, 99), 2)]
    check([Case(kind, shape, rank) for shape, rank in shapes])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing(kind):
    check([Case(kind, (0,)), Case(kind, (2, 0)), Case(kind, (0, 6)), Case(kind, (4, 0), 2), Case(kind, (0, 5), 2), Case(kind, (2, 3))])


@pytest.mark.parametrize(("length", "element"), [(4096, "f32"), (1 << 17, "f32"), (3 << 15, "f64"), (2 * 2053, "f32")])
def test_long_ones(length, element):
    check([Case("FFT", (2, length), 1, element)])


ANY = st.tuples(st.sampled_from(KINDS), st.sampled_from(list(DTYPES)), st.integers(1, 5), st.integers(1, 700))


@settings(max_examples=4, deadline=None)
@given(st.lists(ANY, min_size=2, max_size=2))
def test_any_length(drawn):
    check([Case(kind, (batch, length), 1, element) for kind, element, batch, length in drawn], seed=1)


SHAPES = st.lists(st.integers(1, 40), min_size=2, max_size=3)


@settings(max_examples=3, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KINDS), SHAPES, st.integers(1, 2)), min_size=2, max_size=2))
def test_any_shape(drawn):
    check([Case(kind, tuple(shape), rank) for kind, shape, rank in drawn], seed=2)


def test_on_a_simulated_gpu():
    """Short ones by matrices, and what is before the last dimension of IRFFT; the others by a library, in whose place NumPy computes."""
    short = [Case("FFT", (2, 12)), Case("RFFT", (3, 10)), Case("IRFFT", (2, 68, 9), 2), Case("IFFT", (3, 5), 2)]
    library = [Case("FFT", (2, 6, 20), 2), Case("IFFT", (2, 101)), Case("RFFT", (2, 130)), Case("IRFFT", (3, 128), 1, "f64")]
    check([*short, *library], "sim:sm_90a")


SIDE_BY_SIDE = [((3, 1000), 1, "f32"), ((40, 36), 2, "f64"), ((20, 8), 1, "f32"), ((6, 97), 1, "f32")]


@pytest.mark.parametrize("kind", ["FFT", "IFFT"])
@pytest.mark.parametrize(("shape", "rank", "element"), SIDE_BY_SIDE)
def test_parts_side_by_side(kind, shape, rank, element):
    """As complex numbers lie in memory: kernels read and write them so."""
    case = Case(kind, shape, rank, element)
    (part,), (pair,), (one,) = (case.types([each]) for each in (shape, (*shape, 2), (*shape, 1)))
    whole = ", ".join(f"0:{extent}" for extent in shape)
    text = f"""func.func @main(%z: {pair}) -> {pair} {{
      %a = stablehlo.slice %z [{whole}, 0:1] : ({pair}) -> {one}
      %b = stablehlo.slice %z [{whole}, 1:2] : ({pair}) -> {one}
      %x0_0 = stablehlo.reshape %a : ({one}) -> {part}
      %x0_1 = stablehlo.reshape %b : ({one}) -> {part}
      {case.text(0)}
      %c = stablehlo.reshape %y0#0 : ({part}) -> {one}
      %d = stablehlo.reshape %y0#1 : ({part}) -> {one}
      %r = stablehlo.concatenate %c, %d, dim = {len(shape)} : ({one}, {one}) -> {pair}
      return %r : {pair}
    }}"""
    arrays = case.arrays(0)
    made = hloom.compile(text)(np.stack(arrays, -1))
    case.check([made[..., 0], made[..., 1]], arrays)


@pytest.mark.parametrize("length", [8, 9])
def test_irfft_reads_half_a_spectrum(length):
    """The imaginary parts of the first element, and of an even length's last, do not count: not even NaN."""
    case = Case("IRFFT", (2, length))
    re, im = case.arrays(0)
    wild = im.copy()
    wild[:, 0] = np.nan
    if length % 2 == 0:
        wild[:, -1] = np.inf
    text = f"""func.func @main(%x0_0: {case.types(case.takes)[0]}, %x0_1: {case.types(case.takes)[0]}) -> {case.types(case.gives)[0]} {{
    {case.text(0)}
      return %y0#0 : {case.types(case.gives)[0]}
    }}""".replace("%y0:1", "%y0").replace("%y0#0", "%y0")
    exe = hloom.compile(text)
    case.check([exe(re, wild)], [re, im])


CALL = """func.func @main(%re: tensor<4x6xf32>, %im: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 6>}}
      : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6xf32>
}"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("array<i64: 6>", "array<i64: 8>", r"HL103.*shape \[4, 6\] with fft_length = \[8\]"),
        ("array<i64: 6>", "array<i64: 4, 4, 4, 6>", "HL103.*along 4 dimensions"),
        ("array<i64: 6>", "array<i64>", "HL103.*along 0 dimensions"),
        ("array<i64: 6>", "array<i64: 1, 4, 6>", r"HL103.*fft_length = \[1, 4, 6\]"),
        ('"FFT"', '"DCT"', "HL103.*type 'DCT'"),
        ('"FFT"', '"RFFT"', "HL103.*RFFT of 2 arrays into 2"),
        ('fft_type = "FFT", ', "", "HL103.*without its type"),
        ("f32", "f16", "HL101.*of f16"),
    ],
)
def test_what_is_no_transform_is_refused(old, new, message):
    with pytest.raises(hloom.CompileError, match=re.compile(message, re.DOTALL)):
        hloom.compile(CALL.replace(old, new))


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 10**4))
def test_numbers(number):
    longer = smooth_from(number)
    assert longer >= number and set(prime_factors(longer)) <= {2, 3, 5} and longer <= 1 << (number + 7).bit_length()
    assert np.prod(prime_factors(number)) == number and set(divisors(longer)) == {d for d in range(1, longer + 1) if longer % d == 0}
    assert np.array_equal(roots_of_unity(4 * number, number * np.arange(5)), [1, -1j, -1, 1j, 1])
