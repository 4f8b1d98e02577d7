"""Special functions, and what counts and loops over data, at more values than the sweep's."""

from __future__ import annotations

import math
import operator

import pytest
import torch

import hloom


def _compiled(function, *inputs):
    return hloom.compile(function, *inputs)(*inputs)


_BESSEL = [name for name in dir(torch.special) if "bessel" in name or name in ("i0e", "i1", "i1e", "airy_ai", "ndtri")]
_POLYNOMIALS = [name for name in dir(torch.special) if "polynomial" in name]


@pytest.mark.parametrize("name", _BESSEL)
def test_a_function_of_one_number(name):
    x = torch.cat([torch.linspace(-30, 30, 241), torch.linspace(0, 1, 40)]).double()
    function = getattr(torch.special, name)
    torch.testing.assert_close(_compiled(function, x), function(x), rtol=1e-11, atol=1e-13, equal_nan=True)


def test_polynomials_of_degrees_that_are_data():
    x = torch.cat([torch.linspace(-1, 1, 23), torch.tensor([1.5, -2.0])]).double()
    degrees = torch.tensor([0.0, 1, 2, 5, 9, 15, 40, 130, -1, math.nan, 2.5, 600])

    def values(x, degrees):
        return [getattr(torch.special, name)(x[:, None], degrees) for name in _POLYNOMIALS]

    for got, wanted in zip(_compiled(values, x, degrees), values(x, degrees)):
        torch.testing.assert_close(got, wanted, rtol=1e-9, atol=1e-9, equal_nan=True)


def test_logarithms_of_gamma():
    """Nearly every f32 is the one next to the value, beside its zeros too."""
    ends = torch.tensor(
        [0.0, -0.0, math.inf, -math.inf, math.nan, 1, 2, 1 + 2**-23, 2 - 2**-23, 1e-40, -1e-40, 3e38, -1, -1e30, -2.4570247]
    )
    x = torch.cat([ends, torch.linspace(-40, 40, 999), torch.linspace(0, 3, 999), torch.logspace(-30, 30, 99)])
    wanted = torch.lgamma(x.double())
    torch.testing.assert_close(_compiled(torch.lgamma, x), wanted.float(), rtol=2**-23, atol=0, equal_nan=True)
    torch.testing.assert_close(_compiled(torch.lgamma, x.double()), wanted, rtol=1e-13, atol=1e-14, equal_nan=True)


def test_incomplete_gamma_functions_are_the_rest_of_each_other():
    """Eager's are right to 9 digits where the order is near: beside it these are exact in f32."""
    order = torch.cat([torch.linspace(0.01, 4, 30), torch.linspace(5, 300, 30), torch.tensor([0.0, math.inf, math.nan, -1.0, 1e-6])])[
        :, None
    ]
    x = torch.cat([torch.linspace(0, 5, 31), torch.linspace(6, 400, 31), torch.tensor([math.inf, math.nan, -1.0])])
    low, high = _compiled(lambda a, x: (torch.special.gammainc(a, x), torch.special.gammaincc(a, x)), order.double(), x.double())
    for got, function in ((low, torch.special.gammainc), (high, torch.special.gammaincc)):
        torch.testing.assert_close(got, function(order.double(), x.double()), rtol=1e-6, atol=1e-8, equal_nan=True)
    whole = (low + high)[~(low.isnan() | high.isnan())]
    torch.testing.assert_close(whole, torch.ones_like(whole), rtol=1e-12, atol=0)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_loss_of_rows_of_all_lengths(reduction, zero_infinity):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(20, 5, 7, generator=generator).log_softmax(-1)
    targets = torch.randint(1, 7, (5, 6), generator=generator)
    targets[1] = 3
    lengths, ends = torch.tensor([20, 19, 15, 6, 3]), torch.tensor([6, 5, 0, 2, 4])

    def loss(*inputs):
        return torch.nn.functional.ctc_loss(*inputs, reduction=reduction, zero_infinity=zero_infinity)

    torch.testing.assert_close(_compiled(loss, scores, targets, lengths, ends), loss(scores, targets, lengths, ends))


