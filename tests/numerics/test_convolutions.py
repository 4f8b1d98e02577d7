"""Convolutions on the CPU's direct kernel: channels last, padding left out, packed weights, scales in the weights; against XLA in f64."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
LETTERS = "DHW"


@dataclass(frozen=True)
class Layer:
    """A convolution of any rank, with the channels first, as PyTorch has them, or last."""

    size: tuple[int, ...]
    channels: int
    features: int
    taps: tuple[int, ...]
    stride: int = 1
    padding: tuple[tuple[int, int], ...] = ()
    dilation: int | tuple[int, ...] = 1
    batch: int = 1
    groups: int = 1
    first: bool = True
    spread: int = 1
    """Zeros between the elements of the input, and one: the stride of a transposed convolution."""

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        inner = self.channels // self.groups
        if self.first:
            shapes = (self.batch, self.channels, *self.size), (self.features, inner, *self.taps)
        else:
            shapes = (self.batch, *self.size, self.channels), (*self.taps, inner, self.features)
        x, w = (np.random.default_rng(sum(shape)).standard_normal(shape, np.float32) for shape in shapes)
        return x, (w / np.sqrt(inner * np.prod(self.taps))).astype(np.float32)

    def apply(self, x: Any, w: Any, **options: Any) -> Any:
        inside = LETTERS[-len(self.size) :]
        names = (f"NC{inside}", f"OI{inside}", f"NC{inside}") if self.first else (f"N{inside}C", f"{inside}IO", f"N{inside}C")
        rank = len(self.size)
        return lax.conv_general_dilated(
            x,
            w,
            (self.stride,) * rank,
            self.padding or ((0, 0),) * rank,
            lhs_dilation=(self.spread,) * rank,
            rhs_dilation=self.dilation if isinstance(self.dilation, tuple) else (self.dilation,) * rank,
            dimension_numbers=names,
            feature_group_count=self.groups,
            **options,
        )


def around(pixels: int, rank: int = 2) -> tuple[tuple[int, int], ...]:
    return ((pixels, pixels),) * rank


LAYERS = [
    Layer((14, 14), 16, 64, (3, 3), padding=around(1)),
    Layer((7, 7), 40, 72, (3, 3), padding=around(1), batch=2),
    Layer((9, 13), 3, 24, (7, 7), stride=2, padding=around(3), first=False),
    Layer((8, 8), 8, 16, (1, 1), stride=2),
    Layer((5, 6), 16, 33, (1, 3), padding=((0, 0), (1, 1))),
    Layer((6, 6), 16, 16, (3, 3), padding=((2, 0), (0, 2)), first=False),
    Layer((12, 11), 16, 16, (3, 3), padding=around(4), dilation=4),
    Layer((30,), 16, 48, (5,), padding=((4, 0),), first=False),
    Layer((40,), 16, 32, (3,), stride=2, batch=3),
    # more taps than pixels: what each block of pixels leaves out stands as far from its first pixel
    Layer((49,), 96, 96, (128,), padding=((64, 64),), groups=2),
    Layer((40,), 32, 48, (64,), stride=2, padding=((60, 63),)),
    Layer((37,), 16, 32, (40,), padding=((60, 60),), dilation=3, first=False),
    Layer((30,), 16, 32, (48,), stride=2, padding=((80, 90),), dilation=2),
    Layer((3, 6, 5), 8, 16, (3, 3, 3), padding=around(1, 3)),
    Layer((13, 13), 64, 64, (3, 3), padding=around(1), groups=64),
    Layer((13, 9), 24, 24, (5, 5), stride=2, padding=around(2), groups=24, first=False),
    Layer((10, 10), 64, 96, (3, 3), padding=around(1), groups=2),
    Layer((10, 10), 16, 32, (3, 3), padding=around(1), groups=16),
    Layer((4, 4), 16, 16, (3, 3), padding=around(3)),
    Layer((1, 9), 16, 16, (3, 3), padding=around(1)),
    Layer((8, 8), 16, 3, (3, 3), padding=around(1)),
    Layer((5, 120), 16, 16, (3, 3), padding=around(1)),
    Layer((5, 5), 16, 16, (3, 3), padding=around(1), stride=3),
    Layer((21,), 32, 48, (32,), padding=around(16, 1), groups=2),
    # several groups share a register
    Layer((9, 57), 32, 32, (3, 3), padding=around(1), groups=8, first=False),
    Layer((7, 14), 104, 104, (3, 3), padding=around(1), groups=13, batch=2, first=False),
    Layer((11, 9), 20, 20, (5, 3), padding=((2, 0), (0, 2)), stride=2, groups=5, first=False),
    Layer((30,), 26, 26, (7,), padding=around(6, 1), dilation=2, groups=13, first=False),
    Layer((3, 5, 6), 16, 16, (3, 3, 3), padding=around(1, 3), groups=4, first=False),
    Layer((6, 7), 24, 24, (1, 1), groups=6, first=False),
    # groups of which no register is a multiple, and few features: the channels come first
    Layer((9, 28), 36, 36, (3, 3), padding=around(1), groups=6, first=False),
    Layer((8, 17), 12, 24, (3, 3), padding=around(1), groups=12, stride=2, batch=2, first=False),
    Layer((12, 19), 3, 5, (3, 3), padding=around(1), first=False),
    Layer((40,), 12, 8, (5,), padding=around(2, 1), groups=2, first=False),
    # few features of windows far apart, or of short lines
    Layer((33, 32), 6, 5, (8, 8), stride=8, batch=2),
    Layer((28, 31), 16, 12, (5, 7), stride=4, padding=around(2), first=False),
    Layer((19, 30), 10, 1, (5, 5), stride=4, padding=around(1), batch=2),
    Layer((7, 6), 24, 9, (3, 3), padding=around(1), groups=3, batch=2),
    Layer((6, 8, 7), 4, 6, (2, 3, 2), stride=3, first=False),
    # few features of many channels that lie last: idle lanes cost less than conversions
    Layer((33, 35), 64, 8, (3, 3), stride=2, padding=around(1), first=False),
    Layer((18, 37), 48, 12, (2, 2), groups=3, batch=2, first=False),
    Layer((17, 30), 52, 6, (2, 2), groups=2, first=False),
    # few features of a 1 x 1 of many channels that lie last: a product for each group
    Layer((14, 13), 64, 6, (1, 1), batch=2, first=False),
    Layer((7, 9), 147, 15, (1, 1), groups=3, batch=2, first=False),
    Layer((4, 5, 6), 40, 4, (1, 1, 1), groups=2, first=False),
    # pairs of channels
    Layer((14, 9), 8, 64, (5, 5), padding=around(2), groups=4, batch=2),
]

LINES = [
    Layer((15, 14), 24, 24, (3, 3), padding=around(1), groups=24, batch=2),
    Layer((13, 27), 20, 20, (5, 5), stride=2, padding=around(2), groups=20),
    Layer((17, 9), 6, 6, (7, 7), padding=((3, 2), (0, 5)), groups=6),
    Layer((12, 34), 9, 9, (2, 3), stride=2, padding=((1, 0), (2, 1)), dilation=3, groups=9),
    Layer((70,), 10, 10, (31,), padding=around(15, 1), groups=10),
    Layer((5, 9, 8), 5, 5, (3, 3, 3), padding=around(1, 3), groups=5),
    Layer((21, 37), 3, 70, (3, 3), stride=2, padding=around(1)),
    Layer((18, 33), 1, 8, (5, 4), padding=((2, 2), (0, 3))),
    Layer((9, 12), 20, 3, (3, 3), padding=around(1)),
    Layer((8, 64), 7, 13, (3, 2), padding=around(1), dilation=2),
    Layer((7, 7), 16, 40, (1, 1)),
    Layer((17, 19), 24, 42, (1, 1), groups=3, batch=2),
    Layer((23, 22), 8, 130, (1, 1), batch=3),
    Layer((40, 41), 5, 67, (1, 1), batch=2),
    Layer((3, 1000), 2, 4, (1, 9), stride=2, padding=((0, 0), (4, 4))),
    Layer((13, 20), 16, 24, (3, 3), padding=around(1), groups=4, batch=2),
    Layer((9, 33), 12, 6, (3, 5), stride=2, padding=((1, 0), (2, 2)), groups=3),
    Layer((150, 150), 16, 8, (3, 3), padding=around(1), groups=2, batch=2),
    Layer((203,), 1, 40, (10,), stride=5, batch=2),
    Layer((9, 130), 2, 20, (3, 7), stride=4),
    Layer((300,), 3, 17, (9,), stride=6),
    # a tap behind the end of one line lies where one in front of the next line does
    Layer((5, 24), 6, 6, (3, 3), padding=around(12), dilation=12, groups=6, batch=2),
    Layer((8,), 3, 3, (5,), padding=around(8, 1), dilation=2, groups=3),
]
"""Lines of pixels along the lanes, where a policy asks for the channels first."""

TRANSPOSED = [
    Layer((5, 7), 16, 24, (4, 4), padding=around(2), spread=2, batch=2),
    Layer((6, 5), 8, 16, (3, 3), padding=((1, 2), (1, 2)), spread=2, first=False),
    Layer((6, 5), 8, 16, (2, 2), padding=around(1), spread=2),
    Layer((9,), 8, 16, (16,), padding=around(11, 1), spread=8),
    Layer((4, 4), 16, 16, (3, 3), padding=((2, 4), (2, 4)), spread=3, groups=2),
    Layer((4, 4), 8, 16, (1, 1), spread=2),
    Layer((3, 4, 3), 8, 16, (3, 3, 3), padding=around(1, 3), spread=2),
    Layer((5, 5), 8, 3, (4, 4), padding=((0, 1), (3, 0)), spread=2),
    Layer((6,), 8, 16, (3,), padding=((-2, -3),), spread=3),
    Layer((6, 6), 8, 16, (3, 3), padding=around(2), spread=2, dilation=2),
    # every phase has taps some elements apart, or some have none
    Layer((9, 8), 8, 16, (3, 4), padding=((3, 5), (6, 1)), spread=2, dilation=3),
    Layer((7, 8), 20, 3, (3, 3), padding=around(5), spread=4, dilation=2),
    Layer((6, 9), 8, 16, (3, 2), padding=((1, 0), (2, 4)), spread=3, dilation=(6, 1), first=False),
    Layer((8, 7), 8, 16, (5, 3), padding=around(-1), spread=3, dilation=2),
    Layer((6, 6), 8, 16, (3, 3), padding=around(2), spread=2, stride=3),
]


WINOGRAD = [
    Layer((14, 14), 32, 64, (3, 3), padding=around(1)),
    Layer((7, 7), 40, 72, (3, 3), padding=around(1), batch=2),
    Layer((9, 13), 48, 33, (3, 3), padding=((2, 0), (0, 3)), first=False),
    Layer((31, 6), 36, 96, (3, 3)),
    Layer((19, 3), 32, 32, (3, 3), padding=around(1), batch=3, first=False),
    Layer((40, 24), 64, 32, (3, 3), padding=around(1)),
    Layer((7, 7), 512, 64, (3, 3), padding=around(1)),
    Layer((13, 14), 16, 144, (3, 3), padding=around(1)),
    Layer((7, 6), 256, 128, (3, 3), padding=around(1), batch=4),
    Layer((9, 12, 14), 64, 40, (3, 3, 3), padding=around(1, 3)),
    Layer((4, 7, 9), 36, 32, (2, 3, 3), padding=((2, 1), (1, 0), (1, 1)), batch=2, first=False),
    Layer((3, 14, 14), 32, 32, (3, 3, 3), padding=((0, 0), (1, 1), (1, 1))),
    Layer((20, 5, 8), 32, 32, (5, 3, 3), padding=around(1, 3)),
]
"""3 × 3 windows of stride 1, and a third dimension: where their weights are bound, by Winograd's algorithm, with edges of all kinds."""

