"""The entry @init beside @main: what it computes once are further arguments of @main (docs/architecture.md, stage stablehlo)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch_mlir import ir

from .rewriting import captured_values, clone_with, create, functions, i64_attr, ops_in, symbol_name, update_signature

UPDATED_BY = "hloom.updated_by"
"""On an argument: which result is written into its memory."""
LAID_OUT = "hloom.laid_out"
"""On @main: its caller's arrays lie in another order than the source has them in."""


def entry(module: ir.Operation, name: str) -> ir.Operation | None:
    """The host function @main or @init, if there is one."""
    return next((function for function in functions(module) if symbol_name(function) == name), None)


def argument_attributes(function: ir.Operation) -> list[dict[str, ir.Attribute]]:
    """The attributes of each argument."""
    return [{entry.name: entry.attr for entry in given} for given in _dictionaries(function)]


def origin(index: int, attributes: Mapping[str, ir.Attribute] | ir.DictAttr) -> tuple[str, int]:
    """Where argument `index` of an entry comes from: ("init", which result of @init) or ("argument", its place in the original list)."""
    if "hloom.init_result" in attributes:
        return "init", ir.IntegerAttr(attributes["hloom.init_result"]).value
    return "argument", ir.IntegerAttr(attributes["hloom.argument"]).value if "hloom.argument" in attributes else index


def bound_arguments(function: ir.Operation) -> list[int]:
    """Indices of the arguments that are marked as bound."""
    return [index for index, given in enumerate(argument_attributes(function)) if "hloom.bound" in given]


def bound_values(function: ir.Operation) -> set[ir.Value]:
    """The arguments that are marked as bound."""
    return {function.regions[0].blocks[0].arguments[index] for index in bound_arguments(function)}


def mark_bound(function: ir.Operation, indices: Iterable[int]) -> None:
    """Marks those arguments as bound, beside those that are already."""
    mark_arguments(function, indices, "hloom.bound")


def mark_arguments(function: ir.Operation, indices: Iterable[int], name: str) -> None:
    """Gives those arguments an attribute of that name."""
    _mark(function, name, {index: ir.UnitAttr.get(function.context) for index in indices})


def mark_updates(function: ir.Operation, results: Mapping[int, int]) -> None:
    """Marks arguments into whose memory a result is written: a call gives the old value there and finds the new one."""
    with function.context:
        _mark(function, UPDATED_BY, {argument: i64_attr(result) for argument, result in results.items()})


def updates(arguments: Iterable[Mapping[str, ir.Attribute] | ir.DictAttr]) -> dict[int, int]:
    """Which of the arguments with these attributes are marked so, with their results; the first, where several name one. A bound argument
    stays as it is."""
    marked = [(index, given[UPDATED_BY]) for index, given in enumerate(arguments) if UPDATED_BY in given and "hloom.bound" not in given]
    results: dict[int, int] = {}
    for index, mark in marked:
        if isinstance(mark, ir.IntegerAttr) and mark.value not in results.values():
            results[index] = mark.value
    return results


def _mark(function: ir.Operation, name: str, values: Mapping[int, ir.Attribute]) -> None:
    attributes = argument_attributes(function)
    for index, value in values.items():
        attributes[index][name] = value
    with function.context:
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(given) for given in attributes])


def early_values(main: ir.Operation) -> set[ir.Value]:
    """Values of the entry that are made of bound arguments and constants, with a bound argument among them; none behind an
    optimization_barrier."""
    return _known_values(main)[0]


def known_values(main: ir.Operation) -> set[ir.Value]:
    """The same with those that are made of constants alone."""
    early, fixed = _known_values(main)
    return early | fixed


def _known_values(main: ir.Operation) -> tuple[set[ir.Value], set[ir.Value]]:
    """Values made of bound arguments and constants, and those made of constants alone."""
    block = main.regions[0].blocks[0]
    fixed: set[ir.Value] = set()
    early = bound_values(main)
    for op in ops_in(block)[:-1]:
        reads = [*op.operands, *captured_values(op)]
        if op.name != "stablehlo.optimization_barrier" and all(v in early or v in fixed for v in reads):
            (early if any(v in early for v in reads) else fixed).update(op.results)
    return early, fixed


def compute_once(module: ir.Operation, main: ir.Operation, ops: Sequence[ir.Operation], values: Sequence[ir.Value]) -> None:
    """Lets @init compute `values`, by clones of `ops` in order, and @main take them as arguments; there is an @init afterwards.

    The ops depend on bound arguments and on each other alone. What nothing in @main uses any more is the caller's to erase.
    """
    init = entry(module, "init") or _empty_init(module, main)
    arguments = list(main.regions[0].blocks[0].arguments)
    mapping = dict(zip((arguments[i] for i in bound_arguments(main)), init.regions[0].blocks[0].arguments, strict=True))
    returned = ops_in(init.regions[0].blocks[0])[-1]
    first = len(returned.operands)
    with main.location, ir.InsertionPoint(returned):
        for op in ops:
            clone_with(op, mapping)
        create("func.return", [], [*returned.operands, *(mapping[v] for v in values)])
    returned.erase()
    for value in values:
        value.replace_all_uses_with(main.regions[0].blocks[0].add_argument(value.type, main.location))
    update_signature(init)
    update_signature(main)
    marks = [ir.DictAttr.get({"hloom.init_result": i64_attr(first + number)}) for number in range(len(values))]
    main.attributes["arg_attrs"] = ir.ArrayAttr.get([*_dictionaries(main)[: len(arguments)], *marks])


def _empty_init(module: ir.Operation, main: ir.Operation) -> ir.Operation:
    """An @init that takes the bound arguments and returns nothing yet."""
    arguments = main.regions[0].blocks[0].arguments
    bound = bound_arguments(main)
    types = [arguments[i].type for i in bound]
    with main.location, ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        init = create(
            "func.func",
            regions=1,
            sym_name=ir.StringAttr.get("init"),
            function_type=ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            sym_visibility=ir.StringAttr.get("public"),
            arg_attrs=ir.ArrayAttr.get([ir.DictAttr.get({"hloom.argument": i64_attr(i)}) for i in bound]),
        )
        init.move_after(main)
        body = init.regions[0].blocks.append(*types, arg_locs=[main.location] * len(bound))
        with ir.InsertionPoint(body):
            create("func.return")
    return init


def _dictionaries(function: ir.Operation) -> list[ir.DictAttr]:
    """The attributes of each argument; those of arguments that were just added are empty."""
    given = list(map(ir.DictAttr, ir.ArrayAttr(function.attributes["arg_attrs"]))) if "arg_attrs" in function.attributes else []
    return given + [ir.DictAttr.get({}, function.context)] * (len(function.regions[0].blocks[0].arguments) - len(given))
