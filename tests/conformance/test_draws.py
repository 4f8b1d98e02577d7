"""stablehlo.rng: what is drawn is distributed as it says, and differs from op to op and call to call; a seed brings it back."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import hloom

COUNT = 20000
DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i64": np.int64,
}


def draw(name: str, kind: str, element: str, *shape: int) -> str:
    """An op that draws between %a and %b."""
    result = f"tensor<{'x'.join([*map(str, shape), element])}>"
    scalar, sizes = f"tensor<{element}>", f"tensor<{len(shape)}xi64>"
    distribution = f"rng_distribution = #stablehlo<rng_distribution {kind}>"
    return f"""{name}_s = stablehlo.constant dense<{list(shape)}> : {sizes}
      {name} = "stablehlo.rng"(%a, %b, {name}_s) {{{distribution}}} : ({scalar}, {scalar}, {sizes}) -> {result}
    """


def program(kind: str, element: str, count: int = COUNT) -> str:
    """Draws twice."""
    scalar, many = f"tensor<{element}>", f"tensor<{count}x{element}>"
    return f"""func.func @main(%a: {scalar}, %b: {scalar}) -> ({many}, {many}) {{
      {draw("%v0", kind, element, count)} {draw("%v1", kind, element, count)}
      return %v0, %v1 : {many}, {many} }}"""


def distance(numbers: np.ndarray, below) -> float:
    """Kolmogorov's and Smirnov's: the largest difference between the share of numbers below one, and `below` of it."""
    ordered = np.sort(numbers.astype(np.float64))
    share = np.arange(1, ordered.size + 1) / ordered.size
    return float(np.max(np.abs(share - below(ordered))))


def test_uniform():
    element, low, high = "f32", -1.0, 3.0
    exe = hloom.compile(program("UNIFORM", element))
    first, second = exe(*(DTYPES[element](v) for v in (low, high)))
    for numbers in (first, second):
        assert low <= numbers.min() and numbers.max() < high
        assert distance(numbers, lambda x: (x - low) / (high - low)) < 2 / math.sqrt(COUNT)
    assert np.mean(first == second) < 0.01 and abs(np.corrcoef(first, second)[0, 1]) < 0.03


@pytest.mark.parametrize("element", ["f64", "f16"])
def test_normal(element):
    exe = hloom.compile(program("NORMAL", element))
    first, second = exe(*(DTYPES[element](v) for v in (1, 2)))
    cumulative = np.vectorize(lambda x: 0.5 * (1 + math.erf((x - 1) / (2 * math.sqrt(2)))))
    for numbers in (first, second):
        assert np.all(np.isfinite(numbers)) and distance(numbers, cumulative) < 2 / math.sqrt(COUNT)
    assert abs(np.corrcoef(first.astype(np.float64), second.astype(np.float64))[0, 1]) < 0.03


def test_the_end_is_never_drawn():
    """Where few numbers lie between the bounds, rounding would often give the upper one."""
    low, high = (DTYPES["bf16"](v) for v in (1, 1.0625))
    numbers = np.concatenate(hloom.compile(program("UNIFORM", "bf16"))(low, high))
    assert np.all((numbers >= low) & (numbers < high)) and np.unique(numbers).size == 8
    assert abs(numbers.astype(np.float64).mean() - 1.03125) < 0.001


@pytest.mark.parametrize(("element", "low", "high"), [("i8", -128, 127), ("i64", -5, 6)])
def test_integers(element, low, high):
    dtype = DTYPES[element]
    numbers = np.concatenate(hloom.compile(program("UNIFORM", element))(dtype(low), dtype(high))).astype(np.int64)
    assert low <= numbers.min() and numbers.max() < high
    counts = np.histogram(numbers, 11, (low, high))[0]
    assert np.all(np.abs(counts - counts.mean()) < 6 * math.sqrt(counts.mean()) + 0.02 * counts.mean())
    if high - low < 300:
        assert np.unique(numbers).size == high - low


BOUNDS = np.float32(0), np.float32(1)


@pytest.mark.parametrize("target", ["auto", "sim:sm_90a"])
def test_seeds(tmp_path, target):
    exe = hloom.compile(program("UNIFORM", "f32", 37), target=target)
    calls = [np.concatenate(exe(*BOUNDS)) for _ in range(3)]
    assert len(np.unique(calls)) == len(calls) * 74
    exe.seed(0)
    np.testing.assert_array_equal(np.concatenate(exe(*BOUNDS)), calls[0])
    exe.seed(2**63 + 5)
    seeded = np.concatenate(exe(*BOUNDS))
    assert not np.any(np.isin(seeded, calls))
    if target != "auto":
        return
    exe.seed(0)
    exe(*BOUNDS)
    exe.save(tmp_path / "draws.hloom")
    loaded = hloom.load(tmp_path / "draws.hloom")
    np.testing.assert_array_equal(np.concatenate(loaded(*BOUNDS)), calls[1])
    exe.save(tmp_path / "draws.hloom", weights=False)
    np.testing.assert_array_equal(np.concatenate(hloom.load(tmp_path / "draws.hloom")(*BOUNDS)), calls[0])


def test_loops_branches_and_functions(tmp_path):
    """Each step, branch and call draws numbers of its own."""
    text = f"""func.func private @draw(%a: tensor<f32>, %b: tensor<f32>) -> tensor<3xf32> {{
      {draw("%v0", "UNIFORM", "f32", 3)}
      return %v0 : tensor<3xf32>
    }}
    func.func @main(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<i32>, %p: tensor<i1>)
        -> (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>) {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %rows = stablehlo.constant dense<0.0> : tensor<8x3xf32>
      %w:2 = stablehlo.while(%i = %zero, %r = %rows) : tensor<i32>, tensor<8x3xf32>
      cond {{
        %less = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %less : tensor<i1>
      }} do {{
        %c = "stablehlo.if"(%p) ({{
          {draw("%v0", "UNIFORM", "f32", 1, 3)}
          stablehlo.return %v0 : tensor<1x3xf32>
        }}, {{
          {draw("%v0", "NORMAL", "f32", 1, 3)}
          stablehlo.return %v0 : tensor<1x3xf32>
        }}) : (tensor<i1>) -> tensor<1x3xf32>
        %s = stablehlo.dynamic_update_slice %r, %c, %i, %zero
          : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %s : tensor<i32>, tensor<8x3xf32>
      }}
      %1 = func.call @draw(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<3xf32>
      %2 = func.call @draw(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<3xf32>
      return %w#1, %1, %2 : tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32> }}"""
    for target in ("auto", "sim:sm_90a"):
        exe = hloom.compile(text, target=target)
        for steps, uniform in ((8, True), (5, True), (8, False)):
            rows, one, other = exe(*BOUNDS, np.int32(steps), np.bool_(uniform))
            numbers = np.concatenate([rows[:steps].ravel(), one, other])
            assert np.unique(numbers).size == numbers.size
            assert not np.any(rows[steps:]) and np.all((rows >= 0) & (rows < 1)) == uniform


def test_narrow_floats():
    """What rounding to eight bits makes the end of the interval becomes the number before it."""
    low, high = (np.array(x, ml_dtypes.float8_e4m3fn) for x in (2, 3))
    for numbers in hloom.compile(program("UNIFORM", "f8E4M3FN", 1024))(low, high):
        assert set(np.unique(np.asarray(numbers).astype(np.float32))) == {2, 2.25, 2.5, 2.75}


def test_booleans():
    """From false up to true is false alone."""
    drawn = hloom.compile(program("UNIFORM", "i1", 64))(np.bool_(False), np.bool_(True))
    assert all(numbers.dtype == np.bool_ and not numbers.any() for numbers in drawn)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            f"""func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {{
              %0 = stablehlo.while(%i = %a) : tensor<f32>
              cond {{
                {draw("%v1", "UNIFORM", "f32")}
                %2 = stablehlo.compare LT, %v1, %i : (tensor<f32>, tensor<f32>) -> tensor<i1>
                stablehlo.return %2 : tensor<i1>
              }} do {{
                stablehlo.return %i : tensor<f32>
              }}
              return %0 : tensor<f32> }}""",
            "condition of a loop",
        ),
    ],
)
def test_refused(text, why):
    with pytest.raises(hloom.UnsupportedOpError, match=why) as caught:
        hloom.compile(text)
    assert caught.value.op == "stablehlo.rng" and caught.value.remedy


