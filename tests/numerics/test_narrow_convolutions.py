"""Convolutions of halves and small integers: widened, by pairs and by quads; with AVX2 as here, for other processors with functions in
place of the instructions, or under qemu-user."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import aarch64
import jax
import ml_dtypes
import numpy as np
import pytest
import torch
from jax import lax
from x86_emulation import emulate

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.frontend import read_program
from hloom.compiler.target import host, load_target

TARGETS = Path(__file__).parents[1] / "targets"
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f64": np.float64, "i8": np.int8, "ui8": np.uint8, "i16": np.int16}
FLOATS, WHOLE = ("bf16", "f16", "f64"), ("i8", "ui8", "i16")
NAMES = ("NHWC", "HWIO", "NHWC")


@dataclass(frozen=True)
class Layer:
    size: tuple[int, int]
    channels: int
    features: int
    taps: tuple[int, int]
    padding: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))
    stride: int = 1
    dilation: int = 1
    batch: int = 1
    groups: int = 1

    def arrays(self, kind: str) -> list[np.ndarray]:
        rng = np.random.default_rng(self.channels)
        shapes = (self.batch, *self.size, self.channels), (*self.taps, self.channels // self.groups, self.features)
        if kind in FLOATS:
            return [rng.standard_normal(shape).astype(TYPES[kind]) for shape in shapes]
        bounds = np.iinfo(TYPES[kind])
        return [rng.integers(bounds.min, bounds.max, shape, TYPES[kind], endpoint=True) for shape in shapes]

    def apply(self, x: jax.Array, w: jax.Array, result: type) -> jax.Array:
        strides, dilations = (self.stride,) * 2, (self.dilation,) * 2
        more = {"rhs_dilation": dilations, "feature_group_count": self.groups, "preferred_element_type": result}
        return lax.conv_general_dilated(x, w, strides, self.padding, dimension_numbers=NAMES, **more)


LAYERS = [
    Layer((9, 14), 16, 72, (3, 3), ((1, 1), (1, 1))),
    Layer((11, 9), 3, 32, (5, 4), ((2, 0), (0, 3)), stride=2, batch=2),
    Layer((9, 8), 19, 40, (1, 1)),
    Layer((13, 12), 10, 32, (3, 2), ((2, 3), (2, 1)), dilation=2),
    Layer((6, 7), 32, 64, (3, 3), ((1, 1), (1, 1)), groups=2),
    Layer((20, 21), 3, 64, (7, 7), ((3, 3), (3, 3)), stride=2),
    Layer((7, 13), 1, 32, (3, 7), ((1, 1), (3, 2))),
    Layer((6, 3), 3, 32, (3, 7), ((0, 0), (5, 5))),
    Layer((8, 28), 2, 32, (3, 3), ((1, 1), (1, 1))),
    Layer((28, 5), 1, 32, (7, 1), ((3, 3), (0, 0)), stride=3),
    Layer((5, 11), 4, 32, (3, 3), ((1, 1), (1, 1))),
    Layer((30, 29), 33, 32, (4, 1), ((1, 1), (0, 0)), dilation=3),
    Layer((22, 31), 1, 32, (2, 3), ((0, 0), (1, 1))),
    Layer((9, 14), 48, 48, (3, 3), ((1, 1), (1, 1)), groups=2),
    Layer((14, 14), 32, 64, (3, 3), ((1, 1), (1, 1))),
    Layer((5, 5), 32, 32, (3, 3), ((1, 1), (1, 1)), groups=32),
]
"""Few channels share lanes with the taps, or a pixel is a lane, windows reaching into padding on both sides. The last but one by Winograd's
algorithm where it is of halves, and its weights are bound."""


def check(target, layers: list[tuple[Layer, str]], instruction: str, bound: bool = True) -> str:
    """The kernels of one program of layers of these types, which hold the instruction."""
    cases = [(layer, kind, layer.arrays(kind)) for layer, kind in layers]
    xs, ws = [arrays[0] for *_, arrays in cases], [arrays[1] for *_, arrays in cases]
    results = [np.float64 if kind == "f64" else np.float32 if kind in FLOATS else np.int32 for _, kind, _ in cases]

    def program(*arrays: jax.Array) -> list[jax.Array]:
        pairs = zip(arrays, arrays[len(cases) :])
        return [case[0].apply(x, w, result) for case, (x, w), result in zip(cases, pairs, results)]

    with jax.enable_x64(True):
        wide = [array.astype(np.float64) for array in (*xs, *ws)]
        exact = jax.jit(lambda *arrays: [c[0].apply(x, w, None) for c, x, w in zip(cases, arrays, arrays[len(cases) :])])(*wide)
        source = read_program(program, (*xs, *ws))
    bind = {len(xs) + number: w for number, w in enumerate(ws)} if bound else None
    compilation = Compilation.of_program(source, "layers", target=target, bind=bind)
    compilation.to("vector")
    kernels = str(compilation.module)
    found = compilation.executable()(*(xs if bound else (*xs, *ws)))
    for (layer, kind, _), value, right in zip(cases, found, exact, strict=True):
        tolerance = 0 if kind in WHOLE else 1e-12 if kind == "f64" else 2e-5
        right = np.asarray(right).astype(np.int64).astype(np.int32) if kind in WHOLE else right
        np.testing.assert_allclose(value, right, rtol=tolerance, atol=tolerance * 10, err_msg=f"{layer} of {kind}")
    assert instruction in kernels
    return kernels


@pytest.mark.parametrize("bound", [True, False], ids=["bound", "given"])
def test_avx2(bound):
    """Each layer of two types where weights are bound, of two others where they are not."""
    kinds = ("bf16", "i8", "f16", "f64", "ui8", "i16")
    layers = [(layer, kind) for number, layer in enumerate(LAYERS) for kind in kinds[(number + bound) % 3 :: 3]]
    check("cpu-avx2", layers, "pmadd.wd", bound)


def test_vnni(monkeypatch):
    target = emulate(monkeypatch, load_target("cpu-avx2").with_entries({"int8_dot": True}))
    check(target, [(layer, kind) for layer in (*LAYERS[:5], *LAYERS[8:11]) for kind in ("i8", "ui8")], "vpdpbusd.256")


def test_avx512_bf16(monkeypatch):
    target = emulate(monkeypatch, load_target("cpu-avx512").with_entries({"bf16_dot": True}))
    check(target, [(layer, "bf16") for layer in LAYERS], "dpbf16ps.512")


TILED = [
    *(layer for layer in LAYERS if layer.features > 16 and layer.groups < 32),
    Layer((56, 56), 32, 64, (3, 3), ((1, 1), (1, 1))),
    Layer((19, 36), 64, 40, (3, 3), ((1, 1), (1, 1)), batch=2),
    Layer((17, 13), 32, 96, (3, 3), ((1, 1), (1, 1)), stride=2),
    Layer((7, 7), 96, 32, (3, 3), ((1, 1), (1, 1)), batch=3),
    Layer((28, 30), 64, 32, (1, 1), stride=2),
    Layer((12, 25), 32, 48, (2, 3), ((1, 0), (2, 3)), stride=3, dilation=2),
    Layer((1, 150), 64, 32, (1, 31), ((0, 0), (15, 15))),
    Layer((1, 90), 24, 33, (1, 20), ((0, 0), (19, 0)), dilation=2),
    Layer((32, 48), 3, 80, (16, 16), stride=16),
    Layer((8, 21), 64, 3, (3, 3), ((1, 1), (1, 1))),
    Layer((14, 14), 3, 8, (3, 3), ((1, 1), (1, 1))),
    Layer((14, 14), 8, 8, (3, 3), ((1, 1), (1, 1))),
]
"""Lines of one tile and of several, of an even number and an odd one, that tiles fill or not; flat ones; of many taps; few features, and
a depth that is no tile's."""


