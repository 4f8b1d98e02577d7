"""A row's module with its loss and optimizer: what a step of training is, the same for every peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..layers.modules import make, tensors
from ..layers.table import Layer
from .gradients import STEPS, errors

_RATE, _MOMENTUM = 1e-3, 0.9


class Training:
    """A call is a step: loss, gradients, the optimizer's update."""

    def __init__(self, row: Layer, compiled: Callable[[Any], Any] = lambda loss: loss, dtype: torch.dtype = torch.float32):
        """`compiled`: of the function that gives the loss, the one that is called. The optimizer is torch's own."""
        self.inputs, self.wanted = _inputs(row, dtype)
        self.module = _as_trained(make(row)).to(dtype)
        torch.set_grad_enabled(True)
        self.parameters = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.SGD(self.parameters, _RATE, _MOMENTUM)
        self.loss = compiled(self._loss)

    def _loss(self, *inputs: Tensor) -> Tensor:
        scores = self.module(*inputs)
        return F.cross_entropy(scores.flatten(0, -2), self.wanted)

    def __call__(self) -> None:
        self.gradients()
        self.optimizer.step()

    def gradients(self) -> list[Tensor]:
        """Of the parameters that have some."""
        self.optimizer.zero_grad()
        self.loss(*self.inputs).backward()
        return [parameter.grad for parameter in self.parameters if parameter.grad is not None]


def gradient_errors(row: Layer, step: Training, tries: int) -> list[np.ndarray]:
    """How far the gradients of some steps are from eager's in f64 at the same parameters: of each step, and again of `tries` whose inputs
    are a rounding apart."""
    with _Double():
        exact = Training(row, dtype=torch.float64)
    inputs, found, wanted = step.inputs, [], []
    for _ in range(STEPS):
        exact.module.load_state_dict(step.module.state_dict())
        with _Double():
            expected = _arrays(exact.gradients())
        for moved in [inputs, *([_moved(each) for each in inputs] for _ in range(tries))]:
            step.inputs = moved
            found.append(_arrays(step.gradients()))
            wanted.append(expected)
        step.inputs = inputs
        step()
    return errors(found, wanted)


def _moved(tensor: Tensor) -> Tensor:
    """Floats to one of their neighbours each."""
    return torch.nextafter(tensor, torch.randn_like(tensor) * torch.inf) if tensor.is_floating_point() else tensor


def _arrays(gradients: list[Tensor]) -> list[np.ndarray]:
    return [each.numpy(force=True).copy() for each in gradients]


def _as_trained(module: nn.Module) -> nn.Module:
    """Norms over the batch are those of training; what is random, as dropout is, stays off, for every peer draws numbers of its own."""
    for each in module.eval().modules():
        if isinstance(each, nn.modules.batchnorm._BatchNorm):
            each.train()
    return module


def _inputs(row: Layer, dtype: torch.dtype) -> tuple[list[Tensor], Tensor]:
    """What the module is called with, and the classes it should give."""
    inputs = tensors(row)
    scores = make(row)(*inputs)
    wanted = torch.from_numpy(np.random.default_rng(0).integers(0, scores.shape[-1], scores[..., 0].numel()))
    return [each.to(dtype) if each.is_floating_point() else each for each in inputs], wanted


class _Double(TorchFunctionMode):
    """Models compute norms and masks in f32 by name: those that are to be exact do not."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function is Tensor.float:
            return args[0].double()
        if function is torch._grouped_mm:
            return _grouped_products(*args, **kwargs)
        args = tuple(torch.float64 if each is torch.float32 else each for each in args)
        kwargs = {name: torch.float64 if each is torch.float32 else each for name, each in kwargs.items()}
        return function(*args, **kwargs)


def _grouped_products(rows: Tensor, weights: Tensor, *, offs: Tensor, **others: Any) -> Tensor:
    """What torch has no f64 kernel of: `offs` says where the rows of each group end."""
    ends = offs.tolist()
    return torch.cat([rows[start:end] @ weight for start, end, weight in zip([0, *ends], ends, weights)])