def test_targets_of_the_ctc_loss_one_after_the_other_are_refused():
    inputs = torch.randn(6, 2, 4).log_softmax(-1), torch.tensor([1, 2, 3]), torch.tensor([6, 5]), torch.tensor([2, 1])
    with pytest.raises(hloom.CompileError, match="as a matrix"):
        hloom.compile(torch.nn.functional.ctc_loss, *inputs)


@pytest.mark.parametrize("dim", [0, -1])
def test_the_most_frequent_elements(dim):
    x = torch.randint(0, 4, (13, 9), generator=torch.Generator().manual_seed(1)).float()
    for got, wanted in zip(_compiled(lambda x: torch.mode(x, dim), x), torch.mode(x, dim)):
        assert torch.equal(got, wanted)


def test_frexp_of_numbers_below_the_normal_ones():
    x = torch.tensor([1e-40, -3e-45, 0.0, 8.0, -0.75, math.inf])
    for got, wanted in zip(_compiled(torch.frexp, x), torch.frexp(x)):
        assert torch.equal(got, wanted)


def test_as_many_nonzero_elements_as_asked_for():
    x = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0]])
    for size in (2, 4, 7):
        assert torch.equal(_compiled(lambda x, n=size: torch.nonzero_static(x, size=n), x), torch.nonzero_static(x, size=size))


def test_absolute_values_of_complex_numbers_make_their_norms():
    x = torch.randn(3, 5, dtype=torch.complex64, generator=torch.Generator().manual_seed(2))

    def norms(x):
        return [torch.linalg.vector_norm(x, order) for order in (0, 1, 2, 3, math.inf, -math.inf)] + [torch.linalg.norm(x, math.inf)]

    for got, wanted in zip(_compiled(norms, x), norms(x)):
        torch.testing.assert_close(got, wanted)


def test_norms_in_a_wider_type_and_what_they_scale():
    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(2)).bfloat16()

    def norms(x):
        of = [torch.linalg.vector_norm(x, order, [0], dtype=torch.float32) for order in (0, 1, 2, 3, math.inf, -math.inf)]
        return [*of, *(torch.renorm(x, order, 1, 1) for order in (1, 2, math.inf))]

    for got, wanted in zip(_compiled(norms, x), norms(x)):
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
def test_polygamma_on_both_sides_of_zero(order):
    x = torch.cat([torch.linspace(-30.3, 12.4, 200), torch.tensor([0.0, -2.0, 0.5, 1e-3])]).double()
    wanted = torch.polygamma(order, x)
    if order == 1:
        wanted[wanted > 1e30] = math.inf  # the poles: eager's sine of pi is not zero
    torch.testing.assert_close(_compiled(lambda x: torch.polygamma(order, x), x), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_polygamma_vanishes_at_infinity(order):
    """Eager gives 0 for the first order, of others its series' NaN."""
    x = torch.tensor([math.inf, 2.0])
    wanted = torch.stack([torch.zeros(()), torch.polygamma(order, x[1])])
    torch.testing.assert_close(_compiled(lambda x: torch.polygamma(order, x), x), wanted)


@pytest.mark.parametrize("name", ["erfinv", "special.erfcx", "special.log_ndtr"])
def test_kin_of_the_error_function(name) -> None:
    """As near to f64's as a few of eager's own errors, to the edges of each range."""
    function = operator.attrgetter(name)(torch)
    inside = name == "erfinv"
    x = torch.cat([1 - torch.logspace(-7, -1, 300), torch.linspace(-1, 1, 301)]) if inside else torch.linspace(-9, 40, 3001)
    ends = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1e20, -1e20, 1e-30])
    torch.testing.assert_close(hloom.compile(lambda x: function(x), ends)(ends), function(ends), equal_nan=True)
    for each in (x, x.double()):
        got = hloom.compile(lambda x: function(x), each)(each)
        rtol = 2e-5 if each.dtype == torch.float32 and not inside else 1e-6 if each.dtype == torch.float32 else 1e-8
        torch.testing.assert_close(got.double(), function(each.double()), rtol=rtol, atol=1e-37, equal_nan=True)
