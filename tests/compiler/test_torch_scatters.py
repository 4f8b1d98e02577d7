"""Writes at places, searches in sorted rows, bags of embeddings and norms, beside eager PyTorch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch_functions import Function  # noqa: E402

import hloom  # noqa: E402
from hloom.passes.errors import UnsupportedOpError  # noqa: E402

F = torch.nn.functional
REDUCES = ["sum", "prod", "mean", "amax", "amin"]


def check(function, *inputs, **tolerance) -> None:
    for result, wanted in zip(hloom.compile(Function(function), *inputs)(*inputs), function(*inputs), strict=True):
        torch.testing.assert_close(result, wanted, equal_nan=True, **tolerance)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def real(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=generator())


def places(extent: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, extent, shape, generator=generator())


@pytest.mark.parametrize("included", [True, False])
@pytest.mark.parametrize("reduce", REDUCES)
def test_scatter_reduce(reduce: str, included: bool) -> None:
    """Along the last, the first and a middle dimension; indices shorter than the operand or the source; integers; NaN; no dimension."""
    broken = real(3, 9)
    broken[1, 2] = torch.nan

    def function(x, at, y, z, n):
        def reduced(x, *rest):
            return x.scatter_reduce(*rest, reduce, include_self=included)

        return (
            reduced(x, 1, at, y), reduced(x, 0, at[:, :6] % 5, y), reduced(z, 1, at[None, :, :4] % 3, z.expand(2, 3, 4).flip(1)),
            reduced(n, 1, at[:3], n.repeat(1, 2)), reduced(x[0, 0], 0, at[0, 0] * 0, y[0, 0]),
        )  # fmt: skip

    check(function, real(5, 7), places(7, 3, 9), broken, real(2, 3, 4), places(50, 3, 8) - 25)


def test_index_add_of_columns() -> None:
    """Along the last and the middle dimension: sums in the order of the indices, as eager's on one thread."""
    x, y = real(12, 7, 9), real(12, 7, 9)
    check(
        lambda x, y, at: (x.index_add(2, at[:9], y), x.index_add(1, at[:7] % 7, y, alpha=2), x[0].index_add(1, at[:9], y[0])),
        x, y, places(9, 20), rtol=0, atol=0,
    )  # fmt: skip


