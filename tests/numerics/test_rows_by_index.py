"""Indices that are the same along dimensions, or that count one: gathers and scatters of rows, beside torch."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import hloom

torch = pytest.importorskip("torch")


@st.composite
def _cases(draw):
    """Shapes, the dimension that an index moves along, and the dimensions along which indices are the same."""
    rank = draw(st.integers(1, 3))
    shape = [draw(st.integers(1, 7)) for _ in range(rank)]
    dim = draw(st.integers(0, rank - 1))
    places = [draw(st.integers(1, 9)) if d == dim else draw(st.sampled_from((n, draw(st.integers(1, n))))) for d, n in enumerate(shape)]
    same = [draw(st.booleans()) for _ in shape]
    return shape, dim, places, same, draw(st.integers(0, 2**31))


def _inputs(shape, dim, places, same, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(-8, 9, shape, generator=generator).float()
    index = torch.randint(0, shape[dim], [1 if s else n for s, n in zip(same, places)], generator=generator).expand(places)
    updates = torch.randint(-8, 9, places, generator=generator).float()
    return x, index.clone(memory_format=torch.contiguous_format) if not any(same) else index, updates


@settings(max_examples=20, deadline=None, derandomize=True)
@given(_cases())
def test_gathers_and_scatters_along_a_dimension_are_torchs(case):
    shape, dim, places, same, seed = case
    x, index, updates = _inputs(shape, dim, places, same, seed)
    thin = index[tuple(slice(0, 1) if s else slice(None) for s in same)]

    class Rows(torch.nn.Module):
        def forward(self, x, thin, updates):
            index = thin.expand(places)
            total = x.scatter_add(dim, index, updates)
            most = x.scatter_reduce(dim, index, updates, "amax", include_self=False)
            return x.gather(dim, index), total, most

    for made, expected in zip(hloom.compile(Rows(), x, thin, updates)(x, thin, updates), Rows()(x, thin, updates)):
        np.testing.assert_array_equal(np.asarray(made), expected)


@pytest.mark.parametrize("count", [5, 8])
def test_a_count_of_rows_beside_an_index(count):
    """x[arange(n), y]: of all rows, and of the first."""

    class Picked(torch.nn.Module):
        def forward(self, x, y, u):
            rows = torch.arange(count)
            return x[rows, y], x[rows, :, y], x.index_put((rows, y), u, accumulate=True)

    x, y, u = torch.randn(8, 6, 6), torch.randint(-6, 6, (count,)), torch.randn(count, 6)
    for made, expected in zip(hloom.compile(Picked(), x, y, u)(x, y, u), Picked()(x, y, u)):
        np.testing.assert_array_equal(np.asarray(made), expected)


def test_writes_and_gradients_at_negative_indices():
    def written(x, y, u):
        x = x * 2
        x[:, y] = u
        x[y, :, -2] += 1
        return x[y].sin()

    def gradients(function):
        leaves = [x.clone().requires_grad_(), u.clone().requires_grad_()]
        result = function(leaves[0], y, leaves[1])
        result.sum().backward()
        return result, *(leaf.grad for leaf in leaves)

    x, y, u = torch.randn(7, 6, 5), torch.tensor([1, -2, -3, 4, 0]), torch.randn(7, 5, 5)
    torch._dynamo.reset()
    made = gradients(torch.compile(written, backend="hloom", fullgraph=True))
    for result, expected in zip(made, gradients(written)):
        torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("count", [5, 8])
def test_jax_reads_and_writes_elements_of_counted_rows(count):
    jax = pytest.importorskip("jax")

    def picked(x, y, u):
        rows = jax.numpy.arange(count)
        return x[rows, y], x.at[rows, y].add(u), x.at[rows, y].set(u, mode="drop")

    rng = np.random.default_rng(0)
    x, y, u = rng.normal(size=(8, 6)).astype("f"), rng.integers(-7, 7, count).astype("i"), rng.normal(size=count).astype("f")
    for made, expected in zip(hloom.compile(picked, x, y, u)(x, y, u), jax.jit(picked)(x, y, u)):
        np.testing.assert_array_equal(np.asarray(made), expected)
