"""Ops on lists of tensors under torch.compile: each overload beside eager, and the optimisers that are made of them."""

from __future__ import annotations

import copy

import pytest
import torch

from hloom.compiler.frontends.torch_lowerings.foreach import _FUNCTIONS

NUMBERS = [0.5, 2.0, 1.5]


def _operands(schema) -> list:
    given = []
    for number, argument in enumerate(schema.arguments):
        kind = str(argument.type)
        if argument.kwarg_only or argument.name in ("dtype", "memory_format", "non_blocking"):
            break
        if kind == "List[Tensor]":
            shapes = [(3, 3), (3, 3), (3, 3)] if "mm" in schema.name else [(2, 3), (4,), ()]
            given.append([torch.rand(shape) * 0.8 + 0.1 + number for shape in shapes])
        elif kind == "Tensor":
            given.append(torch.tensor(1.5))
        else:
            given.append(NUMBERS if kind.startswith("List") else 2)
    return given


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_each_overload(name: str):
    """`copy` and `zero` are what functionalization makes of the ops in place, as whose results they are seen here."""
    in_place = name in ("copy", "zero")
    packet = getattr(torch.ops.aten, f"_foreach_{name}{'_' * in_place}")
    for overload in packet.overloads():
        op = getattr(packet, overload)
        if "out" in overload or (name.startswith("addc") and overload == "Tensor"):
            continue  # torch itself cannot trace a tensor of scalars
        torch.manual_seed(0)
        torch._dynamo.reset()
        given = _operands(op._schema)
        twins = copy.deepcopy(given)
        made, wanted = torch.compile(op, backend="hloom", fullgraph=True)(*given), op(*twins)
        torch.testing.assert_close((given, made), (twins, wanted))


@pytest.mark.parametrize(
    "made",
    [
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True, foreach=True),
        lambda p: torch.optim.Adam(p, amsgrad=True, weight_decay=0.1, foreach=True),
        lambda p: torch.optim.Adam(p),
        lambda p: torch.optim.RMSprop(p, centered=True, foreach=True),
        lambda p: torch.optim.Adagrad(p, foreach=True),
    ],
)
@pytest.mark.filterwarnings("error:hloom leaves")
def test_optimisers(made):
    torch.manual_seed(0)
    torch._dynamo.reset()
    ours = [torch.nn.Parameter(torch.randn(shape)) for shape in ((3, 5), (7,), ())]
    theirs = copy.deepcopy(ours)
    one, other = made(ours), made(theirs)
    step = torch.compile(one.step, backend="hloom")
    for _ in range(3):
        for parameter, twin in zip(ours, theirs):
            parameter.grad = torch.randn_like(parameter)
            twin.grad = parameter.grad.clone()
        torch.compile(torch.nn.utils.clip_grad_norm_, backend="hloom")(ours, 1.0)
        torch.nn.utils.clip_grad_norm_(theirs, 1.0)
        step()
        other.step()
    torch.testing.assert_close(ours, theirs)
