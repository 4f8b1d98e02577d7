"""Shapes that torch finds by running a decomposition on fake tensors, an op at a time, told at once.

Of a batch norm that runs a dozen ops, for each new size: a quarter of the time that torch.export takes for a network of them. Of a
recurrent layer it runs a dozen for each step.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._C import DispatchKey
from torch._decomp import decomposition_table
from torch._prims_common import suggest_memory_format
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _get_current_dispatch_mode

_BATCH_NORM = torch.ops.aten._native_batch_norm_legit_no_training.default
_RECURRENT = [getattr(torch.ops.aten, name).input for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")]
_COMPOSITE = DispatchKey.CompositeImplicitAutograd


@contextlib.contextmanager
def shapes_at_once() -> Iterator[None]:
    """While tracing. What is recorded, and all else that is more than shapes, is torch's decomposition."""
    whole = decomposition_table[_BATCH_NORM]

    @functools.wraps(whole)  # torch asks where it is from
    def batch_norm(x: torch.Tensor, weight: Any, bias: Any, mean: torch.Tensor, variance: torch.Tensor, *rest: float) -> Any:
        vectors = [each for each in (weight, bias, mean, variance) if each is not None]
        if (
            isinstance(_get_current_dispatch_mode(), FakeTensorMode)
            and _is_plain(x)
            and all(each.shape == x.shape[1:2] for each in vectors)
        ):
            return torch.empty_like(x, memory_format=suggest_memory_format(x)), x.new_empty(0), x.new_empty(0)
        return whole(x, weight, bias, mean, variance, *rest)

    decomposition_table[_BATCH_NORM] = batch_norm
    try:
        with recurrent_shapes_at_once(_COMPOSITE):
            yield
    finally:
        decomposition_table[_BATCH_NORM] = whole


@contextlib.contextmanager
def recurrent_shapes_at_once(*keys: DispatchKey) -> Iterator[None]:
    """Those of recurrent layers alone, of which torch has kernels by these keys. Dynamo asks by the second one."""
    keys = keys or (_COMPOSITE, DispatchKey.Autograd)
    kernels = [(op, key, op.py_kernels[key]) for op in _RECURRENT for key in keys if key in op.py_kernels]
    for op, key, kernel in kernels:
        _replace(op, key, _recurrent(kernel))
    try:
        yield
    finally:
        for op, key, kernel in kernels:
            _replace(op, key, kernel)


def _replace(op: torch._ops.OpOverload, key: DispatchKey, kernel: Callable[..., Any]) -> None:
    op.py_kernels[key] = kernel
    op._dispatch_cache.clear()


def _recurrent(whole: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a recurrent layer, of whose parameters each layer and direction has as many."""

    @functools.wraps(whole)
    def layers(x: Any, state: Any, weights: Any, biases: bool, count: int, dropout: float, train: bool, both: bool, first: bool) -> Any:
        states = [state] if isinstance(state, torch.Tensor) else list(state)
        ways = 2 if both else 1
        if not isinstance(_get_current_dispatch_mode(), FakeTensorMode) or not _are_plain(x, states, weights, biases, count * ways, first):
            return whole(x, state, weights, biases, count, dropout, train, both, first)
        steps, batch = (x.shape[1], x.shape[0]) if first else (x.shape[0], x.shape[1])

        def made() -> tuple[torch.Tensor, ...]:
            lasting = x.new_empty(steps, batch, states[0].shape[-1] * ways)
            return (lasting.transpose(0, 1) if first else lasting, *(x.new_empty(each.shape) for each in states))

        return _Differentiable.apply(made, x, *states, *weights)

    return layers


class _Differentiable(torch.autograd.Function):
    """What is made, as something that has gradients where one of the tensors has: nobody will ask for them."""

    @staticmethod
    def forward(ctx: Any, made: Callable[[], tuple[torch.Tensor, ...]], *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return made()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        raise NotImplementedError


def _are_plain(x: torch.Tensor, states: list[torch.Tensor], weights: Any, biases: bool, layers: int, first: bool) -> bool:
    """Whether the layers' operands fit each other, of known sizes and of one type, on the processor, and no state is projected."""
    if x.dim() != 3 or len(weights) != layers * (4 if biases else 2) or 0 in x.shape:
        return False
    tensors = [x, *states, *weights]
    if any(each.device.type != "cpu" or each.dtype != x.dtype for each in tensors):
        return False
    if any(type(extent) is not int for each in tensors for extent in each.shape) or len({tuple(each.shape) for each in states}) != 1:
        return False
    hidden = states[0].shape[-1]
    fits = states[0].shape == (layers, x.shape[0 if first else 1], hidden) and weights[0].shape[1:] == x.shape[2:]
    return fits and all(each.dim() == 2 and each.shape[1] == hidden for each in weights[1 :: 4 if biases else 2])


def _is_plain(x: torch.Tensor) -> bool:
    """Whether the result has the tensor's strides, on the processor, where nothing is kept of moments."""
    if x.device.type != "cpu" or x.dim() < 2 or not all(type(extent) is int for extent in x.shape):
        return False
    return x.is_contiguous() or (x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last))
