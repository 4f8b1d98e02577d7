"""torch's sorts: NaN the greatest, ties as they stood, the same bits as eager."""

from __future__ import annotations

import pytest
import torch

import hloom


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


FUNCTIONS = {
    "sort": lambda x: torch.sort(x, stable=True),
    "sort of columns": lambda x: torch.sort(x, dim=0, descending=True, stable=True),
    "sort of a scalar": lambda x: torch.sort(x[0, 0]),
    "sort that need not be stable": lambda x: torch.sort(x, -2)[0],
    "argsort": lambda x: torch.argsort(x, stable=True),
    "argsort of integers": lambda x: torch.argsort(x.nan_to_num().to(torch.int32), descending=True, stable=True),
    "msort": torch.msort,
    "topk": lambda x: torch.topk(x, 5)[0],
    "topk of bf16": lambda x: torch.topk(x.bfloat16(), 4, dim=0 if x.shape[0] > 3 else 1)[0],
    "topk of the smallest": lambda x: torch.topk(x, 5, largest=False)[0],
    "topk of one": lambda x: (*torch.topk(x, 1), *torch.topk(x[:, 50:].nan_to_num(), 1, dim=0)),
    "topk of the smallest one": lambda x: torch.topk(x, 1, largest=False)[0],
    "topk of one smallest integer": lambda x: torch.topk(torch.arange(70) * x.nan_to_num().to(torch.int64), 1, largest=False),
    "kthvalue": lambda x: torch.kthvalue(x, 3)[0],
    "kthvalue of columns": lambda x: torch.kthvalue(x, 2, 0, keepdim=True)[0],
    "median": lambda x: (torch.median(x), torch.median(x, 1)[0], torch.median(x[2:], 0, keepdim=True)[0]),
    "median of integers": lambda x: torch.median(x.nan_to_num().to(torch.int64)),
    "nanmedian": lambda x: (torch.nanmedian(x), torch.nanmedian(x, 1)[0]),
    "quantile": lambda x: torch.quantile(x, 0.3, dim=1),
    "nanquantile": lambda x: torch.nanquantile(x, 0.3, dim=1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_eager(name):
    torch.manual_seed(0)
    x = torch.randint(-4, 5, (3, 70)).float()
    x[0, 3], x[0, 40], x[1, 4], x[2] = torch.nan, -torch.nan, -0.0, torch.randn(70)
    got, wanted = (f(x) for f in (hloom.compile(Calls(FUNCTIONS[name]), x), FUNCTIONS[name]))
    pairs = zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]
    for g, w in pairs:
        torch.testing.assert_close(g, w, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize(("k", "dim", "largest"), [(1, 1, True), (1, 0, False), (8, 1, False), (3, 0, True), (9, 1, True)])
def test_places_of_a_few(kind, k, dim, largest):
    """Those that a stable sort finds, of infinities, zeros and NaN too; more than eight are sorted."""
    torch.manual_seed(0)
    x = torch.randint(-2, 3, (11, 40)).to(kind)
    x[2:9, 2:39:3], x[3:8, 1::4], x[4, :], x[5, 3:], x[1, ::2] = torch.inf, -torch.inf, -torch.inf, -torch.nan, -0.0
    values, places = torch.sort(x, dim=dim, descending=largest, stable=True)
    found = hloom.compile(Calls(lambda x: torch.topk(x, k, dim, largest)), x)(x)
    torch.testing.assert_close(found[0], values.narrow(dim, 0, k), rtol=0, atol=0, equal_nan=True)
    assert torch.equal(found[1], places.narrow(dim, 0, k))


@pytest.mark.parametrize(("length", "k"), [(400, 9), (1003, 20), (233, 11)])
def test_selections_are_stable(length, k):
    """Rows of no whole number of blocks, with ties, NaNs, zeros of two signs, and in order already."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(37, length, generator=generator)
    broken = torch.where(torch.rand(37, length, generator=generator) < 0.02, float("nan"), x)
    broken[0], broken[1] = 0.0, -0.0
    rows = [x, x.bfloat16(), torch.randint(0, 4, (37, length), generator=generator).float(), broken, x.sort(-1)[0]]
    found = hloom.compile(lambda *rows: [torch.topk(each, k, largest=way) for each in rows for way in (True, False)], *rows)(*rows)
    for (values, places), (each, way) in zip(found, ((each, way) for each in rows for way in (True, False))):
        expected, order = torch.sort(each, dim=-1, descending=way, stable=True)
        assert torch.equal(places, order[:, :k])
        torch.testing.assert_close(values, expected[:, :k], rtol=0, atol=0, equal_nan=True)
