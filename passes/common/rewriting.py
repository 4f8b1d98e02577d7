"""Helpers over MLIR's bindings that every pass needs: walking, building generic ops, reading maps and constants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from torch_mlir import ir

from hloom.dialects._support import numbers_of

DYNAMIC = ir.ShapedType.get_dynamic_size()
"""Marks an extent of a type, or a static offset or size of a slice, that an operand gives instead."""


def walk(root: ir.Operation, wanted: Callable[[ir.Operation], bool] | str | None = None) -> list[ir.Operation]:
    """All ops under `root` (post-order) of that name or for which `wanted` holds, collected before the caller changes anything."""
    found: list[ir.Operation] = []
    _visit(root, found.append)
    if wanted is None:
        return found
    return [op for op in found if op.name == wanted] if isinstance(wanted, str) else list(filter(wanted, found))


def names_in(root: ir.Operation) -> set[str]:
    """The names of all ops under `root`, and its own."""
    names: set[str] = set()
    _visit(root, lambda op: names.add(op.name))
    return names


def _visit(root: ir.Operation, visit: Callable[[ir.Operation], object]) -> None:
    on = ir.WalkResult.ADVANCE  # the bindings' walk takes two thirds of the time of loops over regions and blocks
    root.operation.walk(lambda op: (visit(op), on)[1])


def inner_ops(root: ir.Operation) -> Iterator[ir.Operation]:
    """All ops under `root`, each before those in its regions."""
    levels = [_views(root)]  # nested generators would hand on each op at every level
    while levels:
        for view in levels[-1]:
            op = view.operation
            yield op
            if len(op.regions):
                levels.append(_views(op))
                break
        else:
            levels.pop()


def _views(op: ir.Operation) -> Iterator[ir.OpView]:
    """The ops that stand in the op's regions themselves."""
    return iter([view for region in op.regions for block in region.blocks for view in block.operations])


def any_element(root: ir.Operation, wanted: Callable[[ir.Type], bool]) -> bool:
    """Whether the element type of a tensor under `root`, a result or a block's argument, is `wanted`; each type is asked once."""
    kinds = {value.type for op in inner_ops(root) for value in op.results}
    blocks = (block for op in inner_ops(root) for region in op.regions for block in region.blocks)
    kinds.update(argument.type for block in blocks for argument in block.arguments)
    return any(isinstance(kind, ir.RankedTensorType) and wanted(kind.element_type) for kind in kinds)


def ops_in(block: ir.Block) -> list[ir.Operation]:
    """The block's ops in order, collected before the caller changes anything."""
    return [view.operation for view in block.operations]


def top_level(module: ir.Operation, name: str) -> list[ir.Operation]:
    """The ops of that name that stand directly in the module, in order."""
    return [op for op in ops_in(module.regions[0].blocks[0]) if op.name == name]


def functions(module: ir.Operation) -> list[ir.Operation]:
    """The module's func.func ops in order."""
    return top_level(module, "func.func")


def all_functions(module: ir.Operation) -> list[ir.Operation]:
    """The func.func ops of the module, and those of the modules in it."""
    return [*functions(module), *(function for inner in top_level(module, "builtin.module") for function in functions(inner))]


def groups_of_kind(module: ir.Operation, kind: str) -> list[ir.Operation]:
    """The group functions whose `hloom.kind` is that."""
    groups = (function for function in functions(module) if "hloom.kind" in function.attributes)
    return [group for group in groups if kind_of(group) == kind]


def kind_of(group: ir.Operation) -> str:
    """The `hloom.kind` of a group function."""
    return ir.StringAttr(group.attributes["hloom.kind"]).value


def generated_groups(module: ir.Operation) -> list[ir.Operation]:
    """The group functions that hloom makes kernels of; a library computes the others."""
    return [f for f in functions(module) if "hloom.kind" in f.attributes and "hloom.library" not in f.attributes]


def body_ops(function: ir.Operation) -> list[ir.Operation]:
    """The ops of a function's one block, in order, but the last, which returns."""
    return ops_in(function.regions[0].blocks[0])[:-1]


