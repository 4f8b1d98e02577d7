"""Quantized types: every form of every kind of op, against the specification's own words in NumPy.

The reference interpreter is no oracle here: its pipeline truncates the results of dots, rounds the operands of a mixed addition, and has
no regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from programs import Value, dense, names, types
from test_contraction import convolution, dot

import hloom


@dataclass(frozen=True)
class Q:
    """A quantized type; one scale, or several along `axis`."""

    storage: str = "i8"
    scale: float | tuple[float, ...] = 0.5
    zero: int | tuple[int, ...] = 0
    axis: int | None = None
    limits: tuple[int, int] | None = None
    expressed: str = "f32"

    def __str__(self) -> str:
        storage = self.storage.replace("ui", "u") + (f"<{self.limits[0]}:{self.limits[1]}>" if self.limits else "")
        if self.axis is None:
            return f"!quant.uniform<{storage}:{self.expressed}, {self.scale}:{self.zero}>"
        pairs = ", ".join(f"{s}:{z}" for s, z in zip(self.scale, np.resize(self.zero, len(self.scale))))
        return f"!quant.uniform<{storage}:{self.expressed}:{self.axis}, {{{pairs}}}>"

    @property
    def bits(self) -> int:
        return int(self.storage.lstrip("ui"))

    @property
    def range(self) -> tuple[int, int]:
        whole = (0, (1 << self.bits) - 1) if self.storage[0] == "u" else (-(1 << self.bits - 1), (1 << self.bits - 1) - 1)
        return self.limits or whole

    def numbers(self, which, rank: int) -> np.ndarray:
        if self.axis is None:
            return np.float32(which)
        return np.resize(which, len(self.scale)).astype(np.float32).reshape([-1 if d == self.axis else 1 for d in range(rank)])

    def dequantize(self, q: np.ndarray) -> np.ndarray:
        centred = q.astype(np.int64) - self.numbers(self.zero, q.ndim).astype(np.int64)
        return centred.astype(np.float32) * self.numbers(self.scale, q.ndim)

    def quantize(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            moved = x.astype(np.float32) / self.numbers(self.scale, x.ndim) + self.numbers(self.zero, x.ndim)
        low, high = (np.float32(v) for v in self.range)
        return np.nan_to_num(np.rint(np.clip(moved, low, high))).astype(np.int64).clip(*self.range)


def integers(kind: Q, shape: Sequence[int], seed: int = 0) -> np.ndarray:
    low, high = kind.range
    return np.random.default_rng([seed, *shape]).integers(max(low, -1000), min(high, 1000) + 1, shape)


class Quantized:
    """A program of quantized arguments; `check` tells what is wanted of a value."""

    def __init__(self) -> None:
        self.arguments: list[Value] = []
        self.arrays: list[np.ndarray] = []
        self.lines: list[str] = []
        self.results: list[tuple[str, Value, np.ndarray, int]] = []

    def input(self, kind: Q | str, array: np.ndarray) -> Value:
        value = Value(f"%x{len(self.arguments)}", array.shape, str(kind))
        self.arguments.append(value)
        storage = kind.storage if isinstance(kind, Q) else kind
        self.arrays.append(array.astype(hloom.runtime.dtypes.numpy_dtype(storage)))
        return value

    def op(self, name: str, operands, shape=None, element: Q | str | None = None, attributes: str = "", regions=()) -> Value:
        value = Value(f"%v{len(self.lines)}", tuple(operands[0].shape if shape is None else shape), str(element or operands[0].element))
        inside = f"({', '.join(regions)}) " if regions else ""
        signature = f"({types(operands)}) -> {value.type}"
        self.lines.append(f'{value.name} = "stablehlo.{name}"({names(operands)}) {inside}{{{attributes}}} : {signature}')
        return value

    def check(self, label: str, value: Value, wanted: np.ndarray, apart: int = 0) -> None:
        self.results.append((label, value, wanted, apart))

    def verify(self, *targets: str) -> None:
        values = [value for _, value, _, _ in self.results]
        parameters = ", ".join(f"{a.name}: {a.type}" for a in self.arguments)
        lines = [*self.lines, f"return {names(values)} : {types(values)}", "}"]
        text = "\n".join([f"func.func public @main({parameters}) -> ({types(values)}) {{", *lines])
        for target in ("auto", *targets):
            for (label, _, wanted, apart), got in zip(self.results, hloom.compile(text, target=target).flat(self.arrays)):
                if got.dtype == np.float32:
                    np.testing.assert_array_equal(got, wanted, err_msg=f"{label}, {target}")
                else:
                    assert np.abs(got.astype(np.int64) - wanted).max(initial=0) <= apart, (label, target, got, wanted)


PER_AXIS = Q("i8", (0.1, 0.25, 3.0), (0, 5, -7), axis=1)
KINDS = [
    Q(),
    Q("i8", 0.1, 3),
    Q("ui8", 0.3, 128),
    Q("i8", 0.1, 0, limits=(-127, 127)),
    Q("i4", 0.7, -2),
    Q("ui4", 0.7, 3),
    Q("i16", 0.01, 9),
]
KINDS += [Q("i32", 0.001), PER_AXIS]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_elementwise_ops_and_conversions(kind):
    p = Quantized()
    a, b = integers(kind, (5, 3), 1), integers(kind, (5, 3), 2)
    x, y = p.input(kind, a), p.input(kind, b)
    floats = np.concatenate([np.random.default_rng(0).normal(size=9) * 30, [np.nan, np.inf, -np.inf, 0.25, 0.75, 1e9]])
    floats = floats.astype(np.float32).reshape(5, 3)
    p.check("dequantize", p.op("uniform_dequantize", [x], element="f32"), kind.dequantize(a))
    p.check("quantize", p.op("uniform_quantize", [p.input("f32", floats)], element=kind), kind.quantize(floats))
    other = Q("ui8", 0.37, 100)
    p.check("requantize", p.op("uniform_quantize", [x], element=other), other.quantize(kind.dequantize(a)))
    if kind.axis is None:  # the specification has the rest of these per tensor alone
        check_arithmetic(p, kind, x, y, a, b)
    p.verify(*(["sim:sm_90a"] if kind == KINDS[1] else []))


def check_arithmetic(p: Quantized, kind: Q, x: Value, y: Value, a: np.ndarray, b: np.ndarray) -> None:
    left, right = kind.dequantize(a), kind.dequantize(b)
    p.check("add", p.op("add", [x, y]), kind.quantize(left + right))
    p.check("multiply", p.op("multiply", [x, y]), kind.quantize(left * right))
    p.check("maximum", p.op("maximum", [x, y]), np.maximum(a, b))
    p.check("clamp", p.op("clamp", [x, y, p.op("maximum", [x, y])]), np.maximum(a, b))
    p.check("negate", p.op("negate", [x]), kind.quantize(-left))
    p.check("tanh", p.op("tanh", [x]), kind.quantize(np.tanh(left)), apart=1)
    compared = p.op("compare", [x, y], element="i1", attributes="comparison_direction = #stablehlo<comparison_direction LT>")
    p.check("compare", compared, a < b)
    p.check("select", p.op("select", [compared, x, y], element=kind), np.where(a < b, a, b))


def test_mixed_scales():
    """Each operand stands for its own numbers; nothing is rounded but the result."""
    p = Quantized()
    left, right, result = Q("i8", 0.1, 3), Q("i8", 0.37, -20), Q("i8", 0.4, 7)
    a, b = integers(left, (40,), 1), integers(right, (40,), 2)
    x, y = p.input(left, a), p.input(right, b)
    p.check("add", p.op("add", [x, y], element=result), result.quantize(left.dequantize(a) + right.dequantize(b)))
    p.check("multiply", p.op("multiply", [y, x], element=result), result.quantize(left.dequantize(a) * right.dequantize(b)))
    p.verify()


def test_moves_constants_and_bitcasts():
    p = Quantized()
    kind, along = Q("i8", 0.1, 3), PER_AXIS
    a, b = integers(kind, (5, 3)), integers(along, (5, 3))
    x, y = p.input(kind, a), p.input(along, b)
    p.check("transpose", p.op("transpose", [x], (3, 5), attributes="permutation = array<i64: 1, 0>"), a.T)
    moved = Q(along.storage, along.scale, along.zero, axis=0)
    p.check("per axis", p.op("transpose", [y], (3, 5), moved, "permutation = array<i64: 1, 0>"), b.T)
    p.check("reshape", p.op("reshape", [x], (15,)), a.reshape(15))
    p.check("bits", p.op("bitcast_convert", [x], element="i8"), a)
    p.check("of bits", p.op("bitcast_convert", [p.input("i8", a)], element=kind), a)
    for number, (each, element) in enumerate([(kind, "i8"), (Q("ui8", 0.3, 128), "ui8"), (Q("i4", 0.7, -2), "i4")]):
        values = integers(each, (7,), number)
        constant = Value(f"%c{number}", (7,), str(each))
        attribute = f"{dense(values.astype(hloom.runtime.dtypes.numpy_dtype(element)))} : tensor<7x{element.lstrip('u')}>"
        p.lines.append(f'{constant.name} = "stablehlo.constant"() {{value = {attribute}}} : () -> {constant.type}')
        p.check(f"constant {element}", constant, values)
    p.verify()


COMPARE = '"stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>}'


def body(op: str, kind: Q, result: Q | str | None = None) -> str:
    """A region of two scalars."""
    scalar, made = f"tensor<{kind}>", f"tensor<{result or kind}>"
    lines = [
        f"^bb0(%a: {scalar}, %b: {scalar}):",
        f"%c = {op} : ({scalar}, {scalar}) -> {made}",
        f'"stablehlo.return"(%c) : ({made}) -> ()',
    ]
    return "\n".join(["{", *lines, "}"])


def test_regions():
    p = Quantized()
    kind = Q("i8", 0.1, 3)
    a = integers(kind, (9, 4))
    x, start = p.input(kind, a), p.input(kind, np.array(5))
    total = kind.dequantize(a).sum(0) + kind.dequantize(np.array(5))
    attributes = "dimensions = array<i64: 0>"
    p.check(
        "sum", p.op("reduce", [x, start], (4,), None, attributes, [body('"stablehlo.add"(%a, %b)', kind)]), kind.quantize(total), apart=1
    )
    p.check(
        "maximum", p.op("reduce", [x, start], (4,), None, attributes, [body('"stablehlo.maximum"(%a, %b)', kind)]), np.maximum(a.max(0), 5)
    )
    p.check("sort", p.op("sort", [x], None, None, "dimension = 0 : i64, is_stable = true", [body(COMPARE, kind, "i1")]), np.sort(a, 0))
    p.verify()


DOTS = [
    (Q("i8", 0.5, 3), Q("i8", 0.25), Q("i8", 16.0, -4)),
    (Q("ui8", 0.5, 131), Q("i8", 0.25), Q("ui8", 16.0, 128)),
    (Q("i8", 0.1, -7), Q("i8", 0.3, limits=(-127, 127)), Q("i8", 3.7, 1)),
    (Q("i8", 0.5, 3), Q("i8", 0.25), Q("i32", 0.125)),
    (Q("i8", 0.1, 3), Q("i8", (0.1, 0.2, 0.7, 0.01, 0.3), 0, axis=1), Q("i32", (0.01, 0.02, 0.07, 0.001, 0.03), 0, axis=1)),
    (Q("i8", 0.1, 3), Q("i8", (0.1, 0.2, 0.7, 0.01, 0.3), 0, axis=1), Q("i8", 3.7, 1)),
    (Q("i4", 0.5, 3), Q("i4", 0.25), Q("i8", 0.5, 2)),
    (Q("i8", 0.5, 3), Q("ui8", 0.25), Q("i8", 16.0, -4)),
    (Q("ui8", 0.5, 131), Q("ui8", (0.1, 0.2, 0.7, 0.01, 0.3), 0, axis=1), Q("i8", 3.7, 1)),
]


@pytest.mark.parametrize(("left", "right", "result"), DOTS, ids=map(str, range(len(DOTS))))
def test_dots(left, right, result):
    """In integers: as the exact sum of products would be quantized."""
    p = Quantized()
    a, b = integers(left, (7, 61), 1), integers(right, (61, 5), 2)
    x, y = p.input(left, a), p.input(right, b)
    centred = a.astype(np.int64) - left.zero
    p.check("dot", dot(p, x, y, ((), ()), ((1,), (0,)), result), rescaled(centred @ b.astype(np.int64), left, right, result))
    p.verify(*(["sim:sm_90a"] if left.storage == "ui8" else []))


def rescaled(total: np.ndarray, left: Q, right: Q, result: Q, channel: int = 1) -> np.ndarray:
    ratio = (np.float64(np.float32(left.scale)) * np.float32(right.scale) / np.float32(result.scale)).astype(np.float32)
    ratio = ratio if ratio.ndim == 0 else ratio.reshape([-1 if d == channel else 1 for d in range(total.ndim)])
    if result.storage == "i32" and np.all(ratio == 1):
        return total
    moved = total.astype(np.float32) * ratio + np.float32(result.zero if result.axis is None else 0)
    return np.rint(np.clip(moved, *map(np.float32, result.range))).astype(np.int64)


def test_batched_dots_and_convolutions():
    p = Quantized()
    left, right, result = Q("i8", 0.5, 3), Q("i8", 0.25), Q("i8", 16.0, -4)
    a, b = integers(left, (3, 7, 17), 1), integers(right, (3, 17, 5), 2)
    wanted = rescaled((a.astype(np.int64) - 3) @ b.astype(np.int64), left, right, result)
    p.check("batch", dot(p, p.input(left, a), p.input(right, b), ((0,), (0,)), ((2,), (1,)), result), wanted)
    for left_storage, right_storage in [("i8", "i8"), ("ui8", "ui8"), ("ui8", "i8")]:
        convolved(p, Q(left_storage, 0.5, 3), Q(right_storage, 0.25), result)
    p.verify()


def convolved(p: Quantized, left: Q, right: Q, result: Q) -> None:
    image, kernel = integers(left, (2, 6, 7, 3), 3), integers(right, (3, 3, 3, 4), 4)
    centred = np.zeros((2, 8, 9, 3), np.int64)
    centred[:, 1:7, 1:8] = image.astype(np.int64) - left.zero
    total = sum(
        np.einsum("bhwi,io->bhwo", centred[:, r : r + 6, c : c + 7], kernel[r, c].astype(np.int64)) for r in range(3) for c in range(3)
    )
    made = convolution(p, p.input(left, image), p.input(right, kernel), padding=[(1, 1), (1, 1)])
    p.lines[-1] = p.lines[-1].rpartition(" -> ")[0] + f" -> tensor<2x6x7x4x{result}>"
    wanted = rescaled(total, left, right, result)
    p.check(f"convolution of {left} and {right}", Value(made.name, (2, 6, 7, 4), str(result)), wanted)


def test_hybrid_ops():
    """A float beside quantized weights: these are dequantized."""
    p = Quantized()
    weights = Q("i8", (0.5, 0.25, 2.0, 1.0, 0.125), 0, axis=1)
    a = np.random.default_rng(0).integers(-4, 5, (7, 9)).astype(np.float32)
    b = integers(weights, (9, 5), 2)
    p.check("dot", dot(p, p.input("f32", a), p.input(weights, b), ((), ()), ((1,), (0,)), "f32"), a @ weights.dequantize(b))
    p.verify()


def test_halves():
    """Expressed in bf16: every step is of bf16."""
    p = Quantized()
    kind = Q("i8", 0.5, 3, expressed="bf16")
    a = integers(kind, (50,))
    p.check("add", p.op("add", [p.input(kind, a), p.input(kind, a)]), kind.quantize(2 * kind.dequantize(a)), apart=1)
    p.verify()
