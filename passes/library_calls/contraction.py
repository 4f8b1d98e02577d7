"""The contractions that libraries take on CUDA, each with as much as the library does of what follows it: cuBLASLt's and cuDNN's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from hloom.runtime.cuda.kinds.gemm import RESULTS

from ..common.byte_floats import MULTIPLIED, sees_floats
from ..common.ops import CONTRACTIONS
from ..common.rewriting import defining_op, ops_in
from ..stablehlo.support import build
from .conv import Conv, library_conv
from .epilogue import Epilogue, Taker, read_epilogue, unreshaped
from .gemm import Gemm, gemm_of


@dataclass(frozen=True)
class Contraction:
    """A matrix product or convolution of two buffers, and its epilogue."""

    form: Gemm | Conv
    operands: tuple[ir.Value, ir.Value]
    epilogue: Epilogue

    @property
    def more(self) -> tuple[ir.Value, ...]:
        """The bias and the residual, where there are any."""
        return tuple(value for value in (self.epilogue.bias, self.epilogue.residual) if value is not None)

    @property
    def offered(self) -> tuple[str, ...]:
        """What the library could do of what follows, in words."""
        element = str(build.element_of(self.operands[0]))
        gradient = isinstance(self.form, Conv) and self.form.makes != "output"
        if gradient or element in _PLAIN or element in MULTIPLIED:
            return ()
        return ("bias", "residual", *(_EXACTLY.get(name, name) for name in self.form.activations))

    @property
    def is_plain(self) -> bool:
        """Whether a CPU's library does it: a matrix product of f32 or f64, nothing after it."""
        element = str(build.element_of(self.operands[0]))
        return isinstance(self.form, Gemm) and element == self.epilogue.element in ("f32", "f64") and not self.epilogue.ops


_NOT_WRITTEN = "its result is of no type that the library writes"
_EXACTLY = {"gelu": "gelu by tanh (not by erf)"}
Test = Callable[[ir.Operation], bool]
_PLAIN = ("f64", "i8")
"""Of products of these nothing but the sums is asked for; of floats of 8 bits only what they become."""


def contraction_of(op: ir.Operation, is_buffer: Callable[[ir.Value], bool], may_take: Test, may_end: Test) -> Contraction | str:
    """What a library takes of `op` and what follows it (see epilogue.Taker), or why it takes nothing."""
    operands = tuple(value if is_buffer(value) else unreshaped(_bytes(value)) for value in op.operands)
    if not all(map(is_buffer, operands)):
        return "an operand is no buffer as it lies"
    found: Gemm | Conv | None = gemm_of(op, half=True) or library_conv(op)
    if found is None:
        return "its types, layout or window is none of the library's"
    if found.obstacle:
        return found.obstacle
    element = str(build.element_of(op.operands[0]))
    if isinstance(found, Conv) and found.makes != "output":
        epilogue = gradient_epilogue(op, found, is_buffer, may_end)
        return Contraction(found, (operands[0], operands[1]), epilogue) if epilogue else _NOT_WRITTEN
    if element in MULTIPLIED:
        taker = Taker(found.columns, RESULTS[element], (), is_buffer, lambda _: False, may_end)
    else:
        taker = Taker(found.columns, (element, *found.results), found.activations, is_buffer, may_take, may_end)
    epilogue = Epilogue((), op.results[0]) if element in _PLAIN else read_epilogue(op, taker)
    if epilogue is None:
        return _NOT_WRITTEN
    return Contraction(found, (operands[0], operands[1]), epilogue)


def gradient_epilogue(op: ir.Operation, found: Conv, is_buffer: Callable[[ir.Value], bool], may_end: Test) -> Epilogue | None:
    """What a library does behind a convolution's gradient: it writes the type of what it reads, and nothing else."""
    element = str(build.element_of(op.operands[0]))
    return read_epilogue(op, Taker(found.columns, (element,), (), is_buffer, lambda _: False, may_end))


def _bytes(value: ir.Value) -> ir.Value:
    """The bytes that are seen as floats; any other value as it is."""
    op = defining_op(value)
    return op.operands[0] if op is not None and sees_floats(op) else value


def contraction_in(function: ir.Operation) -> Contraction | str:
    """What a library group is; or why it is nothing that a library does."""
    block = function.regions[0].blocks[0]
    *body, end = ops_in(block)
    op = next((op for op in body if op.name in CONTRACTIONS), None)
    if op is None or len(end.operands) != 1:
        return "it holds no contraction, or not one result"
    found = contraction_of(op, lambda value: isinstance(value.owner, ir.Block), lambda _: True, lambda _: True)
    if isinstance(found, Contraction) and found.epilogue.result != end.operands[0]:
        return "the library does not do all that follows"
    return found
