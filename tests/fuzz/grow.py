"""Grows a program: a pool of values, drawn operands and shapes, and what is known of each value's size and error."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from . import errors
from .elements import COMMON, QUANTIZED, Data, bound, is_float, part
from .errors import Facts, Unsuitable
from .program import Argument, Op, Program, Region, Type, Value, uses

EXTENTS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33, 64, 100)
LARGE = (1, 2, 3, 5, 7, 16, 31, 33, 64, 65, 100, 127, 257, 300, 513)


@dataclass(frozen=True)
class Limits:
    """What programs are made of."""

    types: tuple[str, ...] = COMMON
    ranks: tuple[int, ...] = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5)
    extents: tuple[int, ...] = EXTENTS
    most: int = 4096
    """Elements of a value."""
    empty: float = 0.02
    """How often an extent is 0."""
    data: tuple[str, ...] = ("wild", "tame", "whole")
    reuse: float = 0.75
    """How often an operand is a value that is there, not a new argument."""
    depth: int = 2
    lenient: bool = False
    """Makes values of which no error bound is known, too: the program is vague."""


class Grower:
    def __init__(self, seed: Sequence[int], limits: Limits):
        self.seed, self.limits = list(seed), limits
        self.rng = random.Random(str(self.seed))
        self.arguments: list[Argument] = []
        self.ops: list[Op] = []
        self.pool: list[Value] = []
        self.facts: dict[Value, Facts] = {}
        self.functions: dict[str, Region] = {}
        self.through = False
        """Whether the op to be made takes operands that are not exact."""
        self.isolated = False
        self.depth = 0
        self.by_xla = self.vague = False
        self.some_ops: Callable[..., None] = lambda count, names=(): None
        """Appends about so many ops, for bodies; of those names, if any are given."""

    # What is drawn.

    def extent(self) -> int:
        return 0 if self.rng.random() < self.limits.empty else self.rng.choice(self.limits.extents)

    def shape(self, low: int = 0, high: int = 5) -> tuple[int, ...]:
        """One that is there, or a new one."""
        found = [v.shape for v in self.pool if low <= v.rank <= high and v.rank]
        if found and self.rng.random() < self.limits.reuse:
            return self.rng.choice(found)
        rank = self.rng.choice([r for r in self.limits.ranks if low <= r <= high] or [low])
        shape: list[int] = []
        for _ in range(rank):
            extent = self.extent()
            shape.append(extent if Type((*shape, extent), "i1").size <= self.limits.most else 1)
        return tuple(shape)

    def element(self, *among: str) -> str:
        """Most often that of a value which was made lately."""
        found = [v.element for v in self.pool[-4:] if not among or v.element in among]
        if found and self.rng.random() < self.limits.reuse:
            return self.rng.choice(found)
        return self.rng.choice([t for t in self.limits.types if not among or t in among] or list(among))

    def dims(self, rank: int) -> list[int]:
        """Some of the dimensions, in order."""
        return [d for d in range(rank) if self.rng.random() < 0.5]

    # Values.

    def suits(self, value: Value, exact: bool, finite: bool) -> bool:
        facts = self.facts[value]
        return (facts.exact or (self.through and not exact)) and (
            not finite or facts.bound < errors.INFINITE or not is_float(part(value.element))
        )

    def any(self, element: str, low: int = 0, high: int = 5, *, exact: bool = False, finite: bool = False, full: bool = False) -> Value:
        """A value of that type, of a rank between `low` and `high`; `full`: with elements; `finite`: without NaN."""
        found = [v for v in self.pool if v.element == element and low <= v.rank <= high and self.suits(v, exact, finite)]
        found = [v for v in found if not full or v.type.size]
        if found and self.rng.random() < self.limits.reuse:
            return self.rng.choice(found[-6:])
        shape = self.shape(low, high)
        return self.value(tuple(max(e, 1) for e in shape) if full else shape, element, finite=finite)

    def value(self, shape: Sequence[int], element: str, *, exact: bool = False, finite: bool = False) -> Value:
        """A value of that shape and type."""
        found = [v for v in self.pool if v.type == Type(tuple(shape), element) and self.suits(v, exact, finite)]
        if found and self.rng.random() < self.limits.reuse:
            return self.rng.choice(found)
        if self.rng.random() < self.limits.reuse and (value := self.spread(tuple(shape), element, exact, finite)):
            return value
        kinds = [kind for kind in self.limits.data if kind != "wild" or not finite]
        return self.argument(shape, element, Data(self.rng.choice(kinds or ["tame"])))

    def spread(self, shape: tuple[int, ...], element: str, exact: bool, finite: bool) -> Value | None:
        """A value whose shape begins or ends that shape, broadcast to it."""
        found = [v for v in self.pool if v.element == element and v.rank < len(shape) and self.suits(v, exact, finite)]
        found = [v for v in found if v.shape in (shape[: v.rank], shape[len(shape) - v.rank :])]
        if not found:
            return None
        value = self.rng.choice(found)
        first = 0 if value.shape == shape[: value.rank] else len(shape) - value.rank
        dims = ", ".join(str(first + d) for d in range(value.rank))
        attribute = f"broadcast_dimensions = array<i64{': ' if dims else ''}{dims}>"
        return self.emit("broadcast_in_dim", [value], Type(shape, element), attribute, facts=self.facts[value])

    def argument(self, shape: Sequence[int], element: str, data: Data) -> Value:
        if self.isolated:
            raise Unsuitable
        kind = Type(tuple(shape), element)
        if kind.size > self.limits.most:
            raise Unsuitable
        if element in QUANTIZED:  # no program has them at its edge
            return self.emit("uniform_quantize", [self.argument(shape, "f32", Data("tame"))], kind)
        made = Argument.drawn(kind, data, [*self.seed, len(self.arguments)])
        self.arguments.append(made)
        whole = data.kind in ("whole", "within") or not is_float(part(element))
        self.facts[made.value] = Facts(bound(element, data), whole)
        self.pool.append(made.value)
        return made.value

    def within(self, shape: Sequence[int], element: str, low: int, high: int) -> Value:
        """Integers from `low` to `high`."""
        return self.argument(shape, element, Data("within", low, high))

    def constant(self, shape: Sequence[int], element: str, number: float | bool) -> Value:
        """A splat."""
        if part(element) != element:
            text = f"({number:e}, 0.0)"
        elif is_float(element):
            text = f"{number:e}"
        else:
            text = str(number).lower()
        kind = Type(tuple(shape), element)
        facts = Facts(abs(float(number)), float(number).is_integer())
        return self.emit("constant", [], [kind], f"value = dense<{text}> : {kind}", facts=facts)

    # Ops.

    def emit(
        self,
        name: str,
        operands: Sequence[Value],
        result: Type | Sequence[Type] | None = None,
        attributes: str = "",
        regions: Sequence[Region] = (),
        facts: Facts | None = None,
    ) -> Value:
        """Appends an op, and gives back its first result. Without a type the result has its first operand's."""
        results = result if isinstance(result, Sequence) else [result or operands[0].type]
        return self.emit_all(name, operands, results, attributes, regions, facts)[0]

    def emit_all(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[Type],
        attributes: str = "",
        regions: Sequence[Region] = (),
        facts: Facts | Sequence[Facts] | None = None,
    ) -> list[Value]:
        """Facts are of all results, or of each."""
        if any(kind.size > 4 * self.limits.most for kind in results):
            raise Unsuitable
        each = facts if isinstance(facts, Sequence) else [facts or Facts()] * len(results)
        made = [self._checked(known, kind.element) for known, kind in zip(each, results, strict=True)]
        values = [Value(kind) for kind in results]
        self.facts.update(zip(values, made))
        full = name if "." in name else f"stablehlo.{name}"
        self.ops.append(Op(full, list(operands), values, attributes, list(regions)))
        self.pool += [value for value in values if not value.element.startswith(("tuple", "!stablehlo.token"))]
        return values

    def _checked(self, facts: Facts, element: str) -> Facts:
        try:
            return errors.checked(facts, element)
        except Unsuitable:
            if not self.limits.lenient:
                raise
            self.vague = True
            return facts

    def region(self, kinds: Sequence[Type], body: Callable[..., Sequence[Value]], isolated: bool = True) -> Region:
        """A region with arguments of those types, of which nothing is known; `body` gives back what it returns. The reference interpreter
        has no quantized values in regions."""
        if any(kind.element in QUANTIZED for kind in kinds) and not self.limits.lenient:
            raise Unsuitable
        arguments = [Value(kind) for kind in kinds]
        with self._scope(isolated):
            self.pool += arguments
            self.facts.update(dict.fromkeys(arguments, Facts()))
            returned = list(body(*arguments))
            return Region(arguments, self.ops, returned)

    @contextmanager
    def _scope(self, isolated: bool) -> Iterator[None]:
        saved = self.ops, self.pool, self.isolated, self.through
        self.ops, self.pool = [], [] if isolated else list(self.pool)
        self.isolated = self.isolated or isolated
        self.depth += 1
        try:
            yield
        finally:
            outer = saved[1]
            known = {argument.value for argument in self.arguments}
            outer += [value for value in self.pool if value in known and value not in outer]
            self.ops, self.pool, self.isolated, self.through = saved
            self.depth -= 1

    def finish(self) -> Program:
        """A program that returns what nothing reads, and some more."""
        read = {value for op in self.ops for value in uses(op)}
        made = [value for op in self.ops for value in op.results if value in self.pool]
        for value in [value for value in made if value.element in QUANTIZED and value not in read]:
            made.append(self.emit("uniform_dequantize", [value], Type(value.shape, "f32")))
            read.add(value)
        made = [value for value in made if value.element not in QUANTIZED]
        ends = [value for value in made if value not in read]
        more = [value for value in made if value in read and self.rng.random() < 0.1]
        tolerances = {value: (self.facts[value].ulps, self.facts[value].absolute) for value in made if not self.facts[value].exact}
        program = Program(self.arguments, self.ops, (ends + more) or made, tolerances, self.functions, self.by_xla, self.vague)
        return program.only(program.returned)