GROUPED = [
    Layer((14, 14), 64, 64, (3, 3), padding=around(1), groups=4),
    Layer((13, 17), 72, 144, (3, 3), padding=((2, 0), (0, 3)), batch=2, groups=3),
    Layer((7, 7), 96, 96, (3, 3), padding=around(1), batch=6, groups=3, first=False),
    Layer((9, 21), 120, 200, (3, 3), padding=around(1), batch=3, groups=5),
    Layer((19, 22), 64, 64, (3, 3), padding=around(2), dilation=2, batch=2, groups=2, first=False),
    Layer((5, 9, 12), 48, 96, (3, 3, 3), padding=around(1, 3), groups=2),
]
"""Groups, whose features fill blocks and do not."""

APART = [
    Layer((28, 28), 32, 64, (3, 3), padding=around(2), dilation=2),
    Layer((23, 19), 40, 33, (3, 3), padding=((3, 1), (0, 4)), dilation=(3, 2), batch=2, first=False),
    Layer((9, 34), 32, 48, (3, 3), padding=((1, 1), (7, 4)), dilation=(1, 5)),
    Layer((31, 15), 36, 64, (3, 3), padding=((4, 2), (1, 1)), dilation=(4, 1), batch=3),
    Layer((14, 15), 128, 96, (3, 3), padding=around(2), dilation=2, batch=3),
    Layer((5, 20, 22), 32, 40, (3, 3, 3), padding=((1, 1), (2, 2), (3, 3)), dilation=(1, 2, 3)),
    Layer((90, 41), 32, 32, (3, 3), dilation=(7, 9), first=False),
]
"""Windows whose taps are apart, evenly or not, with lines that d divides or not."""

