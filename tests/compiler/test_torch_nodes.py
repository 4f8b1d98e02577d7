"""What torch keeps of the graphs that it traces."""

import contextlib

import torch
from torch._export import non_strict_utils
from torch.fx import GraphModule

from hloom.compiler.frontends import torch_export
from hloom.compiler.frontends.torch_nodes import module_of


class Inner(torch.nn.Module):
    def forward(self, x):
        return (lambda y: torch.relu(y).sum(-1))(x)


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), Inner())

    def forward(self, x):
        return self.layers(x) * 2


def told(module):
    graph = torch_export.exported_module(module, (torch.zeros(2, 4),), {})
    return [node.meta.get("stack_trace") for node in graph.graph.nodes], graph.graph_module.code


def test_nodes_have_the_code_and_the_stacks_that_torch_gives_them(monkeypatch):
    """Behind torch's own the innermost line of the user's is told, in whatever function it is."""
    stacks, code = told(Outer())
    assert sum("torch.relu(y).sum(-1)" in stack.splitlines()[-1] for stack in filter(None, stacks)) == 2
    monkeypatch.setattr(torch_export, "short_stacks", contextlib.nullcontext)
    monkeypatch.setattr(torch_export, "without_code", contextlib.nullcontext)
    theirs, their_code = told(Outer())
    assert code == their_code
    assert [stack is None for stack in stacks] == [stack is None for stack in theirs]
    assert all(mine.startswith(other) for mine, other in zip(filter(None, stacks), filter(None, theirs)))


def test_functions_have_the_users_line(monkeypatch):
    """Torch keeps none."""

    def function(x):
        return torch.sin(x) + 1

    stacks, _ = told(function)
    assert sum("torch.sin(x) + 1" in stack for stack in filter(None, stacks)) == 2
    monkeypatch.setattr(torch_export, "short_stacks", contextlib.nullcontext)
    assert not any(told(function)[0])


def test_results_are_noted_as_torch_notes_them(monkeypatch):
    """Shapes, types and strides of every node, of open shapes, too; what torch asks to know them passes no mode."""

    def noted():
        shapes = ({0: torch.export.Dim("rows")},)
        nodes = torch_export.exported_module(Outer(), (torch.zeros(2, 4),), {}, shapes).graph.nodes
        values = [node.meta["val"] for node in nodes if isinstance(node.meta.get("val"), torch.Tensor)]
        return [(str(value.shape), str(value.stride()), value.dtype, value.requires_grad) for value in values]

    asked = []
    original = non_strict_utils._NonStrictTorchFunctionHandler.__torch_function__

    def counted(self, function, *rest):
        asked.append(function)
        return original(self, function, *rest)

    monkeypatch.setattr(non_strict_utils._NonStrictTorchFunctionHandler, "__torch_function__", counted)
    quiet, few = noted(), len(asked)
    monkeypatch.setattr(torch_export, "quiet_notes", contextlib.nullcontext)
    assert noted() == quiet
    assert few < (len(asked) - few) / 2


def test_a_module_without_code_writes_it_when_asked():
    class Add(torch.nn.Module):
        def forward(self, x):
            return x + 1

    module: GraphModule = torch.fx.symbolic_trace(Add())
    made = module_of(module, module.graph)
    assert "x + 1" in made.code and torch.equal(made(torch.zeros(2)), torch.ones(2))
