"""What torch's own tests of dynamo's backends ask of one, asked of hloom: found by name, wrapped by others, told apart by its options."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._dynamo.backends.debugging import ExplainWithBackend  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Parameter(torch.randn(2, 3)), nn.Parameter(torch.rand(2, 3) + 1)

    def forward(self, x):
        return (self.first + x) / self.second


def test_it_is_listed():
    assert "hloom" in torch._dynamo.list_backends()


def test_numbers_and_nested_operands():
    def function(a, pair, number):
        return a / number - pair[0] / pair[1]

    given = torch.ones(2), (torch.full((2,), 2.0), torch.full((2,), 3.0)), 4
    result, expected = torch.compile(function, backend="hloom")(*given), function(*given)
    torch.testing.assert_close(result, expected)
    assert result.stride() == expected.stride()


def test_a_wider_type_added_in_place():
    def function(a, b):
        x = torch.cos(a)
        x += b
        return torch.sin(x)

    given = torch.randn(10), torch.randn(10, dtype=torch.float64)
    torch.testing.assert_close(torch.compile(function, backend="hloom")(*given), function(*given))


def test_explained_through_another_backend():
    def inner(x):
        x = torch.sin(x)
        torch._dynamo.graph_break()
        return torch.sin(x)

    def function(x):
        return torch.sigmoid(inner(torch.cos(x)))

    explained, x = ExplainWithBackend("hloom"), torch.randn(10)
    torch.testing.assert_close(torch.compile(function, backend=explained)(x), function(x))
    output = explained.output()
    assert (output.graph_count, output.graph_break_count, output.op_count) == (4, 3, 4)


def test_looked_up_by_another_backend():
    ran = []

    def backend(module, inputs):
        ran.append(module)
        return torch._dynamo.lookup_backend("hloom")(module, inputs)

    x = torch.randn(3, 3)
    torch.testing.assert_close(torch.compile(torch.relu, backend=backend)(x), torch.relu(x))
    assert ran


def test_other_options_compile_again():
    def function(x):
        return x + x

    x = torch.tensor(2.0)
    torch.compile(function, backend="hloom", options={"bind": False})(x)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="no option of hloom's: speed"):
        torch.compile(function, backend="hloom", options={"speed": 1})(x)


@pytest.mark.parametrize("freezes", [False, True])
def test_parameters_where_dynamo_prepares_to_freeze_them(freezes):
    module, x = Sum(), torch.randn(2, 3)
    with torch._dynamo.config.patch(prepare_freezing=freezes), torch.no_grad():
        call = torch.compile(module, backend="hloom")
        torch.testing.assert_close(call(x), module(x))
        module.first.add_(1)
        torch.testing.assert_close(call(x), module(x))


def test_a_view_of_memory_that_is_not_its_operands_stays_with_pytorch():
    def function(x):
        return torch.as_strided(x, (3,), (2,), 1) + 1

    x = torch.arange(20.0)[3:9]
    with pytest.warns(UserWarning, match="hloom leaves .*aten.as_strided.default"):
        torch.testing.assert_close(torch.compile(function, backend="hloom")(x), function(x))
