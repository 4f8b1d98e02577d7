"""What a program of open shapes takes and gives: sizes that are known, and names of those that a call tells.

    x: ?x8xf32, y: ?xf32   where x[0] = b, y[0] = 2*b

A name stands alone ("b") or in an expression ("2*b"), which the program's own front end checks. A size that no name ties to another is
named after its place: "x[0]".
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import pytree
from .dtypes import dtype_name, is_taken
from .errors import ArityError, DtypeError, InputError, ShapeError
from .signature import listed
from .tensors import bits_of_keys, torch_name

Shape = tuple[int, ...]
Shapes = tuple[Shape, ...]
"""The shape of each input of a call."""
Size = int | str
"""A size, or the name or expression of one."""

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": max,
    "min": min,
    "Max": max,
    "Min": min,
}


@dataclass(frozen=True)
class OpenSpec:
    """One dense row-major array, as TensorSpec is, of whose shape some sizes are names or expressions."""

    name: str
    dtype: str
    shape: tuple[Size, ...]
    narrows: bool = False

    @property
    def is_open(self) -> bool:
        return any(isinstance(size, str) for size in self.shape)

    def __str__(self) -> str:
        return "x".join([*("?" if isinstance(size, str) else str(size) for size in self.shape), self.dtype])

    def json(self) -> dict[str, Any]:
        plain = {"name": self.name, "dtype": self.dtype, "shape": list(self.shape)}
        return {**plain, "narrows": True} if self.narrows else plain

    @staticmethod
    def of(data: Mapping[str, Any]) -> OpenSpec:
        """From the plain data of a manifest, checked before."""
        return OpenSpec(data["name"], data["dtype"], tuple(data["shape"]), data.get("narrows", False))


@dataclass(frozen=True)
class OpenSignature:
    """As Signature is: `inputs` are given at each call, `bound` once, `outputs` come back."""

    inputs: tuple[OpenSpec, ...]
    outputs: tuple[OpenSpec, ...]
    bound: dict[int, OpenSpec] = field(default_factory=dict)
    limits: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    """The least and the largest value of a name, where the program says it."""

    def __str__(self) -> str:
        text = f"({listed(self.inputs)}) -> ({listed(self.outputs)})"
        text += f" bound ({listed(self.bound.values())})" if self.bound else ""
        named = [f"{spec.name}[{axis}] = {size}" for spec, axis, size in self._places() if size != f"{spec.name}[{axis}]"]
        return text + (f" where {', '.join(named)}" if named else "")

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which sizes can be given: those that stand alone somewhere, and those in expressions."""
        found: dict[str, None] = {}
        for _, _, size in self._places():
            found.update(dict.fromkeys(_names_in(size)))
        return tuple(found)

    def check(self, leaves: Sequence[Any]) -> list[Shape]:
        """The shapes of a call's arrays. Raises ShapeError or DtypeError that names the argument, ArityError."""
        if len(leaves) != len(self.inputs):
            raise ArityError(f"the program takes {len(self.inputs)} inputs, got {len(leaves)}", remedy=f"its signature: {self}")
        leaves = list(map(bits_of_keys, leaves))
        shapes = [_shape(spec, leaf) for spec, leaf in zip(self.inputs, leaves)]
        self.check_shapes(shapes)
        for spec, leaf in zip(self.inputs, leaves):
            dtype = _dtype(leaf)
            if dtype is not None and not is_taken(dtype, spec.dtype, spec.narrows):
                raise DtypeError(f"{spec.name} should have element type {spec.dtype}, got {dtype}", remedy="convert it before the call")
        return shapes

    def check_shapes(self, shapes: Sequence[Shape]) -> None:
        """Raises ShapeError where a size is not what the signature says, or not what the same name is elsewhere."""
        told: dict[str, tuple[int, str]] = {}
        for spec, shape in zip(self.inputs, shapes, strict=True):
            if len(shape) != len(spec.shape):
                raise ShapeError(f"{spec.name} should have rank {len(spec.shape)} ({spec}), got shape {shape}")
            for axis, (size, found) in enumerate(zip(spec.shape, shape)):
                if isinstance(size, int):
                    if size != found:
                        raise ShapeError(f"{spec.name} should have shape {_shown(spec)}, got {shape}")
                elif found != told.setdefault(size, (found, f"{spec.name}[{axis}]"))[0]:
                    known, where = told[size]
                    raise ShapeError(f"{spec.name}[{axis}] should be {known}, as {where} is (both are {size!r}), got shape {shape}")
                else:
                    self._check_limits(size, found, f"{spec.name}[{axis}]")

    def shapes_of(self, sizes: Mapping[str, int]) -> list[Shape]:
        """The inputs' shapes where the names have these values. Raises ShapeError."""
        names = self.names
        if set(sizes) != set(names):
            told = ", ".join(map(str, sizes)) or "none"
            raise ShapeError(f"sizes should be given for {', '.join(names) or 'nothing'}, got {told}", remedy=f"its signature: {self}")
        return [tuple(size if isinstance(size, int) else _value(size, sizes) for size in spec.shape) for spec in self.inputs]

    def largest(self) -> Shapes | None:
        """The shapes at the bounds, where every open size has one."""
        tops = {name: most for name in self.names if (most := self.limits.get(name, (0, None))[1]) is not None}
        return tuple(self.shapes_of(tops)) if tops and len(tops) == len(self.names) else None

    def text(self, shapes: Sequence[Shape]) -> str:
        """Shapes as the tools take them: 5x8xf32,8xf32."""
        return ",".join("x".join([*map(str, shape), spec.dtype]) for spec, shape in zip(self.inputs, shapes))

    def _check_limits(self, name: str, size: int, where: str) -> None:
        least, most = self.limits.get(name, (0, None))
        if size < least or (most is not None and size > most):
            raise ShapeError(f"{where} should be from {least} to {'any size' if most is None else most}, got {size}")

    def _places(self) -> list[tuple[OpenSpec, int, str]]:
        return [(spec, axis, size) for spec in self.inputs for axis, size in enumerate(spec.shape) if isinstance(size, str)]