GRADIENTS = [
    Layer((14, 14), 16, 24, (3, 3), padding=around(1), batch=6),
    Layer((13, 11), 20, 33, (3, 3), padding=((1, 0), (0, 2)), batch=3, stride=2, first=False),
    Layer((12, 17), 3, 16, (7, 7), padding=around(3), batch=2, stride=2),
    Layer((40, 40), 8, 16, (3, 3), dilation=3),
    Layer((200,), 12, 16, (5,), padding=around(2, 1), batch=7),
    Layer((6, 8, 9), 9, 16, (3, 3, 3), padding=around(1, 3), batch=4),
    Layer((14, 14), 16, 32, (1, 1), batch=6),
    Layer((9, 9), 16, 4, (3, 3), padding=around(1), batch=2),
    Layer((14, 14), 32, 32, (3, 3), padding=around(1), batch=3, groups=32),
    Layer((13, 17), 40, 40, (5, 3), padding=((2, 1), (0, 1)), batch=2, groups=40, stride=2, first=False),
    Layer((90,), 16, 16, (7,), padding=around(3, 1), batch=3, groups=16),
    Layer((7, 7), 16, 16, (7, 7), padding=around(3), batch=5, groups=16),
    Layer((8, 8), 16, 48, (1, 1), batch=3, stride=3),
    # several groups share a register
    Layer((15, 13), 32, 32, (3, 3), padding=around(1), batch=3, groups=8, first=False),
    Layer((9, 14), 104, 104, (3, 3), padding=around(1), batch=2, groups=13),
    Layer((14, 12), 48, 48, (3, 3), padding=around(1), batch=2, groups=6, stride=2),
    Layer((60,), 24, 24, (5,), padding=((0, 3),), batch=4, groups=12, stride=2, first=False),
    # images that L2 does not hold, some lines at a time
    Layer((41, 40), 32, 32, (3, 3), padding=around(1), batch=3, groups=32),
    Layer((69, 54), 24, 24, (5, 3), padding=((2, 1), (0, 1)), batch=2, groups=24, stride=2, first=False),
    Layer((45, 33), 48, 48, (7, 7), batch=2, groups=48, first=False),
    Layer((37, 60), 32, 32, (3, 3), padding=around(1), batch=2, groups=8, first=False),
    # groups whose pixels lie apart, copied image by image
    Layer((15, 13), 24, 64, (3, 3), padding=around(1), batch=3, groups=2),
    Layer((17, 16), 96, 96, (3, 2), padding=((2, 0), (0, 1)), batch=2, groups=3, stride=2, first=False),
    Layer((31, 33), 32, 160, (5, 5), padding=around(4), dilation=2, batch=3, groups=4, first=False),
    Layer((300,), 10, 100, (2,), batch=4, groups=2),
    Layer((5, 9, 8), 32, 64, (2, 2, 2), padding=around(1, 3), batch=2, groups=2, first=False),
    # groups of which each is a product
    Layer((9, 14), 80, 24, (1, 1), batch=3, groups=4),
    Layer((9, 14), 80, 24, (1, 1), batch=3, groups=4, stride=2, first=False),
    Layer((13, 12), 12, 96, (1, 1), batch=2, groups=3, first=False),
    Layer((12, 12), 6, 96, (1, 1), padding=around(1), batch=2, groups=3),
]


