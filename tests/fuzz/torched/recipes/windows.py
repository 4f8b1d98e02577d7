"""Convolutions, pools, resizes, samples."""

from __future__ import annotations

from ...errors import Unsuitable
from ..builder import Builder, Made, recipe


@recipe
def convolution(b: Builder) -> Made:
    rank = b.one(1, 2, 2, 2, 3)
    x = b.image(rank + 2, 2500)
    channels, kernel = x.shape[1], [min(b.number(1, 3), extent) for extent in x.shape[2:]]
    groups = b.one(*(n for n in range(1, channels + 1) if channels % n == 0)) if b.chance(0.4) else 1
    out = groups * b.number(1, 3)
    stride, padding, dilation = b.number(1, 2), b.number(0, 1), b.one(1, 1, 2)
    if b.chance(0.3):
        w = b.same([channels, out // groups, *kernel], x.dtype)
        more = f"stride={stride}, padding={padding}, groups={groups}, dilation={dilation}, output_padding={b.number(0, stride - 1)}"
        return Made(f"F.conv_transpose{rank}d({x}, {w}, {b.one(None, b.same([out], x.dtype))}, {more})")
    w = b.same([out, channels // groups, *kernel], x.dtype)
    where = repr(b.one("same", "valid")) if stride == 1 and b.chance(0.2) else padding
    more = f"stride={stride}, padding={where}, groups={groups}, dilation={dilation}"
    return Made(f"F.conv{rank}d({x}, {w}, {b.one(None, b.same([out], x.dtype))}, {more})")


@recipe
def pool(b: Builder) -> Made:
    rank = b.one(1, 2, 2, 3)
    x = b.image(rank + 2)
    size, stride = b.number(1, 3), b.number(1, 3)
    padding = b.number(0, size // 2)
    ceil = b.chance(0.4)
    match b.number(0, 5):
        case 0:
            return Made(f"F.avg_pool{rank}d({x}, {size}, {stride}, {padding}, ceil_mode={ceil}, count_include_pad={b.chance(0.5)})")
        case 1:
            return Made(f"F.adaptive_avg_pool{rank}d({x}, {b.number(1, 4)})")
        case 2 if x.exact:
            return Made(f"F.adaptive_max_pool{rank}d({x}, {b.number(1, 4)})", True)
        case 3 if x.exact:
            return Made(f"F.max_pool{rank}d({x}, {size}, {stride}, {padding}, return_indices=True, ceil_mode={ceil})", True, 2)
        case 4:
            return Made(f"F.lp_pool{min(rank, 2)}d({x}.abs() + 0.1, 2, {size}, {stride}, {ceil})")
        case _:
            return Made(f"F.max_pool{rank}d({x}, {size}, {stride}, {padding}, dilation={b.one(1, 1, 2)}, ceil_mode={ceil})", x.exact)


@recipe
def unpool(b: Builder) -> Made:
    x = b.image(4)
    y, at = b._run(Made(f"F.max_pool2d({x}, 2, 2, return_indices=True)", x.exact, 2), "")
    return Made(f"F.max_unpool2d({y}, {at}, 2, 2, output_size={x}.shape)", x.exact)


@recipe
def interpolate(b: Builder) -> Made:
    rank = b.one(1, 2, 2, 2, 3)
    x = b.image(rank + 2, 1200)
    modes = {
        1: ("nearest", "linear", "area", "nearest-exact"),
        2: ("nearest", "bilinear", "bicubic", "area", "nearest-exact"),
        3: ("nearest", "trilinear", "area"),
    }
    mode = b.one(*modes[rank])
    sized = f"size={[b.number(1, 9) for _ in range(rank)]}" if b.chance(0.5) else f"scale_factor={b.one(2, 0.5, 1.5, 1.7)}"
    more = ""
    if mode.endswith(("linear", "bicubic")):
        more = f", align_corners={b.chance(0.5)}"
        if rank == 2 and b.chance(0.3):  # to columns of one element eager's are wrong
            sized, more = f"size={[b.number(2, 9) for _ in range(rank)]}", ", antialias=True"
    return Made(f"F.interpolate({x}, {sized}, mode={mode!r}{more})")


@recipe
def sample(b: Builder) -> Made:
    x = b.image(4, 1500)
    rows, columns = b.number(1, 5), b.number(1, 5)
    line = f"torch.tanh(torch.arange({2 * x.shape[0] * rows * columns}, dtype=torch.float64) * 0.37 - 2) * 1.2"
    grid = f"({line}).reshape({x.shape[0]}, {rows}, {columns}, 2).to({x.dtype})"
    if b.chance(0.3):
        theta = f"torch.tensor([[[0.9, 0.1, 0.05], [-0.2, 1.1, 0.1]]]).to({x.dtype}).expand({x.shape[0]}, 2, 3)"
        grid = f"F.affine_grid({theta}, [{x.shape[0]}, 1, {rows}, {columns}], align_corners=False)"
    mode = b.one("bilinear", "bilinear", "bicubic")
    return Made(
        f"F.grid_sample({x}, {grid}, mode={mode!r}, padding_mode={b.one('zeros', 'border', 'reflection')!r}, align_corners={b.chance(0.5)})"
    )


@recipe
def folds(b: Builder) -> Made:
    x = b.image(4, 1500)
    size = b.number(1, 2)
    match b.number(0, 3):
        case 0:
            return Made(f"F.unfold({x}, {size}, dilation={b.number(1, 2)}, padding={b.number(0, 1)}, stride={b.number(1, 2)})", x.exact)
        case 1 if x.shape[2] % size == 0 and x.shape[3] % size == 0:
            return Made(f"F.fold(F.unfold({x}, {size}, stride={size}), {list(x.shape[2:])}, {size}, stride={size})")
        case 2 if x.shape[2] % 2 == 0 and x.shape[3] % 2 == 0:
            return Made(f"F.pixel_unshuffle({x}, 2)", x.exact)
        case 3 if x.shape[1] % 4 == 0:
            return Made(f"F.pixel_shuffle({x}, 2)", x.exact)
    raise Unsuitable


@recipe
def layers(b: Builder) -> Made:
    """Modules with parameters and buffers."""
    rank = b.one(1, 2, 2, 3)
    x = b.image(rank + 2, 2500)
    channels = x.shape[1]
    dtype = f", dtype={x.dtype}" if str(x.dtype) != "torch.float32" else ""
    texts = (
        f"BatchNorm{rank}d({channels}{b.one('', ', momentum=0.3', ', affine=False')}{dtype})",
        f"BatchNorm{rank}d({channels}{dtype})",
        f"BatchNorm{rank}d({channels}{dtype}).eval()",
        f"InstanceNorm{rank}d({channels}, affine=True{dtype}){b.one('', '.eval()')}",
        f"Conv{rank}d({channels}, {b.number(1, 4)}, {min(2, *x.shape[2:])}{dtype})",
        f"GroupNorm(1, {channels}{dtype})",
        f"Linear({x.shape[-1]}, {b.number(1, 6)}{dtype})",
        f"PReLU({channels}{dtype})",
    )
    return Made(f"{b.module(b.one(*texts))}({x})")


@recipe
def recurrent(b: Builder) -> Made:
    x = b.floats(full=True, most=600)
    if x.ndim != 3 or x.dtype.itemsize != 4:
        raise Unsuitable
    width = b.number(1, 5)
    kind = b.one("GRUCell", "LSTMCell", "RNNCell")
    call = f"{b.module(f'{kind}({x.shape[-1]}, {width})')}({x}[0])"
    return Made(f"{call}[0]" if kind == "LSTMCell" else call)
