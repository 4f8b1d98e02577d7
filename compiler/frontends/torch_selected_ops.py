"""What each op gives of tensors whose size depends on data (torch_selections.py): rules by the op's name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Node

from .torch_selected import Builder, Mark, Number, Selected, aten, dtype_of, rank
from .torch_selected_numbers import Rule, with_tensors

Args = dict[str, Any]
_RULES: dict[str, Rule] = {}


def rule(names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        _RULES.update(dict.fromkeys(names.split(), function))
        return function

    return register


def name_of(op: Any) -> str:
    return str(op._schema.name.split("::")[1])


def rule_of(op: Any) -> Rule:
    return _RULES.get(name_of(op)) or (elementwise if torch.Tag.pointwise in op.tags else _none)


def _none(b: Builder, node: Node, args: Args) -> Any:
    b.refused("it takes what has a size that depends on data")


def again(b: Builder, op: Any, args: Args) -> Node:
    """The op of other arguments."""
    kinds = op._schema.arguments
    given = [args[each.name] for each in kinds if not each.kwarg_only]
    return b.call(op, *given, **{each.name: args[each.name] for each in kinds if each.kwarg_only})


def nodes_of(args: Any) -> Any:
    """Arguments with all places of what is selected."""
    if isinstance(args, Selected):
        return args.node
    if isinstance(args, dict):
        return {name: nodes_of(each) for name, each in args.items()}
    return [nodes_of(each) for each in args] if isinstance(args, (list, tuple)) else args


def selected(node: Node, marks: dict[int, Mark]) -> Any:
    return Selected(node, marks) if marks else node


def tensor_rank(value: Any) -> int:
    return rank(value.node if isinstance(value, Selected) else value)


def marks_of(value: Any) -> dict[int, Mark]:
    return dict(value.marks) if isinstance(value, Selected) else {}


def joined(b: Builder, operands: Sequence[Any], to: int) -> dict[int, Mark]:
    """The marks of a result of so many dimensions to which the operands are broadcast."""
    marks: dict[int, Mark] = {}
    for operand in operands:
        for dim, mark in marks_of(operand).items():
            if marks.setdefault(dim + to - tensor_rank(operand), mark) != mark:
                b.refused("elements that two masks select, side by side")
    for operand in operands:
        behind = to - tensor_rank(operand)
        for dim in marks:
            if dim >= behind and dim - behind not in marks_of(operand) and b.size(nodes_of(operand), dim - behind) != 1:
                b.refused("elements that a mask selects beside others of a known number")
    return marks


def tensors_of(args: Any) -> list[Any]:
    if isinstance(args, Selected) or (isinstance(args, Node) and isinstance(args.meta["val"], torch.Tensor)):
        return [args]
    if isinstance(args, dict):
        args = list(args.values())
    return (
        [found for each in args for found in tensors_of(each)] if isinstance(args, (list, tuple)) and not isinstance(args, Number) else []
    )


_SAME_SHAPE = """alias detach clone _to_copy contiguous convert_element_type zeros_like ones_like full_like empty_like rand_like randn_like
    masked_fill native_dropout bernoulli _unsafe_view_copy lift_fresh_copy gelu gelu_backward hardtanh_backward isfinite where fill
    __or__ __and__ __xor__ __lshift__ __rshift__"""


def aligned(b: Builder, args: Any, to: int) -> Any:
    """Arguments that are broadcast to so many dimensions, with rows of unlike masks in the order of their rows: what eager takes for
    rows of one number are of that."""
    marks: dict[int, Mark] = {}
    mixed = set()
    for operand in tensors_of(args):
        for dim, mark in marks_of(operand).items():
            if marks.setdefault(dim + to - tensor_rank(operand), mark) != mark:
                mixed.add(dim + to - tensor_rank(operand))
    compact = {dim: b.compact_mark(marks[dim]) for dim in mixed}

    def ordered(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: ordered(each) for name, each in value.items()}
        if isinstance(value, Selected):
            for dim in (dim - to + tensor_rank(value) for dim in mixed):
                if dim in value.marks:
                    value = b.compact(value, dim)
                    if b.length(value.marks[dim]) == b.length(compact[dim + to - tensor_rank(value)]):
                        value = Selected(value.node, {**value.marks, dim: compact[dim + to - tensor_rank(value)]})
            return value
        is_list = isinstance(value, (list, tuple)) and not isinstance(value, Number)
        return [ordered(each) for each in value] if is_list else value

    return ordered(args) if mixed else args


@rule(_SAME_SHAPE)
def elementwise(b: Builder, node: Node, args: Args) -> Any:
    args = aligned(b, args, max((tensor_rank(each) for each in tensors_of(args)), default=0))
    operands = tensors_of(args)
    op, given = with_tensors(b, node, args)
    made = again(b, op, nodes_of(given))
    results = made.meta["val"]
    if isinstance(results, torch.Tensor):
        return selected(made, joined(b, operands, rank(made)))
    return tuple(selected(b.item(made, n), joined(b, operands, each.dim())) for n, each in enumerate(results))


# Reductions and scans.


def _lowest(dtype: torch.dtype) -> Any:
    return False if dtype == torch.bool else -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> Any:
    return True if dtype == torch.bool else math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


_FILLS: dict[str, Any] = {
    **dict.fromkeys("sum cumsum any count_nonzero nansum".split(), 0),
    **dict.fromkeys("prod cumprod all".split(), 1),
    **dict.fromkeys("amax max argmax logsumexp cummax logcumsumexp _softmax _log_softmax softmax log_softmax".split(), _lowest),
    **dict.fromkeys("amin min argmin cummin".split(), _highest),
}
_SCANS = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "_softmax", "_log_softmax", "softmax", "log_softmax")


def without(marks: dict[int, Mark], dim: int) -> dict[int, Mark]:
    return {each: mark for each, mark in marks.items() if each != dim}


def _dims(args: Args, rank: int) -> list[int]:
    """The dimensions that an op goes along."""
    dims = args.get("dim")
    if dims is None or dims == []:
        return list(range(rank))
    return [dim % rank if rank else dim for dim in (dims if isinstance(dims, (list, tuple)) else [dims])]


def reduced_marks(value: Selected, dims: Sequence[int], keepdim: bool) -> dict[int, Mark]:
    left = {dim: mark for dim, mark in value.marks.items() if dim not in dims}
    return left if keepdim else {dim - sum(each < dim for each in dims): mark for dim, mark in left.items()}


@rule(" ".join(_FILLS))
def along(b: Builder, node: Node, args: Args) -> Any:
    if "other" in args:
        return elementwise(b, node, args)
    value, name = args["self"], name_of(node.target)
    dims = _dims(args, rank(value.node))
    fill = _FILLS[name]
    filled = b.filled(value, fill(dtype_of(value.node)) if callable(fill) else fill, dims)
    marks = dict(value.marks) if name in _SCANS else reduced_marks(value, dims, bool(args.get("keepdim")))
    made = again(b, node.target, {**args, "self": filled})
    places = next((value.marks[dim] for dim in dims if dim in value.marks), None)
    if isinstance(made.meta["val"], torch.Tensor):
        return selected(_rows(b, made, places) if name in ("argmax", "argmin") else made, marks)
    return selected(b.item(made, 0), marks), selected(_rows(b, b.item(made, 1), places), marks)


def _rows(b: Builder, index: Node, mark: Mark | None) -> Node:
    """Places along a dimension as rows of what is selected."""
    return index if mark is None else b.call(aten.index.Tensor, b.positions(mark), [index])


def _total(b: Builder, value: Selected, dims: Sequence[int], dtype: torch.dtype) -> Node:
    """How many elements there are along dimensions."""
    known = b.product([b.size(value.node, dim) for dim in dims if dim not in value.marks])
    total = b.cast(b.call(aten.scalar_tensor.default, known, dtype=torch.float64, device=b.device), dtype)
    for dim in dims:
        if dim in value.marks:
            total = b.call(aten.mul.Tensor, total, b.cast(b.count(value.marks[dim]), dtype))
    return total


@rule("mean")
def mean(b: Builder, node: Node, args: Args) -> Any:
    value, keepdim = args["self"], bool(args.get("keepdim"))
    dims, result = _dims(args, rank(value.node)), dtype_of(node)
    wide = torch.float32 if result.itemsize < 4 else result
    total = b.call(aten.sum.dim_IntList, b.cast(b.filled(value, 0, dims), wide), dims, keepdim)
    count = _total(b, value, dims, wide.to_real())
    return selected(b.cast(b.call(aten.div.Tensor, total, count), result), reduced_marks(value, dims, keepdim))


@rule("linalg_vector_norm")
def norm(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    dims = _dims(args, rank(value.node))
    filled = b.filled(value, math.inf if args["ord"] < 0 else 0, dims)
    return selected(again(b, node.target, {**args, "self": filled}), reduced_marks(value, dims, bool(args["keepdim"])))


@rule("_softmax_backward_data _log_softmax_backward_data")
def softmax_backward(b: Builder, node: Node, args: Args) -> Any:
    marks = joined(b, [args["grad_output"], args["output"]], tensor_rank(args["output"]))
    dims = [args["dim"] % tensor_rank(args["output"])]
    filled = {name: b.filled(args[name], 0, dims) for name in ("grad_output", "output")}
    return selected(again(b, node.target, {**args, **filled}), marks)


# Products: which dimensions of operands are the same, by letters.

_PRODUCTS = {
    "mm": {"self": "nk", "mat2": "km", "": "nm"},
    "addmm": {"mat1": "nk", "mat2": "km", "": "nm"},
    "bmm": {"self": "bnk", "mat2": "bkm", "": "bnm"},
    "baddbmm": {"batch1": "bnk", "batch2": "bkm", "": "bnm"},
    "mv": {"self": "nk", "vec": "k", "": "n"},
    "addmv": {"mat": "nk", "vec": "k", "": "n"},
    "dot": {"self": "k", "tensor": "k", "": ""},
    "convolution": {"input": "n", "": "n"},
}


@rule(" ".join(_PRODUCTS))
def product(b: Builder, node: Node, args: Args) -> Any:
    letters = dict(_PRODUCTS[name_of(node.target)])
    result = letters.pop("")
    marks: dict[str, Mark] = {}
    for name, of in letters.items():
        if any(dim >= len(of) for dim in marks_of(args[name])):
            _none(b, node, args)
        for dim, mark in marks_of(args[name]).items():
            if marks.setdefault(of[dim], mark) != mark:
                b.refused("elements that two masks select, side by side")
    for name, of in letters.items():
        if any(letter in marks and dim not in marks_of(args[name]) for dim, letter in enumerate(of)):
            b.refused("elements that a mask selects beside others of a known number")
    given = dict(args)
    for name, of in letters.items():
        given[name] = b.filled(args[name], 0, [dim for dim, letter in enumerate(of) if letter not in result])
    of_result = {result.index(letter): mark for letter, mark in marks.items() if letter in result}
    if "self" in args and "self" not in letters:
        joined(b, [args["self"], Selected(node, of_result)], len(result))
    if any(isinstance(each, Selected) for name, each in args.items() if name not in (*letters, "self")):
        _none(b, node, args)
    return selected(again(b, node.target, nodes_of(given)), of_result)


@rule("convolution_backward")
def convolution_backward(b: Builder, node: Node, args: Args) -> Any:
    if any(set(marks_of(args[name])) - {0} for name in ("grad_output", "input")) or isinstance(args["weight"], Selected):
        _none(b, node, args)
    marks = joined(b, [args["grad_output"], args["input"]], tensor_rank(args["input"]))
    filled = {name: b.filled(args[name], 0) for name in ("grad_output", "input")}
    made = again(b, node.target, {**args, **filled})
    parts = [b.item(made, n) if wanted else None for n, wanted in enumerate(args["output_mask"])]
    return (selected(parts[0], marks) if parts[0] is not None else None, *parts[1:])


@rule("sort")
def sort(b: Builder, node: Node, args: Args) -> Any:
    value = args["self"]
    dim = args["dim"] % rank(value.node)
    op, named = aten.sort.stable, {"stable": True, "dim": dim, "descending": args["descending"]}
    made = b.call(op, value.node, **named)
    values, places = b.item(made, 0), b.item(made, 1)
    if dim not in value.marks:
        return tuple(Selected(each, value.marks) for each in (values, places))
    mark = value.marks[dim]
    counts = b.call(aten.index.Tensor, b.mask(mark), [places])
    order = b.item(b.call(op, b.cast(b.call(aten.logical_not.default, counts), torch.int32), stable=True, dim=dim), 1)
    marks = {**value.marks, dim: b.first(b.arange(b.length(mark)), b.count(mark))}
    rows = _rows(b, b.call(aten.gather.default, places, dim, order), mark)
    return Selected(b.call(aten.gather.default, values, dim, order), marks), Selected(rows, marks)
