"""Programs of many small results, run by hloom and by the reference interpreter and compared result by result.

    p = Program()
    x = p.input(np.array([...], np.float32))
    p.check("sqrt", p.op("sqrt", [x]))
    p.verify(interpreter)

One function holds dozens of results, because each program costs a compilation. All results that differ are reported, not only the first.
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aarch64
import guards
import numpy as np
import pytest
from comparison import difference

import hloom
from hloom.compiler.interpreter import Interpreter
from hloom.runtime.dtypes import NAMES, NARROW, numpy_dtype

FLOATS = ["f64", "f32", "f16", "bf16"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["ui8", "ui16", "ui32", "ui64"]
INTEGERS = SIGNED + UNSIGNED
TYPES = [*FLOATS, "i1", *INTEGERS]
NARROW_INTEGERS = sorted(name for name in NARROW if name.startswith(("i", "ui")))
NARROW_FLOATS = sorted(name for name in NARROW if name.startswith("f"))
COMPLEX = ["complex<f32>", "complex<f64>"]
_NAMES = {numpy_dtype(name): name for name in NAMES}

Kind = tuple[Sequence[int], str]
"""Shape and element type."""


@dataclass(frozen=True)
class Value:
    """An SSA value."""

    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join([*map(str, self.shape), self.element])}>"


@dataclass(frozen=True)
class Check:
    label: str
    value: Value
    wanted: np.ndarray | None
    ulps: float
    absolute: float


class Program:
    def __init__(self) -> None:
        self.inputs: list[np.ndarray] = []
        self.checks: list[Check] = []
        self._arguments: list[Value] = []
        self._lines: list[str] = []
        self._functions: list[str] = []
        self._numbers = itertools.count()

    def _value(self, shape: Sequence[int], element: str) -> Value:
        return Value(f"%v{next(self._numbers)}", tuple(shape), element)

    def input(self, array: np.ndarray) -> Value:
        array = np.asarray(array)
        value = self._value(array.shape, element_name(array))
        self.inputs.append(array)
        self._arguments.append(value)
        return value

    def constant(self, array: np.ndarray) -> Value:
        array = np.asarray(array)
        value = self._value(array.shape, element_name(array))
        self._lines.append(f"{value.name} = stablehlo.constant {dense(array)} : {value.type}")
        return value

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        shape: Sequence[int] | None = None,
        element: str | None = None,
        attributes: str = "",
        regions: Sequence[str] = (),
    ) -> Value:
        """An op of one result, of the first operand's shape and element type where they are not given."""
        shape = operands[0].shape if shape is None else shape
        return self.ops(name, operands, [(shape, element or operands[0].element)], attributes, regions)[0]

    def ops(
        self, name: str, operands: Sequence[Value], results: Sequence[Kind], attributes: str = "", regions: Sequence[str] = ()
    ) -> list[Value]:
        values = [self._value(*kind) for kind in results]
        inside = f"({', '.join(regions)}) " if regions else ""
        signature = f"({types(operands)}) -> ({types(values)})"
        name = name if "." in name else f"stablehlo.{name}"
        self._lines.append(f'{names(values)} = "{name}"({names(operands)}) {inside}{{{attributes}}} : {signature}')
        return values

    def region(self, kinds: Sequence[Kind], body: Callable[..., Value | Sequence[Value]]) -> str:
        """A region whose arguments have these types; `body` gets them and gives back what the region returns."""
        outer, self._lines = self._lines, []
        arguments = [self._value(*kind) for kind in kinds]
        returned = body(*arguments)
        values = [returned] if isinstance(returned, Value) else list(returned)
        inner, self._lines = self._lines, outer
        header = f"^bb0({', '.join(f'{a.name}: {a.type}' for a in arguments)}):"
        return "\n".join(["{", header, *inner, f'"stablehlo.return"({names(values)}) : ({types(values)}) -> ()', "}"])

    def function(self, name: str, kinds: Sequence[Kind], body: Callable[..., Sequence[Value]]) -> list[Kind]:
        """A private function; gives back the types of its results, for `call`."""
        outer, self._lines = self._lines, []
        arguments = [self._value(*kind) for kind in kinds]
        values = body(*arguments)
        parameters = ", ".join(f"{a.name}: {a.type}" for a in arguments)
        header = f"func.func private @{name}({parameters}) -> ({types(values)}) {{"
        self._functions.append("\n".join([header, *self._lines, f"return {names(values)} : {types(values)}", "}"]))
        self._lines = outer
        return [(v.shape, v.element) for v in values]

    def call(self, name: str, operands: Sequence[Value], results: Sequence[Kind]) -> list[Value]:
        values = [self._value(*kind) for kind in results]
        self._lines.append(f"{names(values)} = func.call @{name}({names(operands)}) : ({types(operands)}) -> ({types(values)})")
        return values

    def check(self, label: str, value: Value, wanted: np.ndarray | None = None, *, ulps: float = 0, absolute: float = 0) -> None:
        """`value` must be `wanted`, else what the interpreter says: the same bits (any NaN for a NaN), or within `ulps` or `absolute`."""
        self.checks.append(Check(label, value, wanted, ulps, absolute))

    def text(self) -> str:
        values = [check.value for check in self.checks]
        parameters = ", ".join(f"{a.name}: {a.type}" for a in self._arguments)
        header = f"func.func public @main({parameters}) -> ({types(values)}) {{"
        return "\n".join([header, *self._lines, f"return {names(values)} : {types(values)}", "}", *self._functions])

    def verify(self, interpreter: Interpreter, cpu_only: bool = False) -> None:
        """Compiles, runs on a CPU and on a simulated GPU, compares; fails with all results that differ. The interpreter is asked only if
        it is needed, the GPU only if it has all ops."""
        text = self.text()
        asked = any(check.wanted is None for check in self.checks)
        expected = interpreter.run(text, self.inputs).results if asked else [None] * len(self.checks)
        faults = []
        for target in _targets(text, cpu_only):
            with aarch64.emulated():
                got = hloom.compile(text, target=target).flat(self.inputs)
            for check, actual, reference in zip(self.checks, got, expected):
                wanted = reference if check.wanted is None else check.wanted
                fault = difference(actual, wanted, self.inputs, ulps=check.ulps, absolute=check.absolute)
                faults += [f"{check.label}, {target}: {fault}"] if fault else []
        if faults:
            pytest.fail("\n".join([f"{len(faults)} of {len(self.checks)} results differ", *faults[:10]]), pytrace=False)


