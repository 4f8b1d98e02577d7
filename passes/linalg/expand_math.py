"""expand-math: math ops that no machine has become straight-line arithmetic, inlined from the library in `passes/linalg/math`.

Before, in the body of a linalg.generic (or anywhere else):

    %1 = math.exp %0 : f32

After, one scalar op a step, so that the vectoriser can widen each of them lane by lane:

    %c = arith.cmpf olt, %hi, %0 : f32
    %y = arith.select %c, %hi, %0 : f32
    %t = math.fma %y, %log2e, %shifter : f32
    ...
    %1 = arith.mulf %q, %b : f32

An op `math.foo` (or `arith.remf`) on f32 or f64 is expanded where the library has `@hloom_foo_f32` or `@hloom_foo_f64`; f16 and bf16 go by
way of f32, integers by way of i64. Vectors are expanded alike, a branch around rare lanes taken if any lane needs it. `math.powf` by a
constant exponent that has a function of its own (`@hloom_square_f32`, ...) takes that one, a power of 2 `@hloom_exp2_f32`, an exponential
that relax-weights marked `@hloom_exp_weight_f32`.

Upstream's math-expand-ops rewrites some ops by others that no machine has either (sinh by exp), and promises no error.

The option `only` names the ops to expand, with the type that they are computed in: `only=sin_f32+cos_f32`.

Must hold: nothing; the results are within the errors that docs/math.md lists, special values included.
Declined: ops that LLVM has as instructions (sqrt, fma, floor, ceil, trunc, roundeven, absf, copysign, integer
ops), scalable vectors, tensors, and ops marked `hloom.native`, which the library itself leaves to libm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from torch_mlir import ir

from ..common.rewriting import clone_with, functions, ops_in, producer, replace, symbol_name, value_of, walk
from ..registry import register_pass
from . import math as library
from .relax_weights import WEIGHT

# Exponents for which powf is a handful of exact or correctly rounded steps.
_POWERS = {-1.0: "reciprocal", 0.5: "power_half", 1.0: "power_one", 2.0: "square", 3.0: "cube", 4.0: "power_four"}
_COMPUTED_IN = {"f16": "f32", "bf16": "f32", "i8": "i64", "i16": "i64", "i32": "i64"}


@register_pass("expand-math", "inlines arithmetic for the math ops that are no instructions")
def expand_math(module: ir.Operation, *, only: str = "") -> None:
    chosen = set(filter(None, only.split("+")))
    targets: dict[tuple[int, ...], list[tuple[ir.Operation, str]]] = defaultdict(list)
    for op in walk(module, lambda op: op.name.startswith("math.") or op.name == "arith.remf"):
        if (not chosen or _computed(op) in chosen) and (name := _function_name(op)):
            targets[_shape(op.operands[0].type)].append((op, name))
    for shape, ops in targets.items():
        loaded = library.load({name for _, name in ops}, shape, module.context)
        bodies = {symbol_name(function): function.regions[0].blocks[0] for function in functions(loaded.operation)}
        for op, name in ops:
            _expand(op, bodies[name])


def _function_name(op: ir.Operation) -> str | None:
    """The library's function that computes `op`, or None if it is to be left alone."""
    if not op.operands or "hloom.native" in op.attributes:
        return None
    mnemonic = op.name.split(".")[1]
    if mnemonic == "powf" and (exponent := _splat_constant(op.operands[1])) in _POWERS:
        mnemonic = _POWERS[exponent]
    elif _is_power_of_two(op):
        mnemonic = "exp2"
    elif WEIGHT in op.attributes:
        mnemonic += "_weight"
    name = f"hloom_{mnemonic}_{_type_computed_in(op)}"
    return name if name in library.texts() and _is_fixed(op.operands[0].type) else None


def _is_power_of_two(op: ir.Operation) -> bool:
    return op.name == "math.powf" and _splat_constant(op.operands[0]) == 2.0 and _splat_constant(op.operands[1]) is None


def _computed(op: ir.Operation) -> str:
    return f"{op.name.split('.')[1]}_{_type_computed_in(op)}" if op.operands else ""


def _type_computed_in(op: ir.Operation) -> str:
    element = str(_element(op.operands[0].type))
    return _COMPUTED_IN.get(element, element)


def _expand(op: ir.Operation, body: ir.Block) -> None:
    with ir.InsertionPoint(op), op.location:
        given = list(op.operands)[1:] if _is_power_of_two(op) else list(op.operands)
        operands = [_converted(value, argument.type) for value, argument in zip(given, body.arguments)]
        results = [_converted(value, result.type) for value, result in zip(_inline(body, operands), op.results)]
    replace(op, results)


def _inline(body: ir.Block, arguments: Sequence[ir.Value]) -> list[ir.Value]:
    """Clones the block's ops at the insertion point, with `arguments` for its arguments. Returns what it returns."""
    values = dict(zip(body.arguments, arguments))
    *ops, returned = ops_in(body)
    for op in ops:
        clone_with(op, values)
    return [values[value] for value in returned.operands]


def _converted(value: ir.Value, wanted: ir.Type) -> ir.Value:
    """`value` as `wanted`: floats are extended or truncated, integers sign-extended or truncated."""
    if value.type == wanted:
        return value
    source, target = _element(value.type), _element(wanted)
    widening = source.width < target.width
    if isinstance(target, ir.IntegerType):
        return value_of("arith.extsi" if widening else "arith.trunci", wanted, [value])
    return value_of("arith.extf" if widening else "arith.truncf", wanted, [value])


def _splat_constant(value: ir.Value) -> float | None:
    op = producer(value, "arith.constant")
    if op is None:
        return None
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        attribute = attribute.get_splat_value()
    return attribute.value if isinstance(attribute, ir.FloatAttr) else None


def _element(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.VectorType) else type_


def _shape(type_: ir.Type) -> tuple[int, ...]:
    return tuple(type_.shape) if isinstance(type_, ir.VectorType) else ()


def _is_fixed(type_: ir.Type) -> bool:
    return not isinstance(type_, ir.ShapedType) or (isinstance(type_, ir.VectorType) and not type_.scalable and type_.rank > 0)