def check(layers: list[Layer], target: str, bound: bool, **options: Any) -> hloom.Executable:
    """One program of all layers, with weights that are bound or given at each call."""
    arrays = [layer.arrays() for layer in layers]
    xs, ws = [x for x, _ in arrays], [w for _, w in arrays]

    def program(*arrays: Any) -> Any:
        return [layer.apply(x, w) for layer, x, w in zip(layers, arrays, arrays[len(layers) :])]

    with jax.enable_x64(True):
        expected = jax.jit(program)(*(array.astype(np.float64) for array in [*xs, *ws]))
    bind = {len(xs) + number: w for number, w in enumerate(ws)}
    exe = hloom.compile(program, *xs, *ws, target=target, bind=bind if bound else None, **options)
    found = exe(*xs) if bound else exe(*xs, *ws)
    for layer, result, exact in zip(layers, found, expected, strict=True):
        np.testing.assert_allclose(result, exact, rtol=2e-5, atol=2e-5, err_msg=str(layer))
    return exe


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bound", [True, False], ids=["bound", "given"])
def test_layers(target, bound):
    check(LAYERS, target, bound)


@pytest.mark.parametrize("target", TARGETS)
def test_lines(target):
    check(LINES, target, False, policy={"kernel": [{"op": "convolution", "use": "channels_first"}]})


