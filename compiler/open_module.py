"""A StableHLO module whose arguments have unknown sizes, from a file, from text or from jax.export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.errors import InvalidProgramError, ParseError
from hloom.runtime import pytree
from hloom.runtime.dtypes import WIDER
from hloom.runtime.open_shapes import OpenSpec, Shape, Size

from .open_program import OpenProgram
from .parsing import bytecode_of
from .refine import refined, without_bounds
from .source_program import Imported, main_function

_STAGE = "input"


@dataclass
class OpenModule(OpenProgram):
    """Kept as bytecode, which any thread can read into a context of its own."""

    module: bytes = b""
    out_tree: pytree.Structure = None
    names: Sequence[str] = field(default_factory=tuple)
    narrows: bool = False

    @staticmethod
    def of(imported: Imported, examples: Sequence[Any]) -> OpenModule:
        """The module is this one's from now on. A size of unknown bound is allowed from 0 on."""
        bounds = without_bounds(imported.module)
        main = main_function(imported.module)
        signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        names = list(imported.names or (f"arg{index}" for index in range(len(signature.inputs))))
        arguments = tuple(_open_specs(names, signature.inputs, imported.shapes, imported.narrows))
        results = [f"result{index}" for index in range(len(signature.results))]
        shapes = [np.shape(example) for example in examples] if imported.kind == "numpy" and len(examples) == len(arguments) else None
        return OpenModule(
            imported.kind,
            arguments,
            tuple(_open_specs(results, signature.results, imported.result_shapes)),
            pytree.flat(len(arguments)) if imported.in_tree is None else imported.in_tree,
            {"dict": []} if imported.kwarg_tree is None else imported.kwarg_tree,
            limits={str(arguments[number].shape[axis]): (0, bound) for (number, axis), bound in bounds.items()},
            examples=shapes,
            module=bytecode_of(imported.module),
            out_tree=imported.out_tree,
            names=names,
            narrows=imported.narrows,
        )

    def specialised(self, shapes: Sequence[Shape], context: ir.Context) -> Imported:
        try:
            module = refined(self.module, shapes, context)
        except ParseError as error:
            text = ", ".join("x".join([*map(str, shape), spec.dtype]) for shape, spec in zip(shapes, self.arguments))
            remedy = "its sizes do not go together, or its ops need constant shapes: export it with static shapes"
            raise InvalidProgramError(
                f"the program cannot have arguments of {text}: {error.message}", stage=_STAGE, remedy=remedy
            ) from None
        return Imported(module, self.kind, self.in_tree, self.out_tree, self.kwarg_tree, names=self.names, narrows=self.narrows)


def _open_specs(
    names: Sequence[str], kinds: Sequence[ir.Type], known: Sequence[Sequence[Size]] | None, narrows: bool = False
) -> list[OpenSpec]:
    specs = []
    for index, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if not isinstance(kind, ir.RankedTensorType):
            remedy = "give it a rank" if isinstance(kind, ir.UnrankedTensorType) else "hloom computes on tensors"
            raise InvalidProgramError(f"{name} is of type {kind}, which is not a tensor of known rank", stage=_STAGE, remedy=remedy)
        open_ = [f"{name}[{axis}]" if kind.is_dynamic_dim(axis) else kind.get_dim_size(axis) for axis in range(kind.rank)]
        dtype = str(kind.element_type)
        specs.append(OpenSpec(name, dtype, tuple(open_ if known is None else known[index]), narrows and dtype in WIDER))
    return specs
