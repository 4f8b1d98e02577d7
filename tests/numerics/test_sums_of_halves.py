"""Sums of half floats at computed places: made in f32 and rounded once, whether beside the table or in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import hloom


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Tensor]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs)


def _index_add(x: Tensor, places: Tensor, source: Tensor) -> Tensor:
    return x.index_add(0, places, source)


def _index_put(x: Tensor, places: Tensor, source: Tensor) -> Tensor:
    return x.index_put((places,), source, accumulate=True)


def _scatter_add(x: Tensor, places: Tensor, source: Tensor) -> Tensor:
    return x.scatter_add(0, places[:, None].expand(source.shape), source)


def _of_zeros(x: Tensor, places: Tensor, source: Tensor) -> Tensor:
    return torch.zeros_like(x).index_add(0, places, source)


@pytest.mark.parametrize("function", [_index_add, _index_put, _scatter_add, _of_zeros])
@pytest.mark.parametrize("element", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("rows", [20, 900])
def test_a_row_of_many_terms_is_rounded_once(function: Callable[..., Tensor], element: torch.dtype, rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, 40, generator=generator).to(element)
    places = torch.randint(0, rows, (300,), generator=generator)
    places[:200] = rows - 1
    source = torch.rand(300, 40, generator=generator).to(element)
    want = function(x.double(), places, source.double())
    exe = hloom.compile(_Program(function), x, places, source, target="cpu")
    found = exe(x, places, source)
    assert found.dtype == element
    assert ((found.double() - want).abs() <= torch.finfo(element).eps * 0.51 * want.abs() + 1e-6).all()


def test_places_out_of_bounds_are_dropped_beside_the_table() -> None:
    text = """
    func.func @main(%t: tensor<500x32xbf16>, %i: tensor<6xi32>, %u: tensor<6x32xf32>) -> tensor<500x32xbf16> {
      %w = stablehlo.convert %t : (tensor<500x32xbf16>) -> tensor<500x32xf32>
      %0 = "stablehlo.scatter"(%w, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<500x32xf32>, tensor<6xi32>, tensor<6x32xf32>) -> tensor<500x32xf32>
      %1 = stablehlo.convert %0 : (tensor<500x32xf32>) -> tensor<500x32xbf16>
      return %1 : tensor<500x32xbf16>
    }"""
    table = torch.randn(500, 32).to(torch.bfloat16)
    places = torch.tensor([0, -1, 499, 500, 0, 499], dtype=torch.int32)
    updates = torch.randn(6, 32)
    want = table.float()
    for row in (0, 2, 4, 5):
        want[places[row]] += updates[row]
    found = hloom.compile(text, target="cpu")(table, places, updates)
    assert torch.equal(found, want.to(torch.bfloat16))