@pytest.mark.parametrize("target", ["f16 cpu-avx2", *(f"bf16 {target}" for target in (*TARGETS, "cpu"))])
def test_lines_of_halves(target):
    """Summed in f32, and rounded behind what is added to them. Channels that are summed go by pairs where an instruction sums these."""
    layers = [*LINES[:7], LINES[8], *LINES[13:15]]
    half, target = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[target.split()[0]], target.split()[1]
    cases = [[array.astype(half) for array in layer.arrays()] for layer in layers]
    rng = np.random.default_rng(0)

    def sums(xs: list[Any], ws: list[Any], kind: Any) -> list[Any]:
        return [layer.apply(x.astype(kind), w.astype(kind)) for layer, x, w in zip(layers, xs, ws)]

    def program(xs: list[Any], ws: list[Any], others: list[Any]) -> Any:
        wide = [layer.apply(x, w, preferred_element_type=jnp.float32) for layer, x, w in zip(layers, xs, ws)]
        return wide, [(y + other).astype(half) for y, other in zip(wide, others)]

    xs, ws = ([arrays[number] for arrays in cases] for number in range(2))
    with jax.enable_x64(True):
        expected = [np.asarray(each) for each in jax.jit(partial(sums, kind=np.float64))(xs, ws)]
    others = [rng.standard_normal(each.shape).astype(half) for each in expected]
    policy = {"kernel": [{"op": "convolution", "use": "channels_first"}]}
    wide, rounded = hloom.compile(program, xs, ws, others, target=target, policy=policy)(xs, ws, others)
    for layer, result, narrow, exact, other in zip(layers, wide, rounded, expected, others, strict=True):
        np.testing.assert_allclose(result, exact, rtol=2e-5, atol=2e-5, err_msg=str(layer))
        np.testing.assert_array_equal(narrow, (result + other.astype(np.float32)).astype(half), err_msg=str(layer))


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "given"])
def test_transposed(bound):
    check(TRANSPOSED, "cpu-avx2", bound)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("threads", [1, 2])
def test_phases_of_one_group(target, threads):
    """What follows a transposed convolution is computed where its phases are put in turn: scales, a residual, a concatenation."""

    def layer(x, w, scale, skip, beside):
        y = lax.conv_general_dilated(
            x, w, (1, 1), ((1, 2), (1, 2)), lhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest"
        )
        return jnp.concatenate([jnp.maximum(y * scale + skip, 0.0), beside], 3)

    draw = np.random.default_rng(0).standard_normal
    shapes = (2, 9, 11, 16), (3, 3, 16, 24), (24,), (2, 18, 22, 24), (2, 18, 22, 5)
    arrays = [draw(shape, np.float32) for shape in shapes]
    with jax.enable_x64(True):
        expected = np.asarray(layer(*(array.astype(np.float64) for array in arrays)))
    exe = hloom.compile(layer, *arrays, target=target, bind={1: arrays[1]})
    assert "FUSED_PHASES" in exe.report.text()
    given = [array for number, array in enumerate(arrays) if number != 1]
    before = hloom.get_threads()
    hloom.set_threads(threads)
    try:
        found = exe(*given)
    finally:
        hloom.set_threads(before)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def test_phases_in_a_result_whose_dimensions_are_turned():
    def layer(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), ((1, 2), (0, 1)), lhs_dilation=(2, 3), dimension_numbers=("NHWC", "HWIO", "NWHC"))

    draw = np.random.default_rng(0).integers
    x, w = (draw(-3, 4, shape).astype(np.float32) for shape in ((2, 4, 5, 3), (3, 2, 3, 6)))
    np.testing.assert_array_equal(hloom.compile(layer, x, w)(x, w), layer(x, w))


