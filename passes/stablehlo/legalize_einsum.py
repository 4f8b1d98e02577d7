"""legalize-einsum: einsum as a dot_general and a transpose.

Before:
    %0 = "stablehlo.einsum"(%x, %y) <{einsum_config = "bij,bjk->bki"}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>
After:
    %1 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : … -> tensor<2x3x5xf32>
    %0 = stablehlo.transpose %1, dims = [0, 2, 1]

A letter that one operand alone has, and the result has not, is summed over first; one that an operand has twice picks its diagonal. An
ellipsis stands for dimensions that are aligned from the last. Without an arrow the result has the letters that occur once, in alphabetical
order. (A unary einsum is one of a constant 1, by upstream's stablehlo-legalize-deprecated-ops.)
Must hold: nothing. Declined: nothing; InvalidProgramError says what a configuration lacks.
"""

from __future__ import annotations

from collections import Counter

from torch_mlir import ir

from ..common.rewriting import element_of, value_of
from ..errors import InvalidProgramError
from ..registry import register_pass
from .support import build
from .support.driver import rewrite


@register_pass("legalize-einsum", "turns einsum into dot_general", ops=("stablehlo.einsum",))
def legalize_einsum(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.einsum": [_einsum]})


def _einsum(op: ir.Operation) -> list[ir.Value]:
    config = ir.StringAttr(op.attributes["einsum_config"]).value.replace(" ", "")
    inputs, arrow, output = config.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(op.operands):
        raise _wrong(op, config, f"has {len(terms)} operands")
    values = list(op.operands)
    labels = [_labels(op, config, term, len(build.shape_of(v))) for term, v in zip(terms, values)]
    rank = len(build.shape_of(op.results[0]))
    wanted = _labels(op, config, output, rank) if arrow else _implied(labels)
    if len(set(wanted)) < len(wanted) or not set(wanted) <= {label for term in labels for label in term}:
        raise _wrong(op, config, "has a result that repeats a letter, or has one that no operand has")
    for side in range(2):
        values[side], labels[side] = _diagonal(values[side], labels[side])
        lone = [d for d, label in enumerate(labels[side]) if label not in wanted and label not in labels[1 - side]]
        if lone:
            values[side] = build.sum_along(values[side], lone)
            labels[side] = [label for d, label in enumerate(labels[side]) if d not in lone]
    return [build.convert(_dot(values, labels, wanted), element_of(op.results[0]))]


def _dot(values: list[ir.Value], labels: list[list[str]], wanted: list[str]) -> ir.Value:
    (x, y), (left, right) = values, labels
    batch = [label for label in left if label in right and label in wanted]
    contracted = [label for label in left if label in right and label not in wanted]
    free = [[label for label in term if label not in batch and label not in contracted] for term in labels]
    made = [*batch, *free[0], *free[1]]
    sizes = {label: n for value, term in zip(values, labels) for label, n in zip(term, build.shape_of(value))}
    numbers = build.dot_dimensions(*([term.index(label) for label in group] for group in (batch, contracted) for term in (left, right)))
    kind = build.tensor([sizes[label] for label in made], element_of(x))
    result = value_of("stablehlo.dot_general", kind, [x, y], dot_dimension_numbers=numbers)
    return build.transpose(result, [made.index(label) for label in wanted])


def _labels(op: ir.Operation, config: str, term: str, rank: int) -> list[str]:
    """One label a dimension; those of an ellipsis are numbers, counted from the last."""
    before, dots, after = term.partition("...")
    extra = rank - len(before) - len(after) if dots else 0
    labels = [*before, *(str(extra - i) for i in range(extra)), *after]
    if extra < 0 or len(labels) != rank or (not (before + after).isalpha() and before + after):
        raise _wrong(op, config, f"has {term!r} for {rank} dimensions")
    return labels


def _implied(labels: list[list[str]]) -> list[str]:
    counts = Counter(label for term in labels for label in term)
    dots = sorted({label for label in counts if label.isdigit()}, key=int, reverse=True)
    return dots + sorted(label for label, count in counts.items() if count == 1 and not label.isdigit())


def _diagonal(value: ir.Value, labels: list[str]) -> tuple[ir.Value, list[str]]:
    """The elements whose indices along dimensions of one label are equal."""
    for second in reversed(range(len(labels))):
        first = labels.index(labels[second])
        if first == second:
            continue
        shape, index = build.shape_of(value), ir.IntegerType.get_signless(64)
        on_it = build.compare("EQ", build.iota(shape, index, first), build.iota(shape, index, second))
        value = build.sum_along(build.select(on_it, value, build.zero(shape, element_of(value))), [second])
        labels = [label for d, label in enumerate(labels) if d != second]
    return value, labels


def _wrong(op: ir.Operation, config: str, why: str) -> InvalidProgramError:
    remedy = 'write one letter a dimension, as in "ij,jk->ik"'
    return InvalidProgramError(f"the einsum {config!r} {why}", op=op.name, loc=str(op.location), stage="stablehlo", remedy=remedy)
