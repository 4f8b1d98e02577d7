"""A convolution as PTX, for where cuDNN has no plan: a thread an element of the result, one product after the other.

Sizes and strides are numbers in the text, which the driver assembles when the program is loaded. It is right, and slow: a kernel that the
compiler generates is many times as fast.

A gradient is a convolution as well: that by the weights has the images as its channels, the channels as its images, and windows of images;
that by the input reads the weights from the last tap to the first, and zeros between the elements of what it convolves. Each group of one
is a launch of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

NAME = "hloom_convolution"
THREADS = 256


@dataclass(frozen=True)
class _Type:
    nbytes: int
    bits: str
    total: str
    widen: str
    narrow: str


_TYPES = {
    "f16": _Type(2, "b16", "f32", "cvt.f32.f16 {to}, {of};", "cvt.rn.f16.f32 {to}, {of};"),
    "bf16": _Type(2, "b16", "f32", "mov.b32 {to}, {{0, {of}}};", "cvt.rn.bf16.f32 {to}, {of};"),
    "f32": _Type(4, "b32", "f32", "mov.b32 {to}, {of};", "mov.b32 {to}, {of};"),
    "f64": _Type(8, "b64", "f64", "mov.b64 {to}, {of};", "mov.b64 {to}, {of};"),
}


def grid_of(thunk: Mapping[str, Any]) -> tuple[int, int, int]:
    return -(-prod(_forward(thunk)["output"]) // THREADS), 1, 1


def offsets_of(thunk: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """The bytes by which each launch reads and writes behind the addresses of what the thunk reads and writes."""
    groups, makes, nbytes = thunk["groups"], thunk["makes"], _TYPES[thunk["element"]].nbytes
    if makes == "output":
        return [(0,) * (3 + thunk["bias"] + thunk["residual"])]
    c, k = thunk["input"][1] // groups, thunk["output"][1] // groups
    steps = {"input": c * thunk["input_strides"][1], "filter": k * thunk["filter_strides"][0], "output": k * thunk["output_strides"][1]}
    names = {"filter": ("input", "output", "filter"), "input": ("output", "filter", "input")}[makes]
    return [tuple(group * steps[name] * nbytes for name in names) for group in range(groups)]


def _forward(thunk: Mapping[str, Any]) -> dict[str, Any]:
    """The convolution that the thunk is, a group of it if it is a gradient.

    `base`: the distance of two elements of x among zeros; `first`: where the first weight lies.
    """
    rank, groups = len(thunk["output"]) - 2, thunk["groups"]
    plain = {**thunk, "base": [1] * rank, "first": 0}
    if thunk["makes"] == "output":
        return plain
    sizes = {name: _exchanged(thunk[name]) for name in ("input", "filter", "output")}
    strides = {name: _exchanged(thunk[f"{name}_strides"]) for name in sizes}
    c, k, taps = thunk["input"][1] // groups, thunk["output"][1] // groups, thunk["filter"][2:]
    if thunk["makes"] == "filter":
        changed = {
            "input": [c, *sizes["input"][1:]], "filter": [k, *sizes["output"][1:]], "output": [c, k, *taps],
            "input_strides": strides["input"], "filter_strides": strides["output"], "output_strides": strides["filter"],
            "window_strides": thunk["dilations"], "dilations": thunk["window_strides"],
        }  # fmt: skip
        return {**plain, **changed, "groups": 1}
    n, turned = thunk["input"][0], strides["filter"]
    changed = {
        "input": [n, k, *thunk["output"][2:]], "filter": [c, k, *taps], "output": [n, c, *thunk["input"][2:]],
        "input_strides": thunk["output_strides"], "filter_strides": [*turned[:2], *(-stride for stride in turned[2:])],
        "output_strides": thunk["input_strides"], "window_strides": [1] * rank, "base": thunk["window_strides"],
        "padding_low": [(tap - 1) * apart - low for tap, apart, low in zip(taps, thunk["dilations"], thunk["padding_low"])],
        "first": sum((tap - 1) * stride for tap, stride in zip(taps, turned[2:])),
    }  # fmt: skip
    return {**plain, **changed, "groups": 1}


def _exchanged(values: Sequence[int]) -> list[int]:
    return [values[1], values[0], *values[2:]]


def text_of(thunk: Mapping[str, Any]) -> str:
    """The kernel of a thunk; its arguments are the addresses, moved by `offsets_of`, of what the thunk reads and writes, in that order."""
    thunk = _forward(thunk)
    kind, rank = _TYPES[thunk["element"]], len(thunk["output"]) - 2
    names = ["x", "w", *["bias"] * bool(thunk["bias"]), *["residual"] * bool(thunk["residual"]), "y"]
    numbered = [*(f"c{d}" for d in range(rank + 2)), *(f"{name}{d}" for name in "tsi" for d in range(rank))]
    registers = [*names, "id", "place", "from", "weight", "channel", "at", *numbered]
    body = [
        *(f"ld.param.u64 %{name}, [{name}_];" for name in names),
        "mov.u32 %word, %ctaid.x; mul.wide.u32 %id, %word, " + f"{THREADS};",
        "mov.u32 %word, %tid.x; cvt.u64.u32 %at, %word; add.u64 %id, %id, %at;",
        f"setp.ge.u64 %p, %id, {prod(thunk['output'])}; @%p bra END;",
        *_coordinates(thunk["output"]),
        *_starts(thunk, rank),
        f"mov.{kind.total} %sum, 0{'d' if kind.total == 'f64' else 'f'}{'0' * (16 if kind.total == 'f64' else 8)};",
        *_products(thunk, kind, rank),
        *_finished(thunk, kind),
        "END: ret;",
    ]
    parameters = ", ".join(f".param .u64 {name}_" for name in names)
    declared = [
        f".reg .b64 {', '.join(f'%{name}' for name in registers)};",
        f".reg .b32 %word; .reg .pred %p; .reg .{kind.bits} %bits; .reg .{kind.total} %sum, %one, %other;",
    ]
    lines = "\n".join(f"  {line}" for line in (*declared, *body))
    return f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {NAME}({parameters})\n{{\n{lines}\n}}\n"


def _coordinates(sizes: list[int]) -> list[str]:
    """Of this thread's element: %c0 and so on."""
    return [f"rem.u64 %c{d}, %id, {size}; div.u64 %id, %id, {size};" for d, size in reversed([*enumerate(sizes)])]


