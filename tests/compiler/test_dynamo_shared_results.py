"""Results that are views of one another share memory under torch.compile, as in eager."""

from __future__ import annotations

import pytest
import torch


def whole_and_parts(x):
    y = x * 2
    return y, y[0], y.t()


def overlapping(x):
    y = x * 2
    return y.view(2, 6), y.t(), y.view(-1)[3:]


def parts_and_whole(x):
    y = (x + 1).t().contiguous()
    return *y.split([1, 3]), y


def repeated(x):
    s = x.sum()
    return s.expand(3), s.expand(4, 2), s


def channels_last(x):
    y = torch.relu(x[None, None].contiguous(memory_format=torch.channels_last))
    return y, y[:, 0], y.permute(0, 2, 3, 1)


def written(x):
    y = x + 1
    z = y[1:]
    z.mul_(2)
    return z, y, y[0]


@pytest.mark.parametrize("function", [whole_and_parts, overlapping, parts_and_whole, repeated, channels_last, written])
@pytest.mark.parametrize("dynamic", [False, True])
def test_views_of_results(function, dynamic):
    torch._dynamo.reset()
    x = torch.arange(12.0).reshape(3, 4)
    got, wanted = torch.compile(function, backend="hloom", fullgraph=True, dynamic=dynamic)(x), function(x)
    for mine, theirs in zip(got, wanted):
        assert torch.equal(mine, theirs) and mine.stride() == theirs.stride()
        mine.view(-1)[:1].fill_(70) if mine.is_contiguous() else mine.select(0, 0).fill_(70)
        theirs.view(-1)[:1].fill_(70) if theirs.is_contiguous() else theirs.select(0, 0).fill_(70)
    for mine, theirs in zip(got, wanted):
        assert torch.equal(mine, theirs)


def test_parts_that_lie_apart_are_results_of_the_program():
    torch._dynamo.reset()
    first, second = torch.compile(lambda x: (x * 2).chunk(2), backend="hloom", fullgraph=True)(torch.arange(4.0))
    assert torch.equal(torch.cat([first, second]), torch.arange(4.0) * 2)


def second_half(x):
    return x.chunk(2, 1)[1], x.sum()


def rows_of_a_transpose(x):
    return x.t()[1:], x * 2


def nothing_else(x):
    return (x[1:, 2:],)


def of_a_changed_operand(x):
    x.add_(1)
    return x[:, 1:], x.t()[2]


def beside_what_stays_with_pytorch(x):
    return x[:, 1::2], x.sum(), torch.linalg.lstsq(x, x[:, :1]).solution


OF_OPERANDS = [second_half, rows_of_a_transpose, nothing_else, of_a_changed_operand, beside_what_stays_with_pytorch]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("wants_gradient", [False, True])
@pytest.mark.parametrize("function", OF_OPERANDS)
@pytest.mark.filterwarnings("ignore:hloom leaves")
def test_views_of_operands(function, wants_gradient, dynamic):
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="hloom", dynamic=dynamic)
    for rows, columns in [(5, 4), (7, 6)]:
        memory = torch.randn(2 + rows * columns)
        results = []
        for made in (compiled, function):
            x = memory.clone()[2:].view(rows, columns).requires_grad_(wants_gradient)
            given = x * 1 if wants_gradient else x  # a leaf may not be changed
            got = made(given)
            assert got[0].untyped_storage().data_ptr() == given.untyped_storage().data_ptr()
            results.append((given, got, (got[0].stride(), got[0].storage_offset())))
            if wants_gradient:
                sum((each * each).sum() for each in got).backward()
                results[-1] += (x.grad,)
        (x, mine, lies, *gradient), (_, theirs, wanted, *expected) = results
        assert lies == wanted
        torch.testing.assert_close((mine, gradient), (theirs, expected), rtol=1e-4, atol=1e-4)
        with torch.no_grad():
            x.fill_(3)
        assert bool((mine[0] == 3).all())
