"""Convolutions as the planner may give them to cuDNN: every layout, type, epilogue and window of passes/library_calls/conv.py."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

ELEMENTS = ("f16", "bf16", "f32")
LAYOUTS = tuple(itertools.product((False, True), repeat=3))
"""Whether the channels of x, w and y come last."""
EPILOGUES = tuple(itertools.product((0, 1), repeat=3))
"""Bias, residual, relu."""


def strides(sizes: list[int], last: bool) -> list[int]:
    order = [0, *range(2, len(sizes)), 1] if last else range(len(sizes))
    found, step = [0] * len(sizes), 1
    for axis in reversed(list(order)):
        found[axis], step = step, step * sizes[axis]
    return found


def conv_thunk(
    element: str,
    layout: tuple[bool, bool, bool] = (True, True, True),
    epilogue: tuple[int, int, int] = (0, 0, 0),
    *,
    x: list[int],
    features: int,
    window: list[int],
    stride: int = 1,
    padding: tuple[int, int] = (0, 0),
    dilation: int = 1,
    groups: int = 1,
    makes: str = "output",
) -> dict[str, Any]:
    spatial = len(x) - 2
    w = [features, x[1] // groups, *window]
    sizes = ((sum(padding) + extent - dilation * (taps - 1) - 1) // stride + 1 for extent, taps in zip(x[2:], window))
    y = [x[0], features, *sizes]
    tensors = dict(zip(("input", "filter", "output"), (x, w, y)))
    return {
        "element": element, **tensors, **{f"{name}_strides": strides(sizes, last) for (name, sizes), last in zip(tensors.items(), layout)},
        "window_strides": [stride] * spatial, "padding_low": [padding[0]] * spatial, "padding_high": [padding[1]] * spatial,
        "dilations": [dilation] * spatial, "groups": groups, "makes": makes, **dict(zip(("bias", "residual", "relu"), epilogue)),
    }  # fmt: skip


def of_every_layout() -> Iterator[dict[str, Any]]:
    for element, layout, epilogue in itertools.product(ELEMENTS, LAYOUTS, EPILOGUES):
        yield conv_thunk(element, layout, epilogue, x=[2, 32, 14, 14], features=64, window=[3, 3], padding=(1, 1))


def random_windows(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Of one, two and three dimensions, with strides, dilations, uneven padding, groups, and channels that fill no vector."""
    draw = random.Random(seed)
    while count:
        spatial, taps = draw.choice((1, 2, 2, 2, 3)), draw.choice((1, 2, 3, 5))
        channels = draw.choice((1, 3, 16, 31, 64, 128))
        groups = draw.choice([g for g in (1, 1, 2, 4, channels) if channels % g == 0])
        features = groups * draw.choice((1, 2, 8, 33))
        extent = draw.choice((9, 16, 27))
        padding, dilation = (draw.randrange(taps), draw.randrange(taps)), draw.choice((1, 1, 2))
        if dilation * (taps - 1) >= extent + sum(padding):
            continue
        count -= 1
        yield conv_thunk(
            draw.choice(ELEMENTS), draw.choice(LAYOUTS), draw.choice(EPILOGUES), x=[draw.choice((1, 2, 8)), channels, *[extent] * spatial],
            features=features, window=[taps] * spatial, stride=draw.choice((1, 2)), padding=padding, dilation=dilation, groups=groups,
        )  # fmt: skip


def random_gradients(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Of random windows padded alike on both sides, channels last: by the weights and, where there are no groups, by the input."""
    draw = random.Random(seed)
    for thunk in random_windows(count, seed):
        makes = draw.choice(("filter", "input")) if thunk["groups"] == 1 else "filter"
        kept = {name: thunk[name][0] for name in ("window_strides", "dilations", "padding_low")}
        yield conv_thunk(
            thunk["element"], x=thunk["input"], features=thunk["filter"][0], window=thunk["filter"][2:], stride=kept["window_strides"],
            padding=(kept["padding_low"],) * 2, dilation=kept["dilations"], groups=thunk["groups"], makes=makes,
        )  # fmt: skip
