"""Pools, padding, resampling: ceil mode, dilations, windows over the border, sizes that do not divide, no batch, scale factors."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {
    "nn.MaxPool1d": ("(3, 2, ceil_mode=True)(f(2, 3, 8))", "(2, 3, 1, 2)(f(3, 9))", "(3, 1, 1)(bf(1, 2, 5))"),
    "nn.MaxPool2d": (
        "(2, 2, 0, ceil_mode=True)(f(2, 3, 7, 9))",
        "((3, 2), (2, 1), (1, 0), (1, 2))(f(3, 8, 7))",
        "(3, 2, 1)(bf(1, 2, 6, 6))",
    ),
    "nn.MaxPool3d": (
        "(3, 2, 1, ceil_mode=True)(f(1, 2, 6, 5, 8))",
        "((1, 2, 3), dilation=(1, 2, 1))(f(2, 3, 5, 6))",
        "(2)(d(1, 1, 4, 4, 4))",
    ),
    "nn.AvgPool1d": ("(3, 2, 1, ceil_mode=True)(f(2, 3, 8))", "(2, 3, 1, count_include_pad=False)(f(3, 9))", "(3)(bf(1, 2, 7))"),
    "nn.AvgPool2d": (
        "(2, 2, 1, ceil_mode=True, count_include_pad=False)(f(2, 3, 6, 8))",
        "((3, 2), (2, 1), (1, 0), divisor_override=5)(f(3, 8, 7))",
        "(3, 2, 1)(bf(1, 2, 6, 6))",
    ),
    "nn.AvgPool3d": (
        "(3, 2, 1, ceil_mode=True)(f(1, 2, 6, 5, 8))",
        "((1, 2, 3), count_include_pad=False, padding=(0, 1, 1))(f(2, 3, 5, 6))",
        "(2)(d(1, 1, 4, 4, 4))",
    ),
    "nn.LPPool1d": ("(2, 3, 2, ceil_mode=True)(f(2, 3, 8))", "(1.5, 2)(pos(3, 9))", "(3, 3)(pos(1, 2, 7))"),
    "nn.LPPool2d": ("(2, 3, 2, ceil_mode=True)(f(2, 3, 8, 6))", "(1.5, (2, 1))(pos(3, 9, 4))", "(3, 2)(pos(1, 2, 4, 4))"),
    "nn.LPPool3d": ("(2, 3, 2, ceil_mode=True)(f(1, 2, 6, 5, 4))", "(1.5, (2, 1, 3))(pos(2, 4, 4, 6))", "(3, 2)(pos(1, 2, 4, 4, 4))"),
    "nn.AdaptiveAvgPool1d": ("(5)(f(2, 3, 8))", "(1)(f(3, 9))", "(7)(bf(1, 2, 3))"),
    "nn.AdaptiveAvgPool2d": ("((5, 3))(f(2, 3, 8, 7))", "((None, 1))(f(3, 9, 4))", "(7)(bf(1, 2, 3, 3))"),
    "nn.AdaptiveAvgPool3d": ("((2, 3, 2))(f(1, 2, 4, 7, 3))", "((None, 1, 2))(f(2, 3, 4, 4))", "(1)(d(1, 2, 3, 3, 3))"),
    "nn.AdaptiveMaxPool1d": ("(5)(f(2, 3, 8))", "(1)(f(3, 9))", "(2, return_indices=True)(f(1, 2, 5))"),
    "nn.AdaptiveMaxPool2d": ("((5, 3))(f(2, 3, 8, 7))", "((None, 1))(f(3, 9, 4))", "(2, return_indices=True)(f(1, 2, 5, 3))"),
    "nn.AdaptiveMaxPool3d": (
        "((2, 3, 2))(f(1, 2, 4, 7, 3))",
        "((None, 1, 2))(f(2, 3, 4, 4))",
        "(1, return_indices=True)(d(1, 2, 3, 3, 3))",
    ),
    "nn.FractionalMaxPool2d": (
        "(2, output_size=(3, 2), _random_samples=p01(2, 3, 2))(f(2, 3, 7, 5))",
        "(2, output_ratio=0.5, _random_samples=p01(1, 3, 2))(f(1, 3, 8, 6))",
        "(1, output_size=2, return_indices=True, _random_samples=p01(1, 1, 2))(f(1, 1, 3, 3))",
    ),
    "nn.FractionalMaxPool3d": (
        "(2, output_size=(3, 2, 2), _random_samples=p01(1, 2, 3))(f(1, 2, 7, 5, 4))",
        "(2, output_ratio=0.5, _random_samples=p01(1, 1, 3))(f(1, 1, 6, 6, 4))",
        "(1, output_size=2, return_indices=True, _random_samples=p01(1, 1, 3))(f(1, 1, 3, 3, 3))",
    ),
    "nn.MaxUnpool1d": ("(2)(f(2, 3, 4), t([[[0, 3, 4, 6]] * 3] * 2))", "(3, 2)(f(1, 1, 2), t([[[1, 3]]]))", "(2)(f(1, 2), t([[1, 2]]))"),
    "nn.MaxUnpool2d": (
        "(2)(f(1, 1, 2, 2), t([[[[0, 3], [9, 11]]]]))",
        "(2, 2)(f(1, 2, 1), t([[[0], [4]]]))",
        "(2)(f(1, 1, 1, 1), t([[[[2]]]]))",
    ),
    "nn.MaxUnpool3d": (
        "(2)(f(1, 1, 1, 1, 2), t([[[[[0, 3]]]]]))",
        "(2, 2)(f(1, 1, 1, 1), t([[[[4]]]]))",
        "(2)(f(1, 1, 1, 1, 1), t([[[[[2]]]]]))",
    ),
    "F.max_pool1d": ("(f(2, 3, 8), 3, 2, ceil_mode=True)", "(f(3, 9), 2, 3, 1, 2)", "(f(1, 2, 5), 2, return_indices=True)"),
    "F.max_pool2d": (
        "(f(2, 3, 7, 9), 2, 2, 0, ceil_mode=True)",
        "(f(3, 8, 7), (3, 2), (2, 1), (1, 0), (1, 2))",
        "(f(1, 2, 6, 6), 2, return_indices=True)",
    ),
    "F.max_pool3d": (
        "(f(1, 2, 6, 5, 8), 3, 2, 1, ceil_mode=True)",
        "(f(2, 3, 5, 6), (1, 2, 3), dilation=(1, 2, 1))",
        "(f(1, 1, 4, 4, 4), 2, return_indices=True)",
    ),
    "F.avg_pool1d": ("(f(2, 3, 8), 3, 2, 1, ceil_mode=True)", "(f(3, 9), 2, 3, 1, count_include_pad=False)", "(bf(1, 2, 7), 3)"),
    "F.avg_pool2d": (
        "(f(2, 3, 6, 8), 2, 2, 1, True, False)",
        "(f(3, 8, 7), (3, 2), (2, 1), (1, 0), divisor_override=5)",
        "(bf(1, 2, 6, 6), 3, 2, 1)",
    ),
    "F.avg_pool3d": (
        "(f(1, 2, 6, 5, 8), 3, 2, 1, ceil_mode=True)",
        "(f(2, 3, 5, 6), (1, 2, 3), padding=(0, 1, 1), count_include_pad=False)",
        "(d(1, 1, 4, 4, 4), 2)",
    ),
    "F.lp_pool1d": ("(f(2, 3, 8), 2, 3, 2, ceil_mode=True)", "(pos(3, 9), 1.5, 2)", "(pos(1, 2, 7), 3, 3)"),
    "F.lp_pool2d": ("(f(2, 3, 8, 6), 2, 3, 2, ceil_mode=True)", "(pos(3, 9, 4), 1.5, (2, 1))", "(pos(1, 2, 4, 4), 3, 2)"),
    "F.lp_pool3d": ("(f(1, 2, 6, 5, 4), 2, 3, 2, ceil_mode=True)", "(pos(2, 4, 4, 6), 1.5, (2, 1, 3))", "(pos(1, 2, 4, 4, 4), 3, 2)"),
    "F.adaptive_avg_pool1d": ("(f(2, 3, 8), 5)", "(f(3, 9), 1)", "(bf(1, 2, 3), 7)"),
    "F.adaptive_avg_pool2d": ("(f(2, 3, 8, 7), (5, 3))", "(f(3, 9, 4), (None, 1))", "(bf(1, 2, 3, 3), 7)"),
    "F.adaptive_avg_pool3d": ("(f(1, 2, 4, 7, 3), (2, 3, 2))", "(f(2, 3, 4, 4), (None, 1, 2))", "(d(1, 2, 3, 3, 3), 1)"),
    "F.adaptive_max_pool1d": ("(f(2, 3, 8), 5)", "(f(3, 9), 1)", "(f(1, 2, 5), 2, return_indices=True)"),
    "F.adaptive_max_pool2d": ("(f(2, 3, 8, 7), (5, 3))", "(f(3, 9, 4), (None, 1))", "(f(1, 2, 5, 3), 2, return_indices=True)"),
    "F.adaptive_max_pool3d": (
        "(f(1, 2, 4, 7, 3), (2, 3, 2))",
        "(f(2, 3, 4, 4), (None, 1, 2))",
        "(d(1, 2, 3, 3, 3), 1, return_indices=True)",
    ),
    "F.fractional_max_pool2d": (
        "(f(2, 3, 7, 5), 2, (3, 2), _random_samples=p01(2, 3, 2))",
        "(f(1, 3, 8, 6), (2, 2), output_ratio=(0.5, 0.5), _random_samples=p01(1, 3, 2))",
        "(f(1, 1, 3, 3), 1, 2, return_indices=True, _random_samples=p01(1, 1, 2))",
    ),
    "F.fractional_max_pool3d": (
        "(f(1, 2, 7, 5, 4), 2, (3, 2, 2), _random_samples=p01(1, 2, 3))",
        "(f(1, 1, 6, 6, 4), 2, output_ratio=0.5, _random_samples=p01(1, 1, 3))",
        "(f(1, 1, 3, 3, 3), 1, 2, return_indices=True, _random_samples=p01(1, 1, 3))",
    ),
    "F.max_unpool1d": ("(f(2, 3, 4), t([[[0, 3, 4, 6]] * 3] * 2), 2)", "(f(1, 1, 2), t([[[1, 3]]]), 3, 2)", "(f(1, 2), t([[1, 2]]), 2)"),
    "F.max_unpool2d": (
        "(f(1, 1, 2, 2), t([[[[0, 3], [9, 11]]]]), 2)",
        "(f(1, 2, 1), t([[[0], [4]]]), 2, 2)",
        "(f(1, 1, 1, 1), t([[[[2]]]]), 2)",
    ),
    "F.max_unpool3d": (
        "(f(1, 1, 1, 1, 2), t([[[[[0, 3]]]]]), 2)",
        "(f(1, 1, 1, 1), t([[[[4]]]]), 2, 2)",
        "(f(1, 1, 1, 1, 1), t([[[[[2]]]]]), 2)",
    ),
    "nn.Upsample": (
        "(scale_factor=2)(f(2, 3, 4))",
        "((5, 7), mode='bilinear', align_corners=True)(f(1, 2, 3, 4))",
        "(scale_factor=(1.5, 2.5), mode='bicubic')(f(1, 1, 4, 4))",
    ),
    "nn.UpsamplingNearest2d": ("(scale_factor=1.5)(f(1, 2, 3, 4))", "((5, 2))(f(1, 2, 3, 4))", "(scale_factor=2)(bf(1, 1, 2, 2))"),
    "nn.UpsamplingBilinear2d": ("(scale_factor=1.5)(f(1, 2, 3, 4))", "((5, 2))(f(1, 2, 3, 4))", "(scale_factor=2)(d(1, 1, 2, 2))"),
    "F.interpolate": (
        "(f(1, 2, 5, 4), (3, 9), mode='nearest-exact')",
        "(f(1, 2, 3, 4, 3), scale_factor=1.7, mode='trilinear')",
        "(f(1, 2, 5, 7), (3, 3), mode='area')",
    ),
    "F.upsample": (
        "(f(2, 3, 4), scale_factor=2)",
        "(f(1, 2, 3, 4), (5, 7), mode='bilinear', align_corners=True)",
        "(f(1, 2, 6), 4, mode='linear')",
    ),
    "F.upsample_nearest": ("(f(1, 2, 3, 4), scale_factor=2)", "(f(1, 2, 3, 4), (5, 2))", "(f(1, 2, 3), 7)"),
    "F.upsample_bilinear": ("(f(1, 2, 3, 4), scale_factor=2)", "(f(1, 2, 3, 4), (5, 2))", "(d(1, 2, 3, 1), (2, 2))"),
    "F.affine_grid": (
        "(f(2, 2, 3), (2, 1, 3, 4), align_corners=False)",
        "(f(1, 3, 4), (1, 1, 2, 3, 2), align_corners=True)",
        "(d(1, 2, 3), (1, 2, 1, 2), align_corners=False)",
    ),
    "F.grid_sample": (
        "(f(2, 3, 4, 5), unit(2, 3, 2, 2) * 1.5, align_corners=False)",
        "(f(1, 1, 4, 4), unit(1, 2, 2, 2) * 2, 'nearest', 'reflection', align_corners=True)",
        "(f(1, 2, 3, 3, 3), unit(1, 2, 2, 2, 3), padding_mode='border', align_corners=False)",
    ),
    "torch.affine_grid_generator": (
        "(f(2, 2, 3), (2, 1, 3, 4), False)",
        "(f(1, 3, 4), (1, 1, 2, 3, 2), True)",
        "(d(1, 2, 3), (1, 2, 1, 2), False)",
    ),
    "torch.grid_sampler": (
        "(f(2, 3, 4, 5), unit(2, 3, 2, 2) * 1.5, 0, 0, False)",
        "(f(1, 1, 4, 4), unit(1, 2, 2, 2) * 2, 1, 2, True)",
        "(f(1, 2, 3, 3, 3), unit(1, 2, 2, 2, 3), 0, 1, False)",
    ),
    "torch.grid_sampler_2d": (
        "(f(2, 3, 4, 5), unit(2, 3, 2, 2) * 1.5, 0, 0, False)",
        "(f(1, 1, 4, 4), unit(1, 2, 2, 2) * 2, 1, 2, True)",
        "(f(1, 2, 3, 3), unit(1, 2, 2, 2), 2, 1, False)",
    ),
    "torch.grid_sampler_3d": (
        "(f(1, 2, 3, 3, 3), unit(1, 2, 2, 2, 3) * 1.5, 0, 0, False)",
        "(f(1, 2, 3, 3, 3), unit(1, 2, 2, 2, 3), 1, 2, True)",
        "(f(1, 2, 3, 3, 3), unit(1, 2, 2, 2, 3), 0, 1, False)",
    ),
    "F.pad": ("(f(2, 3), (1, -1, 0, 2), value=1.5)", "(f(2, 3, 4), (2, 3), 'circular')", "(bf(1, 2, 4, 5), (1, 2, 3, 0), 'reflect')"),
    "nn.ConstantPad1d": ("((1, -1), 1.5)(f(2, 3))", "(2, 7)(i32(2, 3))", "((0, 3), 1.0)(bf(2, 3, 0))"),
    "nn.ConstantPad2d": ("((1, -1, 0, 2), 1.5)(f(2, 3, 4))", "(2, 7)(i32(1, 2, 3))", "((0, 3, 0, 0), 1.0)(bf(2, 3, 1))"),
    "nn.ConstantPad3d": (
        "((1, -1, 0, 2, 1, 0), 1.5)(f(2, 3, 4, 2))",
        "(1, 7)(i32(1, 2, 3, 1))",
        "((0, 3, 0, 0, 1, 1), 1.0)(bf(2, 3, 1, 1))",
    ),
    "nn.ZeroPad1d": ("((1, -1))(f(2, 3))", "(2)(i32(2, 3))", "((0, 3))(bf(2, 3, 0))"),
    "nn.ZeroPad2d": ("((1, -1, 0, 2))(f(2, 3, 4))", "(2)(i32(1, 2, 3))", "((0, 3, 0, 0))(bf(2, 3, 1))"),
    "nn.ZeroPad3d": ("((1, -1, 0, 2, 1, 0))(f(2, 3, 4, 2))", "(1)(i32(1, 2, 3, 1))", "((0, 3, 0, 0, 1, 1))(bf(2, 3, 1, 1))"),
}
for mode in "Circular Reflection Replication".split():
    CASES[f"nn.{mode}Pad1d"] = ("((2, 1))(f(2, 3, 4))", "(1)(f(3, 2))", "((0, 2))(bf(1, 2, 3))")
    CASES[f"nn.{mode}Pad2d"] = ("((2, 1, 0, 3))(f(2, 3, 4, 4))", "(1)(f(3, 2, 2))", "((0, 2, 1, 0))(bf(1, 2, 3, 3))")
    CASES[f"nn.{mode}Pad3d"] = ("((2, 1, 0, 1, 1, 1))(f(1, 2, 3, 4, 3))", "(1)(f(3, 2, 2, 2))", "((0, 2, 1, 0, 0, 0))(d(1, 2, 3, 3, 3))")
for n in (1, 2, 3):
    CASES[f"F.max_pool{n}d_with_indices"] = CASES[f"F.max_pool{n}d"]
    CASES[f"F.adaptive_max_pool{n}d_with_indices"] = CASES[f"F.adaptive_max_pool{n}d"]
    CASES[f"torch.max_pool{n}d"] = (*CASES[f"F.max_pool{n}d"][:2], f"({['f(1, 2, 5)', 'bf(1, 2, 6, 6)', 'd(1, 1, 4, 4, 4)'][n - 1]}, 2)")
for n in (2, 3):
    CASES[f"F.fractional_max_pool{n}d_with_indices"] = CASES[f"F.fractional_max_pool{n}d"]
CASES["torch.max_pool1d_with_indices"] = ("(f(2, 3, 8), 3, 2, ceil_mode=True)", "(f(3, 9), 2, 3, 1, 2)", "(f(1, 2, 5), 2)")
CASES["torch.avg_pool1d"] = CASES["F.avg_pool1d"]
CASES["torch.adaptive_avg_pool1d"] = CASES["F.adaptive_avg_pool1d"]
CASES["torch.adaptive_max_pool1d"] = ("(f(2, 3, 8), 5)", "(f(3, 9), 1)", "(f(1, 2, 5), 2)")
