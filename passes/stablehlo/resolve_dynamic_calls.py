"""resolve-dynamic-calls: custom calls whose shape is told by operands become the ops they stand for, where these operands are constants.

Before:
    %c = stablehlo.constant dense<[5, 1]> : tensor<2xi32>        // %one, %pads: constants as well
    %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %c, %one, %one, %one, %pads) {called_computations = [@add]}
             : (tensor<5x8xf32>, tensor<f32>, tensor<2xi32>, …) -> tensor<?x8xf32>
After:
    %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = [5, 1], padding = [[4, 0], [0, 0]]}> ({ the body of @add })
             : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>

JAX writes them where shapes have names: dynamic_top_k becomes chlo.top_k, dynamic_rng_bit_generator becomes rng_bit_generator, and
dynamic_approx_top_k the custom call ApproxTopK with `top_k` in its configuration. Must hold: nothing. Declined: operands that are no
constants yet, and operands of unknown shape.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from ..common.rewriting import attributes_of, create, functions, i64_array, i64_attr, symbol_name
from ..registry import register_pass
from .support import build, constants
from .support.driver import clone_into, rewrite

_PREFIX = "stablehlo.dynamic_"
_MOST_SIZES = 1 << 10


@register_pass("resolve-dynamic-calls", "turns custom calls of dynamic shape into ops, where the shape is a constant")
def resolve_dynamic_calls(module: ir.Operation) -> None:
    resolved(module)


def is_dynamic_call(target: str) -> bool:
    """Whether a custom call of that target goes when shapes are known: one of these, or an assertion about shapes."""
    return target == "shape_assertion" or target.removeprefix(_PREFIX) in _CALLS


def resolved(module: ir.Operation) -> bool:
    """Whether there was one that could be."""
    known = {symbol_name(function): function for function in functions(module)}

    def rule(op: ir.Operation) -> list[ir.Value] | None:
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        resolve = _CALLS.get(target.removeprefix(_PREFIX)) if target.startswith(_PREFIX) else None
        if resolve is None or not len(op.operands) or not ir.RankedTensorType(op.operands[0].type).has_static_shape:
            return None
        return resolve(op, known)

    return rewrite(module, {"stablehlo.custom_call": [rule]})


_Resolve = Callable[[ir.Operation, dict[str, ir.Operation]], "list[ir.Value] | None"]


def _numbers(op: ir.Operation, first: int, count: int) -> list[np.ndarray] | None:
    """The constants that `count` operands are, from the one numbered `first` on."""
    found = [constants.read(value, _MOST_SIZES) for value in list(op.operands)[first : first + count]]
    known = [array for array in found if array is not None]
    return known if len(found) == len(known) == count else None


def _reduce_window(op: ir.Operation, known: dict[str, ir.Operation]) -> list[ir.Value] | None:
    count = len(op.results)
    called = list(ir.ArrayAttr(op.attributes["called_computations"])) if "called_computations" in op.attributes else []
    body = known.get(ir.FlatSymbolRefAttr(called[0]).value) if len(called) == 1 else None
    numbers = _numbers(op, 2 * count, 5)
    if body is None or numbers is None or len({len(array) for array in numbers}) != 1:
        return None
    window, strides, base, dilations = ([int(size) for size in array] for array in numbers[:4])
    padding = numbers[4].astype(np.int64).reshape(len(window), 2)
    kinds = []
    for value in list(op.operands)[:count]:
        whole = [max(0, (size - 1) * step + 1) if size else 0 for size, step in zip(build.shape_of(value), base)]
        spans = [(size - 1) * step + 1 for size, step in zip(window, dilations)]
        room = [size + int(low + high) - span for size, (low, high), span in zip(whole, padding, spans)]
        kinds.append(build.tensor([0 if left < 0 else left // stride + 1 for left, stride in zip(room, strides)], build.element_of(value)))
    made = create(
        "stablehlo.reduce_window",
        kinds,
        list(op.operands)[: 2 * count],
        regions=1,
        window_dimensions=i64_array(window),
        window_strides=i64_array(strides),
        base_dilations=i64_array(base),
        window_dilations=i64_array(dilations),
        padding=ir.DenseElementsAttr.get(padding, type=ir.IntegerType.get_signless(64)),
    )
    source = body.regions[0].blocks[0]
    block = made.regions[0].blocks.append(*[argument.type for argument in source.arguments])
    with ir.InsertionPoint(block):
        results = clone_into(source, dict(zip(source.arguments, block.arguments)))
        create("stablehlo.return", operands=results)
    return list(made.results)


def _top_k(op: ir.Operation, known: dict[str, ir.Operation]) -> list[ir.Value] | None:
    numbers = _numbers(op, 1, 1)
    if numbers is None or len(op.results) != 2 or numbers[0].ndim or not build.shape_of(op.operands[0]):
        return None
    k = int(numbers[0])
    shape = [*build.shape_of(op.operands[0])[:-1], k]
    kinds = [build.tensor(shape, build.element_of(result)) for result in op.results]
    return list(create("chlo.top_k", kinds, [op.operands[0]], k=i64_attr(k)).results)


def _rng_bit_generator(op: ir.Operation, known: dict[str, ir.Operation]) -> list[ir.Value] | None:
    numbers = _numbers(op, 1, 1)
    if numbers is None or len(op.results) != 2 or numbers[0].ndim != 1 or "rng_algorithm" not in op.attributes:
        return None
    kinds = [op.results[0].type, build.tensor([int(size) for size in numbers[0]], build.element_of(op.results[1]))]
    return list(create("stablehlo.rng_bit_generator", kinds, [op.operands[0]], rng_algorithm=op.attributes["rng_algorithm"]).results)


def _approx_top_k(op: ir.Operation, known: dict[str, ir.Operation]) -> list[ir.Value] | None:
    place = len(op.operands) - 1 - len(op.results)  # before the results' shapes
    numbers = _numbers(op, place, 1 + len(op.results)) if place > 0 and "mhlo.backend_config" in op.attributes else None
    if numbers is None or numbers[0].ndim:
        return None
    config = ir.DictAttr(op.attributes["mhlo.backend_config"])
    given = attributes_of(op)
    given.pop("indices_of_shape_operands", None)
    given["call_target_name"] = ir.StringAttr.get("ApproxTopK")
    given["mhlo.backend_config"] = ir.DictAttr.get({**{each.name: each.attr for each in config}, "top_k": i64_attr(int(numbers[0]))})
    kinds = [build.tensor([int(size) for size in shape], build.element_of(result)) for result, shape in zip(op.results, numbers[1:])]
    return list(create("stablehlo.custom_call", kinds, list(op.operands)[:place], **given).results)


_CALLS: dict[str, _Resolve] = {
    "reduce_window": _reduce_window,
    "top_k": _top_k,
    "rng_bit_generator": _rng_bit_generator,
    "approx_top_k": _approx_top_k,
}