def test_no_draws():
    exe = hloom.compile("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
    with pytest.raises(hloom.NotBoundError, match="draws no random numbers"):
        exe.seed(1)


def test_verify_says_that_there_is_no_reference():
    with pytest.raises(hloom.CompileError, match="no reference"):
        hloom.compile(program("UNIFORM", "f32", 4), verify=True)


def test_torch():
    torch = pytest.importorskip("torch")

    class Noisy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = torch.nn.Dropout(0.25)
            self.norm = torch.nn.BatchNorm1d(64)

        def forward(self, x):
            return self.drop(self.norm(x)), torch.rand(5), torch.randn(7)

    x = torch.ones(256, 64)
    exe = hloom.compile(Noisy().train(), x)
    first, second = exe(x + 1), exe(x + 1)
    for one, other in zip(first[1:], second[1:]):
        assert isinstance(one, torch.Tensor) and not torch.equal(one, other)
    y = torch.randn(256, 64)
    kept = exe(y)[0]
    assert abs(float((kept == 0).float().mean()) - 0.25) < 0.02
    assert int(exe.state["norm.num_batches_tracked"]) == 3
    exe.seed(7)
    again = exe(y)[0]
    exe.seed(7)
    assert torch.equal(exe(y)[0], again) and not torch.equal(again, kept)


def test_jax():
    jax = pytest.importorskip("jax")
    exe = hloom.compile(lambda a, b: jax.lax.rng_uniform(a, b, (50,)), *BOUNDS)
    first, second = exe(*BOUNDS), exe(*BOUNDS)
    assert np.unique(np.concatenate([first, second])).size == 100


def test_open_shapes_share_a_stream():
    drawn = draw("%v0", "UNIFORM", "f32")
    text = f"""func.func @main(%x: tensor<?xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<?xf32>, tensor<f32>) {{
      {drawn}
      return %x, %v0 : tensor<?xf32>, tensor<f32> }}"""
    exe = hloom.compile(text)
    calls = [exe(np.zeros(n, np.float32), *BOUNDS)[1] for n in (3, 5, 3)]
    assert len(set(map(float, calls))) == 3
    exe.seed(0)
    assert exe(np.zeros(5, np.float32), *BOUNDS)[1] == calls[0]