@pytest.mark.parametrize("kind", ["bf16", "i8", "ui8"])
@pytest.mark.parametrize("bound", [True, False], ids=["bound", "given"])
def test_amx(monkeypatch, kind, bound):
    target = load_target("cpu-amx")
    here = target if host().amx_bf16 and host().amx_int8 else emulate(monkeypatch, target)
    check(here, [(layer, kind) for layer in TILED], "x86.amx.tile_mul" + ("f" if kind == "bf16" else "i"), bound)


@pytest.mark.parametrize("layer", TILED[-3:])
def test_amx_takes_few_features(monkeypatch, layer):
    target = load_target("cpu-amx")
    check(target if host().amx_bf16 else emulate(monkeypatch, target), [(layer, "bf16")], "x86.amx.tile_mulf")


def test_groups_that_share_registers_beside_amx(monkeypatch):
    """Of as many channels as features, stride 1 and 2: no tiles, whole registers."""
    target = load_target("cpu-amx")
    layers = [Layer((9, 14), 32, 32, (3, 3), ((1, 1), (1, 1)), groups=8), Layer((17, 14), 48, 48, (3, 3), ((1, 1), (1, 1)), 2, groups=6)]
    kernels = check(target if host().amx_bf16 else emulate(monkeypatch, target), [(layer, "bf16") for layer in layers], "vector<16xf32>")
    assert "x86.amx" not in kernels