@dataclass(frozen=True)
class Interface:
    """What all specialisations of a program have in common."""

    name: str
    kind: str
    signature: OpenSignature
    in_tree: pytree.Structure
    kwarg_tree: pytree.Structure


def _shown(spec: OpenSpec) -> str:
    inner = ", ".join("?" if isinstance(size, str) else str(size) for size in spec.shape)
    return f"({inner},)" if len(spec.shape) == 1 else f"({inner})"


def _shape(spec: OpenSpec, leaf: Any) -> Shape:
    """Raises InputError for what is no array."""
    if hasattr(leaf, "shape"):
        return tuple(leaf.shape)
    if isinstance(leaf, (bool, int, float)):
        return ()
    if hasattr(leaf, "__array_interface__") or hasattr(leaf, "__dlpack__"):
        return np.shape(leaf if hasattr(leaf, "__array_interface__") else np.from_dlpack(leaf))
    raise InputError(
        f"{spec.name} should be an array, got {type(leaf).__name__}", remedy="give numpy, torch or jax arrays, or any with DLPack"
    )


def _dtype(leaf: Any) -> str | None:
    """MLIR's name of an array's element type; None for what is checked when it is read (a Python number)."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        return None
    return torch_name(dtype) if type(dtype).__module__ == "torch" else dtype_name(dtype)


# Expressions.


def _parsed(expression: str) -> ast.expr | None:
    try:
        return ast.parse(expression, mode="eval").body
    except SyntaxError:
        return None


def _names_in(size: str) -> list[str]:
    """The names in an expression; a place ("x[0]", "arg0['w'][1]") is one name."""
    tree = _parsed(size)
    if tree is None or isinstance(tree, ast.Subscript):
        return [size]
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions]


def _value(size: str, sizes: Mapping[str, int]) -> int:
    if size in sizes:
        return sizes[size]
    tree = _parsed(size)
    try:
        if tree is not None:
            return _evaluated(tree, sizes)
    except (KeyError, ArithmeticError):
        pass
    raise ShapeError(f"the size {size} cannot be computed from {dict(sizes)}", remedy="give the shapes themselves")


def _evaluated(node: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_evaluated(node.left, sizes), _evaluated(node.right, sizes))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand, sizes)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _FUNCTIONS[node.func.id](*[_evaluated(argument, sizes) for argument in node.args])
    raise KeyError(ast.dump(node))
