"""Depthwise convolutions as GPU kernels on the simulator, against the reference interpreter: windows, strides, padding, edges, types."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from numerics.gpu_groups import CONTRACTIONS, check_program, gpu_kernels

from hloom.compiler.interpreter import Interpreter
from hloom.passes.common.rewriting import symbol_name, walk


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter() as process:
        yield process


@dataclass(frozen=True)
class Case:
    """A convolution with its channels last, depthwise where no features are told: images, extents, channels; the window, and what it ends
    in."""

    name: str
    images: int
    extents: tuple[int, ...]
    channels: int
    taps: tuple[int, ...]
    strides: tuple[int, ...] = ()
    pads: tuple[tuple[int, int], ...] = ()
    dilations: tuple[int, ...] = ()
    element: str = "bf16"
    relu: bool = False
    features: int = 0

    def __str__(self) -> str:
        return self.name

    @property
    def text(self) -> str:
        rank = len(self.extents)
        ones = (1,) * rank
        strides, pads, dilations = self.strides or ones, self.pads or ((0, 0),) * rank, self.dilations or ones
        outs = [
            (low + extent + high - (taps - 1) * apart - 1) // step + 1
            for extent, taps, step, (low, high), apart in zip(self.extents, self.taps, strides, pads, dilations)
        ]
        inside = ", ".join(map(str, range(rank)))
        features, depth = self.features or self.channels, self.channels if self.features else 1
        x, w, y, bias = (
            f"tensor<{'x'.join(map(str, shape))}x{self.element}>"
            for shape in (
                (self.images, *self.extents, self.channels),
                (*self.taps, depth, features),
                (self.images, *outs, features),
                (features,),
            )
        )
        window = f"stride = {list(strides)}, pad = {[list(pair) for pair in pads]}, rhs_dilate = {list(dilations)}"
        tail = (
            f"""%z = stablehlo.constant dense<0.0> : {y}
  %b = stablehlo.broadcast_in_dim %bias, dims = [{rank + 1}] : ({bias}) -> {y}
  %s = stablehlo.add %c, %b : {y}
  %r = stablehlo.maximum %s, %z : {y}"""
            if self.relu
            else f"%r = stablehlo.convert %c : {y}"
        )
        return f"""func.func @main(%x: {x}, %w: {w}, %bias: {bias}) -> {y} {{
  %c = stablehlo.convolution(%x, %w) dim_numbers = [b, {inside}, f]x[{inside}, i, o]->[b, {inside}, f], window = {{{window}}}
    {{batch_group_count = 1 : i64, feature_group_count = {self.channels // depth} : i64}} : ({x}, {w}) -> {y}
  {tail}
  return %r : {y}
}}"""


CASES = [
    Case("3x3", 2, (13, 17), 48, (3, 3), pads=((1, 1), (1, 1)), relu=True),
    Case("7x7", 1, (15, 11), 32, (7, 7), pads=((3, 3), (3, 3))),
    Case("stride", 2, (14, 19), 24, (3, 3), (2, 2), ((0, 1), (1, 0)), element="f16"),
    Case("dilated", 1, (16, 15), 6, (3, 3), dilations=(2, 3), pads=((2, 1), (3, 5)), element="f32", relu=True),
    Case("all_padding", 1, (4, 3), 8, (5, 5), pads=((6, 4), (4, 7)), element="f32"),
    Case("odd_channels", 1, (9, 8), 7, (3, 5), (1, 3), ((1, 1), (2, 2))),
    Case("line", 2, (50,), 16, (4,), pads=((3, 0),), relu=True),
    Case("volume", 1, (5, 6, 7), 8, (3, 3, 3), pads=((1, 1), (0, 2), (1, 1)), element="f32"),
    Case("plain", 1, (12, 12), 64, (5, 5)),
    Case("first_layer", 2, (21, 18), 3, (3, 3), (2, 2), relu=True, features=32),
    Case("first_layer_f16", 1, (12, 13), 1, (5, 5), element="f16", features=8),
    Case("f64", 1, (9, 10), 6, (3, 3), (2, 1), element="f64"),
    Case("integers", 1, (9, 10), 6, (3, 3), element="i32"),
    Case("large_window", 1, (40, 9), 4, (31, 31), pads=((15, 15), (15, 15)), element="f32"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_windows(case: Case, interpreter) -> None:
    module, _ = gpu_kernels(case.text, passes=CONTRACTIONS)
    (kernel,) = walk(module.operation, "gpu.func")
    assert "thread" in str(kernel.attributes["hloom.layouts"]), symbol_name(kernel)
    check_program(case.text, interpreter, passes=CONTRACTIONS)


CHANNELS_FIRST = """
func.func @main(%x: tensor<2x6x11x9xbf16>, %w: tensor<6x1x3x3xbf16>, %y: tensor<2x6x11x8xbf16>) -> tensor<2x6x11x8xbf16> {
  %c = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [0, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 6 : i64} : (tensor<2x6x11x9xbf16>, tensor<6x1x3x3xbf16>) -> tensor<2x6x11x8xbf16>
  %s = stablehlo.add %c, %y : tensor<2x6x11x8xbf16>
  return %s : tensor<2x6x11x8xbf16>
}"""


def test_a_result_with_the_channels_first_is_no_window_of_neighbours(interpreter) -> None:
    """What the kernel declines reads its padding at computed indices."""
    check_program(CHANNELS_FIRST, interpreter, passes=CONTRACTIONS)


def test_elements_are_loaded_once_for_all_taps() -> None:
    """Two rows of seven windows of 7 x 7 cover 8 x 13 elements, whose 49 taps are loaded once as well; padding takes no kernel."""
    case = Case("large", 32, (56, 56), 96, (7, 7), pads=((3, 3), (3, 3)))
    module, _ = gpu_kernels(case.text, passes=CONTRACTIONS)
    (kernel,) = walk(module.operation, "gpu.func")
    assert 'thread = "2x7x2"' in str(kernel.attributes["hloom.layouts"])
    buffers = [load.operands[0] for load in walk(kernel, "vector.load")]
    assert [buffers.count(kernel.regions[0].blocks[0].arguments[i]) for i in range(2)] == [8 * 13, 49]