def test_bf16_is_widened_where_dot_products_are_slower(monkeypatch):
    slow = load_target("cpu-amx").with_entries({"amx_bf16": False, "amx_int8": False})
    assert "dpbf16ps" not in check(emulate(monkeypatch, slow), [(layer, "bf16") for layer in LAYERS], "math.fma")


@pytest.mark.parametrize("kind", ["bf16", "i8"])
def test_amx_of_other_processors(monkeypatch, kind):
    """As a processor without AMX runs it, with functions in place of the instructions."""
    target = emulate(monkeypatch, load_target("cpu-amx"))
    check(target, [(layer, kind) for layer in TILED[-12:]], "x86.amx.tile_mul" + ("f" if kind == "bf16" else "i"))


@pytest.mark.skipif(bool(aarch64.MISSING), reason=aarch64.MISSING)
@pytest.mark.parametrize(("kind", "instruction"), [("bf16", "neon.bfdot"), ("i8", "neon.sdot")])
def test_aarch64(kind, instruction):
    with aarch64.emulated():
        check(load_target(str(TARGETS / "small-neon-bf16.toml")), [(layer, kind) for layer in LAYERS[:3]], instruction)


def test_lanes_of_a_window_hold_no_neighbour(monkeypatch):
    """The last lane of a row of taps is filled up with zero, not with the pixel behind the window: that is infinite here."""
    target = emulate(monkeypatch, load_target("cpu-avx512").with_entries({"bf16_dot": True}))
    layer = Layer((3, 17), 3, 32, (3, 3), stride=4)
    x, w = layer.arrays("bf16")
    x[:, :, 3::4] = np.inf
    source = read_program(lambda x, w: layer.apply(x, w, np.float32), (x, w))
    assert np.isfinite(Compilation.of_program(source, "layer", target=target).executable()(x, w)).all()


def test_a_tap_on_padding_is_no_product():
    """An infinite weight over padding gives no NaN where halves are widened, as in f32."""
    layer = Layer((4, 4), 16, 32, (3, 3), ((1, 1), (1, 1)))
    x, w = layer.arrays("bf16")
    w[0, 0] = np.inf
    source = read_program(lambda x, w: layer.apply(x, w, np.float32), (np.abs(x), w))
    found = Compilation.of_program(source, "layer", target="cpu-avx2").executable()(np.abs(x), w)
    assert not np.isnan(found).any() and np.isinf(found[0, 1:, 1:]).all() and np.isfinite(found[0, 0]).all()