def symbol_name(op: ir.Operation) -> str:
    """The name of a function, global or module."""
    return ir.StringAttr(op.attributes["sym_name"]).value


def callee_of(call: ir.Operation) -> str:
    """The name of the function that an op calls: func.call, lhlo.fusion, thunk.kernel."""
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def is_custom_call(op: ir.Operation, target: str) -> bool:
    """Whether the op is a stablehlo.custom_call of that target."""
    return op.name == "stablehlo.custom_call" and ir.StringAttr(op.attributes["call_target_name"]).value == target


def create(
    name: str, /, results: Sequence[ir.Type] = (), operands: Sequence[ir.Value] = (), regions: int = 0, **attributes: Any
) -> ir.Operation:
    """Builds an op of any dialect at the current insertion point."""
    return ir.Operation.create(name, results=list(results), operands=list(operands), attributes=attributes, regions=regions)


def value_of(name: str, result: ir.Type, /, operands: Sequence[ir.Value] = (), **attributes: Any) -> ir.Value:
    """Builds a one-result op and returns the result."""
    return create(name, [result], operands, **attributes).results[0]


def intrinsic(name: str, result: ir.Type, operands: Sequence[ir.Value]) -> ir.Value:
    """The result of an intrinsic of LLVM, by its name there."""
    segments, bundles = ir.DenseI32ArrayAttr.get([len(operands), 0]), ir.DenseI32ArrayAttr.get([])
    return value_of(
        "llvm.call_intrinsic", result, operands, intrin=ir.StringAttr.get(name), operandSegmentSizes=segments, op_bundle_sizes=bundles
    )


def replace_operands(root: ir.Operation, mapping: Mapping[ir.Value, ir.Value]) -> None:
    """Has `root` and the ops in its regions read `mapping[value]` for every value in the mapping."""
    for op in walk(root) if len(root.regions) else [root]:
        for index, value in enumerate(op.operands):
            if value in mapping:
                op.operands[index] = mapping[value]


def clone_with(op: ir.Operation, mapping: dict[ir.Value, ir.Value]) -> ir.Operation:
    """A copy of `op` at the insertion point that reads `mapping[value]` for every value in the mapping, which gains the copy's results."""
    copy = op.clone().operation
    replace_operands(copy, mapping)
    mapping.update(zip(op.results, copy.results))
    return copy


def captured_values(op: ir.Operation) -> list[ir.Value]:
    """What the regions of `op` read from outside of it, each value once, in order of use."""
    if not len(op.regions):
        return []
    *inner, _ = walk(op)
    made = {value for each in inner for value in each.results}
    made.update(value for each in (op, *inner) for region in each.regions for block in region.blocks for value in block.arguments)
    return list(dict.fromkeys(value for each in inner for value in each.operands if value not in made))


def update_signature(function: ir.Operation) -> None:
    """Gives a function the type of its arguments and of what it returns."""
    block = function.regions[0].blocks[0]
    kind = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in ops_in(block)[-1].operands])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)


def is_block_argument(value: ir.Value) -> bool:
    return isinstance(value, ir.BlockArgument) or (type(value) is ir.Value and isinstance(value.owner, ir.Block))


def defining_op(value: ir.Value) -> ir.Operation | None:
    """The op that produces `value`, or None for a block argument."""
    return None if is_block_argument(value) else value.owner.operation


