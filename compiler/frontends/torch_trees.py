"""The structures of an exported program's arguments and results (trees.py)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
import torch.utils._pytree as torch_pytree
from torch.export.graph_signature import ConstantArgument, InputKind, TensorArgument

from hloom.passes.errors import InvalidProgramError

from .trees import Constant, Leaf, described


def input_trees(exported: torch.export.ExportedProgram) -> Sequence[Any]:
    """Of the positional and of the keyword arguments."""
    return structure_of(user_inputs(exported), exported.call_spec.in_spec, keyword=True)


def structure_of(arguments: Sequence[Any], spec: torch_pytree.TreeSpec, *, keyword: bool = False) -> Any:
    """What a file says of a structure with these arguments as leaves."""
    leaves = numbered(arguments)
    count = sum(isinstance(leaf, Leaf) for leaf in leaves)
    return described(torch_pytree.tree_unflatten(leaves, spec), count, lambda each: not torch_pytree.tree_is_leaf(each), keyword=keyword)


def user_inputs(exported: torch.export.ExportedProgram) -> list[Any]:
    """The arguments of a call, in the order of the leaves."""
    return [spec.arg for spec in exported.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]


def numbered(arguments: Sequence[Any]) -> list[Leaf | Constant | None]:
    """Leaves: the tensors' numbers, and the values of what is no tensor."""
    computed = next((arg.name for arg in arguments if not isinstance(arg, (ConstantArgument, TensorArgument))), None)
    if computed is not None:
        raise InvalidProgramError(
            f"the program's result {computed} is a number that it computes from its inputs", remedy="return the tensor, without .item()"
        )
    numbers = map(Leaf, itertools.count())
    return [_constant(argument.value) if isinstance(argument, ConstantArgument) else next(numbers) for argument in arguments]


def _constant(value: Any) -> Constant | None:
    return None if value is None else Constant(value)
