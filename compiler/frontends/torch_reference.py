"""What eager PyTorch computes, for `verify=True`, and which torch op was translated wrongly."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as torch_pytree

from hloom.dialects.target import TargetView
from hloom.passes.errors import CompileError
from hloom.runtime.comparison import difference
from hloom.runtime.tensors import TO_KIND

from ..compile import Compilation
from ..reference import Culprit, Reference
from .torch_arrays import as_array
from .torch_export import exported_module
from .torch_import import line_of


def torch_reference(source: Any, examples: Sequence[Any], given: Mapping[str, Any], compilation: Compilation) -> Reference:
    """Eager PyTorch on the example inputs; a module's state stays as it is."""
    program = compilation.program
    args, keywords = tuple(examples), dict(given)
    if isinstance(source, torch.export.ExportedProgram):
        args, keywords = source.example_inputs
        module = source.module()
    else:
        module = source

    def blame() -> Culprit | None:
        exported = source if isinstance(source, torch.export.ExportedProgram) else exported_module(source, tuple(examples), dict(given))
        return _OpByOp(exported.module(), compilation.machine).find(*args, **keywords)

    leaves, structure = torch_pytree.tree_flatten((args, keywords))
    free = [index for index in range(len(program.inputs)) if index not in program.bound]
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, (torch.Tensor, np.ndarray))]

    def run(inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        given, own = list(leaves), copy.deepcopy(module)
        for place, array in zip(places, inputs, strict=True):
            given[place] = TO_KIND["torch"](array.copy())
        args, keywords = torch_pytree.tree_unflatten(given, structure)
        with torch.no_grad():
            results = torch_pytree.tree_leaves(own(*args, **keywords))
        by_index = dict(zip(free, (given[place] for place in places), strict=True))
        for index in program.updates:
            results.append(by_index[index] if index in by_index else attrgetter(program.inputs[index].name)(own))
        return [as_array(leaf) for leaf in results if isinstance(leaf, torch.Tensor)]

    inputs = [leaves[place] for place in places]
    return Reference("eager PyTorch", [x if isinstance(x, np.ndarray) else as_array(x).copy() for x in inputs], run, blame)


class _OneOp(torch.nn.Module):
    """A call of one op; the tensors among its arguments are the inputs."""

    def __init__(self, op: Any, args: Any, keywords: Any):
        super().__init__()
        self.op = op
        self.leaves, self.structure = torch_pytree.tree_flatten((args, keywords))
        self.tensors = [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        args, keywords = torch_pytree.tree_unflatten(leaves, self.structure)
        return self.op(*args, **keywords)


class _OpByOp(torch.fx.Interpreter):
    """Runs an exported module op by op, each op compiled by itself beside eager PyTorch on the same values."""

    def __init__(self, module: torch.fx.GraphModule, target: TargetView):
        super().__init__(module)
        self.target = target
        self.found: Culprit | None = None

    def find(self, *args: Any, **keywords: Any) -> Culprit | None:
        """The first op that differs, None where all are right by themselves."""
        with torch.no_grad():
            self.run(*torch_pytree.tree_leaves((args, keywords)))
        return self.found

    def run_node(self, node: torch.fx.Node) -> Any:
        expected = super().run_node(node)
        if self.found is None and isinstance(node.target, torch._ops.OpOverload):
            args, keywords = self.fetch_args_kwargs_from_env(node)
            if not self._right(_OneOp(node.target, args, keywords), expected):
                self.found = Culprit(f"torch op {node.target}", line_of(node) or None, "input")
        return expected

    def _right(self, op: _OneOp, expected: Any) -> bool:
        wanted = [as_array(leaf) for leaf in torch_pytree.tree_leaves(expected) if isinstance(leaf, torch.Tensor)]
        try:
            found = Compilation.of(op, op.tensors, target=self.target).executable().flat([as_array(tensor) for tensor in op.tensors])
        except CompileError:
            return True  # it was compiled as part of the program, so it is not known to be wrong
        return all(difference(np.asarray(one), other).ok for one, other in zip(found, wanted, strict=True))
