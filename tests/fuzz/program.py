"""Programs as data: ops with operands, results and regions, which print as StableHLO and can be cut down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .elements import Data, values


@dataclass(frozen=True)
class Type:
    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        if self.element.startswith(("tuple", "!stablehlo")):
            return self.element
        return f"tensor<{''.join(f'{extent}x' for extent in self.shape)}{self.element}>"

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Value:
    type: Type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def element(self) -> str:
        return self.type.element

    @property
    def rank(self) -> int:
        return len(self.type.shape)


@dataclass(eq=False)
class Region:
    arguments: list[Value]
    ops: list[Op]
    returned: list[Value]


@dataclass(eq=False)
class Op:
    name: str
    operands: list[Value]
    results: list[Value]
    attributes: str = ""
    regions: list[Region] = field(default_factory=list)


@dataclass(eq=False)
class Argument:
    value: Value
    array: np.ndarray

    @classmethod
    def drawn(cls, kind: Type, data: Data, seed: list[int]) -> Argument:
        return cls(Value(kind), values(kind.element, kind.shape, data, seed))


@dataclass(eq=False)
class Program:
    arguments: list[Argument]
    ops: list[Op]
    returned: list[Value]
    tolerances: dict[Value, tuple[float, float]] = field(default_factory=dict)
    """Of values that need not be exact: ulps, and absolute."""
    functions: dict[str, Region] = field(default_factory=dict)
    by_xla: bool = False
    """The reference interpreter has not all of its ops."""
    vague: bool = False
    """A tolerance says nothing."""

    @property
    def inputs(self) -> list[np.ndarray]:
        return [argument.array for argument in self.arguments]

    def text(self) -> str:
        main = Region([argument.value for argument in self.arguments], self.ops, self.returned)
        parts = [_function("public @main", main), *(_function(f"private @{name}", region) for name, region in self.functions.items())]
        return "\n".join(parts)

    def told(self) -> str:
        """With what the arguments are."""
        lines = [f"// argument {i}: {_described(x)}" for i, x in enumerate(self.inputs)]
        return "\n".join([*lines, self.text()])

    @property
    def names(self) -> set[str]:
        """Of its ops."""
        return {op.name for op in walk(self.ops)}

    def only(self, returned: Sequence[Value]) -> Program:
        """What those results need, and nothing else."""
        needed = set(returned)
        ops = []
        for op in reversed(self.ops):
            if needed & set(op.results) or any(str(value.type) == "!stablehlo.token" for value in op.results):
                ops.append(op)
                needed |= uses(op)
        functions = {name: region for name, region in self.functions.items() if name in self._called(ops)}
        arguments = [argument for argument in self.arguments if argument.value in needed]
        return replace(self, arguments=arguments, ops=ops[::-1], returned=list(returned), functions=functions)

    def _called(self, ops: Sequence[Op]) -> set[str]:
        """The functions that the ops name, and those that these name."""
        names = {op.attributes.partition("@")[2].partition(" ")[0] for op in walk(ops) if "@" in op.attributes}
        return names.union(*(self._called(self.functions[name].ops) for name in names))

    def substituted(self, new: Mapping[Value, Value]) -> Program:
        """With other values read in place of some."""
        return replace(self, ops=[_substituted(op, new) for op in self.ops], returned=[new.get(value, value) for value in self.returned])


def _described(array: np.ndarray) -> str:
    return f"{array.dtype}{list(array.shape)} {np.array2string(array.ravel(), max_line_width=10000, threshold=12)}"


def walk(ops: Sequence[Op]) -> Iterator[Op]:
    """The ops and those in their regions, outer ones first."""
    for op in ops:
        yield op
        for region in op.regions:
            yield from walk(region.ops)


def uses(op: Op) -> set[Value]:
    """The values that an op and its regions read, whoever defines them."""
    inner = [inner.operands for inner in walk([op])]
    returned = [region.returned for each in walk([op]) for region in each.regions]
    return {value for group in [*inner, *returned] for value in group}


def _substituted(op: Op, new: Mapping[Value, Value]) -> Op:
    regions = [
        Region(r.arguments, [_substituted(inner, new) for inner in r.ops], [new.get(value, value) for value in r.returned])
        for r in op.regions
    ]
    return Op(op.name, [new.get(value, value) for value in op.operands], op.results, op.attributes, regions)


def _function(header: str, region: Region) -> str:
    names: dict[Value, str] = {}
    parameters = ", ".join(f"{_name(value, names)}: {value.type}" for value in region.arguments)
    lines = [line for op in region.ops for line in _lines(op, names)]
    kinds = ", ".join(str(value.type) for value in region.returned)
    end = f"return {', '.join(names[value] for value in region.returned)} : {kinds}" if region.returned else "return"
    return "\n".join([f"func.func {header}({parameters}) -> ({kinds}) {{", *(f"  {line}" for line in [*lines, end]), "}"])


def _name(value: Value, names: dict[Value, str]) -> str:
    return names.setdefault(value, f"%{len(names)}")


def _lines(op: Op, names: dict[Value, str]) -> Iterator[str]:
    """The op in MLIR's generic form."""
    operands = ", ".join(names[value] for value in op.operands)
    signature = f"({', '.join(str(value.type) for value in op.operands)}) -> ({', '.join(str(value.type) for value in op.results)})"
    inner = [_region(region, names) for region in op.regions]
    results = ", ".join(_name(value, names) for value in op.results)
    head = f'{results}{" = " if results else ""}"{op.name}"({operands})'
    attributes = f" {{{op.attributes}}}" if op.attributes else ""
    if not inner:
        yield f"{head}{attributes} : {signature}"
        return
    yield f"{head} ({{"
    for number, lines in enumerate(inner):
        yield from (f"  {line}" for line in lines)
        yield "}, {" if number + 1 < len(inner) else f"}}){attributes} : {signature}"


def _region(region: Region, names: dict[Value, str]) -> list[str]:
    parameters = ", ".join(f"{_name(value, names)}: {value.type}" for value in region.arguments)
    lines = [f"^bb0({parameters}):"] if region.arguments else []
    lines += [f"  {line}" for op in region.ops for line in _lines(op, names)]
    kinds = ", ".join(str(value.type) for value in region.returned)
    lines.append(f'  "stablehlo.return"({", ".join(names[value] for value in region.returned)}) : ({kinds}) -> ()')
    return lines
