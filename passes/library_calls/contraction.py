"""The contractions that libraries take on CUDA, each with as much as the library does of what follows it: cuBLASLt's and cuDNN's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from ..lhlo.assignment.conv import Conv, conv_of
from ..lhlo.assignment.gemm import Gemm, gemm_of
from ..stablehlo.support import build
from .epilogue import Epilogue, Taker, read_epilogue, unreshaped


@dataclass(frozen=True)
class Contraction:
    """A matrix product or convolution of two buffers, and its epilogue."""

    library: str
    form: Gemm | Conv
    operands: tuple[ir.Value, ir.Value]
    epilogue: Epilogue

    @property
    def more(self) -> tuple[ir.Value, ...]:
        """The bias and the residual, where there are any."""
        return tuple(value for value in (self.epilogue.bias, self.epilogue.residual) if value is not None)


Test = Callable[[ir.Operation], bool]


def contraction_of(op: ir.Operation, is_buffer: Callable[[ir.Value], bool], may_take: Test, may_end: Test) -> Contraction | str:
    """What a library takes of `op` and what follows it (see epilogue.Taker), or why it takes nothing."""
    operands = tuple(value if is_buffer(value) else unreshaped(value) for value in op.operands)
    if not all(map(is_buffer, operands)):
        return "an operand is no buffer as it lies"
    found = gemm_of(op, half=True) or conv_of(op)
    if found is None or (isinstance(found, Conv) and not found.is_packed):
        return "its types, layout or window is none of the library's"
    element = str(build.element_of(op.operands[0]))
    if isinstance(found, Gemm) and 0 in found.sizes:
        return "it has no elements"
    epilogue = Epilogue((), op.results[0]) if element == "f64" else read_epilogue(op, _taker(found, element, is_buffer, may_take, may_end))
    if epilogue is None:
        return "its result is of no type that the library writes"
    return Contraction("gemm" if isinstance(found, Gemm) else "conv", found, (operands[0], operands[1]), epilogue)


def _taker(found: Gemm | Conv, element: str, is_buffer: Callable[[ir.Value], bool], may_take: Test, may_end: Test) -> Taker:
    if isinstance(found, Gemm):
        return Taker(found.columns, (element, "f32"), ("relu", "gelu"), is_buffer, may_take, may_end)
    return Taker(found.columns, (element,), ("relu",), is_buffer, may_take, may_end)


def contraction_in(function: ir.Operation) -> Contraction | str:
    """What a library group is; or why it is nothing that a library does."""
    block = function.regions[0].blocks[0]
    *body, end = [view.operation for view in block.operations]
    op = next((op for op in body if op.name in ("stablehlo.dot_general", "stablehlo.convolution")), None)
    if op is None or len(end.operands) != 1:
        return "it holds no contraction, or not one result"
    found = contraction_of(op, lambda value: isinstance(value.owner, ir.Block), lambda _: True, lambda _: True)
    if isinstance(found, Contraction) and found.epilogue.result != end.operands[0]:
        return "the library does not do all that follows"
    return found
