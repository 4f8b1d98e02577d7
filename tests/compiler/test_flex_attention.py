"""FlexAttention by the backend and by hloom.compile, beside torch's own definition."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import hloom

_SIZE = 37
_SLOPES = torch.linspace(0.1, 0.9, 4)
_RELATIVE = torch.sin(torch.arange(4 * (2 * _SIZE - 1.0))).reshape(4, -1)
_DOCUMENTS = torch.arange(_SIZE) // 11


def _causal(b, h, q, kv):
    return q >= kv


def _window(b, h, q, kv):
    return (q >= kv) & (q - kv <= 5)


def _documents(b, h, q, kv):
    return _DOCUMENTS[q] == _DOCUMENTS[kv]


def _nothing_of_some_rows(b, h, q, kv):
    return q % 3 > 0


def _alibi(score, b, h, q, kv):
    return score + _SLOPES[h] * (kv - q)


def _capped(score, b, h, q, kv):
    return 5 * torch.tanh(score / 5)


def _relative(score, b, h, q, kv):
    return score + _RELATIVE[h, q - kv + _SIZE - 1]


_CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "plain": (None, None, {}),
    "causal": (None, _causal, {}),
    "capped window": (_capped, _window, {}),
    "biases of heads": (_alibi, _causal, {"scale": 0.2}),
    "biases of distances": (_relative, None, {}),
    "documents": (None, _documents, {}),
    "nothing of some rows": (None, _nothing_of_some_rows, {}),
    "shared keys": (_capped, _causal, {"enable_gqa": True}),
    "sums": (_capped, _causal, {"return_lse": True}),
}


class _Attention(torch.nn.Module):
    def __init__(self, case: str):
        super().__init__()
        self.score, mask, self.options = _CASES[case]
        self.mask = create_block_mask(mask, None, None, _SIZE, _SIZE, device="cpu") if mask else None

    def forward(self, q, k, v):
        return flex_attention(q, k, v, score_mod=self.score, block_mask=self.mask, **self.options)


def _operands(case: str, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    torch.manual_seed(0)
    heads = 2 if case == "shared keys" else 4
    return [torch.randn(2, count, _SIZE, 16, dtype=dtype) for count in (4, heads, heads)]


def _close(made: Any, wanted: Any, tolerance: float) -> None:
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (made, wanted)), strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", _CASES)
@torch.no_grad()
def test_by_the_backend(case: str) -> None:
    torch._dynamo.reset()
    model, operands = _Attention(case), _operands(case)
    _close(torch.compile(model, backend="hloom", fullgraph=True)(*operands), model(*operands), 2e-6)


@torch.no_grad()
def test_halves_are_summed_in_f32() -> None:
    torch._dynamo.reset()
    model, operands = _Attention("causal"), _operands("causal", torch.bfloat16)
    _close(torch.compile(model, backend="hloom", fullgraph=True)(*operands), model(*operands), 1e-2)


@torch.no_grad()
def test_by_compile() -> None:
    model, operands = _Attention("capped window"), _operands("capped window")
    exe = hloom.compile(model, *operands, target="cpu")
    _close(exe(*operands), model(*operands), 2e-6)
    assert any(record["code"] == "FUSED_ATTENTION" for record in exe.report.data["decisions"])


@torch.no_grad()
def test_inputs_may_have_pythons_names() -> None:
    class Named(_Attention):
        def forward(self, input):
            return super().forward(input, input, input)

    model, (q, *_) = Named("capped window"), _operands("capped window")
    _close(hloom.compile(model, q, target="cpu")(q), model(q), 2e-6)
