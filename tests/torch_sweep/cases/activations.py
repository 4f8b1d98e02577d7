"""Activations, dropout outside of training, softmaxes, and shapes: layers of torch.nn and their functions."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {}

LAYERS = {
    "CELU": "0.7", "ELU": "0.7", "GELU": "'tanh'", "Hardshrink": "0.7", "Hardsigmoid": "", "Hardswish": "", "Hardtanh": "-2.0, 0.5",
    "Identity": "", "LeakyReLU": "0.2", "LogSigmoid": "", "Mish": "", "ReLU": "", "ReLU6": "", "RReLU": "", "SELU": "", "SiLU": "",
    "Sigmoid": "", "Softplus": "2.0, 5.0", "Softshrink": "0.7", "Softsign": "", "Tanh": "", "Tanhshrink": "", "Threshold": "0.5, 7.0",
    "Dropout": "0.3", "AlphaDropout": "0.3",
}  # fmt: skip
for name, options in LAYERS.items():
    CASES[f"nn.{name}"] = (f"({options})(edge())", "()(bf(5, 3).mT)", f"({options})(f(2, 0))")
CASES["nn.Threshold"] = ("(0.5, 7.0)(edge())", "(-1, 2)(bf(5, 3).mT)", "(0, 1)(f())")
for (
    name
) in """celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 rrelu selu silu sigmoid softplus
    softshrink softsign tanh tanhshrink""".split():
    CASES[f"F.{name}"] = ("(edge())", "(bf(5, 3).mT)", "(f())")
for name in "celu_ elu_ hardtanh_ leaky_relu_ relu_ rrelu_ selu_".split():
    CASES[f"F.{name}"] = ("(edge())", "(bf(5, 3).mT)", "(f(2, 0))")
for name in "threshold threshold_".split():
    CASES[f"F.{name}"] = (
        CASES[f"torch.{name}"] if f"torch.{name}" in CASES else ("(edge(), 0.5, 7)", "(i32(3, 4), 2, -1)", "(bf(4, 3).mT, 0.1, 20)")
    )
for name, shape in {
    "Dropout1d": "3, 4",
    "Dropout2d": "2, 3, 2, 2",
    "Dropout3d": "2, 3, 2, 2, 1",
    "FeatureAlphaDropout": "2, 3, 2, 2",
}.items():
    CASES[f"nn.{name}"] = (f"(0.3)(f({shape}))", f"()(bf({shape}))", f"(0.9)(d({shape}))")
for name, shape in {"dropout": "5", "alpha_dropout": "3, 4", "dropout1d": "3, 4", "dropout2d": "2, 3, 2, 2", "dropout3d": "2, 3, 2, 2, 1",
                    "feature_alpha_dropout": "2, 3, 2, 2"}.items():  # fmt: skip
    CASES[f"F.{name}"] = (f"(f({shape}), 0.3, training=False)", f"(bf({shape}), training=False)", f"(d({shape}), 0.0, training=True)")
for name in "dropout alpha_dropout feature_alpha_dropout feature_dropout".split():
    CASES[f"torch.{name}"] = ("(f(2, 3, 4), 0.3, False)", "(bf(2, 3, 4), 0.5, False)", "(d(2, 0), 0.5, False)")
    CASES[f"torch.{name}_"] = CASES[f"torch.{name}"]
CASES["torch.native_dropout"] = ("(f(2, 3, 4), 0.3, False)", "(bf(2, 3, 4), 0.5, False)", "(d(2, 3), 0.0, True)")

CASES |= {
    "nn.GLU": ("(-2)(f(3, 4, 5))", "()(bf(4, 6))", "(0)(d(2))"),
    "F.glu": ("(f(3, 4, 5), -2)", "(bf(4, 6))", "(d(2), 0)"),
    "nn.PReLU": ("(3)(f(2, 3, 4))", "(1, 0.5)(edge())", "(dtype=torch.bfloat16)(bf(2, 3).mT)"),
    "F.prelu": ("(f(2, 3, 4), p01(3))", "(edge(), p01(1))", "(bf(5, 2), p01(2).bfloat16())"),
    "nn.Softmax": ("(-2)(f(3, 4, 5))", "(0)(bf(4, 6).mT)", "(1)(f(3, 1))"),
    "nn.Softmax2d": ("()(f(2, 3, 4, 5))", "()(bf(3, 2, 2))", "()(d(1, 1, 2, 2))"),
    "nn.Softmin": ("(-2)(f(3, 4, 5))", "(0)(bf(4, 6).mT)", "(1)(f(3, 1))"),
    "nn.LogSoftmax": ("(-2)(f(3, 4, 5))", "(0)(bf(4, 6).mT)", "(1)(f(3, 1))"),
    "F.softmax": ("(f(3, 4, 5), -2)", "(bf(4, 6).mT, 0, dtype=torch.float32)", "(t([0.0, -math.inf, 1e30]), 0)"),
    "F.softmin": ("(f(3, 4, 5), -2)", "(bf(4, 6).mT, 0)", "(f(2, 0), 1)"),
    "F.log_softmax": ("(f(3, 4, 5), -2)", "(i32(4, 6).mT, 0, dtype=torch.float32)", "(t([0.0, -math.inf, 1e30]), 0)"),
    "nn.Flatten": ("()(f(2, 3, 4).mT)", "(0, -2)(i32(2, 0, 3))", "(-2)(bf(3, 2, 2))"),
    "nn.Unflatten": ("(-1, (2, -1))(f(2, 6))", "(0, (2, 2))(i32(4))", "(1, (0, 3))(b(2, 0))"),
    "nn.ChannelShuffle": ("(3)(f(2, 6, 3, 4))", "(2)(f(1, 4, 2))", "(4)(bf(2, 4, 3))"),
    "F.channel_shuffle": ("(f(2, 6, 3, 4), 3)", "(f(1, 4, 2), 2)", "(bf(2, 4, 3), 4)"),
    "F.native_channel_shuffle": ("(f(2, 6, 3, 4), 3)", "(f(1, 4, 2, 2), 2)", "(bf(2, 4, 3, 1), 4)"),
    "nn.PixelShuffle": ("(2)(f(2, 8, 3, 1))", "(3)(i32(9, 2, 2))", "(2)(bf(1, 4, 2, 5))"),
    "nn.PixelUnshuffle": ("(2)(f(2, 2, 6, 2))", "(3)(i32(1, 3, 6))", "(2)(bf(1, 4, 2, 6))"),
    "F.pixel_shuffle": ("(f(2, 8, 3, 1), 2)", "(i32(9, 2, 2), 3)", "(bf(1, 4, 2, 5), 2)"),
    "F.pixel_unshuffle": ("(f(2, 2, 6, 2), 2)", "(i32(1, 3, 6), 3)", "(bf(1, 4, 2, 6), 2)"),
    "nn.Sequential": (
        "(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))(f(5, 3))",
        "()(f(2))",
        "(nn.Conv1d(2, 3, 2), nn.Flatten(0))(f(1, 2, 5))",
    ),
    "F.normalize": ("(f(3, 4), dim=-2)", "(bf(3, 4), 1.0, 1)", "(torch.zeros(2, 3))"),
    "F.one_hot": ("(nat(4) % 3, 3)", "(nat(2, 3), 9)", "(idx(2, 0), 2)"),
}