def _targets(text: str, cpu_only: bool) -> list[str]:
    """The CPU that conftest.py chooses; unless the mode is of this machine's CPU alone, a simulated GPU, and for one program of five an
    emulated AArch64."""
    if os.environ.get("HLOOM_DEBUG") == "bounds" or guards.installed() or aarch64.is_chosen():
        return ["auto"]
    emulated = [] if aarch64.MISSING or zlib.crc32(text.encode()) % 5 else [aarch64.TARGET]
    return ["auto", *([] if cpu_only else ["sim:sm_90a"]), *emulated]


def element_name(array: np.ndarray) -> str:
    """What MLIR calls the type of the array's elements."""
    return _NAMES[array.dtype]


def types(values: Sequence[Value]) -> str:
    return ", ".join(v.type for v in values)


def names(values: Sequence[Value]) -> str:
    return ", ".join(v.name for v in values)


def dense(array: np.ndarray) -> str:
    """A dense attribute with the array's bits."""
    if array.dtype == bool:
        return f"dense<{array.tolist()}>".lower()
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex()}">' if array.size else "dense<>"


def integers(values: Sequence[int] | np.ndarray) -> str:
    """An `array<i64: …>` attribute."""
    listed = ", ".join(str(int(v)) for v in values)
    return f"array<i64: {listed}>" if listed else "array<i64>"


def combine(p: Program, name: str) -> Callable[[Value, Value], Value]:
    """The body of a reduction by a binary op."""
    return lambda x, y: p.op(name, [x, y])