def around(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops that hold `op`, the nearest first, its function last."""
    while op.name != "func.func" and op.parent is not None:
        op = op.parent.operation
        yield op


def holder(op: ir.Operation, value: ir.Value) -> ir.Operation:
    """`op`, or the loop or branch around it, in the block where `value` is made: what is made there of `value` reaches all later uses."""
    block = value.owner if is_block_argument(value) else value.owner.operation.block
    while op.block != block:
        op = op.parent.operation
    return op


def location_texts() -> Callable[[ir.Operation], str]:
    """The text of ops' locations, each made once: with a stack of calls in it that takes longer than all else that is asked of an op."""
    texts: dict[ir.Attribute, str] = {}

    def text(op: ir.Operation) -> str:
        location = op.location
        key = location.attr
        if key not in texts:
            texts[key] = str(location)
        return texts[key]

    return text


def shape_of(value: ir.Value) -> list[int]:
    """The extents of a tensor."""
    return list(ir.RankedTensorType(value.type).shape)


def element_of(value: ir.Value) -> ir.Type:
    """The element type of a tensor."""
    return ir.RankedTensorType(value.type).element_type


def producer(value: ir.Value, name: str) -> ir.Operation | None:
    """The op that produces `value`, if it is one of that name."""
    op = defining_op(value)
    return op if op is not None and op.name == name else None


def is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


def has_one_use(value: ir.Value) -> bool:
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def replace(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Puts `values` in the place of the op's results and erases it."""
    for result, value in zip(op.results, values):
        result.replace_all_uses_with(value)
    op.erase()


def erase_unused(ops: Sequence[ir.Operation]) -> None:
    """Erases those of the ops whose results nobody uses, from the last on, so that what only they used goes with them."""
    for op in reversed(ops):
        if not any(is_used(result) for result in op.results):
            op.erase()


def index_constant(value: int) -> ir.Value:
    index = ir.IndexType.get()
    return value_of("arith.constant", index, value=ir.IntegerAttr.get(index, value))


def linalg_index(loop: int) -> ir.Value:
    """The number of a loop in the body of a linalg.generic."""
    return value_of("linalg.index", ir.IndexType.get(), dim=i64_attr(loop))


def i64_attr(value: int) -> ir.IntegerAttr:
    """The attribute `value : i64`; 0 or 1 for a flag."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(value))


def i64_array(values: Iterable[int]) -> ir.DenseI64ArrayAttr:
    return ir.DenseI64ArrayAttr.get(list(values))


def integer(op: ir.Operation, name: str, default: int | None = None) -> int:
    """The value of an integer attribute; `default`, if there is one, where the op has no such attribute."""
    if default is not None and name not in op.attributes:
        return default
    return ir.IntegerAttr(op.attributes[name]).value


def keyword(op: ir.Operation, name: str) -> str:
    """The keyword of the op's enumeration attribute: "LT" of `#stablehlo<comparison_direction LT>`."""
    return str(op.attributes[name]).rstrip(">").split()[-1]


def attributes_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """All attributes of `op` by name."""
    return {name: op.attributes[name] for name in op.attributes}


def integers(op: ir.Operation, name: str, default: Sequence[int] = ()) -> list[int]:
    """The values of an i64 array attribute, or `default` where the op has none."""
    return numbers_of(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else list(default)


def padding_pairs(op: ir.Operation, rank: int) -> list[tuple[int, int]]:
    """(low, high) of a window's dimensions; zeros where the op has none."""
    flat = list(ir.DenseIntElementsAttr(op.attributes["padding"])) if "padding" in op.attributes else [0] * (2 * rank)
    return list(zip(flat[::2], flat[1::2]))


def reversal(op: ir.Operation, rank: int) -> list[bool]:
    """Whether the windows of a convolution are reversed, for each spatial dimension."""
    return list(ir.DenseBoolArrayAttr(op.attributes["window_reversal"])) if "window_reversal" in op.attributes else [False] * rank


def segments(op: ir.Operation) -> list[list[ir.Value]]:
    """The operands of an op that has several lists of them."""
    operands = iter(op.operands)
    return [[next(operands) for _ in range(size)] for size in numbers_of(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))]


def mixed(op: ir.Operation, name: str, first_segment: int) -> list[int | ir.Value]:
    """Static and dynamic offsets (or sizes) of a slice op in order."""
    dynamic = iter(segments(op)[first_segment])
    return [next(dynamic) if v == DYNAMIC else v for v in integers(op, name)]


def split_mixed(values: Iterable[int | ir.Value]) -> tuple[ir.DenseI64ArrayAttr, list[ir.Value]]:
    """The static attribute and the dynamic operands that `mixed` reads back."""
    given = list(values)
    return i64_array(v if isinstance(v, int) else DYNAMIC for v in given), [v for v in given if not isinstance(v, int)]