@pytest.mark.parametrize(
    ("layout", "windows", "steps", "padding"),
    [
        (("NHWC", "HWIO", "NHWC"), (2, 2), (2, 2), ((1, 1), (1, 1))),
        (("NHWC", "HWIO", "CWNH"), (2, 6), (2, 3), ((1, 0), (2, 2))),
        (("NCHW", "OIHW", "NCHW"), (4, 6), (2, 3), ((1, 1), (2, 2))),
        (("NWC", "WIO", "NWC"), (4,), (4,), ((3, 3),)),
    ],
)
def test_phases_on_a_gpu(layout, windows, steps, padding, tmp_path):
    """Where nothing but products takes time, windows side by side are one convolution, others one for each phase."""
    (free := tmp_path / "free.toml").write_text(f'inherits = "sm_90a"\nlaunch_ps = 0\ndram_bytes_per_second = {10**18}\n')

    def layer(x, w):
        return lax.conv_general_dilated(x, w, (1,) * len(steps), padding, lhs_dilation=steps, dimension_numbers=layout)

    extents = {"N": 2, "C": 3, "I": 3, "O": 6}
    draw = np.random.default_rng(0).integers
    x = draw(-3, 4, [extents.get(name, 5) for name in layout[0]]).astype(np.float32)
    w = draw(-3, 4, [extents.get(name) or dict(zip("HW"[-len(windows) :], windows))[name] for name in layout[1]]).astype(np.float32)
    np.testing.assert_array_equal(hloom.compile(layer, x, w, target=f"sim:{free}")(x, w), layer(x, w))


def test_transposed_with_the_channels_first():
    layers = [replace(layer, first=True) for layer in TRANSPOSED]
    report = check(layers, "cpu-avx2", True, policy={"kernel": [{"op": "convolution", "use": "channels_first"}]}).report.text()
    assert "channels first: vectors of pixels" in report


@pytest.mark.parametrize("target", TARGETS)
def test_winograd(target):
    check(WINOGRAD, target, True)


@pytest.mark.parametrize("target", TARGETS)
def test_winograd_of_groups(target):
    assert check(GROUPED, target, True).report.text().count("Winograd F(") == len(GROUPED)


@pytest.mark.parametrize("target", TARGETS)
def test_winograd_of_taps_apart(target):
    assert check(APART, target, True).report.text().count("Winograd F(") == len(APART)


