"""How the tensors of a PyTorch program lie in memory, which its results keep.

torch.export describes each value by its strides. Of a convolution of three dimensions that is not what eager PyTorch makes: the kernels of
oneDNN, which a real tensor has and a described one has not, give channels_last_3d where an operand is. So such a convolution is asked
for its kernel's memory format, and what reads its result is described again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Interpreter, Node

from hloom.runtime.layouts import order_of

_CONVOLUTION = torch.ops.aten.conv3d.default


def order_of_value(value: Any) -> tuple[int, ...]:
    """The order of a described tensor's dimensions in memory; () where it is row-major, repeats elements, or has sizes that are open.

    A view with gaps, as some channels of an image in channels_last, has the order of what it is a view of.
    """
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return ()
    shape, strides = value.shape, value.stride()
    return order_of(shape, _without_gaps(shape, strides)) if all(type(size) is int for size in (*shape, *strides)) else ()


def _without_gaps(shape: Sequence[int], strides: Sequence[int]) -> Sequence[int]:
    """The strides of a dense array whose dims lie in the order of these."""
    if 0 in strides:
        return strides
    dense, step = list(strides), 1
    for d in sorted(range(len(shape)), key=lambda d: (strides[d], -d)):
        dense[d], step = step, step * max(shape[d], 1)
    return dense


def result_orders(exported: torch.export.ExportedProgram, results: Sequence[Node]) -> dict[int, tuple[int, ...]]:
    """How the results lie that are not row-major, by their index."""
    values: list[Any] = [node.meta.get("val") for node in results]
    if any(node.target is _CONVOLUTION and _memory_format(node.args) for node in exported.graph.nodes):
        again = _Described(exported.graph_module, garbage_collect_values=False)
        given = [node.meta["val"] for node in exported.graph.nodes if node.op == "placeholder"]
        with values[0].fake_mode:
            again.run(*given, enable_io_processing=False)
        values = [again.env[node] for node in results]
    return {index: order for index, value in enumerate(values) if (order := order_of_value(value))}


class _Described(Interpreter):
    """Describes the values of a program once more, with the results of convolutions as eager PyTorch lays them out."""

    def run_node(self, n: Node) -> Any:
        made = super().run_node(n)
        if n.target is not _CONVOLUTION:
            return made
        found = _memory_format(self.map_nodes_to_values(n.args, n))
        return made.contiguous(memory_format=found) if found else made


def _memory_format(arguments: Any) -> torch.memory_format | None:
    """That of the result of a convolution of three dimensions, where it is not row-major; asked of tensors whose memory nobody touches."""
    described = [each.meta["val"] if isinstance(each, Node) else each for each in arguments[:2]]
    if not any(map(order_of_value, described)):
        return None
    ones, zeros = [1, 1, 1], [0, 0, 0]
    stride, padding, dilation, groups = list(arguments[3:]) + [ones, zeros, ones, 1][max(0, len(arguments) - 3) :]
    ask: Any = torch._C  # described to mypy otherwise than it is
    with unset_fake_temporarily():
        real = [torch.empty_strided(each.shape, each.stride(), dtype=each.dtype) for each in described]
        backend = ask._select_conv_backend(*real, None, stride, padding, dilation, False, zeros, groups, None)
        found = ask._conv_determine_backend_memory_format(*real, backend)
    return found if found is torch.channels_last_3d else None
