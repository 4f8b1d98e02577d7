"""What a table of a library's routines is made of: a row says which tensors and options a custom call has, and checks that it has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from torch_mlir import ir

from ...errors import InvalidProgramError

MOST = (1 << 31) - 1
"""Libraries count in 32 bits."""
Extents = Mapping[str, int]


@dataclass(frozen=True)
class HostCall:
    """What a custom call becomes: what the host's function is told beside its buffers.

    `aliases` are pairs (operand, result): the result holds the operand when the function begins.
    """

    numbers: tuple[int, ...]
    aliases: tuple[tuple[int, int], ...] = ()
    config: str = ""


@dataclass(frozen=True)
class Routine:
    """A row. Operands and results are "type extents": "T m n" is a matrix of m rows; every value has the batch before its extents.

    A type is T (the call's), R (its real part), C (its complex numbers) or i (i32). An extent is a letter, which stands for one number
    throughout; q is the lesser of m and n, o is n - 1 or 0. `options` are read from the call's configuration: with the characters that
    one may be, or any integer.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[tuple[int, int], ...] = ((0, 0),)
    rule: Callable[[Extents], bool] | None = None
    """What must hold of extents and options beside."""

    def call(
        self, where: Place, elements: Mapping[str, str], config: Mapping[str, Any], operands: Sequence[ir.Type], results: Sequence[ir.Type]
    ) -> HostCall:
        """The call on values of these types: row-major buffers of column-major matrices, whose extents are reversed.

        Its numbers are the batch, the extents of each operand, then the options. Raises InvalidProgramError.
        """
        wanted = [text.split() for text in (*self.operands, *self.results)]
        if (len(operands), len(results)) != (len(self.operands), len(self.results)):
            raise where.invalid(f"takes {len(self.operands)} operands and gives {len(self.results)} results")
        batches, extents = set(), dict[str, int]()
        for position, (kind, (letter, *names)) in enumerate(zip([*operands, *results], wanted)):
            name = f"operand {position}" if position < len(self.operands) else f"result {position - len(self.operands)}"
            shape = list(kind.shape)
            if str(kind.element_type) != elements[letter] or len(shape) < len(names) or max(shape, default=0) > MOST:
                expected = f"{elements[letter]} with {len(names)} dimensions and those of the batch"
                raise where.invalid(f"has {name} of type {kind}, which should hold {expected}")
            first = len(shape) - len(names)
            batches.add(tuple(shape[:first]))
            for extent, found in zip(names, reversed(shape[first:])):
                if extents.setdefault(extent, _derived(extent, extents, found)) != found:
                    raise where.invalid(f"has {name} of type {kind}, where {found} should be {extents[extent]}")
        if len(batches) > 1:
            raise where.invalid(f"has operands and results of different batches, {' and '.join(map(str, sorted(batches)))}")
        options = dict(self._options(where, config))
        if self.rule is not None and not self.rule({**extents, **options}):
            raise where.invalid(f"has extents that its options do not allow: {config}")
        counts = (extents[name] for text in self.operands for name in text.split()[1:])
        return HostCall((prod(batches.pop()), *counts, *options.values()), self.aliases)

    def _options(self, where: Place, config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
        for name, allowed in self.options.items():
            value = config.get(name)
            if not isinstance(value, int) or (allowed and value not in allowed.encode()):
                raise where.invalid(f"has {name} = {value} in its configuration, which should be {' or '.join(allowed) or 'an integer'}")
            yield name, int(value)


@dataclass(frozen=True)
class Place:
    """A custom call, for errors."""

    op: ir.Operation
    target: str

    def invalid(self, message: str) -> InvalidProgramError:
        remedy = "write the call as JAX 0.10 does, which lays matrices out column by column"
        return InvalidProgramError(
            f"@{self.target} {message}", op=self.op.name, loc=str(self.op.location), stage="stablehlo", remedy=remedy
        )


def _derived(name: str, extents: Extents, found: int) -> int:
    if name == "q":
        return min(extents["m"], extents["n"])
    return max(extents["n"] - 1, 0) if name == "o" else found
