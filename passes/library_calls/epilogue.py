"""What a library applies to a matrix product or a convolution before it writes it: f(product + bias + residual).

    %0 = stablehlo.dot_general %x, %w …
    %1 = stablehlo.broadcast_in_dim %b, dims = [1]         bias: one element a column
    %2 = stablehlo.add %0, %1
    %3 = stablehlo.add %2, %r                              residual: lies as the product does
    %4 = stablehlo.maximum %3, %zero                       f: relu or gelu

The ops are read in this order, bias and residual in either; each may be missing, and reshapes and conversions between floats may stand
between them. The library adds and rounds once, in the type in which it sums: results are at least as exact as the program's.

The same reading serves the planner, which asks how much of a group a library can take, and buffer assignment, which finds in a library
group what the planner put there. They differ in what a buffer is, which is for them to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir

from ..common.ops import FLOAT
from ..common.rewriting import defining_op, integers
from ..stablehlo.support import build
from .activation import read_activation


@dataclass(frozen=True)
class Epilogue:
    """`ops` beside the contraction, in program order; `result` is what is written; `bias` and `residual` are the buffers that are read."""

    ops: tuple[ir.Operation, ...]
    result: ir.Value
    bias: ir.Value | None = None
    residual: ir.Value | None = None
    activation: str = ""

    @property
    def element(self) -> str:
        return str(build.element_of(self.result))

    @property
    def name(self) -> str:
        """As `thunk.gemm` has it."""
        return "_".join([part for part in ("bias" if self.bias is not None else "", self.activation) if part]) or "none"


@dataclass(frozen=True)
class Taker:
    """What a library takes. `columns`: (extent, inner), element i of a product has the column i // inner % extent, which picks its bias.

    `elements`: the types of a result; `activations`: what it applies. `is_buffer` tells values that are stored, `may_take` ops that the
    library may do in the program's place, `may_end` those of them whose results can be stored.
    """

    columns: tuple[int, int]
    elements: tuple[str, ...]
    activations: tuple[str, ...]
    is_buffer: Callable[[ir.Value], bool]
    may_take: Callable[[ir.Operation], bool]
    may_end: Callable[[ir.Operation], bool]


def read_epilogue(contraction: ir.Operation, taker: Taker) -> Epilogue | None:
    """The most that the library takes of what follows `contraction`; None if it cannot even write the contraction's own result."""
    state: Epilogue | None = Epilogue((), contraction.results[0])
    taken = None
    while state is not None:
        if _can_write(state, taker):
            taken = state
        state = _step(state, taker)
    return taken


def _can_write(state: Epilogue, taker: Taker) -> bool:
    """A result that the library can write, made by an op that needs a place: views and the like belong to whoever uses them."""
    if state.ops and not taker.may_end(state.ops[-1]):
        return False
    held = [str(build.element_of(v)) for v in (state.bias, state.residual) if v is not None]
    return state.element in taker.elements and all(element == state.element for element in held)


def _step(state: Epilogue, taker: Taker) -> Epilogue | None:
    """The epilogue with the next op, or None where it ends."""
    users = [use.owner.operation for use in state.result.uses]
    if len(users) == 1 and users[0].name in ("stablehlo.reshape", "stablehlo.convert"):
        return _moved(state, users[0])
    if state.activation:
        return None
    if len(users) == 1 and users[0].name == "stablehlo.add" and taker.may_take(users[0]):
        return _added(state, users[0], taker)
    activation = read_activation(state.result)
    if activation is None or activation.name not in taker.activations or not all(map(taker.may_take, activation.ops)):
        return None
    return replace(state, ops=(*state.ops, *activation.ops), result=activation.result, activation=activation.name)


def _moved(state: Epilogue, op: ir.Operation) -> Epilogue | None:
    result = op.results[0]
    if not {str(build.element_of(v)) for v in (state.result, result)} <= FLOAT:
        return None
    return replace(state, ops=(*state.ops, op), result=result)


def _added(state: Epilogue, op: ir.Operation, taker: Taker) -> Epilogue | None:
    left, right = op.operands
    if left == right:
        return None
    other = right if left == state.result else left
    shape = build.shape_of(state.result)
    bias, residual = _column_vector(other, shape, taker), _stored(other, taker)
    added = replace(state, ops=(*state.ops, op), result=op.results[0])
    if state.bias is None and bias is not None:
        return replace(added, bias=bias)
    if state.residual is None and residual is not None:
        return replace(added, residual=residual)
    return None


def _column_vector(value: ir.Value, shape: list[int], taker: Taker) -> ir.Value | None:
    """The stored vector with one element a column of which `value`, of `shape`, is the broadcast along all else; or None."""
    extent, inner = taker.columns
    if prod(shape) == extent:
        return _stored(value, taker)
    op = defining_op(value)
    while op is not None and op.name == "stablehlo.convert":
        op = defining_op(op.operands[0])
    if op is None or op.name != "stablehlo.broadcast_in_dim":
        return None
    source = op.operands[0]
    dims = [d for d, size in zip(integers(op, "broadcast_dimensions"), build.shape_of(source)) if size != 1]
    if dims != _dims_of_columns(shape, extent, inner) or build.count_of(source) != extent:
        return None
    return _stored(source, taker)


def _dims_of_columns(shape: list[int], extent: int, inner: int) -> list[int] | None:
    """The dimensions longer than 1 that make up the column, None if a dimension holds more than the column or less."""
    if 0 in shape:
        return None
    dims: list[int] = []
    last = len(shape)
    while last and inner > 1:
        last -= 1
        if inner % shape[last]:
            return None
        inner //= shape[last]
    while last and extent > 1:
        last -= 1
        if extent % shape[last]:
            return None
        extent //= shape[last]
        if shape[last] > 1:
            dims.insert(0, last)
    return dims if inner == extent == 1 else None


def _stored(value: ir.Value, taker: Taker) -> ir.Value | None:
    """The buffer whose elements in linear order those of `value` are, up to conversions between floats; or None."""
    while not taker.is_buffer(value):
        op = defining_op(value)
        if op is None or op.name not in ("stablehlo.reshape", "stablehlo.convert") or str(build.element_of(op.operands[0])) not in FLOAT:
            return None
        value = op.operands[0]
    return value


def unreshaped(value: ir.Value) -> ir.Value:
    """The value of which `value` is a reshape, however often: a buffer of one is a buffer of the other."""
    op = defining_op(value)
    while op is not None and op.name == "stablehlo.reshape":
        value = op.operands[0]
        op = defining_op(value)
    return value
