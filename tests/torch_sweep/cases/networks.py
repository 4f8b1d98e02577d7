"""Norms, recurrences, attention and transformers: no affine part, running statistics, training mode, masks, both directions, no batch."""

from __future__ import annotations

CASES: dict[str, tuple[str, ...]] = {
    "nn.BatchNorm1d": ("(3)(f(2, 3, 4))", "(3, affine=False)(f(5, 3))", "(3, track_running_stats=False)(f(2, 3, 4))"),
    "nn.BatchNorm2d": ("(3)(f(2, 3, 4, 2))", "(3, eps=0.1, affine=False)(f(1, 3, 1, 5))", "(3, dtype=torch.bfloat16)(bf(2, 3, 4, 2))"),
    "nn.BatchNorm3d": ("(3)(f(2, 3, 4, 2, 2))", "(3, affine=False)(f(1, 3, 1, 5, 1))", "(3, track_running_stats=False)(f(2, 3, 4, 2, 2))"),
    "nn.SyncBatchNorm": ("(3)(f(2, 3, 4))", "(3, affine=False)(f(5, 3))", "(3)(f(2, 3, 4, 2))"),
    "F.batch_norm": (
        "(f(2, 3, 4), f(3), pos(3))",
        "(f(5, 3), None, None, f(3), f(3), True)",
        "(f(2, 3, 4), f(3), pos(3), f(3), f(3), False, 0.1, 0.5)",
    ),
    "torch.batch_norm": (
        "(f(2, 3, 4), f(3), f(3), f(3), pos(3), False, 0.1, 1e-3, False)",
        "(f(5, 3), None, None, None, None, True, 0.1, 1e-5, False)",
        "(bf(2, 3, 4), None, None, bf(3), pos(3).bfloat16(), False, 0.1, 1e-5, False)",
    ),
    "torch.native_batch_norm": (
        "(f(2, 3, 4), f(3), f(3), f(3), pos(3), False, 0.1, 1e-3)",
        "(f(5, 3), None, None, None, None, True, 0.1, 1e-5)",
        "(f(2, 3, 4), None, None, f(3), pos(3), False, 0.1, 1e-5)",
    ),
    "nn.InstanceNorm1d": ("(3)(f(2, 3, 4))", "(3, affine=True)(f(3, 5))", "(3, track_running_stats=True)(f(2, 3, 4))"),
    "nn.InstanceNorm2d": ("(3)(f(2, 3, 4, 2))", "(3, affine=True)(f(3, 5, 2))", "(3, track_running_stats=True)(f(2, 3, 4, 2))"),
    "nn.InstanceNorm3d": ("(3)(f(2, 3, 4, 2, 2))", "(3, affine=True)(f(3, 5, 2, 1))", "(3, track_running_stats=True)(f(2, 3, 4, 2, 2))"),
    "F.instance_norm": ("(f(2, 3, 4))", "(f(2, 3, 4, 2), weight=f(3), bias=f(3))", "(f(2, 3, 4), f(3), pos(3), use_input_stats=False)"),
    "torch.instance_norm": (
        "(f(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, False)",
        "(f(2, 3, 4, 2), f(3), f(3), None, None, True, 0.1, 1e-3, False)",
        "(f(2, 3, 4), None, None, f(3), pos(3), False, 0.1, 1e-5, False)",
    ),
    "nn.GroupNorm": ("(2, 6)(f(2, 6, 4))", "(3, 3, affine=False)(f(1, 3, 4, 2))", "(1, 4, dtype=torch.bfloat16)(bf(2, 4, 3))"),
    "F.group_norm": ("(f(2, 6, 4), 2)", "(f(1, 3, 4, 2), 3, f(3), f(3), 0.1)", "(bf(2, 4), 2)"),
    "torch.group_norm": ("(f(2, 6, 4), 2)", "(f(1, 3, 4, 2), 3, f(3), f(3), 0.1)", "(bf(2, 4), 2)"),
    "torch.native_group_norm": (
        "(f(2, 6, 4), None, None, 2, 6, 4, 2, 1e-5)",
        "(f(1, 3, 4, 2), f(3), f(3), 1, 3, 8, 3, 0.1)",
        "(d(2, 4, 1), None, d(4), 2, 4, 1, 1, 1e-5)",
    ),
    "nn.LayerNorm": ("(4)(f(2, 3, 4))", "((3, 4), bias=False)(f(2, 3, 4))", "(5, elementwise_affine=False)(bf(3, 5))"),
    "F.layer_norm": ("(f(2, 3, 4), (4,))", "(f(2, 3, 4), (3, 4), f(3, 4), None, 0.1)", "(bf(5, 3).mT, (5,), bf(5), bf(5))"),
    "torch.layer_norm": ("(f(2, 3, 4), (4,))", "(f(2, 3, 4), (3, 4), f(3, 4), None, 0.1)", "(bf(5, 3).mT, (5,), bf(5), bf(5))"),
    "torch.native_layer_norm": (
        "(f(2, 3, 4), (4,), None, None, 1e-5)",
        "(f(2, 3, 4), (3, 4), f(3, 4), None, 0.1)",
        "(d(5, 3).mT, (5,), d(5), d(5), 1e-5)",
    ),
    "nn.RMSNorm": ("(4)(f(2, 3, 4))", "((3, 4), eps=0.1)(f(2, 3, 4))", "(5, elementwise_affine=False)(bf(3, 5))"),
    "F.rms_norm": ("(f(2, 3, 4), (4,))", "(f(2, 3, 4), (3, 4), f(3, 4), 0.1)", "(bf(5, 3).mT, (5,), bf(5))"),
    "torch.rms_norm": ("(f(2, 3, 4), (4,))", "(f(2, 3, 4), (3, 4), f(3, 4), 0.1)", "(bf(5, 3).mT, (5,), bf(5))"),
    "nn.LocalResponseNorm": ("(2)(f(2, 5, 4))", "(3, 0.5, 1.0, 2.0)(f(1, 4, 3, 2))", "(9)(f(2, 3, 4))"),
    "F.local_response_norm": ("(f(2, 5, 4), 2)", "(f(1, 4, 3, 2), 3, 0.5, 1.0, 2.0)", "(d(2, 3, 4), 9)"),
    "nn.CrossMapLRN2d": ("(2)(f(2, 5, 4, 2))", "(3, 0.5, 1.0, 2.0)(f(1, 4, 3, 2))", "(9)(f(2, 3, 4, 1))"),
    "nn.RNN": (
        "(3, 4, 2, bidirectional=True)(f(5, 2, 3))",
        "(3, 4, nonlinearity='relu', batch_first=True)(f(2, 5, 3), f(1, 2, 4))",
        "(3, 4, bias=False)(f(5, 3))",
    ),
    "nn.GRU": (
        "(3, 4, 2, bidirectional=True)(f(5, 2, 3))",
        "(3, 4, batch_first=True)(f(2, 5, 3), f(1, 2, 4))",
        "(3, 4, bias=False)(f(5, 3))",
    ),
    "nn.LSTM": (
        "(3, 4, 2, bidirectional=True)(f(5, 2, 3))",
        "(3, 4, batch_first=True, proj_size=2)(f(2, 5, 3), (f(1, 2, 2), f(1, 2, 4)))",
        "(3, 4, bias=False)(f(5, 3))",
    ),
    "nn.RNNCell": ("(3, 4)(f(2, 3))", "(3, 4, nonlinearity='relu')(f(3), f(4))", "(3, 4, bias=False)(f(2, 3), f(2, 4))"),
    "nn.GRUCell": ("(3, 4)(f(2, 3))", "(3, 4)(f(3), f(4))", "(3, 4, bias=False)(f(2, 3), f(2, 4))"),
    "nn.LSTMCell": ("(3, 4)(f(2, 3))", "(3, 4)(f(3), (f(4), f(4)))", "(3, 4, bias=False)(f(2, 3), (f(2, 4), f(2, 4)))"),
    "torch.lstm": (
        "(f(5, 2, 3), (f(1, 2, 4), f(1, 2, 4)), (f(16, 3), f(16, 4), f(16), f(16)), True, 1, 0.0, False, False, False)",
        "(f(2, 5, 3), (f(1, 2, 4), f(1, 2, 4)), (f(16, 3), f(16, 4)), False, 1, 0.0, False, False, True)",
        "(f(1, 1, 1), (f(1, 1, 1), f(1, 1, 1)), (f(4, 1), f(4, 1), f(4), f(4)), True, 1, 0.0, False, False, False)",
    ),
    "torch.gru": (
        "(f(5, 2, 3), f(1, 2, 4), (f(12, 3), f(12, 4), f(12), f(12)), True, 1, 0.0, False, False, False)",
        "(f(2, 5, 3), f(1, 2, 4), (f(12, 3), f(12, 4)), False, 1, 0.0, False, False, True)",
        "(f(1, 1, 1), f(1, 1, 1), (f(3, 1), f(3, 1), f(3), f(3)), True, 1, 0.0, False, False, False)",
    ),
    "torch.lstm_cell": (
        "(f(2, 3), (f(2, 4), f(2, 4)), f(16, 3), f(16, 4), f(16), f(16))",
        "(f(2, 3), (f(2, 4), f(2, 4)), f(16, 3), f(16, 4))",
        "(d(1, 1), (d(1, 1), d(1, 1)), d(4, 1), d(4, 1))",
    ),
    "torch.gru_cell": (
        "(f(2, 3), f(2, 4), f(12, 3), f(12, 4), f(12), f(12))",
        "(f(2, 3), f(2, 4), f(12, 3), f(12, 4))",
        "(d(1, 1), d(1, 1), d(3, 1), d(3, 1))",
    ),
    "nn.MultiheadAttention": (
        "(8, 2, batch_first=True)(*[f(2, 5, 8)] * 3)",
        "(8, 4, kdim=6, vdim=3)(f(5, 2, 8), f(7, 2, 6), f(7, 2, 3), need_weights=False)",
        "(8, 2, bias=False, add_zero_attn=True)(f(5, 8), f(3, 8), f(3, 8), attn_mask=b(5, 3))",
    ),
    "nn.TransformerEncoderLayer": (
        "(8, 2, 16, batch_first=True)(f(2, 5, 8))",
        "(8, 2, 16, norm_first=True, activation='gelu')(f(5, 2, 8), src_key_padding_mask=t([[False] * 4 + [True]] * 2))",
        "(8, 2, 16)(f(5, 8))",
    ),
    "nn.TransformerDecoderLayer": (
        "(8, 2, 16, batch_first=True)(f(2, 5, 8), f(2, 3, 8))",
        "(8, 2, 16, norm_first=True, activation='gelu')(f(5, 2, 8), f(3, 2, 8), tgt_mask=torch.ones(5, 5).triu(1).bool())",
        "(8, 2, 16, bias=False)(f(5, 8), f(3, 8))",
    ),
    "nn.TransformerEncoder": (
        "(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)(f(2, 5, 8))",
        "(nn.TransformerEncoderLayer(8, 2, 16), 1, nn.LayerNorm(8), False)(f(5, 2, 8), torch.ones(5, 5).triu(1).bool())",
        "(nn.TransformerEncoderLayer(8, 1, 4), 1, enable_nested_tensor=False)(f(1, 1, 8))",
    ),
    "nn.TransformerDecoder": (
        "(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2)(f(2, 5, 8), f(2, 3, 8))",
        "(nn.TransformerDecoderLayer(8, 2, 16), 1, nn.LayerNorm(8))(f(5, 2, 8), f(3, 2, 8), memory_mask=t([[False, True, False]] * 5))",
        "(nn.TransformerDecoderLayer(8, 1, 4), 1)(f(1, 1, 8), f(1, 1, 8))",
    ),
    "nn.Transformer": (
        "(8, 2, 1, 1, 16, batch_first=True)(f(2, 5, 8), f(2, 3, 8))",
        "(8, 2, 1, 2, 16, norm_first=True)(f(5, 2, 8), f(3, 2, 8), tgt_is_causal=False)",
        "(8, 1, 1, 1, 4)(f(1, 1, 8), f(1, 1, 8))",
    ),
    "F.multi_head_attention_forward": (
        "(f(5, 2, 8), f(5, 2, 8), f(5, 2, 8), 8, 2, f(24, 8), f(24), None, None, False, 0.0, f(8, 8), f(8), training=False)",
        "(f(5, 2, 8), f(3, 2, 8), f(3, 2, 8), 8, 4, f(24, 8), None, f(1, 1, 8), f(1, 1, 8), True, 0.0, f(8, 8), None, False, None, False)",
        "(f(5, 8), f(3, 8), f(3, 8), 8, 2, f(24, 8), f(24), None, None, False, 0.0, f(8, 8), f(8), False, average_attn_weights=False)",
    ),
    "F.scaled_dot_product_attention": (
        "(f(2, 4, 5, 8), f(2, 2, 7, 8), f(2, 2, 7, 6), enable_gqa=True)",
        "(f(2, 5, 8), f(2, 5, 8), f(2, 5, 8), is_causal=True, scale=0.3)",
        "(bf(1, 2, 3, 4), bf(1, 2, 5, 4), bf(1, 2, 5, 4), b(3, 5) | True)",
    ),
}
for mode in ("tanh", "relu"):
    CASES[f"torch.rnn_{mode}"] = (
        "(f(5, 2, 3), f(1, 2, 4), (f(4, 3), f(4, 4), f(4), f(4)), True, 1, 0.0, False, False, False)",
        "(f(2, 5, 3), f(1, 2, 4), (f(4, 3), f(4, 4)), False, 1, 0.0, False, False, True)",
        "(f(1, 1, 1), f(1, 1, 1), (f(1, 1), f(1, 1), f(1), f(1)), True, 1, 0.0, False, False, False)",
    )
    CASES[f"torch.rnn_{mode}_cell"] = (
        "(f(2, 3), f(2, 4), f(4, 3), f(4, 4), f(4), f(4))",
        "(f(2, 3), f(2, 4), f(4, 3), f(4, 4))",
        "(d(1, 1), d(1, 1), d(1, 1), d(1, 1))",
    )