@pytest.mark.parametrize("window", [(3, 1), (1, 3)])
def test_taps_along_one_dimension(monkeypatch, window):
    target = emulate(monkeypatch, load_target("cpu-avx512").with_entries({"bf16_dot": True}))
    pads = tuple((size // 2, size // 2) for size in window)
    check(target, [(Layer((14, 13), 32, 64, window, pads), "bf16")], "dpbf16ps.512")


def test_planes_of_neighbouring_images_that_begin_at_one_address():
    """The plane before an image's first is the last of the image before: what the first tile of an image reads begins where what the last
    one of another read does, and of other planes."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 31, 13, 13, 30, generator=generator).bfloat16()

    class Planes(torch.nn.Conv3d):
        def __init__(self):
            super().__init__(31, 24, [2, 3, 3], stride=[1, 2, 2], dilation=[1, 2, 3], padding=[1, 0, 0], dtype=torch.bfloat16)

    module = Planes().eval()
    with torch.no_grad():
        found, expected = hloom.compile(module, x, target="cpu")(x), module.double()(x.double())
    torch.testing.assert_close(found.double(), expected, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("emulated", [False, True])
def test_amx_with_what_is_read_elsewhere(monkeypatch, emulated):
    """A residual of half the lines and pixels, one a line and the number of a line are added to sums whose rows are one matrix."""
    target = load_target("cpu-amx")
    if emulated or not host().amx_bf16:
        target = emulate(monkeypatch, target)
    layer = Layer((8, 10), 24, 32, (3, 3), ((1, 1), (1, 1)))
    (x, w), rng = layer.arrays("bf16"), np.random.default_rng(0)
    half, lines = rng.standard_normal((1, 4, 5, 32), np.float32), rng.standard_normal((1, 8, 1, 32), np.float32)

    def up(half: jax.Array) -> jax.Array:
        return jax.numpy.repeat(jax.numpy.repeat(half, 2, axis=1), 2, axis=2)

    def whole(x: jax.Array, w: jax.Array, half: jax.Array, lines: jax.Array) -> list[jax.Array]:
        sums = layer.apply(x, w, np.float32)
        return [sums + up(half) + lines, layer.apply(x + 1, w, np.float32) + lax.broadcasted_iota(np.float32, sums.shape, 1)]

    source = read_program(whole, (x, w, half, lines))
    found, numbered = Compilation.of_program(source, "layer", target=target).executable()(x, w, half, lines)
    wide = [array.astype(np.float32) for array in (x, w)]
    exact = np.asarray(layer.apply(*wide, np.float32)) + np.asarray(up(half)) + lines
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-4)
    wide[0] = (x + np.asarray(1, x.dtype)).astype(np.float32)
    exact = np.asarray(layer.apply(*wide, np.float32)) + np.arange(8, dtype=np.float32)[:, None, None]
    np.testing.assert_allclose(numbered, exact, rtol=0, atol=1e-4)


GRADIENTS = [
    Layer((9, 13), 40, 72, (3, 3), ((1, 1), (1, 1)), batch=3),
    Layer((17, 66), 16, 33, (3, 3), ((1, 0), (0, 2)), batch=2),
    Layer((11, 30), 24, 32, (3, 5), ((1, 1), (2, 2)), stride=2),
    Layer((12, 12), 32, 64, (1, 3), ((0, 0), (2, 2)), dilation=2, batch=2),
    Layer((40, 40), 20, 48, (1, 1)),
    Layer((9, 10), 48, 64, (3, 3), ((1, 1), (1, 1)), batch=2, groups=2),
    Layer((14, 14), 40, 48, (3, 3), ((1, 1), (1, 1)), batch=2, groups=2),
    Layer((15, 15), 3, 40, (5, 7), ((2, 2), (3, 3)), stride=2, batch=2),
    Layer((15, 9), 40, 24, (1, 1), stride=2, batch=2),
    Layer((9, 20), 1, 32, (3, 9), ((1, 1), (4, 4)), batch=2),
]
"""Whose left operand is transposed, or right one; groups; taps that are rows together, or read lines of others; odd numbers of steps."""


@pytest.mark.parametrize("emulated", [False, True])
def test_amx_gradients_by_weights(monkeypatch, emulated):
    target = load_target("cpu-amx")
    if emulated or not host().amx_bf16:
        target = emulate(monkeypatch, target)
    for layer in GRADIENTS:
        x, w = layer.arrays("bf16")
        g = np.asarray(layer.apply(x, w, np.float32)).astype(ml_dtypes.bfloat16)
        x[0, 0, -1, 0] = np.inf  # where steps of no tap meet it, a padded one would make NaN of it

        def by_weights(x: jax.Array, g: jax.Array, layer: Layer = layer, w: np.ndarray = w) -> jax.Array:
            return jax.vjp(lambda w: layer.apply(x, w, np.float32), w)[1](g.astype(np.float32))[0]

        def exact(x: jax.Array, g: jax.Array, layer: Layer = layer, w: np.ndarray = w) -> jax.Array:
            return jax.vjp(lambda w: layer.apply(x.astype(np.float32), w, None), w.astype(np.float32))[1](g.astype(np.float32))[0]

        compilation = Compilation.of_program(read_program(by_weights, (x, g)), "gradient", target=target)
        compilation.to("vector")
        assert "x86.amx.tile_mulf" in str(compilation.module), layer
        found, right = compilation.executable()(x, g), np.asarray(jax.jit(exact)(x, g))
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(right), err_msg=str(layer))
        finite = np.isfinite(right)
        scale = np.abs(right[finite]).max()
        np.testing.assert_allclose(np.asarray(found)[finite] / scale, right[finite] / scale, rtol=0, atol=2**-7, err_msg=str(layer))


def test_panels_that_are_filled_up_to_registers_stay_in_the_cache():
    """Four features of a group are a quarter of a register: a panel of all lines would be four times as large as what it holds."""
    torch.manual_seed(0)
    x = torch.randn(2, 64, 37, 26).to(torch.bfloat16).to(memory_format=torch.channels_last)
    w, g = (torch.randn(shape).to(torch.bfloat16) for shape in ((8, 32, 2, 1), (2, 8, 40, 30)))

    def by_weights(x, w, g):
        numbers = ([1, 1], [2, 2], [1, 1], False, [0, 0], 2, [False, True, False])
        return torch.ops.aten.convolution_backward(g, x, w, None, *numbers)[1]

    Compilation.of(by_weights, (x, w, g), target="cpu-amx").to("vector")  # whose check of the stack raises no error
    expected = by_weights(x.double(), w.double(), g.double())
    found = hloom.compile(by_weights, x, w, g)(x, w, g).double()
    torch.testing.assert_close(found, expected, rtol=0, atol=2**-7 * expected.abs().max().item())
