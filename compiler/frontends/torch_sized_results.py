"""Results of a graph whose size depends on data, and numbers that it reads from its tensors.

Before:
    some = aten.index.Tensor(x, [mask]);  n = aten.sym_size.int(some, 0)
    return some, n                                                        # f32[u0], u0
After:
    all = aten.index_select.default(x, 0, places);  count = aten.sum.dim_IntList(mask, [0])
    return hloom.first_rows(all, [0], [count], []), aten._local_scalar_dense(count)

The program gives what counts first among all places, and how many count. The call cuts the rest off, and reads the numbers
(dynamo/call.py).

Declined: results that gradients are asked of, for AOTAutograd's graph then takes tensors of such a size.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from hloom.runtime.layouts import order_of

from .torch_cuts import cut, inverse
from .torch_selected import Builder, Number, Selected, aten

_LARGE = 1 << 20
"""In the stead of a size that depends on data, to tell how a tensor lies: larger than what it stands beside."""


@torch.library.custom_op("hloom::first_rows", mutates_args=())
def first_rows(x: Tensor, dims: list[int], counts: list[Tensor], order: list[int]) -> Tensor:
    """The first so many rows of x along each of the dimensions, which lie in memory in that order; in their own where it is empty."""
    return cut(x, dims, [int(count) for count in counts], order, shares=False)


@first_rows.register_fake
def _(x: Tensor, dims: list[int], counts: list[Tensor], order: list[int]) -> Tensor:
    sizes: list[Any] = list(x.shape)
    for dim in dims:
        sizes[dim] = torch.library.get_ctx().new_dynamic_size()
    if not order:
        return x.new_empty(sizes)
    return x.new_empty([sizes[dim] for dim in order]).permute(inverse(order))


FIRST_ROWS = torch.ops.hloom.first_rows.default


def given_back(b: Builder, value: Selected | Number) -> Node:
    """What stands among a graph's results in the stead of the builder's node."""
    if isinstance(value, Number):
        made = b.graph.call_function(aten._local_scalar_dense.default, (value.value,))
    else:
        dims, counts = sorted(value.marks), {dim: b.count(mark) for dim, mark in value.marks.items()}
        for dim in dims:
            value = b.compact(value, dim)
        made = b.graph.call_function(FIRST_ROWS, (value.node, dims, [counts[dim] for dim in dims], _order(b.node.meta["val"])))
    made.meta = dict(b.node.meta)
    return made


def _order(value: Tensor) -> list[int]:
    """The order of a described tensor's dimensions in memory; none where it is row-major."""
    shape, strides = ([_some(size) for size in sizes] for sizes in (value.shape, value.stride()))
    return list(order_of(shape, strides))


def _some(size: int | torch.SymInt) -> int:
    if isinstance(size, int):
        return size
    expression = size.node.expr
    return int(expression.xreplace(dict.fromkeys(expression.free_symbols, _LARGE)))