def _starts(thunk: Mapping[str, Any], rank: int) -> list[str]:
    """Elements before that of y, before the first weight, before the group's first channel of x; the window's first place."""
    per_group, depth = thunk["filter"][0] // thunk["groups"], thunk["filter"][1]
    (batch, channel), lines = thunk["input_strides"][:2], ["mov.u64 %place, 0;"]
    lines += [f"mad.lo.u64 %place, %c{d}, {stride}, %place;" for d, stride in enumerate(thunk["output_strides"])]
    lines += [f"mad.lo.u64 %weight, %c1, {thunk['filter_strides'][0]}, {thunk['first']};", f"div.u64 %at, %c1, {per_group};"]
    lines += [f"mul.lo.u64 %from, %c0, {batch};", f"mad.lo.u64 %from, %at, {depth * channel}, %from;"]
    for d in range(rank):
        lines += [f"mul.lo.s64 %s{d}, %c{d + 2}, {thunk['window_strides'][d]};", f"sub.s64 %s{d}, %s{d}, {thunk['padding_low'][d]};"]
    return lines


def _products(thunk: Mapping[str, Any], kind: _Type, rank: int) -> list[str]:
    """Loops over channels and taps; a tap outside of x is passed over. %s: the place that a tap reads; %i: the element of x there."""
    innermost = [f"mad.lo.u64 %at, %channel, {thunk['input_strides'][1]}, %from;"]
    innermost += [f"mad.lo.u64 %at, %i{d}, {thunk['input_strides'][d + 2]}, %at;" for d in range(rank)]
    innermost += _loaded(kind, "x", "one")
    innermost += [f"mad.lo.u64 %at, %channel, {thunk['filter_strides'][1]}, %weight;"]
    innermost += [f"mad.lo.s64 %at, %t{d}, {thunk['filter_strides'][d + 2]}, %at;" for d in range(rank)]
    innermost += [*_loaded(kind, "w", "other"), f"fma.rn.{kind.total} %sum, %one, %other, %sum;"]
    for d in reversed(range(rank)):
        taps, dilation, base = thunk["filter"][d + 2], thunk["dilations"][d], thunk["base"][d]
        innermost = [
            f"mov.u64 %t{d}, 0;",
            f"L{d}: setp.ge.u64 %p, %s{d}, {thunk['input'][d + 2] * base}; @%p bra N{d};",  # below 0 is large without a sign
            f"rem.u64 %i{d}, %s{d}, {base}; setp.ne.u64 %p, %i{d}, 0; @%p bra N{d}; div.u64 %i{d}, %s{d}, {base};",
            *innermost,
            f"N{d}: add.s64 %s{d}, %s{d}, {dilation}; add.u64 %t{d}, %t{d}, 1;",
            f"setp.lt.u64 %p, %t{d}, {taps}; @%p bra L{d};",
            f"sub.s64 %s{d}, %s{d}, {taps * dilation};",
        ]
    loop = ["mov.u64 %channel, 0;", "C:", *innermost, "add.u64 %channel, %channel, 1;"]
    nothing = 0 in thunk["filter"]
    return [] if nothing else [*loop, f"setp.lt.u64 %p, %channel, {thunk['filter'][1]}; @%p bra C;"]


def _finished(thunk: Mapping[str, Any], kind: _Type) -> list[str]:
    lines = []
    if thunk["residual"]:
        lines += ["mov.u64 %at, %place;", *_loaded(kind, "residual", "one"), f"add.rn.{kind.total} %sum, %sum, %one;"]
    if thunk["bias"]:
        lines += ["mov.u64 %at, %c1;", *_loaded(kind, "bias", "one"), f"add.rn.{kind.total} %sum, %sum, %one;"]
    if thunk["relu"]:  # NaN is not below 0, and stays
        zero = "0d0000000000000000" if kind.total == "f64" else "0f00000000"
        lines += [f"setp.lt.{kind.total} %p, %sum, {zero}; selp.{kind.total} %sum, {zero}, %sum, %p;"]
    narrowed = kind.narrow.format(to="%bits", of="%sum")
    return [*lines, narrowed, f"mad.lo.u64 %at, %place, {kind.nbytes}, %y;", f"st.global.{kind.bits} [%at], %bits;"]


def _loaded(kind: _Type, tensor: str, into: str) -> list[str]:
    """The element number %at."""
    widened = kind.widen.format(to=f"%{into}", of="%bits")
    return [f"mad.lo.u64 %at, %at, {kind.nbytes}, %{tensor};", f"ld.global.{kind.bits} %bits, [%at];", widened]
