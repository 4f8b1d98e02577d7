"""What JAX has kernels for on CUDA, as loops of ops: the permutation that pivots mean, and the update of a Cholesky factor."""

from __future__ import annotations

from torch_mlir import ir

from ...common.calls.routine import Place
from ...common.custom_calls import target_of_call
from ...common.rewriting import element_of
from . import build


def permutation(op: ir.Operation) -> list[ir.Value]:
    (pivots,), (result,) = op.operands, op.results
    return [permuted(pivots, result.type.shape[-1])]


def permuted(pivots: ir.Value, size: int, backwards: bool = False) -> ir.Value:
    """Of pivots that count from 0: elements 0, 1, … of which number i was swapped with number pivots[i], one i after the other.

    `backwards`, from the last i on: the permutation that undoes the other.
    """
    index, (*batch, count) = element_of(pivots), build.shape_of(pivots)
    shape, steps = [*batch, size], min(count, size)
    places = build.iota(shape, index, len(batch))
    origin, last = build.zero([], index), build.full(build.tensor([], index), steps - 1)

    def along(row: ir.Value) -> ir.Value:
        """One number for each matrix, at each place."""
        return build.broadcast(build.reshape(row, batch), shape, list(range(len(batch))))

    def swap(step: ir.Value, found: ir.Value) -> list[ir.Value]:
        i = build.subtract(last, step) if backwards else step
        at = [*[origin] * len(batch), i]
        here = build.compare("EQ", places, build.broadcast(i, shape, []))
        there = build.compare("EQ", places, along(build.dynamic_slice(pivots, at, [*batch, 1])))
        mine = along(build.dynamic_slice(found, at, [*batch, 1]))
        theirs = build.sum_along(build.select(there, found, build.full_like(found, 0)), [len(batch)])
        return [build.select(here, along(theirs), build.select(there, mine, found))]

    return build.count_loop(steps, [places], swap, index)[0] if build.count_of(places) else places


def updated(op: ir.Operation) -> list[ir.Value]:
    """Of an upper factor R and a vector w: the factor of RᵀR + wwᵀ, by a Givens rotation a row."""
    factor, vector = op.operands
    if vector.type.rank != 1:
        raise Place(op, target_of_call(op)).invalid("updates one factor, not a batch of them")
    (n,), element = build.shape_of(vector), element_of(vector)
    index = ir.IntegerType.get_signless(32)
    one, nothing = build.full(build.tensor([], element), 1), build.zero([], element)
    origin = build.zero([], index)

    def rotated(k: ir.Value, matrix: ir.Value, w: ir.Value) -> list[ir.Value]:
        row = build.reshape(build.dynamic_slice(matrix, [k, origin], [1, n]), [n])
        x, y = (build.reshape(build.dynamic_slice(value, [k], [1]), []) for value in (row, w))
        is_zero = build.compare("EQ", y, nothing)
        largest = build.elementwise("maximum", *(build.elementwise("abs", value) for value in (x, y)))
        a, b = (build.divide(value, build.select(is_zero, one, largest)) for value in (x, y))
        inverse = build.elementwise("rsqrt", build.add(build.multiply(a, a), build.multiply(b, b)))
        cosine = build.select(is_zero, one, build.multiply(a, inverse))
        sine = build.select(is_zero, nothing, build.multiply(b, inverse))
        c, s = (build.broadcast(value, [n], []) for value in (cosine, sine))
        kept = build.add(build.multiply(c, row), build.multiply(s, w))
        rest = build.subtract(build.multiply(c, w), build.multiply(s, row))
        return [build.dynamic_update_slice(matrix, build.reshape(kept, [1, n]), [k, origin]), rest]

    return build.count_loop(n, [factor, vector], rotated, index) if n else [factor, vector]
