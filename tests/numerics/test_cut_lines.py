"""Rows whose elements lie in parts of lines, or in lines of another order: read by quotients and remainders, or by loops of their own."""

from __future__ import annotations

import pytest
import torch

import hloom

ROWS = {
    "columns": lambda x: x[..., 2:13],
    "few columns": lambda x: x[..., 4:6],
    "every second line": lambda x: x[:, :, ::2],
    "every third column": lambda x: x[..., 1::3],
    "inner": lambda x: x[:, :, 1:-1, 1:-1],
    "turned": lambda x: x.mT,
    "channels last": lambda x: x.permute(0, 2, 3, 1),
    "channels second": lambda x: x.transpose(0, 1),
    "columns of those": lambda x: x.mT[..., 1:5],
    "repeated": lambda x: x.repeat(1, 1, 2, 3),
}
COMPUTED = {
    "elements": lambda x: x.flatten(1) * 2,
    "elements of two": lambda x: x.reshape(2, -1).exp() - x.flatten()[: x.numel() // 2],
    "sums": lambda x: x.reshape(2, -1).sum(-1),
    "variance": lambda x: x.reshape(2, -1).var(-1),
    "softmax": lambda x: x.flatten(1).softmax(-1),
    "norm": lambda x: torch.nn.functional.layer_norm(x.flatten(2), x.flatten(2).shape[2:]),
    "running sums": lambda x: x.flatten(1).cumsum(-1),
    "places": lambda x: x.flatten(1).argmax(-1),
    "median": lambda x: x.flatten(1).median(-1).values,
    "products": lambda x: x.flatten(1) @ x.flatten(1).mT,
}


@pytest.mark.parametrize("computed", COMPUTED)
def test_rows(computed):
    torch.manual_seed(0)
    x = torch.randn(4, 6, 8, 14)

    def all_of(x):
        return [COMPUTED[computed](rows(x)) for rows in ROWS.values()]

    for name, found, expected in zip(ROWS, hloom.compile(all_of, x)(x), all_of(x.double())):
        torch.testing.assert_close(found.to(expected.dtype), expected, rtol=1e-4, atol=1e-4, msg=lambda text, name=name: f"{name}: {text}")
