"""Linear layers, convolutions and embeddings: dilations, groups, paddings by name and mode, output paddings, no batch, one pixel."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {
    "nn.Conv1d": (
        "(4, 6, 3, 2, 2, 2, groups=2)(f(2, 4, 11))",
        "(2, 3, 2, padding='same', padding_mode='circular')(f(2, 9))",
        "(2, 3, 1, bias=False, dtype=torch.bfloat16)(bf(1, 2, 1))",
    ),
    "nn.Conv2d": (
        "(4, 8, (3, 2), (2, 1), (1, 0), (1, 2), groups=4)(f(2, 4, 9, 7))",
        "(2, 3, (1, 3), padding='same', padding_mode='reflect')(f(2, 5, 6))",
        "(3, 2, 3, padding=1, bias=False, dtype=torch.bfloat16)(bf(1, 3, 4, 4))",
    ),
    "nn.Conv3d": (
        "(2, 4, (3, 1, 2), (1, 2, 1), (1, 0, 1), (2, 1, 1), groups=2)(f(1, 2, 6, 5, 4))",
        "(1, 2, 2, padding='valid')(f(1, 3, 3, 3))",
        "(2, 2, 3, padding=1, padding_mode='replicate')(f(1, 2, 3, 3, 3))",
    ),
    "nn.ConvTranspose1d": (
        "(4, 6, 3, 2, 1, 1, groups=2)(f(2, 4, 7))",
        "(2, 3, 2, dilation=3)(f(2, 5))",
        "(2, 3, 1, stride=3, bias=False)(d(1, 2, 1).float())",
    ),
    "nn.ConvTranspose2d": (
        "(4, 6, (3, 2), (2, 3), (1, 0), (1, 1), groups=2)(f(2, 4, 5, 4))",
        "(2, 3, 2, dilation=2)(f(2, 3, 3))",
        "(3, 2, 4, 2, 1, dtype=torch.bfloat16)(bf(1, 3, 4, 4))",
    ),
    "nn.ConvTranspose3d": (
        "(2, 4, (3, 1, 2), (1, 2, 1), (1, 0, 1), groups=2)(f(1, 2, 4, 3, 4))",
        "(1, 2, 2, 2, output_padding=1)(f(1, 2, 2, 2))",
        "(2, 1, 2, bias=False)(f(1, 2, 1, 1, 1))",
    ),
    "F.conv1d": ("(f(2, 4, 11), f(6, 2, 3), f(6), 2, 2, 2, 2)", "(f(2, 9), f(3, 2, 4), padding='same')", "(bf(1, 2, 5), bf(3, 2, 5))"),
    "F.conv2d": (
        "(f(2, 4, 9, 7), f(8, 1, 3, 2), None, (2, 1), (1, 0), (1, 2), 4)",
        "(f(2, 5, 6), f(3, 2, 1, 3), f(3), padding='same')",
        "(f(1, 6, 5, 3).permute(0, 3, 1, 2), f(2, 3, 2, 2))",
    ),
    "F.conv3d": (
        "(f(1, 2, 6, 5, 4), f(4, 1, 3, 1, 2), f(4), (1, 2, 1), (1, 0, 1), (2, 1, 1), 2)",
        "(f(1, 3, 3, 3), f(2, 1, 2, 2, 2))",
        "(d(1, 1, 2, 2, 2), d(1, 1, 1, 1, 1))",
    ),
    "F.conv_transpose1d": (
        "(f(2, 4, 7), f(4, 3, 3), f(6), 2, 1, 1, 2)",
        "(f(2, 5), f(2, 3, 2), dilation=3)",
        "(d(1, 2, 1), d(2, 3, 1), stride=3)",
    ),
    "F.conv_transpose2d": (
        "(f(2, 4, 5, 4), f(4, 3, 3, 2), f(6), (2, 3), (1, 0), (1, 1), 2)",
        "(f(2, 3, 3), f(2, 3, 2, 2), dilation=2)",
        "(bf(1, 3, 4, 4), bf(3, 2, 4, 4), None, 2, 1)",
    ),
    "F.conv_transpose3d": (
        "(f(1, 2, 4, 3, 4), f(2, 2, 3, 1, 2), None, (1, 2, 1), (1, 0, 1), 0, 2)",
        "(f(1, 2, 2, 2), f(1, 2, 2, 2, 2), f(2), 2, 0, 1)",
        "(d(1, 2, 1, 1, 1), d(2, 1, 2, 2, 2))",
    ),
    "F.conv_tbc": ("(f(7, 2, 3), f(2, 3, 4), f(4), 1)", "(f(5, 1, 2), f(3, 2, 2), f(2))", "(d(1, 1, 1), d(1, 1, 1), d(1))"),
    "torch.convolution": (
        "(f(2, 4, 9, 7), f(8, 2, 3, 2), f(8), (2, 1), (1, 0), (1, 2), False, (0, 0), 2)",
        "(f(2, 4, 5), f(4, 3, 3), None, (2,), (1,), (1,), True, (1,), 2)",
        "(bf(1, 2, 3, 3), bf(2, 2, 1, 1), bf(2), (1, 1), (0, 0), (1, 1), False, (0, 0), 1)",
    ),
    "nn.Linear": ("(4, 5)(f(2, 3, 4))", "(4, 1, bias=False)(f(4))", "(3, 2, dtype=torch.bfloat16)(bf(0, 3))"),
    "F.linear": ("(f(2, 3, 4), f(5, 4), f(5))", "(f(4), f(4))", "(bf(4, 3).mT, bf(2, 4))"),
    "nn.Bilinear": ("(4, 5, 2)(f(3, 4), f(3, 5))", "(4, 5, 1, bias=False)(f(2, 3, 4), f(2, 3, 5))", "(1, 1, 3)(f(1), f(1))"),
    "F.bilinear": ("(f(3, 4), f(3, 5), f(2, 4, 5), f(2))", "(f(2, 3, 4), f(2, 3, 5), f(1, 4, 5))", "(d(4), d(5), d(2, 4, 5), d(2))"),
    "nn.Embedding": ("(7, 3)(idx(7, 2, 4))", "(5, 2, padding_idx=0, dtype=torch.bfloat16)(idx(5, 3).int())", "(4, 1)(idx(4))"),
    "F.embedding": ("(idx(7, 2, 4), f(7, 3))", "(idx(5, 0), bf(5, 2))", "(idx(4).int(), f(3, 4).mT, -1)"),
    "nn.EmbeddingBag": (
        "(7, 3)(idx(7, 2, 4))",
        "(7, 3, mode='max')(idx(7, 6), t([0, 2, 2]))",
        "(7, 3, mode='sum', include_last_offset=True)(idx(7, 6), t([0, 4, 6]))",
    ),
    "F.embedding_bag": (
        "(idx(7, 2, 4), f(7, 3))",
        "(idx(7, 6), f(7, 3), t([0, 2, 2]), mode='sum', per_sample_weights=f(6))",
        "(idx(7, 6), f(7, 3), t([0, 4]), mode='max', padding_idx=2)",
    ),
    "torch.embedding": ("(f(7, 3), idx(7, 2, 4))", "(bf(5, 2), idx(5, 0))", "(f(3, 4).mT, idx(4).int())"),
    "torch.embedding_bag": (
        "(f(7, 3), idx(7, 8), t([0, 4]))",
        "(f(7, 3), idx(7, 6), t([0, 2, 2]), False, 1)",
        "(f(7, 3), idx(7, 6), t([0, 2]), False, 2)",
    ),
    "nn.Fold": ("((4, 5), (2, 3), padding=1, stride=2)(f(2, 12, 9))", "((3, 3), 2)(f(8, 4))", "((4, 4), 2, dilation=2)(f(1, 4, 4))"),
    "nn.Unfold": ("((2, 3), padding=1, stride=2)(f(2, 2, 4, 5))", "(2)(f(2, 3, 3))", "(2, dilation=2)(bf(1, 1, 4, 4))"),
    "F.fold": ("(f(2, 12, 9), (4, 5), (2, 3), padding=1, stride=2)", "(f(8, 4), (3, 3), 2)", "(f(1, 4, 4), (4, 4), 2, dilation=2)"),
    "F.unfold": ("(f(2, 2, 4, 5), (2, 3), padding=1, stride=2)", "(f(2, 3, 3), 2)", "(bf(1, 1, 4, 4), 2, dilation=2)"),
    "F.grouped_mm": (
        "(bf(16, 8), bf(2, 8, 8), offs=t([8, 16]).int())",
        "(bf(2, 8, 8), bf(2, 8, 16))",
        "(bf(8, 16), bf(16, 8), offs=t([8, 16]).int())",
    ),
}
for name in "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d".split():
    CASES[f"torch.{name}"] = CASES[f"F.{name}"]