@pytest.mark.parametrize("target", TARGETS)
def test_sequences_seen_as_images(target):
    """Vision transformers' mixed feed-forward layers: what follows the windows reads pixels by one number."""

    def layer(x, window):
        images = x.reshape(2, 7, 9, 40)
        dims = lax.conv_dimension_numbers(images.shape, window.shape, ("NHWC", "HWIO", "NHWC"))
        out = lax.conv_general_dilated(images, window, (1, 1), "SAME", dimension_numbers=dims, feature_group_count=40)
        return jax.nn.gelu((out + 0.5).reshape(2, 63, 40), approximate=False)

    rng = np.random.default_rng(0)
    x, window = rng.standard_normal((2, 63, 40), np.float32), rng.standard_normal((3, 3, 1, 40), np.float32)
    found = hloom.compile(layer, x, window, target=target)(x, window)
    np.testing.assert_allclose(found, jax.jit(layer)(x, window), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_momentum_behind_a_gradient_of_grouped_weights(target):
    """Its sums go image by image: what follows them reads them when all are done."""
    layer = Layer((15, 15), 32, 32, (3, 3), padding=around(1), groups=16, batch=7, first=False)

    def step(x, window, momentum):
        momentum = 0.9 * momentum + jax.grad(lambda w: (layer.apply(x, w) ** 2).sum())(window)
        return window - 0.05 * momentum, momentum

    rng = np.random.default_rng(0)
    shapes = [(7, 15, 15, 32), (3, 3, 2, 32), (3, 3, 2, 32)]
    values = [rng.standard_normal(shape, np.float32) for shape in shapes]
    found = hloom.compile(step, *values, target=target)(*values)
    for one, other in zip(found, jax.jit(step)(*values)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


def test_winograd_of_some_channels_at_a_time(tmp_path):
    """Of three layers two have more channels than the second cache has room for beside their weights: their sums are of 64 each."""
    target = tmp_path / "little.toml"
    target.write_text('inherits = "cpu-avx2"\nl2_bytes = 400_000\n')
    layers = [
        Layer((14, 14), 128, 64, (3, 3), padding=around(1)),
        Layer((13, 15), 192, 80, (3, 3), padding=around(1), dilation=(2, 1)),
        Layer((14, 14), 64, 64, (3, 3), padding=around(1)),
    ]
    assert check(layers, str(target), True).report.text().count("Winograd F(") == 2 + 3 + 1


@pytest.mark.parametrize("target", TARGETS)
def test_winograd_of_as_many_lines_as_features_also_returned_turned(target: str) -> None:
    """Nothing but the loops' order tells the two results apart."""

    def f(x: jax.Array, w: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        made = jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME") * y)
        return made, made.transpose(0, 2, 3, 1)

    random = np.random.default_rng(0)
    x, w, y = (random.normal(size=shape) for shape in ((1, 64, 32, 32), (32, 64, 3, 3), (1, 32, 32, 32)))
    w /= 24
    given = [value.astype(np.float32) for value in (x, w, y)]
    compiled = hloom.compile(f, *given, target=target)
    assert "Winograd F(" in compiled.report.text()
    with jax.enable_x64(True):
        expected = jax.jit(f)(x, w, y)
    for found, exact in zip(compiled(*given), expected):
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def test_winograd_of_weights_given_at_each_call():
    layers = [
        Layer((40, 41), 64, 36, (3, 3), padding=around(1)),
        Layer((19, 18), 33, 64, (3, 3), padding=((2, 0), (0, 3)), batch=2, first=False),
        Layer((9, 12, 14), 32, 40, (3, 3, 3), padding=around(1, 3)),
    ]
    report = check(layers, "cpu-avx2", False).report.text()
    assert report.count("Winograd F(4 x 4") == len(layers)


@pytest.mark.parametrize("side", [16, 40])
@pytest.mark.parametrize("bound", [True, False], ids=["bound", "given"])
def test_branches_share_weights(bound, side):
    layer = Layer((side, side), 32, 64, (3, 3), padding=around(1), first=False)
    x, w = layer.arrays()

    def program(x: Any, w: Any, choice: Any) -> Any:
        return jax.lax.cond(choice > 0, lambda: layer.apply(x, w), lambda: layer.apply(-2 * x, w))

    exe = hloom.compile(program, x, w, np.int32(1), bind={1: w} if bound else None)
    expected = np.asarray(layer.apply(x, w))
    for choice, factor in ((1, 1), (0, -2)):
        found = exe(x, np.int32(choice)) if bound else exe(x, w, np.int32(choice))
        np.testing.assert_allclose(found, factor * expected, rtol=2e-5, atol=4e-5)


@pytest.mark.parametrize("images", [4, 8])
@pytest.mark.parametrize("target", TARGETS)
def test_gradients_by_weights_of_as_many_images_as_features(target, images):
    """A sum over images looks like one over the channels of a group, whose loop is unrolled with the one inside it."""
    layer = Layer((14, 15), 16 * images, 8 * images, (1, 1), groups=8, batch=images)
    x, w = layer.arrays()
    z = np.asarray(layer.apply(x, w))
    found = hloom.compile(lambda x, w, z: jax.vjp(partial(layer.apply, x), w)[1](z)[0], x, w, z, target=target)(x, w, z)
    with jax.enable_x64(True):
        exact = jax.vjp(partial(layer.apply, x.astype(np.float64)), w.astype(np.float64))[1](z.astype(np.float64))[0]
    np.testing.assert_allclose(found, exact, rtol=0, atol=2e-5 * float(np.abs(exact).max()))


@pytest.mark.parametrize("target", TARGETS)
def test_gradients_by_weights(target):
    """Images and pixels are summed, those of several images one after the other."""
    arrays = [layer.arrays() for layer in GRADIENTS]
    xs, ws = [x for x, _ in arrays], [w for _, w in arrays]
    zs = [np.asarray(layer.apply(x, w)) for layer, x, w in zip(GRADIENTS, xs, ws)]

    def program(*arrays: Any) -> Any:
        x, w, z = (arrays[n::3] for n in range(3))
        return [jax.vjp(partial(layer.apply, a), b)[1](c)[0] for layer, a, b, c in zip(GRADIENTS, x, w, z)]

    inputs = [array for each in zip(xs, ws, zs) for array in each]
    with jax.enable_x64(True):
        expected = jax.jit(program)(*(array.astype(np.float64) for array in inputs))
    found = hloom.compile(program, *inputs, target=target)(*inputs)
    for layer, result, exact in zip(GRADIENTS, found, expected, strict=True):
        scale = float(np.abs(exact).max())
        np.testing.assert_allclose(result, exact, rtol=0, atol=2e-5 * scale, err_msg=str(layer))


def test_who_asks_for_a_direct_sum_gets_it():
    """HIGHEST precision, and a policy, forbid Winograd: the result is another, and nearer."""
    layer = Layer((16, 16), 64, 64, (3, 3), padding=around(1), first=False)
    x, w = layer.arrays()
    usual = hloom.compile(layer.apply, x, w, bind={1: w})
    direct = hloom.compile(layer.apply, x, w, bind={1: w}, policy={"kernel": [{"op": "convolution", "use": "direct"}]})
    with jax.default_matmul_precision("highest"):
        precise = hloom.compile(layer.apply, x, w, bind={1: w})
    np.testing.assert_array_equal(direct(x), precise(x))
    assert (usual(x) != direct(x)).any()
    assert ("Winograd" in usual.report.text(), "Winograd" in direct.report.text()) == (True, False)


sizes = st.integers(1, 9)


@st.composite
def any_layer(draw) -> Layer:
    rank = draw(st.integers(1, 3))
    taps = tuple(draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    dilation = draw(st.integers(1, 2))
    padding = tuple(draw(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=rank, max_size=rank)))
    reach = [(t - 1) * dilation + 1 for t in taps]
    size = tuple(max(draw(sizes), r - sum(p)) for r, p in zip(reach, padding))
    groups = draw(st.sampled_from([1, 1, 2, 8]))
    channels, features = (groups * draw(st.integers(1, most)) for most in (5, 20))
    return Layer(
        size, channels, features, taps, draw(st.integers(1, 3)), padding, dilation, draw(st.integers(1, 2)), groups, draw(st.booleans())
    )


@settings(max_examples=3, deadline=None)
@given(st.lists(any_layer(), min_size=5, max_size=5), st.booleans())
def test_any_layer(layers, bound):
    check(layers, "cpu-avx2", bound)


def test_batch_norm_goes_into_the_weights():
    """What scales and shifts the channels is one addition at run time, as is what several such layers leave."""
    one = Layer((9, 9), 8, 24, (3, 3), padding=around(1), first=False)
    x, w = one.arrays()
    mean, variance, scale, bias = (np.random.default_rng(seed).uniform(0.5, 2, 24).astype(np.float32) for seed in range(4))

    def normed(x: Any) -> Any:
        y = one.apply(x, w) + bias
        y = (y - mean) / np.sqrt(variance + 1e-5) * scale + bias
        return jax.nn.relu(2 * y - 1)

    found = hloom.compile(normed, x)(x)
    np.testing.assert_allclose(found, jax.jit(normed)(x), rtol=2e-5, atol=2e-5)


def test_a_tap_on_padding_is_no_product():
    """An infinite weight over padding gives no NaN: the tap is left out, where XLA multiplies it by zero."""
    layer = Layer((4, 4), 8, 8, (3, 3), padding=around(1), first=False)
    x, w = layer.arrays()
    w[0, 0] = np.inf
    found = hloom.compile(layer.apply, np.abs(x), w, target="cpu-avx2")(np.abs(x), w)
    assert not np.isnan(found).any() and np.isinf(found[0, 1:, 1:]).all() and np.isfinite(found[0, 0]).all()
