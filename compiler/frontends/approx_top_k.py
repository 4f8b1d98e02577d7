"""JAX's ApproxTopK (approx_max_k, approx_min_k) is exact here: a stable sort and a slice.

    %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none)
        {called_computations = [@greater], mhlo.backend_config = {reduction_dim = 1 : i64, …}}

becomes

    %1:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({ the body of @greater })
    %0:2 = slices of %1#0 and %1#1 with the extents of the results

The functions that compare are functions no more: they end as a region does, which no other op takes.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.passes.common.calls.config import config_of
from hloom.passes.common.custom_calls import target_of_call
from hloom.passes.common.rewriting import create, functions, i64_attr, replace, symbol_name, walk
from hloom.passes.errors import InvalidProgramError
from hloom.passes.stablehlo.support import build
from hloom.passes.stablehlo.support.driver import clone_into

TARGET = "ApproxTopK"


def replace_approx_top_k(module: ir.Module) -> None:
    """Raises InvalidProgramError where a call has no such comparator, dimension or results."""
    calls = walk(module.operation, lambda op: op.name == "stablehlo.custom_call" and target_of_call(op) == TARGET)
    if not calls:
        return
    named = {symbol_name(function): function for function in functions(module.operation)}
    compared = set()
    for op in calls:
        comparator = _comparator(op, named)
        compared.add(symbol_name(comparator))
        with op.location, ir.InsertionPoint(op):
            replace(op, _sorted(op, comparator))
    for name in compared:
        named[name].erase()


def _comparator(op: ir.Operation, named: dict[str, ir.Operation]) -> ir.Operation:
    called = [ir.FlatSymbolRefAttr(each).value for each in op.attributes.get("called_computations") or []]
    function = named.get(called[0]) if len(called) == 1 else None
    wanted = [build.tensor([], value.type.element_type) for value in list(op.operands)[: len(op.results)] for _ in "ab"]
    if function is None or [argument.type for argument in function.regions[0].blocks[0].arguments] != wanted:
        raise _invalid(op, "has no function that compares two of each operand", "name one in called_computations")
    return function


def _sorted(op: ir.Operation, comparator: ir.Operation) -> list[ir.Value]:
    values, dimension = list(op.operands)[: len(op.results)], config_of(op).get("reduction_dim")
    before, after = ([list(value.type.shape) for value in part] for part in (values, op.results))
    rank = len(before[0]) if before else 0
    if not isinstance(dimension, int) or not -rank <= dimension < rank:
        raise _invalid(op, f"has no dimension {dimension}", "give reduction_dim, one of the operand's dimensions")
    dimension %= rank
    kept = {tuple(shape) for shape in after}
    if len(kept) != 1 or any(a > b for a, b in zip(after[0], before[0])) or len({tuple(shape) for shape in before}) != 1:
        raise _invalid(op, "gives more elements than it takes", "give top_k no larger than the dimension")
    kinds = [value.type for value in values]
    new = create("stablehlo.sort", kinds, values, regions=1, dimension=i64_attr(dimension), is_stable=ir.BoolAttr.get(True))
    old = comparator.regions[0].blocks[0]
    types = [argument.type for argument in old.arguments]
    block = new.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    with ir.InsertionPoint(block):
        create("stablehlo.return", [], clone_into(old, dict(zip(old.arguments, block.arguments))))
    return [build.slice_(result, [0] * rank, after[0]) for result in new.results]


def _invalid(op: ir.Operation, message: str, remedy: str) -> InvalidProgramError:
    return InvalidProgramError(f"@{TARGET} {message}", op=op.name, loc=str(op.location), stage="input", remedy=remedy)
