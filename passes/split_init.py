"""split-init: what depends on bound arguments alone is computed once, in @init, and not at every call of @main.

Before:
    func.func public @main(%x: tensor<8x16xf32>, %w: tensor<4x16xf32> {hloom.bound}) -> tensor<8x4xf32> {
      %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
      … %0 …
    }
After:
    func.func public @main(%x: tensor<8x16xf32>, %w: … {hloom.bound}, %0: tensor<16x4xf32> {hloom.init_result = 0 : i64}) { … }
    func.func public @init(%w: tensor<4x16xf32> {hloom.argument = 1 : i64}) -> tensor<16x4xf32> { … }

Results that are larger than what they are made of (broadcasts, converts to a wider type) stay in @main, as do views (reshape, slice): there
they cost nothing, in memory they would. A module in which nothing is left to compute gets no @init.
"""

from __future__ import annotations

from torch_mlir import ir

from .registry import register_pass
from .rewriting import create, defining_op, functions, is_block_argument, symbol_name, walk
from .stablehlo import build, constants
from .stablehlo.driver import drop_dead

_VIEWS = {f"stablehlo.{name}" for name in ("constant", "iota", "broadcast_in_dim", "reshape", "slice")}


@register_pass("split-init", "moves what depends on bound arguments alone into @init")
def split_init(module: ir.Operation) -> None:
    main = next((f for f in functions(module) if symbol_name(f) == "main"), None)
    if main is None or any(symbol_name(f) == "init" for f in functions(module)):
        return
    block = main.regions[0].blocks[0]
    bound = [i for i, attributes in enumerate(argument_attributes(main)) if "hloom.bound" in attributes]
    early = _early_values(block, {block.arguments[i] for i in bound})
    results = _frontier(block, early)
    if not results:
        return
    _make_init(module, main, bound, results)
    for number, value in enumerate(results):
        argument = block.add_argument(value.type, main.location)
        value.replace_all_uses_with(argument)
        _extend_signature(main, value.type, number)
    drop_dead(main)


def argument_attributes(function: ir.Operation) -> list[dict[str, ir.Attribute]]:
    """The attributes of each argument."""
    count = len(function.regions[0].blocks[0].arguments)
    if "arg_attrs" not in function.attributes:
        return [{} for _ in range(count)]
    return [
        {entry.name: entry.attr for entry in map(ir.DictAttr(given).__getitem__, range(len(given)))} for given in _dictionaries(function)
    ]


def _dictionaries(function: ir.Operation) -> list[ir.DictAttr]:
    return [ir.DictAttr(given) for given in ir.ArrayAttr(function.attributes["arg_attrs"])]


def _early_values(block: ir.Block, bound: set[ir.Value]) -> set[ir.Value]:
    """Values that are made of bound arguments and constants, with a bound argument among them."""
    fixed: set[ir.Value] = set()
    early = set(bound)
    for view in list(block.operations)[:-1]:
        op = view.operation
        reads = [*op.operands, *_captured(op)]
        if all(v in early or v in fixed for v in reads):
            (early if any(v in early for v in reads) else fixed).update(op.results)
    return early


def _captured(op: ir.Operation) -> list[ir.Value]:
    """Values from outside that the op's regions read."""
    if not op.regions:
        return []
    inner = walk(op)
    inside = {r for o in inner if o != op for r in o.results} | {a for o in inner for g in o.regions for b in g.blocks for a in b.arguments}
    return [v for o in inner if o != op for v in o.operands if v not in inside]


def _frontier(block: ir.Block, early: set[ir.Value]) -> list[ir.Value]:
    """The values that @init returns: read by what is not early, and worth their memory."""
    found: list[ir.Value] = []
    seen: set[ir.Value] = set()

    def need(value: ir.Value) -> None:
        if value in seen or value not in early or is_block_argument(value):
            return
        seen.add(value)
        op = defining_op(value)
        assert op is not None
        if _stays(op):
            for operand in op.operands:
                need(operand)
        else:
            found.append(value)

    for view in block.operations:
        op = view.operation
        if not op.results or any(result not in early for result in op.results):
            for value in [*op.operands, *_captured(op)]:
                need(value)
    return found


def _stays(op: ir.Operation) -> bool:
    if op.name in _VIEWS:
        return True
    if len(op.results) != 1 or op.regions:
        return False
    sources = [v for v in op.operands if constants.splat_attribute(v) is None]
    return _bytes(op.results[0]) > sum(map(_bytes, sources))


def _bytes(value: ir.Value) -> int:
    element = build.element_of(value)
    return build.count_of(value) * max(1, element.width // 8)


def _make_init(module: ir.Operation, main: ir.Operation, bound: list[int], results: list[ir.Value]) -> None:
    arguments = [main.regions[0].blocks[0].arguments[i] for i in bound]
    signature = ir.FunctionType.get([a.type for a in arguments], [v.type for v in results])
    i64 = ir.IntegerType.get_signless(64)
    marks = [ir.DictAttr.get({"hloom.argument": ir.IntegerAttr.get(i64, i)}) for i in bound]
    with main.location, ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        init = create(
            "func.func",
            regions=1,
            sym_name=ir.StringAttr.get("init"),
            function_type=ir.TypeAttr.get(signature),
            sym_visibility=ir.StringAttr.get("public"),
            arg_attrs=ir.ArrayAttr.get(marks),
        )
        init.move_after(main)
        body = init.regions[0].blocks.append(*signature.inputs, arg_locs=[main.location] * len(bound))
    mapping = dict(zip(arguments, body.arguments))
    wanted = _producers(results)
    with main.location, ir.InsertionPoint(body):
        for view in list(main.regions[0].blocks[0].operations):
            op = view.operation
            if any(result in wanted for result in op.results):
                copy = op.clone()
                _rename(copy, mapping)
                mapping.update(zip(op.results, copy.results))
        create("func.return", [], [mapping[v] for v in results])


def _producers(values: list[ir.Value]) -> set[ir.Value]:
    """All values of the block that `values` are made of."""
    found: set[ir.Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        op = defining_op(value)
        if value not in found and op is not None:
            found.add(value)
            pending.extend([*op.operands, *_captured(op)])
    return found


def _rename(op: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> None:
    for inner in walk(op):
        for number, value in enumerate(inner.operands):
            if value in mapping:
                inner.operands[number] = mapping[value]


def _extend_signature(main: ir.Operation, kind: ir.Type, number: int) -> None:
    old = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    given = _dictionaries(main) if "arg_attrs" in main.attributes else [ir.DictAttr.get({}) for _ in old.inputs]
    mark = ir.DictAttr.get({"hloom.init_result": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)})
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([*old.inputs, kind], old.results))
    main.attributes["arg_attrs"] = ir.ArrayAttr.get([*given, mark])
