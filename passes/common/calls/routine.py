"""Checks that a custom call has the tensors and options that its routine's row says, and gives what the routine is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from torch_mlir import ir

from hloom.runtime.lapack_routines import MOST, Routine, derived

from ...errors import InvalidProgramError


@dataclass(frozen=True)
class HostCall:
    """What a custom call becomes: what the host's function is told beside its buffers.

    `aliases` are pairs (operand, result): the result holds the operand when the function begins.
    """

    numbers: tuple[int, ...]
    aliases: tuple[tuple[int, int], ...] = ()
    config: str = ""


def host_call(
    routine: Routine,
    where: Place,
    elements: Mapping[str, str],
    config: Mapping[str, Any],
    operands: Sequence[ir.Type],
    results: Sequence[ir.Type],
) -> HostCall:
    """The call of a routine on values of these types: row-major buffers of column-major matrices, whose extents are reversed.

    Its numbers are the batch, the extents of each operand, then the options. Raises InvalidProgramError.
    """
    wanted = [text.split() for text in (*routine.operands, *routine.results)]
    if (len(operands), len(results)) != (len(routine.operands), len(routine.results)):
        raise where.invalid(f"takes {len(routine.operands)} operands and gives {len(routine.results)} results")
    batches, extents = set(), dict[str, int]()
    for position, (kind, (letter, *names)) in enumerate(zip([*operands, *results], wanted)):
        name = f"operand {position}" if position < len(routine.operands) else f"result {position - len(routine.operands)}"
        shape = list(kind.shape)
        if str(kind.element_type) != elements[letter] or len(shape) < len(names) or max(shape, default=0) > MOST:
            expected = f"{elements[letter]} with {len(names)} dimensions and those of the batch"
            raise where.invalid(f"has {name} of type {kind}, which should hold {expected}")
        first = len(shape) - len(names)
        batches.add(tuple(shape[:first]))
        for extent, found in zip(names, reversed(shape[first:])):
            if extents.setdefault(extent, derived(extent, extents, found)) != found:
                raise where.invalid(f"has {name} of type {kind}, where {found} should be {extents[extent]}")
    if len(batches) > 1:
        raise where.invalid(f"has operands and results of different batches, {' and '.join(map(str, sorted(batches)))}")
    options = dict(_options(routine, where, config))
    if routine.rule is not None and not routine.rule({**extents, **options}):
        raise where.invalid(f"has extents that its options do not allow: {config}")
    counts = (extents[name] for text in routine.operands for name in text.split()[1:])
    return HostCall((prod(batches.pop()), *counts, *options.values()), routine.aliases)


def _options(routine: Routine, where: Place, config: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for name, allowed in routine.options.items():
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