def test_computed_updates() -> None:
    """A scatter's kernel computes its updates: of numbers of rows, of halves, of places, of other updates, and of what it writes over."""
    x, y, at = real(40, 48), real(90, 48), places(40, 90)

    def function(x, y, w, half, at):
        numbers = torch.arange(48)
        return (
            x.index_add(0, at, y * w[:, None], alpha=0.5), x.index_add(0, at, torch.where(numbers % 3 == 0, y.exp(), -1.0)),
            x.index_add(0, at, half.float().relu() + 1), x.index_add(0, at[:40], x.abs()), x.t().index_add(1, at, y.t() * 2),
            x.scatter_add(1, at[:40, None] % 48, x[:, :1] * 3), x.index_add(0, at, y[:1] * w[:, None]),
        )  # fmt: skip

    check(function, x, y, real(90), real(90, 48).bfloat16(), at, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("steps", [1, 3])
def test_updates_that_are_a_part_of_an_array(steps: int) -> None:
    """A cache takes the keys from what projects queries, keys and values, of one step and of three at once."""

    def function(cache, projected, at):
        keys = projected.reshape(2, steps, 3, 4, 8).permute(2, 0, 3, 1, 4)[1]
        return cache.index_copy(2, at, keys), cache.index_add(2, at, keys)

    check(function, real(2, 4, 16, 8), real(2, steps, 96), torch.tensor([3, 0, 15][:steps]), rtol=0, atol=0)


def test_scatters() -> None:
    """Of equal places the last holds: so it is in eager on one thread."""
    x, at, y = real(5, 7), places(5, 3, 6), real(4, 6)
    check(
        lambda x, at, y: (
            x.scatter(0, at, y), x.scatter(-1, at, 2.5), x.scatter_add(0, at, y), x.scatter(0, at, y, reduce="multiply"),
            x.scatter(1, at, 3, reduce="add"), x.bfloat16().scatter_add(1, at[:2], y.bfloat16()), x.scatter(0, at[:0], y),
            x.long().scatter_add(0, at, at),
        ), x, at, y
    )  # fmt: skip


def test_sums_at_places() -> None:
    x, y = real(2, 5, 7), places(9, 5, 7)
    check(
        lambda x, y, at: (
            x.index_add(1, at, x[:, :4]), x.index_add(-1, at, x[..., :4], alpha=2.5), x.index_add(0, at[:2] % 2, x * 3),
            y.index_add(0, at, y[:4], alpha=-2), x[0, 0, 0].index_add(0, at[0] * 0, x[0, 0, 1]), x.index_add(1, at[:0], x[:, :0]),
            x.half().index_add(2, at, x[..., 1:5].half()),
        ), x, y, places(5, 4)
    )  # fmt: skip


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("count", [0, 1, 6, 17, 64, 100])
def test_searches(count: int, right: bool) -> None:
    """Few bounds and many, bounds that are equal, values before and behind all and on bounds, NaN."""
    bounds = (real(3, count) * 8).round().sort(-1).values
    x = torch.cat([bounds[:, : count // 2], real(3, 8) * 8, torch.tensor([[torch.nan, torch.inf, -torch.inf]] * 3)], 1)
    mixed = torch.stack([torch.randperm(count, generator=generator()) for _ in range(3)])
    shuffled = torch.full_like(bounds, 0).scatter(1, mixed, bounds)
    check(
        lambda b, x, s, o: (
            torch.searchsorted(b, x, right=right), torch.searchsorted(b[0], x, out_int32=True, right=right),
            torch.searchsorted(s, x, sorter=o, right=right), torch.bucketize(x, b[0], right=right),
            torch.searchsorted(b[1], 1.5, right=right), torch.bucketize(x[:, :-3].int(), b[2].int(), right=right),
        ), bounds, x, shuffled, mixed
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_embeddings(mode: str) -> None:
    """Empty bags, bags that end at the last offset, an index that is padding, a table of halves."""
    table, at, offsets = real(11, 5), places(11, 9), torch.tensor([0, 2, 2, 7])

    def function(table, at, offsets, whole):
        return (
            F.embedding_bag(at, table, offsets, mode=mode), F.embedding_bag(at, table, offsets, mode=mode, padding_idx=3),
            F.embedding_bag(at, table, whole, mode=mode, include_last_offset=True), F.embedding_bag(at.reshape(3, 3), table, mode=mode),
            F.embedding_bag(at, table.bfloat16(), offsets, mode=mode),
        )  # fmt: skip

    check(function, table, at, offsets, torch.tensor([0, 4, 4, 9]), rtol=2e-2 if mode == "mean" else 1e-3, atol=1e-3)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_rows(mode: str) -> None:
    """With padding, a bag of nothing else, and in halves: all are as long, so nothing is scattered."""
    table, at = real(11, 5), torch.cat([places(11, 3, 7), torch.full((1, 7), 3)])

    def function(table, at):
        return (
            F.embedding_bag(at, table, mode=mode), F.embedding_bag(at, table, mode=mode, padding_idx=3),
            F.embedding_bag(at, table.bfloat16(), mode=mode), F.embedding_bag(at[:, :1], table, mode=mode),
        )  # fmt: skip

    check(function, table, at, rtol=2e-2, atol=1e-3)
    exe = hloom.compile(function, table, at)
    assert "scatter" not in {group["kind"] for group in exe.report.data["groups"]}


def test_weights_of_what_a_bag_has() -> None:
    check(lambda table, at, w: (F.embedding_bag(at, table, mode="sum", per_sample_weights=w),), real(11, 5), places(11, 3, 7), real(3, 7))
    check(
        lambda table, at, offsets, w: (F.embedding_bag(at, table, offsets, mode="sum", per_sample_weights=w),),
        real(11, 5), places(11, 9), torch.tensor([0, 2, 2, 7]), real(9),
    )  # fmt: skip


def test_slices_that_are_written_to() -> None:
    def function(x, y):
        z = x.clone()
        z[1:3, -4:] = y[:, :4]
        z[0] = 7
        return (
            torch.slice_scatter(x, y, 0, 2, 4), torch.slice_scatter(x, y, 0, -2), torch.slice_scatter(x, x[:, :3], 1, 1, 6, 2),
            torch.slice_scatter(x, y[:0], 0, 3, 3), torch.select_scatter(x, y[0], 0, -1), z,
        )  # fmt: skip

    check(function, real(5, 7), real(2, 7))


def test_a_transposed_view_that_is_written_to() -> None:
    """The view keeps its order in memory, or it would be no view of what is behind it any more."""

    def function(x):
        o = x.new_zeros(8, 4, 4, 9)
        o[:, :-1, :, 4:] = x
        view = o.view(2, 4, 16, 9).transpose(2, 1)
        view[:, :4, :, :5] = torch.full_like(view[:, :4, :, :5], 3)
        return view

    x = torch.arange(480.0).reshape(8, 3, 4, 5)
    found = torch.compile(function, backend="hloom", fullgraph=True)(x)
    torch.testing.assert_close(found, function(x))
    assert found.stride() == function(x).stride()


def _diagonal(x):
    y = x.clone()
    y.diagonal(0, 0, 3).zero_()
    y.view(-1)[1:].add_(1)
    return y


def _indexed(x):
    return x.permute(0, 2, 3, 1)[:, torch.tensor([0, 1])].permute(0, 1, 3, 2).view(2, -1)


def _put(x):
    y = x.permute(0, 2, 3, 1).put(torch.tensor([3]), torch.tensor([9.0]))
    return y.permute(0, 3, 1, 2).view(-1)


def _empty(x):
    y = torch.empty_like(x.permute(0, 2, 3, 1)).fill_(2)
    return y.permute(0, 3, 1, 2).view(-1) * x.view(-1)


@pytest.mark.parametrize("function", [_diagonal, _indexed, _put, _empty])
def test_views_that_eager_takes_of_results(function) -> None:
    """They lie in memory as eager's do, or there would be no such view."""
    x = real(2, 3, 4, 5)
    torch.testing.assert_close(torch.compile(function, backend="hloom", fullgraph=True)(x), function(x), rtol=0, atol=0)


def test_norms() -> None:
    x = real(4, 6, 5)

    def function(x):
        orders = [0, 0.5, 1, 2, 3, torch.inf, -torch.inf]
        lines = [torch.linalg.norm(x, order, dim=1, keepdim=True) for order in orders]
        planes = [torch.linalg.norm(x, order, dim=(2, 0)) for order in ("fro", 1, -1, torch.inf, -torch.inf)]
        return *lines, *planes, torch.linalg.norm(x), torch.linalg.norm(x[0]), torch.linalg.norm(x[0], "fro"), torch.linalg.norm(x[0, 0], 3)

    check(function, x)


def test_a_resize_of_integers_without_aliases_is_refused() -> None:
    image = torch.zeros(1, 1, 8, 8, dtype=torch.uint8)
    with pytest.raises(UnsupportedOpError, match="16 bits"):
        hloom.compile(Function(lambda x: F.interpolate(x, (4, 4), mode="bilinear", antialias=True)), image)


@pytest.mark.parametrize("steps", [1, 3])
def test_rows_at_places_that_are_repeated(steps: int) -> None:
    """As a decoder's positions, for each sequence: of one token they are 0 in all."""

    def rows(x: torch.Tensor) -> torch.Tensor:
        return x[torch.arange(steps).unsqueeze(0).repeat(2, 1)]

    x = torch.randn(20, 8)
    torch.testing.assert_close(hloom.compile(Function(rows), x)(x), rows(x))
